/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data for training: the order of items, text in packs computed by hand, NPY files read and refused. */
#include "tests/test_folder.h"
#include "workloads/data/data_internal.h"
#include "workloads/models/builders.h"
#include <sys/stat.h>
#include <zlib.h>

static const struct bert_config words_bert = { .n_layers = 1, .hidden = 4, .heads = 2, .inner = 4, .vocabulary = 24, .positions = 20 };
static const struct rnnt_config words_rnnt = { .features = 2, .encoder_hidden = 2, .encoder_first = 1, .encoder_second = 1, .time_stack = 2,
                                               .predictor_hidden = 2, .predictor_layers = 1, .joint_hidden = 2, .labels = 3 };

static void make_graph(struct graph *g, const struct workload *w, struct model_options o, struct arena *a)
{
    struct err err = { "" };
    o.where = "a test";
    assert_true(workload_graph(g, w, &o, a, &err));
}

static uint32_t named(const struct graph *g, const char *name, const char *layer)
{
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (text_is(g->tensors[i].name, name) && (!layer || text_is(g->layers[g->tensors[i].layer_id].name, layer)))
            return i;
    return NO_ID;
}

static const char *in_folder(const char *name)
{
    static char path[128];
    mkdir(top, 0700);
    snprintf(path, sizeof path, "%s/%s", top, name);
    return path;
}

