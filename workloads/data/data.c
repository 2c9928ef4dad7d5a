/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data.c - what a graph's inputs are filled with: which kind of data it wants, the checks, rows by item.
 */
#include "workloads/data/data_internal.h"
#include <unistd.h>

/* The kinds of input. */
enum data_column { COLUMN_NONE, COLUMN_ROWS, COLUMN_LABELS, COLUMN_PREVIOUS, COLUMN_TOKENS, COLUMN_POSITIONS, COLUMN_TYPES, COLUMN_NUMBERS, COLUMN_MASKED,
              COLUMN_STARTS, COLUMN_NEXT, COLUMN_MASK, N_COLUMNS };
static const char *const column_inputs[N_COLUMNS] = { [COLUMN_LABELS] = "labels", [COLUMN_PREVIOUS] = "previous-labels", [COLUMN_TOKENS] = "tokens",
    [COLUMN_POSITIONS] = "positions", [COLUMN_TYPES] = "types", [COLUMN_NUMBERS] = "sequence-numbers", [COLUMN_MASKED] = "masked-positions",
    [COLUMN_STARTS] = "sequence-starts", [COLUMN_MASK] = "mask" };

struct dataset {
    const struct graph *graph;
    const char *path;
    enum data_column *columns;               /* by tensor */
    struct data_rows x[N_DATA_PARTS], labels[N_DATA_PARTS];      /* rows of images and speech */
    struct text text;                   /* n_passages is 0 if there is no text */
    bool is_image;
};

static double rows_at(const struct data_rows *r, uint64_t item, uint64_t i)
{
    uint64_t at = item * r->row_elements + i;
    return r->bytes ? r->bytes[at] : r->floats ? (double)r->floats[at] : r->counts[at];
}

/* A Feistel network of four rounds over the next even number of bits. A result that is not below n is sent through it again. */
uint64_t shuffled(uint64_t i, uint64_t n, uint64_t key)
{
    uint32_t half = 1;
    while (n >> (2 * half))
        half++;
    uint64_t low = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = i >> half, right = i & low;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t next = left ^ (data_draw(key, round, right) & low);
            left = right, right = next;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

/* ---- what the graph wants ----------------------------------------------------------------------------- */

static uint32_t input_named(const struct graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].role == ROLE_INPUT && text_is(g->tensors[i].name, name))
            return i;
    return NO_ID;
}

/* Labels of the head that predicts whether one sentence follows another are known by the layer's name alone. */
static enum data_column input_column(const struct graph *g, const struct tensor *t, bool is_text)
{
    if (text_is(t->name, "images") || text_is(t->name, "features"))
        return COLUMN_ROWS;
    if (is_text && text_is(t->name, "labels") && text_is(g->layers[t->layer_id].name, "nsp-head"))
        return COLUMN_NEXT;
    for (int c = COLUMN_NONE + 1; c < N_COLUMNS; c++)
        if (text_is(column_inputs[c], t->name))
            return (enum data_column)c;
    return COLUMN_NONE;
}

/* False for the moving averages of batch norms: they are declared, but no operation of training reads them. */
static bool is_read(const struct graph *g, uint32_t id)
{
    for (size_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            if (g->ops[i].inputs[k] == id)
                return true;
    return false;
}

static bool bind_inputs(struct dataset *d, bool is_text, const struct data_source *s)
{
    d->columns = ARENA_ARRAY(s->a, enum data_column, d->graph->n_tensors);
    for (uint32_t i = 0; i < d->graph->n_tensors; i++) {
        const struct tensor *t = &d->graph->tensors[i];
        if ((t->role != ROLE_INPUT && t->role != ROLE_STATE) || !is_read(d->graph, i))
            continue;
        d->columns[i] = input_column(d->graph, t, is_text);
        if (!d->columns[i])
            return fail(s->err, "%s: no data is known for the input %s of %s; podbench trains residual networks, BERT and RNN-T", s->q->where, t->name, d->graph->name);
    }
    return true;
}

static uint64_t width_of(const struct graph *g, uint32_t id) { return tensor_elements(&g->tensors[id]) / g->micro_batch; }

/* ---- rows of images and speech ---------------------------------------------------------------------------- */

static bool check_shape(const struct data_rows *r, const struct graph *g, uint32_t input, const struct data_source *s)
{
    const struct tensor *t = &g->tensors[input];
    bool same = r->row_elements == width_of(g, input);
    for (uint32_t i = 1; i < r->n_dims && i < t->n_dims; i++)
        same &= r->dims[i] == t->dims[i];
    const char *has = "", *wants = "";
    for (uint32_t i = 1; i < r->n_dims; i++)
        has = arena_printf(s->a, "%s%s%ju", has, *has ? " x " : "", (uintmax_t)r->dims[i]);
    for (uint32_t i = 1; i < t->n_dims; i++)
        wants = arena_printf(s->a, "%s%s%ju", wants, *wants ? " x " : "", (uintmax_t)t->dims[i]);
    return same || fail(s->err, "%s: an item has %s elements, and the input %s of %s wants %s; change data.image_size, sequence_length or labels_per_sample, or "
                                "the data", r->path, *has ? has : "1", t->name, g->name, *wants ? wants : "1");
}

/* The number of classes of the loss that reads the labels. The last class of a transducer is the blank, which is no label. */
static uint64_t classes_of(const struct graph *g, uint32_t labels)
{
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        const struct tensor *scores = &g->tensors[op->inputs[0]];
        if (op->n_inputs > 1 && op->inputs[1] == labels && (op->kind == OP_CROSS_ENTROPY || op->kind == OP_TRANSDUCER_LOSS))
            return scores->dims[scores->n_dims - 1] - (op->kind == OP_TRANSDUCER_LOSS);
    }
    return 0;
}

