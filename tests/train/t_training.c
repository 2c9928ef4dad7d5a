/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_training.c - a small net on made-up images: what a step and an evaluation count, how a training goes on from a checkpoint, and what is written
 * of trainings with invented points.
 *
 * Fifty images of 16 x 16 in four classes to train on, and 22 to evaluate on, of which a recipe asks for 18: four micro-batches of 4 hold 16 of these.
 * A step takes 2 replicas x 2 micro-batches x 4 = 16 images; 40 are 2.5 steps, so the third is evaluated.
 */
#include "tests/simulated.h"
#include "tests/golden_text.h"
#include "tests/test_folder.h"
#include "results/train/train.h"
#include <jansson.h>
#include <sys/stat.h>

static void put(FILE *f, uint32_t x) { fprintf(f, "%c%c%c%c", x >> 24, x >> 16 & 255, x >> 8 & 255, x & 255); }

/* Noise, in which the rows of the image's class are bright. */
static void write_images(const char *part, uint32_t n)
{
    struct arena a = { 0 };
    FILE *x = fopen(arena_printf(&a, "%s/%s-images-idx3-ubyte", top, part), "wb"), *y = fopen(arena_printf(&a, "%s/%s-labels-idx1-ubyte", top, part), "wb");
    put(x, 0x803), put(x, n), put(x, 16), put(x, 16), put(y, 0x801), put(y, n);
    for (uint32_t i = 0; i < n; i++) {
        fputc((int)(i % 4), y);
        for (uint32_t k = 0; k < 256; k++)
            fputc((int)(hash_bytes((const uint32_t[]){ n, i, k }, 12, 3) % 60 + (k / 16 == i % 4 ? 190 : 0)), x);
    }
    fclose(x);
    fclose(y);
    arena_free(&a);
}

static int made(void **state)
{
    struct arena a = { 0 };
    set_up(state);
    mkdir(top, 0700);
    write_images("train", 50);
    write_images("t10k", 22);
    struct err err;
    const char *text = arena_printf(&a, "[recipe]\nid = tiny\nworkload = resnet8\nsystem = ipu-pod4\nsource = a test\n[data]\npath = %s\nimage_size = 16\nnorm_groups = 4\n"
                                        "[parallel]\nreplicas = 2\nipus_per_replica = 1\nmicro_batch = 4\ngradient_accumulation = 2\n[precision]\ncompute = fp32\n"
                                        "[optimizer]\nname = sgd\nopt_base_learning_rate = 0.1\nopt_momentum = 0.9\n"
                                        "[training]\ntarget = 0.999\n", top);
    bool good = write_text_file(arena_printf(&a, "%s/brief.ini", top), text, &err) &&
        write_text_file(arena_printf(&a, "%s/tiny.ini", top), arena_printf(&a, "%seval_every = 40\neval_samples = 18\nsamples_to_converge = 1000\n", text), &err);
    arena_free(&a);
    return !good;
}

struct trainee { struct simulation sim; struct result r; struct plan_cache cache; struct training_setup t; struct arena a; struct err err; };

static void trainee_of(struct trainee *p, const char *recipe, struct texts sets)
{
    *p = (struct trainee){ 0 };
    run_with(&p->sim, &p->r, arena_printf(&p->a, "%s/%s.ini", top, recipe), sets, &paths, &p->cache);
    if (!training_setup_make(&p->t, &p->sim, &p->r, &p->a, &p->err))
        print_error("%s\n", p->err.msg), assert_true(false);
}

static void trainee_make(struct trainee *p, struct texts sets) { trainee_of(p, "tiny", sets); }

static void trainee_free(struct trainee *p)
{
    simulation_free(&p->sim);
    plan_cache_free(&p->cache);
    arena_free(&p->a);
}

static struct training trained(struct trainee *p, struct training_request q)
{
    struct training tr;
    q.seed = 7, q.n_threads = 1;
    if (!training_run(&tr, &p->t, &q, &p->a, &p->err))
        print_error("%s\n", p->err.msg), assert_true(false);
    return tr;
}