static void write_bytes(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(in_folder(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* ---- order ------------------------------------------------------------------------------------------- */

static void an_epoch_has_every_item_once(void **state)
{
    static const uint64_t sizes[] = { 1, 2, 3, 7, 64, 1000 };
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint64_t key = 0; key < 3; key++) {
            bool seen[1000] = { false };
            uint64_t n_in_place = 0;
            for (uint64_t i = 0; i < sizes[s]; i++) {
                uint64_t at = shuffled(i, sizes[s], key);
                assert_true(at < sizes[s] && !seen[at]);
                seen[at] = true;
                n_in_place += at == i;
            }
            assert_true(sizes[s] < 1000 || n_in_place < 10);
        }
    assert_true(shuffled(5, 1000, 1) != shuffled(5, 1000, 2) || shuffled(6, 1000, 1) != shuffled(6, 1000, 2));
}

/* ---- text -------------------------------------------------------------------------------------------- */

/* Twenty passages, of which the last is evaluated on. Words of those before, from row 5 on: the 37 times, sea 36, and 19, earth and heaven once;
 * "z\303\200" is in the last passage alone, so that it is unknown. */
static void open_packs_of(uint32_t sequences, struct dataset **d, struct graph *g, struct arena *a)
{
    static const struct workload w = { .name = "bert", .build = bert_build, .config = &words_bert, .default_sequence_length = 16 };
    struct err err = { "" };
    FILE *f = fopen(in_folder("text"), "w");
    fprintf(f, "Heaven and the earth\nshort one\n");
    for (int i = 0; i < 18; i++)
        fprintf(f, "The sea AND the sea\n");
    fprintf(f, "the z\303\200 and the sea\n");
    fclose(f);
    make_graph(g, &w, (struct model_options){ .micro_batch = 1, .sequences_per_pack = sequences }, a);
    struct data_request q = { g, "a test", in_folder("text"), sequences };
    if (!dataset_open(d, &q, a, &err))
        fprintf(stderr, "%s\n", err.msg);
    assert_string_equal(err.msg, "");
}

static void open_text(struct dataset **d, struct graph *g, struct arena *a) { open_packs_of(2, d, g, a); }

static void fill_one(float *to, const struct dataset *d, const struct graph *g, const char *name, const char *layer, enum data_part part, uint64_t item)
{
    dataset_fill(d, to, named(g, name, layer), part, &item, 1);
}

static void text_is_packed(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct dataset *d;
    float tokens[16], positions[16], types[16], numbers[16], starts[2], next[2], mask[256], masked[3], labels[3];
    (void)state;
    open_text(&d, &g, &a);
    /* 7 tokens and 8 fit into 16, two of 8 too: nineteen passages in ten packs */
    assert_int_equal(dataset_items(d, DATA_TRAIN), 10);
    assert_int_equal(dataset_items(d, DATA_EVAL), 1);
    assert_near(dataset_samples_per_item(d), 1.9, 1e-12);
    const char *line = strstr(dataset_line(d, &a), ": ");           /* a word of the last is unknown, 1 of 99 */
    assert_string_equal(line, ": 19 passages in 10 packs to train on (1.9 a pack), 1 in 1 to evaluate on; 99.0 % of the words are in the vocabulary");
    fill_one(tokens, d, &g, "tokens", NULL, DATA_TRAIN, 0), fill_one(positions, d, &g, "positions", NULL, DATA_TRAIN, 0);
    fill_one(types, d, &g, "types", NULL, DATA_TRAIN, 0), fill_one(numbers, d, &g, "sequence-numbers", NULL, DATA_TRAIN, 0);
    fill_one(starts, d, &g, "sequence-starts", NULL, DATA_TRAIN, 0), fill_one(next, d, &g, "labels", "nsp-head", DATA_TRAIN, 0);
    fill_one(mask, d, &g, "mask", NULL, DATA_TRAIN, 0);
    fill_one(masked, d, &g, "masked-positions", NULL, DATA_TRAIN, 0), fill_one(labels, d, &g, "labels", "mlm-head", DATA_TRAIN, 0);
    static const float first[] = { 2, 9, 7, 3 };       /* start, heaven, and, end; earth is before heaven by the alphabet */
    for (int i = 0; i < 4; i++) {
        bool is_masked = false;
        for (int k = 0; k < 3; k++)
            if (masked[k] == (float)i && labels[k] >= 0) {
                is_masked = true;
                assert_near(labels[k], i == 1 ? 9 : 7, 0);
            }
        if (!is_masked)
            assert_near(tokens[i], first[i], 0);
        assert_true(types[i] == 0 && positions[i] == (float)i && numbers[i] == 1);
    }
    assert_near(tokens[6], 3, 0);
    assert_near(types[5], 1, 0);
    assert_true(starts[0] == 0 && starts[1] == 7 && tokens[7] == 2 && positions[7] == 0 && numbers[8] == 2);
    assert_true((next[0] == 0 || next[0] == 1) && (next[1] == 0 || next[1] == 1));
    assert_near(mask[3 * 16 + 6], 0, 0);
    assert_near(mask[3 * 16 + 7], -10000, 0);
    /* a whole pack's last pack of one passage: the other place is empty */
    fill_one(next, d, &g, "labels", "nsp-head", DATA_TRAIN, 9);
    assert_near(next[1], -1, 0);
    uint64_t last = 0, n_unknown = 0;
    dataset_fill(d, tokens, named(&g, "tokens", NULL), DATA_EVAL, &last, 1);
    for (int i = 0; i < 16; i++)
        n_unknown += tokens[i] == 1;
    assert_int_equal(n_unknown, 1);     /* it is never to be predicted */
    arena_free(&a);
}

/* A third sample has a place, and no room: 7 and 8 tokens of 16 are taken. */
static void packs_are_as_long_as_a_row(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct dataset *d;
    (void)state;
    open_packs_of(3, &d, &g, &a);
    assert_int_equal(dataset_items(d, DATA_TRAIN), 10);
    arena_free(&a);
}

/* Without packs a passage fills a row, and what is behind it is masked. */
static void one_passage_fills_a_row(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct dataset *d;
    float mask[16];
    (void)state;
    open_packs_of(0, &d, &g, &a);
    assert_int_equal(dataset_items(d, DATA_TRAIN), 19);
    fill_one(mask, d, &g, "mask", NULL, DATA_TRAIN, 0);
    assert_true(mask[0] == 0 && mask[6] == 0 && mask[7] == -10000 && mask[15] == -10000);
    arena_free(&a);
}

/* This file is a text, too, though the recipe is elsewhere: its lines are cut to rows of the shortest length, and its words to the least vocabulary. */
static void long_texts_are_cut(void **state)
{
    static const struct bert_config small = { .n_layers = 1, .hidden = 4, .heads = 2, .inner = 4, .vocabulary = 16, .positions = 20 };
    static const struct workload w = { .name = "bert", .build = bert_build, .config = &small, .default_sequence_length = 8 };
    struct arena a = { 0 };
    struct err err = { "" };
    struct graph g;
    struct dataset *d;
    float tokens[8], positions[8], most = 0, ends = 0;
    (void)state;
    make_graph(&g, &w, (struct model_options){ .micro_batch = 1 }, &a);
    struct data_request q = { &g, in_folder("r.ini"), "tests/data/t_data.c", 1 };
    assert_true(dataset_open(&d, &q, &a, &err));
    for (uint64_t item = 0; item < dataset_items(d, DATA_TRAIN); item++) {
        fill_one(tokens, d, &g, "tokens", NULL, DATA_TRAIN, item), fill_one(positions, d, &g, "positions", NULL, DATA_TRAIN, item);
        for (int i = 0; i < 8; i++)
            most = fmaxf(most, tokens[i]), ends += i == 7 && positions[7] == 7 && tokens[7] == 3;
    }
    assert_near(most, 15, 0);
    assert_true(ends > 20);
    arena_free(&a);
}

/* A second half of the first passage ends with its last word, earth. A word in the place of another is one of the vocabulary. */
static void halves_end_with_their_passage(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct dataset *d;
    float tokens[16], types[16], labels[3], masked[3];
    size_t n_earths = 0, n_others = 0;
    (void)state;
    open_text(&d, &g, &a);
    for (uint64_t key = 0; key < 400; key++)
        for (uint64_t item = 1; item < 9; item++) {
            dataset_fill(d, tokens, named(&g, "tokens", NULL), DATA_TRAIN, &item, key);
            dataset_fill(d, types, named(&g, "types", NULL), DATA_TRAIN, &item, key);
            dataset_fill(d, labels, named(&g, "labels", "mlm-head"), DATA_TRAIN, &item, key);
            dataset_fill(d, masked, named(&g, "masked-positions", NULL), DATA_TRAIN, &item, key);
            for (int i = 0; i < 15; i++)
                if (tokens[i] == 8 && types[i] == 1 && tokens[i - 1] == 5 && masked[0] != (float)i && masked[1] != (float)i && masked[2] != (float)i) {
                    n_earths++;
                    assert_near(tokens[i + 1], 3, 0);
                }
            for (int k = 0; k < 3; k++)
                if (labels[k] >= 0 && tokens[(int)masked[k]] != 4 && tokens[(int)masked[k]] != labels[k]) {
                    n_others++;
                    assert_true(tokens[(int)masked[k]] >= 5);
                }
        }
    assert_true(n_earths > 20 && n_others > 20);
    arena_free(&a);
}

/* Over many keys: 15 % of the known words, and half of the second halves are another's. */
static void words_are_hidden_at_random(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct dataset *d;
    double n_labels = 0, n_hidden = 0, n_next = 0, n_samples = 0;
    (void)state;
    open_text(&d, &g, &a);
    for (uint64_t key = 0; key < 400; key++)
        for (uint64_t item = 1; item < 9; item++) {
            float labels[3], masked[3], tokens[16], next[2];
            dataset_fill(d, labels, named(&g, "labels", "mlm-head"), DATA_TRAIN, &item, key);
            dataset_fill(d, masked, named(&g, "masked-positions", NULL), DATA_TRAIN, &item, key);
            dataset_fill(d, tokens, named(&g, "tokens", NULL), DATA_TRAIN, &item, key);
            dataset_fill(d, next, named(&g, "labels", "nsp-head"), DATA_TRAIN, &item, key);
            for (int k = 0; k < 3; k++) {
                n_labels += labels[k] >= 0;
                n_hidden += labels[k] >= 0 && tokens[(int)masked[k]] == 4;
                assert_true(labels[k] == -1 || labels[k] >= 5);
            }
            n_next += (double)next[0] + (double)next[1], n_samples += 2;
        }
    assert_near(n_labels / n_samples / 5, 0.15, 0.01);      /* three places take nearly all of 10 words' 15 % */
    assert_near(n_hidden / n_labels, 0.8, 0.03);
    assert_near(n_next / n_samples, 0.5, 0.03);
    arena_free(&a);
}

/* A digest of all that is drawn: a training of today can be repeated. */
static void draws_stay(void **state)
{
    static const struct { const char *name, *layer; size_t n; } inputs[] = {
        { "tokens", NULL, 16 }, { "positions", NULL, 16 }, { "types", NULL, 16 }, { "sequence-numbers", NULL, 16 }, { "sequence-starts", NULL, 2 },
        { "labels", "nsp-head", 2 }, { "mask", NULL, 256 }, { "masked-positions", NULL, 3 }, { "labels", "mlm-head", 3 },
    };
    struct arena a = { 0 };
    struct graph g;
    struct dataset *d;
    float x[256];
    uint64_t digest = 0, order = 0;
    (void)state;
    open_text(&d, &g, &a);
    for (uint64_t key = 0; key < 40; key++)
        for (uint64_t item = 0; item < 10; item++)
            for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
                dataset_fill(d, x, named(&g, inputs[i].name, inputs[i].layer), DATA_TRAIN, &item, key);
                digest = hash_bytes(x, inputs[i].n * sizeof *x, digest);
            }
    for (uint64_t i = 0; i < 100; i++)
        order = hash_bytes((uint64_t[]){ shuffled(i, 100, 7) }, sizeof order, order);
    assert_int_equal(digest, UINT64_C(0xcc2bd10f27c03e6e));
    assert_int_equal(order, UINT64_C(0xaa2be6bf830fc4ad));
    arena_free(&a);
}

/* ---- IDX ----------------------------------------------------------------------------------------------- */

static bool read_idx(struct data_rows *r, struct arena *a, struct err *err)
{
    char path[128];
    struct data_source s = { NULL, a, err };
    snprintf(path, sizeof path, "%s", in_folder("x"));
    return rows_read_idx(r, path, &s);
}

static void images_are_read_or_refused(void **state)
{
    static const struct { uint8_t bytes[28]; size_t n; const char *says; } cases[] = {
        { { 1, 0, 8, 1, 0, 0, 0, 1, 5 }, 9, "does not begin as an IDX file" }, { { 0, 1, 8, 1, 0, 0, 0, 1, 5 }, 9, "does not begin as an IDX file" },
        { { 0, 0, 8 }, 3, "does not begin as an IDX file" }, { { 0, 0, 9, 1, 0, 0, 0, 1, 5 }, 9, "has elements of type 9 in 1 dimensions" },
        { { 0, 0, 8, 0, 5 }, 5, "has elements of type 8 in 0 dimensions" }, { { 0, 0, 8, 5 }, 28, "has elements of type 8 in 5 dimensions" },
        { { 0, 0, 8, 2, 0, 0, 0, 1, 0, 0 }, 10, "ends within its dimensions" }, { { 0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 1 }, 12, "has a dimension of 0" },
        { { 0, 0, 8, 2, 0x40, 0, 0, 0, 0, 0, 0, 2 }, 12, "or more than 2147483647 bytes" },
        { { 0, 0, 8, 1, 0x7f, 0xff, 0xff, 0xff, 5 }, 9, "it promises 2147483647 bytes, and has fewer" },
        { { 0, 0, 8, 1, 1, 0, 0, 0, 5 }, 9, "it promises 16777216 bytes, and has fewer" }, { { 0, 0, 8, 1, 0, 1, 0, 0, 5 }, 9, "it promises 65536 bytes, and has fewer" },
        { { 0, 0, 8, 1, 0, 0, 0, 3, 5, 6 }, 10, "it promises 3 bytes, and has fewer" }, { { 0, 0, 8, 1, 0, 0, 0, 3, 5, 6, 7, 8 }, 12, "it promises 3 bytes, and has more" },
    };
    static const uint8_t images[] = { 0, 0, 8, 4, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 9, 8, 7, 6 };
    struct arena a = { 0 };
    struct err err = { "" };
    struct data_rows r;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes("x", cases[i].bytes, cases[i].n);
        assert_false(read_idx(&r, &a, &err));
        assert_non_null(strstr(err.msg, cases[i].says));
    }
    write_bytes("x", images, sizeof images);
    assert_true(read_idx(&r, &a, &err));
    assert_true(r.n == 2 && r.row_elements == 2 && r.n_dims == 4 && r.dims[2] == 2 && r.bytes[0] == 9 && r.bytes[3] == 6);
    arena_free(&a);
}