static bool check_labels(const struct data_rows *r, const struct data_rows *x, uint64_t classes, struct err *err)
{
    if (r->n != x->n)
        return fail(err, "%s: has labels of %ju items, and %s has %ju items; they belong to different sets", r->path, (uintmax_t)r->n, x->path, (uintmax_t)x->n);
    for (uint64_t i = 0; i < r->n * r->row_elements; i++) {
        double label = rows_at(r, i / r->row_elements, i % r->row_elements);
        if (!(label >= 0 && label < (double)classes))
            return fail(err, "%s: label %ju is %g, and the model has the classes 0 to %ju; take data with these classes", r->path, (uintmax_t)i, label,
                        (uintmax_t)(classes - 1));
    }
    return true;
}

static bool check_finite(const struct data_rows *r, struct err *err)
{
    for (uint64_t i = 0; r->floats && i < r->n * r->row_elements; i++)
        if (!isfinite(r->floats[i]))
            return fail(err, "%s: element %ju is no finite number; compute the features again", r->path, (uintmax_t)i);
    return true;
}

static bool read_rows(struct dataset *d, uint32_t input, const struct data_source *s)
{
    static const char *const image_files[N_DATA_PARTS][2] = { { "train-images-idx3-ubyte", "train-labels-idx1-ubyte" }, { "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte" } };
    static const char *const speech_files[N_DATA_PARTS][2] = { { "train-features.npy", "train-labels.npy" }, { "eval-features.npy", "eval-labels.npy" } };
    uint32_t labels = input_named(d->graph, "labels");
    for (int p = 0; p < N_DATA_PARTS; p++) {
        const char *const *names = d->is_image ? image_files[p] : speech_files[p];
        bool (*read)(struct data_rows *, const char *, const struct data_source *) = d->is_image ? rows_read_idx : rows_read_npy;
        if (!read(&d->x[p], arena_printf(s->a, "%s/%s", d->path, names[0]), s) || !read(&d->labels[p], arena_printf(s->a, "%s/%s", d->path, names[1]), s)
            || !check_shape(&d->x[p], d->graph, input, s) || !check_shape(&d->labels[p], d->graph, labels, s) || !check_finite(&d->x[p], s->err)
            || !check_labels(&d->labels[p], &d->x[p], classes_of(d->graph, labels), s->err))
            return false;
    }
    return true;
}

static bool read_text(struct dataset *d, uint32_t tokens, const struct data_source *s)
{
    uint32_t masked = input_named(d->graph, "masked-positions");
    if (masked == NO_ID)
        return fail(s->err, "%s: %s has no words to predict; text is for the pre-training of BERT", s->q->where, d->graph->name);
    for (uint32_t i = 0; i < d->graph->n_forward_ops; i++)
        if (d->graph->ops[i].kind == OP_GATHER && d->graph->ops[i].inputs[1] == tokens)
            d->text.vocabulary = d->graph->tensors[d->graph->ops[i].inputs[0]].dims[0];
    d->text.length = width_of(d->graph, tokens);
    d->text.n_masked = width_of(d->graph, masked);
    d->text.sequences = max_u32(s->q->sequences, 1);
    if (d->text.length < 8 || d->text.vocabulary < 16)
        return fail(s->err, "%s: %ju tokens in a row and %ju words are too few; want data.sequence_length 8 and data.vocabulary 16", s->q->where,
                    (uintmax_t)d->text.length, (uintmax_t)d->text.vocabulary);
    return text_read(&d->text, d->path, s);
}

/* The path of the data: relative to the folder of the recipe if it exists there, else as written. */
static const char *data_path(const struct data_request *q, struct arena *a)
{
    const char *slash = strrchr(q->where, '/');
    const char *beside = arena_printf(a, "%.*s%s", slash ? (int)(slash - q->where) + 1 : 0, q->where, q->path);
    return *q->path != '/' && access(beside, F_OK) == 0 ? beside : q->path;
}