static void a_setup_by_hand(void **state)
{
    struct trainee p;
    (void)state;
    trainee_make(&p, (struct texts){ .n = 0 });
    assert_int_equal(p.t.items_per_step, 16);
    assert_int_equal(p.t.eval_items, 16);
    assert_int_equal(p.t.eval_every_steps, 3);
    assert_near(p.t.samples_per_item, 1, 0);
    assert_near(p.t.target, 0.999, 0);
    assert_near(p.t.step_s, p.r.step_time_s, 0);
    assert_string_equal(p.t.quality.name, "accuracy");
    assert_false(p.t.quality.lower_is_better);
    trainee_free(&p);
    trainee_of(&p, "brief", (struct texts){ .n = 0 });           /* evaluated after an epoch, on all that there is */
    assert_int_equal(p.t.eval_every_steps, 3);
    assert_int_equal(p.t.eval_items, 20);
    assert_near(p.t.evaluation_s, 0, 0);
    trainee_free(&p);
    static const struct { const char *set, *says; } refused[] = {
        { "training.eval_samples=3", "tiny.ini: a micro-batch of 4 is more than the 3 items to evaluate on; lower parallel.micro_batch or raise training.eval_samples" },
        { "data.path=none", "none/train-images-idx3-ubyte.gz: is not there" },
    };
    for (size_t i = 0; i < 2; i++) {
        run_with(&p.sim, &p.r, arena_printf(&p.a, "%s/tiny.ini", top), (struct texts){ { refused[i].set }, 1 }, &paths, &p.cache);
        assert_false(training_setup_make(&p.t, &p.sim, &p.r, &p.a, &p.err));
        assert_non_null(strstr(p.err.msg, refused[i].says));
        trainee_free(&p);
        p = (struct trainee){ 0 };
    }
    trainee_make(&p, (struct texts){ { "training.eval_every=4" }, 1 });     /* a quarter of a step */
    assert_int_equal(p.t.eval_every_steps, 1);
    trainee_free(&p);
}

static void hear(void *user, const char *text)
{
    struct { char last[200]; size_t n; } *heard = user;
    snprintf(heard->last, sizeof heard->last, "%s", text);
    heard->n++;
}

/* Seven steps, evaluated after the third, the sixth and the last. Each minute is that of the start, the steps and the evaluations so far. */
static void points_by_hand(void **state)
{
    struct trainee p;
    struct { char last[200]; size_t n; } heard = { "", 0 };
    (void)state;
    trainee_make(&p, (struct texts){ .n = 0 });
    p.t.startup_s = 7, p.t.step_s = 3, p.t.evaluation_s = 2, p.t.target = 0;
    struct training tr = trained(&p, (struct training_request){ .last_step = 7, .tell = hear, .user = &heard });
    static const double seconds[] = { 10, 13, 18, 21, 24, 29, 34 };
    assert_true(tr.n == 7 && tr.n_evaluations == 3 && tr.n_skipped == 0 && !tr.reached && tr.seed == 7);
    for (size_t i = 0; i < 7; i++) {
        const struct training_point *x = &tr.points[i];
        assert_int_equal(x->step, i + 1);
        assert_near(x->samples, 16.0 * (double)(i + 1), 0);
        assert_near(x->epoch, 16.0 / 50 * (double)(i + 1), 1e-12);
        assert_near(x->minutes, seconds[i] / 60, 1e-12);
        assert_near(x->rate, 0.1, 1e-12);
        assert_true(isnan(x->quality) == !(i == 2 || i == 5 || i == 6));
    }
    assert_true(tr.samples == 112 && tr.minutes == tr.points[6].minutes && tr.quality == tr.points[6].quality);
    assert_true(tr.points[6].loss < 0.8 * tr.points[0].loss);
    assert_int_equal(heard.n, 3);
    assert_string_equal(heard.last, arena_printf(&p.a, "seed 7: 112 samples, loss %.4g, accuracy %.4g", tr.points[6].loss, tr.quality));
    trainee_free(&p);
}