/* 70,000 bytes, whose number takes three bytes; then with the last byte of the number changed, and with a check sum that is wrong. */
static void archives_are_unpacked_or_refused(void **state)
{
    static uint8_t bytes[8 + 70000] = { 0, 0, 8, 1, 0, 1, 0x11, 0x70, 5 };
    struct arena a = { 0 };
    struct err err = { "" };
    struct data_rows r;
    uint8_t packed[1000];
    (void)state;
    unlink(in_folder("x"));
    gzFile f = gzopen(in_folder("x.gz"), "wb");
    assert_int_equal(gzwrite(f, bytes, sizeof bytes), sizeof bytes);
    gzclose(f);
    assert_true(read_idx(&r, &a, &err));
    assert_true(r.n == 70000 && r.row_elements == 1 && r.bytes[0] == 5 && r.bytes[69999] == 0);
    FILE *in = fopen(in_folder("x.gz"), "rb");
    size_t n = fread(packed, 1, sizeof packed, in);
    fclose(in);
    packed[n - 1] = 1;
    write_bytes("x.gz", packed, n);
    assert_false(read_idx(&r, &a, &err));
    assert_non_null(strstr(err.msg, "it promises 70000 bytes, and has more"));
    packed[n - 1] = 0, packed[n - 5] ^= 1;
    write_bytes("x.gz", packed, n);
    assert_false(read_idx(&r, &a, &err));
    assert_non_null(strstr(err.msg, "and has an archive that cannot be unpacked to its end"));
    arena_free(&a);
}