bool dataset_open(struct dataset **out, const struct data_request *q, struct arena *a, struct err *err)
{
    struct data_source s = { q, a, err };
    struct dataset *d = *out = ARENA_NEW(a, struct dataset);
    uint32_t tokens = input_named(q->graph, "tokens"), images = input_named(q->graph, "images"), features = input_named(q->graph, "features");
    d->graph = q->graph;
    d->is_image = images != NO_ID;
    if (!q->path)
        return fail(err, "%s: [data] has no path, the file or folder to train on; docs/train.md begins with an example that needs only a text", q->where);
    d->path = data_path(q, a);
    if (!bind_inputs(d, tokens != NO_ID, &s))
        return false;
    if (tokens != NO_ID)
        return read_text(d, tokens, &s);
    if (images == NO_ID && features == NO_ID)
        return fail(err, "%s: %s has neither images nor tokens nor features; no data is known for it", q->where, q->graph->name);
    return read_rows(d, d->is_image ? images : features, &s);
}

/* ---- filling -------------------------------------------------------------------------------------------- */

static const int32_t *text_column(const struct pack_row *r, enum data_column c)
{
    switch (c) {
    case COLUMN_TOKENS: return r->tokens;
    case COLUMN_POSITIONS: return r->positions;
    case COLUMN_TYPES: return r->types;
    case COLUMN_NUMBERS: return r->numbers;
    case COLUMN_MASKED: return r->masked;
    case COLUMN_STARTS: return r->starts;
    case COLUMN_NEXT: return r->next;
    case COLUMN_LABELS: return r->labels;
    case COLUMN_NONE: case COLUMN_ROWS: case COLUMN_PREVIOUS: case COLUMN_MASK: case N_COLUMNS: break;
    }
    assert(false);
    return NULL;
}

/* Fills what is added to the scores of attention, so that tokens see only those of their own sample. */
static void fill_mask(float *to, const struct pack_row *r, uint64_t length, uint64_t rows)
{
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t k = 0; k < length; k++)
            to[i * length + k] = r->numbers[i] == r->numbers[k] ? 0 : -10000;
}

static void fill_from_text(const struct dataset *d, float *to, uint64_t width, enum data_column c, enum data_part part, uint64_t item, uint64_t key)
{
    struct arena scratch = { 0 };
    struct pack_row row = { 0 };
    text_row(&row, &d->text, part, item, key, &scratch);
    if (c == COLUMN_MASK)
        fill_mask(to, &row, d->text.length, width / d->text.length);
    for (uint64_t i = 0; i < width && c != COLUMN_MASK; i++)
        to[i] = (float)text_column(&row, c)[i];
    arena_free(&scratch);
}

void dataset_fill(const struct dataset *d, float *to, uint32_t tensor_id, enum data_part part, const uint64_t *items, uint64_t key)
{
    uint64_t width = width_of(d->graph, tensor_id);
    enum data_column c = d->columns[tensor_id];
    for (uint64_t b = 0; b < d->graph->micro_batch && c; b++, to += width) {
        if (d->text.n_passages) {
            fill_from_text(d, to, width, c, part, items[b], key);
            continue;
        }
        const struct data_rows *r = c == COLUMN_ROWS ? &d->x[part] : &d->labels[part];
        for (uint64_t i = 0; i < width; i++)        /* the predictor begins with row 0 of its table, as there is no start symbol */
            to[i] = (float)(c != COLUMN_PREVIOUS ? rows_at(r, items[b], i) : i == 0 ? 0 : rows_at(r, items[b], i - 1));
    }
}

uint64_t dataset_items(const struct dataset *d, enum data_part part) { return d->text.n_passages ? d->text.n_packs[part] : d->x[part].n; }

double dataset_samples_per_item(const struct dataset *d)
{
    return d->text.n_passages ? (double)d->text.n_order[DATA_TRAIN] / (double)d->text.n_packs[DATA_TRAIN] : 1;
}

const char *dataset_line(const struct dataset *d, struct arena *a)
{
    uintmax_t train = dataset_items(d, DATA_TRAIN), eval = dataset_items(d, DATA_EVAL);
    if (!d->text.n_passages)
        return arena_printf(a, "%s: %ju %s to train on, %ju to evaluate on", d->path, train, d->is_image ? "images" : "utterances", eval);
    return arena_printf(a, "%s: %zu passages in %ju packs to train on (%.4g a pack), %zu in %ju to evaluate on; %.1f %% of the words are in the vocabulary", d->path,
                        d->text.n_order[DATA_TRAIN], train, dataset_samples_per_item(d), d->text.n_order[DATA_EVAL], eval, 100 * d->text.known_share);
}