/* The first loss is that of guessing one of ten classes, about ln 10; these weights in single precision give 2.519. */
static void first_weights_guess(void **state)
{
    struct trainee p;
    (void)state;
    trainee_make(&p, (struct texts){ .n = 0 });
    double loss = trained(&p, (struct training_request){ .last_step = 1 }).points[0].loss;
    assert_near(loss, 2.518977, 1e-4);
    trainee_free(&p);
}

static void a_target_ends_it(void **state)
{
    struct trainee p;
    (void)state;
    trainee_make(&p, (struct texts){ .n = 0 });
    double quality = trained(&p, (struct training_request){ .last_step = 3 }).quality;
    p.t.target = quality;
    struct training tr = trained(&p, (struct training_request){ .last_step = 5, .until_target = true });
    assert_true(tr.reached && tr.n == 3);
    tr = trained(&p, (struct training_request){ .last_step = 4 });
    assert_int_equal(tr.n, 4);
    p.t.quality.lower_is_better = true;                 /* the share of wrong labels */
    p.t.target = 1 - quality;
    tr = trained(&p, (struct training_request){ .last_step = 5, .until_target = true });
    assert_true(tr.reached && tr.n == 3 && quality > 0 && quality < 1);
    assert_near(tr.quality, 1 - quality, 1e-12);
    p.t.target = (1 - quality) / 2;
    assert_false(trained(&p, (struct training_request){ .last_step = 3 }).reached);
    p.t.target = 0;
    assert_false(trained(&p, (struct training_request){ .last_step = 3 }).reached);
    trainee_free(&p);
}

/* The samples of a step are the same however they are cut into replicas and micro-batches, and so is what is learned from them. */
static void a_batch_is_cut_in_any_way(void **state)
{
    static const struct texts ways[] = {
        { .n = 0 }, { { "parallel.replicas=1", "parallel.gradient_accumulation=1", "parallel.micro_batch=16" }, 3 }, { { "parallel.replicas=4", "parallel.gradient_accumulation=1" }, 2 },
    };
    struct training tr[3];
    struct trainee p[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        trainee_make(&p[i], ways[i]);
        tr[i] = trained(&p[i], (struct training_request){ .last_step = 4 });
    }
    for (size_t i = 1; i < 3; i++)
        for (size_t k = 0; k < 4; k++)
            assert_near(tr[i].points[k].loss / tr[0].points[k].loss, 1, 1e-3);
    for (size_t i = 0; i < 3; i++)
        trainee_free(&p[i]);
}

/* Four kinds of images are told apart after a while: then each of the evaluated items is right. */
static void each_item_is_judged(void **state)
{
    struct trainee p;
    (void)state;
    trainee_make(&p, (struct texts){ { "optimizer.opt_base_learning_rate=0.2" }, 1 });
    p.t.target = 1;
    assert_true(trained(&p, (struct training_request){ .last_step = 120, .until_target = true }).reached);
    trainee_free(&p);
}

/* ---- speech --------------------------------------------------------------------------------------------------- */

/* An array as numpy writes it, of two or three dimensions. */
static FILE *array(const char *name, const char *type, const char *shape)
{
    char path[128], head[128];
    snprintf(path, sizeof path, "%s/%s.npy", top, name);
    snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, f);
    fprintf(f, "%-117s\n", head);
    return f;
}

/* Sixteen utterances of two words, of three kinds; the second and the fourth of eight frames show one. */
static void write_speech(const char *part)
{
    char name[2][32];
    snprintf(name[0], sizeof name[0], "%s-features", part);
    snprintf(name[1], sizeof name[1], "%s-labels", part);
    FILE *x = array(name[0], "<f4", "16, 8, 120"), *y = array(name[1], "<i4", "16, 2");
    for (uint32_t i = 0; i < 16; i++)
        for (int32_t frame = 0; frame < 8; frame++) {
            int32_t word = (int32_t)(hash_bytes((const uint32_t[]){ i, (uint32_t)frame / 2 }, 8, *(const unsigned char *)part) % 3);
            if (frame % 2 && frame < 4)
                fwrite(&word, sizeof word, 1, y);
            for (int32_t k = 0; k < 120; k++)
                fwrite(&(float){ frame % 2 && frame < 4 && k / 40 == word ? 1 : 0 }, sizeof(float), 1, x);
        }
    fclose(x);
    fclose(y);
}