/* ---- NPY ----------------------------------------------------------------------------------------------- */

static size_t npy(uint8_t *to, const char *descr, const char *shape, const void *x, size_t n_bytes)
{
    char header[128];
    int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", descr, shape);
    memcpy(to, "\x93NUMPY\x01\x00", 8);
    to[8] = (uint8_t)n, to[9] = 0;
    memcpy(to + 10, header, (size_t)n);
    memcpy(to + 10 + n, x, n_bytes);
    return (size_t)n + 10 + n_bytes;
}

static void write_npy(const char *name, const char *descr, const char *shape, const void *x, size_t n_bytes)
{
    uint8_t bytes[1024];
    write_bytes(name, bytes, npy(bytes, descr, shape, x, n_bytes));
}

static bool open_speech(struct dataset **d, struct graph *g, struct arena *a, struct err *err)
{
    static const struct workload w = { .name = "rnnt", .build = rnnt_build, .config = &words_rnnt, .default_sequence_length = 4 };
    make_graph(g, &w, (struct model_options){ .micro_batch = 2, .labels_per_sample = 2 }, a);
    struct data_request q = { g, "a test", top, 1 };
    return dataset_open(d, &q, a, err);
}

/* Features of 3 items in `x`, 0 to 23, and labels of classes 0 to 2, are written for training; their first two items for evaluation. */
struct speech { struct arena a; struct err err; struct graph g; struct dataset *d; float x[24]; int32_t labels[6]; };

