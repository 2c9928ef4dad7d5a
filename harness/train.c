/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.c - podbench train: trains a recipe's model on data, by the plan that was timed, and says how long the machine would take.
 */
#include "harness/harness.h"
#include "results/train/train.h"
#include "system-model/execute/product.h"
#include <unistd.h>

/* ---- what is asked for ---------------------------------------------------------------------------- */

/* The last step of a training that states no end: where the learning rate stops falling, or after ten epochs. */
static uint64_t longest(const struct training_setup *t)
{
    double decay = t->rates.decay_steps > 0 ? t->rates.warmup_steps + t->rates.decay_steps : 0;
    return decay > 0 ? (uint64_t)decay : ceil_div(10 * dataset_items(t->data, DATA_TRAIN), t->items_per_step);
}

static bool read_end(struct training_request *q, const struct training_setup *t, const struct options *o, struct err *err)
{
    uint64_t samples;
    q->until_target = !o->until || text_is(o->until, "target");
    q->last_step = longest(t);
    if (q->until_target)
        return !o->until || t->target > 0 || fail(err, "--until target: %s has no training.target", t->sim->recipe.path);
    if (!parse_u64(o->until, &samples) || samples == 0)
        return fail(err, "--until: '%.60s' is neither target nor a number of samples above 0", o->until);
    q->last_step = (uint64_t)((double)samples / t->samples_per_item / (double)t->items_per_step + 0.999999);
    return true;
}

static bool try_output(const char *path, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    new_file_drop(&file);
    return true;
}

/* Tries to write a log, and removes the folder again if it is empty. */
static bool try_logs(const char *folder, struct arena *a, struct err *err)
{
    bool good = make_folders(folder, err) && try_output(arena_printf(a, "%s/result_0.txt", folder), err);
    rmdir(folder);
    return good;
}

/* Tries all outputs before the training, which may take long. */
static bool check_outputs(const struct options *o, struct arena *a, struct err *err)
{
    return (!o->checkpoint || (may_replace(o->checkpoint, "podbench-train1", "a checkpoint", err) && try_output(o->checkpoint, err)))
        && (!o->plot || (may_replace(o->plot, "<?xml", "a picture", err) && try_output(o->plot, err)))
        && (!o->mllog || try_logs(o->mllog, a, err));
}

static bool check_train_options(const struct options *o, struct arena *a, struct err *err)
{
    if (o->resume && !o->checkpoint)
        return fail(err, "--resume: name the file by --checkpoint");
    if (o->checkpoint && o->seeds > 1)
        return fail(err, "--checkpoint: holds one training; leave out --seeds");
    return check_outputs(o, a, err);
}

/* ---- trainings, one thread each if there are several --------------------------------------------------- */

struct job { const struct training_setup *t; const struct training_request *q; struct training *runs; struct arena *arenas; struct err *errs; };

static void train_one(void *user, size_t i, uint32_t worker)
{
    (void)worker;
    struct job *j = user;
    struct training_request q = *j->q;
    q.seed += i;
    training_run(&j->runs[i], j->t, &q, &j->arenas[i], &j->errs[i]);
}

static void tell(void *progress, const char *text) { progress_tell(progress, text); }

static bool train_all(struct training **runs, uint64_t n, const struct training_setup *t, const struct training_request *q, uint32_t n_threads, struct arena *a,
                      struct arena **arenas, struct err *err)
{
    struct job j = { t, q, ARENA_ARRAY(a, struct training, n), ARENA_ARRAY(a, struct arena, n), ARENA_ARRAY(a, struct err, n) };
    work_in_pieces(train_one, &j, n, n > 1 ? n_threads : 1);
    *runs = j.runs, *arenas = j.arenas;
    for (uint64_t i = 0; i < n; i++)
        if (*j.errs[i].msg)
            return fail(err, "%s", j.errs[i].msg);
    return true;
}

/* ---- the figure ------------------------------------------------------------------------------------------- */

static bool draw_training(const char *picture, const struct training_setup *t, const struct training *runs, uint64_t n, struct session *s, struct err *err)
{
    struct arena *a = &s->arena;
    const char *data = arena_printf(a, "%s.csv", picture);
    const char *title = arena_printf(a, "%s on %s, %ju run%s", t->sim->plan.graph->name, t->result->system, (uintmax_t)n, plural(n));
    const char *settings = arena_printf(a, "data=%s; finding=%s; style=%s; quality=%s; target=%.17g; runs=%ju; first=%ju", gnuplot_string(data, a),
                                        gnuplot_string(title, a), gnuplot_string(arena_printf(a, "%s/style.gp", s->plots_dir), a),
                                        gnuplot_string(t->quality.name, a), t->target, (uintmax_t)n, (uintmax_t)runs->seed);
    return training_points_csv(data, runs, n, err)
        && gnuplot_draw(picture, arena_printf(a, "%s/single/train.gp", s->plots_dir), settings, ".", err);
}

/* ---- the command ---------------------------------------------------------------------------------------------- */

static bool train(struct training **runs, uint64_t n, const struct training_setup *t, const struct options *o, struct arena **arenas, struct session *s,
                  struct err *err)
{
    struct progress p;
    uint32_t n_threads;
    struct training_request q = { .seed = o->seed, .checkpoint = o->checkpoint, .resumes = o->resume, .tell = n == 1 ? tell : NULL, .user = &p };
    if (!check_train_options(o, &s->arena, err) || !read_end(&q, t, o, err) || !count_threads(&n_threads, o, err))
        return false;
    q.n_threads = n == 1 ? n_threads : 1;
    progress_start(&p, s->log, "training");
    bool good = train_all(runs, n, t, &q, n_threads, &s->arena, arenas, err);
    progress_end(&p);
    return good;
}

static bool write_answers(const struct training_setup *t, const struct training *runs, uint64_t n, const struct options *o, struct session *s, struct err *err)
{
    struct document d = { .arena = &s->arena };
    trainings_document(&d, t, runs, n);
    document_write(s->out, o->format, &d);
    return (!o->mllog || training_log_write(o->mllog, t, runs, n, &s->arena, err)) && (!o->plot || draw_training(o->plot, t, runs, n, s, err));
}

int command_train(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct training_setup t;
    struct training *runs = NULL;
    struct arena *arenas = NULL;
    uint64_t n = o->seeds ? o->seeds : 1;
    s->trains = true;
    bool good = simulate_argument(&sim, &r, o, s, err) && training_setup_make(&t, &sim, &r, &s->arena, err) && train(&runs, n, &t, o, &arenas, s, err)
             && write_answers(&t, runs, n, o, s, err);
    bool reached = good;
    for (uint64_t i = 0; i < n && good; i++)
        reached &= runs[i].reached || (o->until && !text_is(o->until, "target")) || t.target <= 0;
    for (uint64_t i = 0; i < n && arenas; i++)
        arena_free(&arenas[i]);
    simulation_free(&sim);
    return !good ? EXIT_BAD_INPUT : reached ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