/* After 120 steps at most 7 % of the words are wrong. An error is a word's share, a 32nd. */
static void words_are_read(void **state)
{
    struct trainee p = { 0 };
    char path[96];
    (void)state;
    write_speech("train");
    write_speech("eval");
    snprintf(path, sizeof path, "data.path=%s", top);
    const struct texts sets = { { path, "data.sequence_length=8", "data.labels_per_sample=2", "parallel.replicas=1", "training.eval_samples=16", "training.eval_every=40",
                                  "optimizer.opt_learning_rate_warmup_steps=1" }, 7 };
    run_with(&p.sim, &p.r, "workloads/recipes/trained/digits.ini", sets, &paths, &p.cache);
    assert_true(training_setup_make(&p.t, &p.sim, &p.r, &p.a, &p.err));
    assert_true(p.t.quality.lower_is_better && p.t.eval_items == 16);
    assert_string_equal(p.t.quality.name, "word errors");
    p.t.target = 0.07;
    struct training tr = trained(&p, (struct training_request){ .last_step = 120, .until_target = true });
    assert_true(tr.reached && tr.points[9].quality > 0.8);
    assert_near(32 * tr.quality, round(32 * tr.quality), 1e-9);
    trainee_free(&p);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------- */

static void a_checkpoint_goes_on(void **state)
{
    struct trainee p;
    (void)state;
    trainee_make(&p, (struct texts){ .n = 0 });
    const char *path = arena_printf(&p.a, "%s/ck", top);
    struct training whole = trained(&p, (struct training_request){ .last_step = 7 });
    trained(&p, (struct training_request){ .last_step = 6, .checkpoint = path });
    struct training tr = trained(&p, (struct training_request){ .last_step = 7, .checkpoint = path, .resumes = true });
    assert_true(tr.n == 7 && tr.n_evaluations == whole.n_evaluations && tr.quality == whole.quality);
    for (size_t i = 0; i < 7; i++)
        assert_true(tr.points[i].loss == whole.points[i].loss && tr.points[i].minutes == whole.points[i].minutes && tr.points[i].step == i + 1);
    trainee_free(&p);
}

static const char *resumed(struct trainee *p, const char *path, uint64_t seed)
{
    struct training tr;
    struct training_request q = { .seed = seed, .n_threads = 1, .last_step = 7, .checkpoint = path, .resumes = true };
    *p->err.msg = '\0';
    return training_run(&tr, &p->t, &q, &p->a, &p->err) ? "" : p->err.msg;
}

static void a_bad_checkpoint_is_refused(void **state)
{
    struct trainee p;
    char *bytes;
    size_t n;
    (void)state;
    trainee_make(&p, (struct texts){ .n = 0 });
    const char *path = arena_printf(&p.a, "%s/bad", top), *damaged = arena_printf(&p.a, "%s: is damaged or incomplete; remove it and train anew", path);
    const char *foreign = arena_printf(&p.a, "%s: is no checkpoint of podbench train; name another file", path);
    trained(&p, (struct training_request){ .last_step = 3, .checkpoint = path });
    FILE *f = fopen(path, "rb");
    bytes = arena_alloc(&p.a, 4 << 20);
    n = fread(bytes, 1, 4 << 20, f);
    fclose(f);
    assert_string_equal(resumed(&p, path, 8), arena_printf(&p.a, "%s: belongs to seed 7; resume with --seed 7", path));
    const size_t at[] = { 0, 35, 39, 44, 70, n / 2, n - 9, n - 1, n };          /* the name, the number of points in two places, .., the hash, a byte too many */
    const char *const want[] = { foreign, damaged, damaged, damaged, damaged, damaged, damaged, damaged, damaged };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        bytes[at[i]] ^= 1;
        f = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, n + (at[i] == n), f), n + (at[i] == n));
        fclose(f);
        bytes[at[i]] ^= 1;
        assert_string_equal(resumed(&p, path, 7), want[i]);
    }
    f = fopen(path, "wb");
    fwrite(bytes, 1, 63, f);
    fclose(f);
    assert_string_equal(resumed(&p, path, 7), foreign);
    trainee_free(&p);
}