static void write_speech(struct speech *s)
{
    *s = (struct speech){ .labels = { 0, 1, 2, 0, 1, 1 } };
    for (int i = 0; i < 24; i++)
        s->x[i] = (float)i;
    write_npy("train-features.npy", "<f4", "3, 4, 2", s->x, sizeof s->x), write_npy("train-labels.npy", "<i4", "3, 2", s->labels, sizeof s->labels);
    write_npy("eval-features.npy", "<f4", "2, 4, 2", s->x, 64), write_npy("eval-labels.npy", "<i4", "2, 2", s->labels, 16);
}

static void speech_is_refused(struct speech *s, const char *says)
{
    assert_false(open_speech(&s->d, &s->g, &s->a, &s->err));
    assert_non_null(strstr(s->err.msg, says));
}

static void speech_is_read(void **state)
{
    struct speech s;
    (void)state;
    write_speech(&s);
    assert_true(open_speech(&s.d, &s.g, &s.a, &s.err));
    uint64_t items[2] = { 2, 1 };
    float got[16], previous[6], again[16];
    dataset_fill(s.d, got, named(&s.g, "features", NULL), DATA_TRAIN, items, 0);
    dataset_fill(s.d, previous, named(&s.g, "previous-labels", NULL), DATA_TRAIN, items, 0);
    assert_true(got[0] == 16 && got[15] == 15);
    static const float want[6] = { 0, 1, 1, 0, 2, 0 };         /* the start, then the labels */
    for (int i = 0; i < 6; i++)
        assert_near(previous[i], want[i], 0);
    /* version 2 of the format has four bytes for the header's length */
    uint8_t one[1024], two[1024];
    size_t n_bytes = npy(one, "<f4", "3, 4, 2", s.x, sizeof s.x);
    memcpy(two, "\x93NUMPY\x02\x00", 8), memcpy(two + 8, (uint8_t[4]){ one[8] }, 4), memcpy(two + 12, one + 10, n_bytes - 10);
    write_bytes("train-features.npy", two, n_bytes + 2);
    assert_true(open_speech(&s.d, &s.g, &s.a, &s.err));
    dataset_fill(s.d, again, named(&s.g, "features", NULL), DATA_TRAIN, items, 0);
    assert_memory_equal(again, got, sizeof got);
    write_npy("train-features.npy", "<f4", "3, 4, 2, 1", s.x, sizeof s.x), write_npy("train-labels.npy", "<i4", "3, 2", (int32_t[6]){ 0 }, sizeof s.labels);
    assert_true(open_speech(&s.d, &s.g, &s.a, &s.err));
    arena_free(&s.a);
}