/* ---- what is written of it --------------------------------------------------------------------------------- */

static struct training_point invented[] = {
    { 1, 16, 0.32, 10 / 60.0, 0.05, 2.5, NAN }, { 2, 32, 0.64, 13 / 60.0, 0.1, 1.75, NAN }, { 3, 48, 0.96, 18 / 60.0, 0.1, 1.25, 0.625 },
    { 4, 64, 1.28, 23 / 60.0, 0.1, 1.125, 0.875 },
};

static void a_log_by_hand(void **state)
{
    struct trainee p;
    struct err err;
    char *got, *line = NULL;
    size_t room = 0;
    (void)state;
    trainee_make(&p, (struct texts){ .n = 0 });
    p.t.startup_s = 7, p.t.step_s = 3, p.t.evaluation_s = 2;
    struct training runs[] = { { .seed = 3, .points = invented, .n = 1, .reached = false }, { .seed = 4, .points = invented, .n = 4, .reached = true } };
    assert_true(training_log_write(arena_printf(&p.a, "%s/log", top), &p.t, runs, 2, &p.a, &err));
    FILE *in = fopen(arena_printf(&p.a, "%s/log/result_1.txt", top), "r"), *f = text_stream(&got, &room);
    for (size_t n = 0; getline(&line, &n, in) != -1; ) {
        assert_int_equal(strncmp(line, ":::MLLOG ", 9), 0);
        json_t *o = json_loads(line + 9, 0, NULL), *value = json_object_get(o, "value");
        char *metadata = json_dumps(json_object_get(o, "metadata"), JSON_SORT_KEYS | JSON_REAL_PRECISION(6)), *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        fprintf(f, "%lld %s %s %s\n", json_integer_value(json_object_get(o, "time_ms")) - 1640995200000 - 86400000, json_string_value(json_object_get(o, "key")), text, metadata);
        free(metadata);
        free(text);
        json_decref(o);
    }
    fclose(f);
    fclose(in);
    free(line);
    assert_golden(got, "tests/golden/training_log.txt", &p.a);
    free(got);
    trainee_free(&p);
}

/* Both of two runs reach the target, or one of them. All points are in JSON and in the file of points. A norm below 1 is a limit, too. */
static void tables_of_two_by_hand(void **state)
{
    struct trainee p;
    char *both, *one, *json, *points;
    struct err err;
    (void)state;
    trainee_make(&p, (struct texts){ .n = 0 });
    p.t.step_s = 0.003, p.t.evaluation_s = 0.5, p.t.target = 0.6, p.t.rates.values.clip_norm = 0.5;
    struct training runs[] = { { .seed = 3, .points = invented, .n = 4, .reached = true, .samples = 64, .minutes = 0.5, .quality = 0.875 },
                               { .seed = 4, .points = invented, .n = 3, .reached = true, .samples = 48, .minutes = 0.25, .quality = 0.625 },
                               { .seed = 5, .points = invented, .n = 1, .samples = 16, .minutes = 0.125, .quality = 0.125 } };
    struct document d = { .arena = &p.a }, e = { .arena = &p.a }, g = { .arena = &p.a };
    trainings_document(&d, &p.t, runs, 2), trainings_document(&e, &p.t, runs + 1, 2), trainings_document(&g, &p.t, runs, 2);
    PRINTED(both, document_write(f, FORMAT_TEXT, &d));
    PRINTED(one, document_write(f, FORMAT_TEXT, &e));
    PRINTED(json, document_write(f, FORMAT_JSON, &g));
    assert_non_null(strstr(both, "samples to the target: 48 to 64, median 56, mean 56 +- 11.3 (2 of 2 runs)\n"));
    assert_non_null(strstr(one, "samples to the target: 48 to 48, median 48, mean 48 +- 0 (1 of 2 runs)\n"));
    assert_non_null(strstr(one, "gradients are not clipped"));
    assert_null(strstr(one, "minutes are without evaluations"));
    json_t *o = json_loads(json, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(o, "points")), 7);
    json_decref(o);
    assert_true(training_points_csv(arena_printf(&p.a, "%s/points.csv", top), runs, 2, &err));
    assert_true(read_text_file(&points, NULL, arena_printf(&p.a, "%s/points.csv", top), 1 << 20, &p.a, &err));
    size_t n_lines = 0;
    for (const char *at = points; (at = strchr(at, '\n')); at++)
        n_lines++;
    assert_int_equal(n_lines, 1 + 7);
    free(both), free(one), free(json);
    trainee_free(&p);
}

/* Three of four reach the target: after 64, 48 and 50 samples, so the mean is 54, and the deviation the root of (10^2 + 6^2 + 4^2) / 2. */
static void tables_by_hand(void **state)
{
    struct trainee p;
    char *one, *four, *csv, *aimless, *aimless_four;
    (void)state;
    trainee_make(&p, (struct texts){ .n = 0 });
    p.t.step_s = 0.003, p.t.evaluation_s = 2, p.t.target = 0.6;
    struct training runs[] = { { .seed = 3, .points = invented, .n = 4, .reached = true, .n_skipped = 2, .samples = 64, .minutes = 0.5, .quality = 0.875 },
                               { .seed = 4, .points = invented, .n = 3, .reached = true, .samples = 48, .minutes = 0.25, .quality = 0.625 },
                               { .seed = 5, .points = invented, .n = 1, .samples = 16, .minutes = 0.125, .quality = 0.125, .n_skipped = 1 },
                               { .seed = 6, .points = invented, .n = 3, .reached = true, .samples = 50, .minutes = 0.375, .quality = 0.75 } };
    struct document d = { .arena = &p.a }, e = { .arena = &p.a }, g = { .arena = &p.a }, h = { .arena = &p.a }, k = { .arena = &p.a };
    trainings_document(&d, &p.t, runs, 1);
    PRINTED(one, document_write(f, FORMAT_TEXT, &d));
    trainings_document(&e, &p.t, runs, 4);
    PRINTED(four, document_write(f, FORMAT_TEXT, &e));
    p.t.evaluation_s = 0, p.t.target = 0;               /* nothing is said of a target that there is not */
    trainings_document(&g, &p.t, runs, 1);
    PRINTED(csv, document_write(f, FORMAT_CSV, &g));
    trainings_document(&h, &p.t, runs, 1);
    PRINTED(aimless, document_write(f, FORMAT_TEXT, &h));
    trainings_document(&k, &p.t, runs, 4);
    PRINTED(aimless_four, document_write(f, FORMAT_TEXT, &k));
    char *text = arena_printf(&p.a, "%s----\n%s----\n%s----\n%s----\n%s", one, four, csv, aimless, aimless_four);
    for (char *at; (at = strstr(text, top)); )
        memmove(at, at + strlen(top), strlen(at + strlen(top)) + 1);
    assert_golden(text, "tests/golden/trainings.txt", &p.a);
    free(one);
    free(four);
    free(csv);
    free(aimless);
    free(aimless_four);
    trainee_free(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_setup_by_hand), cmocka_unit_test(points_by_hand), cmocka_unit_test(first_weights_guess), cmocka_unit_test(a_target_ends_it),
    cmocka_unit_test(a_batch_is_cut_in_any_way), cmocka_unit_test(a_checkpoint_goes_on), cmocka_unit_test(a_bad_checkpoint_is_refused),
    cmocka_unit_test(each_item_is_judged), cmocka_unit_test(words_are_read), cmocka_unit_test(a_log_by_hand), cmocka_unit_test(tables_by_hand),
    cmocka_unit_test(tables_of_two_by_hand),
};

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("training", tests, made, tear_down);
}