static void wrong_labels_and_numbers_are_refused(void **state)
{
    struct speech s;
    (void)state;
    write_speech(&s);
    s.labels[3] = 3;
    write_npy("train-labels.npy", "<i4", "3, 2", s.labels, sizeof s.labels);
    speech_is_refused(&s, "train-labels.npy: label 3 is 3, and the model has the classes 0 to 2; take data with these classes");
    write_npy("train-labels.npy", "<i4", "2, 2", s.labels, 16);
    speech_is_refused(&s, "train-labels.npy: has labels of 2 items, and ");
    write_npy("train-labels.npy", "<i8", "3, 2", s.labels, sizeof s.labels);
    speech_is_refused(&s, "train-labels.npy: is neither of float32 nor of int32");
    write_npy("train-labels.npy", "<i4", "3, 2", (int32_t[6]){ 3 }, sizeof s.labels);
    speech_is_refused(&s, "train-labels.npy: label 0 is 3, and");
    write_npy("train-labels.npy", "<i4", "3, 2", (int32_t[6]){ 0 }, sizeof s.labels);
    s.x[0] = NAN;
    write_npy("train-features.npy", "<f4", "3, 4, 2", s.x, sizeof s.x);
    speech_is_refused(&s, "train-features.npy: element 0 is no finite number");
    s.x[0] = 0, s.x[7] = NAN;
    write_npy("train-features.npy", "<f4", "3, 4, 2", s.x, sizeof s.x);
    speech_is_refused(&s, "train-features.npy: element 7 is no finite number; compute the features again");
    arena_free(&s.a);
}

static void torn_and_misshapen_features_are_refused(void **state)
{
    static const float zeros[36];
    static const struct { const char *shape; size_t n_bytes; const char *says; } shapes[] = {
        { "", 16, "holds one number, and no rows" }, { "3, x", 16, "its shape must have 1 to" }, { "3, 0", 16, "its shape must have 1 to" },
        { "1, 1, 1, 1, 1, 1, 1, 1, 1", 16, "its shape must have 1 to" }, { "4, 65536, 65537", 16, "is torn" }, { "1152921504606846977, 2, 2", 16, "is torn" },
        { "3, 8", 96, "an item has 8 elements, and the input features of rnnt wants 4 x 2" },
        { "3, 4, 3", 144, "an item has 4 x 3 elements, and the input features of rnnt wants 4 x 2" },
        { "3, 4, 2", 92, "train-features.npy: is torn: its shape is not that of the 92 bytes that follow; write it again" },
    };
    struct speech s;
    (void)state;
    write_speech(&s);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        write_npy("train-features.npy", "<f4", shapes[i].shape, zeros, shapes[i].n_bytes);
        speech_is_refused(&s, shapes[i].says);
    }
    write_bytes("train-features.npy", "\x93NUMPY\x01\x00\xff\xff{", 11);
    speech_is_refused(&s, "ends within its header");
    for (uint8_t i = 0; i < 4; i++) {
        uint8_t one[1024];
        size_t n_bytes = npy(one, "<f4", "3, 4, 2", s.x, sizeof s.x);
        one[i < 2 ? 6 : 5] = i == 0 ? 0 : 3;
        write_bytes("train-features.npy", one, i == 3 ? 9 : n_bytes);
        speech_is_refused(&s, "does not begin as a file of numpy.save");
    }
    unlink(in_folder("train-features.npy"));
    speech_is_refused(&s, "train-features.npy: is not there; 'make build/data/digits' speaks and writes such files");
    arena_free(&s.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_epoch_has_every_item_once), cmocka_unit_test(text_is_packed),
                                        cmocka_unit_test(packs_are_as_long_as_a_row),
    cmocka_unit_test(one_passage_fills_a_row), cmocka_unit_test(long_texts_are_cut), cmocka_unit_test(draws_stay), cmocka_unit_test(images_are_read_or_refused), cmocka_unit_test(archives_are_unpacked_or_refused),
    cmocka_unit_test(halves_end_with_their_passage), cmocka_unit_test(words_are_hidden_at_random), cmocka_unit_test(speech_is_read),
                                        cmocka_unit_test(wrong_labels_and_numbers_are_refused), cmocka_unit_test(torn_and_misshapen_features_are_refused) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
