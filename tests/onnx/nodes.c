/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nodes.c - runs the ONNX project's own tests of single operators, and of what PyTorch exported, on imported graphs.
 *
 * usage: nodes FOLDER [TEXT]. Each TEST of the folder holds model.onnx and test_data_set_0/{input,output}_N.pb
 * (onnx/backend/test). The first input stays an input; the others become constants, as models have them: weights,
 * shapes, axes. If the operator is refused then, all stay inputs, or the first input of floats alone does. Each output
 * must agree to 1e-3 of the larger number, or to 1e-5. A test that the importer refuses is counted with its message.
 * With TEXT, only tests with TEXT in their names run.
 */
#include "tests/onnx/draft.h"
#include "tests/onnx/execute_onnx.h"
#include "system-model/execute/execution.h"
#include "workloads/onnx/onnx_model.h"
#include <dirent.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_DATA = 64 };
struct test {
    struct arena a;
    struct draft *work;
    Onnx__ModelProto *model;
    Onnx__TensorProto *given[MOST_DATA], *expected[MOST_DATA];
    const char *name;
};
enum verdict { AGREES, REFUSED, DIFFERS, KNOWN, N_VERDICTS };

/* Differences that are known: the graph costs the same but computes less. By a part of the test's name. */
static const struct known { const char *part, *why; } known[] = {
    { "_training_mode", "inference has a batch norm's statistics from the file" }, { "test_training_dropout", "inference drops nothing" },
    { "onehot_negative", "an index below zero makes a row without a one" }, { "BFLOAT16", "the test's tensors hold the bits as integers" },
};

static uint8_t *read_all(const char *path, size_t *n, struct arena *a)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    uint8_t *bytes = arena_alloc(a, 1 << 22);
    *n = fread(bytes, 1, 1 << 22, f);
    fclose(f);
    return bytes;
}

static void *arena_for_protobuf(void *a, size_t n) { return arena_alloc(a, n); }
static void keep(void *a, void *data) { (void)a, (void)data; }
static ProtobufCAllocator allocator_in(struct arena *a) { return (ProtobufCAllocator){ arena_for_protobuf, keep, a }; }

static Onnx__TensorProto *read_tensor(const char *path, struct arena *a)
{
    size_t n;
    uint8_t *bytes = read_all(path, &n, a);
    ProtobufCAllocator allocator = allocator_in(a);
    return bytes ? onnx__tensor_proto__unpack(&allocator, n, bytes) : NULL;
}

static bool read_test(struct test *t, const char *folder)
{
    size_t n;
    uint8_t *bytes = read_all(arena_printf(&t->a, "%s/%s/model.onnx", folder, t->name), &n, &t->a);
    ProtobufCAllocator allocator = allocator_in(&t->a);
    t->model = bytes ? onnx__model_proto__unpack(&allocator, n, bytes) : NULL;
    for (size_t i = 0; t->model && i < t->model->n_opset_import; i++)   /* older opsets mean the same here */
        if ((!t->model->opset_import[i]->domain || !*t->model->opset_import[i]->domain) && t->model->opset_import[i]->version < OLDEST_OPSET)
            t->model->opset_import[i]->version = OLDEST_OPSET;
    for (int i = 0; i < MOST_DATA && t->model; i++) {
        t->given[i] = read_tensor(arena_printf(&t->a, "%s/%s/test_data_set_0/input_%d.pb", folder, t->name, i), &t->a);
        t->expected[i] = read_tensor(arena_printf(&t->a, "%s/%s/test_data_set_0/output_%d.pb", folder, t->name, i), &t->a);
    }
    return t->model && t->model->graph && t->expected[0];
}

static bool is_float(int type)
{
    return type == ONNX_FLOAT || type == ONNX_FLOAT16 || type == ONNX_DOUBLE || type == ONNX_BFLOAT16;
}

/* Old files list their weights among the inputs too. */
static bool is_weight(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (text_is(g->initializer[i]->name, name))
            return true;
    return false;
}

enum way { KEEP_FIRST, KEEP_ALL, KEEP_FLOATS, N_WAYS };

/* kept[i] is input i of the model that is written. */
static void fix_inputs(struct test *t, enum way way, int *kept, size_t *n_kept)
{
    Onnx__GraphProto *g = t->model->graph;
    Onnx__TensorProto **weights = ARENA_ARRAY(&t->a, Onnx__TensorProto *, g->n_initializer + MOST_DATA + 1);
    if (g->n_initializer > 0)
        memcpy(weights, g->initializer, g->n_initializer * sizeof *weights);
    g->initializer = weights;
    bool any = false;
    *n_kept = 0;
    for (size_t i = 0; i < g->n_input && i < MOST_DATA; i++) {
        Onnx__TensorProto *data = t->given[i];
        if (is_weight(g, g->input[i]->name))
            continue;
        bool stays = way == KEEP_ALL || !data || (!any && (way == KEEP_FIRST || is_float(data->data_type)));
        any |= stays;
        if (stays) {
            kept[*n_kept] = (int)i;
            g->input[(*n_kept)++] = g->input[i];
            continue;
        }
        data->name = g->input[i]->name;
        g->initializer[g->n_initializer++] = data;
    }
    g->n_input = *n_kept;
}

/* A list with one more element. */
static void *and_one(struct test *t, void *list, size_t n, void *one)
{
    void **all = ARENA_ARRAY(&t->a, void *, n + 1);
    if (n > 0)
        memcpy(all, list, n * sizeof *all);
    all[n] = one;
    return all;
}

/* Adds a product, as a graph without one is refused. Its output comes last. */
static void add_work(struct test *t)
{
    struct draft *d = t->work = draft_start(OLDEST_OPSET);
    Onnx__GraphProto *g = t->model->graph;
    draft_input(d, "work_x", ONNX_FLOAT, "1,1");
    draft_weight(d, "work_w", DRAFT_DIMS(1, 1));
    draft_node(d, "MatMul", "work_x work_w", "work_y", "");
    g->input = and_one(t, g->input, g->n_input++, d->inputs[0]);
    g->initializer = and_one(t, g->initializer, g->n_initializer++, d->weights[0]);
    g->node = and_one(t, g->node, g->n_node++, d->nodes[0]);
    g->output = and_one(t, g->output, g->n_output++, draft_info(d, "work_y", ONNX_FLOAT, "1,1"));
}

static void write_model(struct test *t, const char *path)
{
    uint8_t *bytes = ARENA_ARRAY(&t->a, uint8_t, onnx__model_proto__get_packed_size(t->model) + 1);
    size_t n = onnx__model_proto__pack(t->model, bytes);
    FILE *f = fopen(path, "wb");
    assert(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static bool agrees(const double *found, const double *expected, uint64_t n, char *why, size_t room)
{
    for (uint64_t i = 0; i < n; i++) {
        bool same = (isnan(found[i]) && isnan(expected[i])) || found[i] == expected[i] ||
                    fabs(found[i] - expected[i]) <= fmax(1e-5, 1e-3 * fmax(fabs(found[i]), fabs(expected[i])));
        if (!same) {
            snprintf(why, room, "element %ju is %.6g, want %.6g", (uintmax_t)i, found[i], expected[i]);
            return false;
        }
    }
    return true;
}

/* How much a result that depends on data has in the test: its dimension that no other number gives. */
static struct onnx_dimension bound_of(const struct test *t, size_t k)
{
    const Onnx__NodeProto *n = t->model->graph->node[0];
    const Onnx__TensorProto *y = t->expected[k];
    size_t axis = text_is(n->op_type, "NonZero") && y->n_dims == 2;
    for (size_t i = 0; i < n->n_attribute; i++)
        if (text_is(n->op_type, "Compress") && text_is(n->attribute[i]->name, "axis"))
            axis = (size_t)(n->attribute[i]->i < 0 ? n->attribute[i]->i + (int64_t)y->n_dims : n->attribute[i]->i);
    return (struct onnx_dimension){ t->model->graph->output[k]->name, axis < y->n_dims ? (uint64_t)y->dims[axis] : 1 };
}

/* Writes the model with output k first, and imports it; bounded: with the size that it has. */
static bool import(struct test *t, size_t k, uint64_t batch, bool bounded, struct graph *graph, struct onnx_import *im, char *why, size_t room)
{
    Onnx__ValueInfoProto **outputs = t->model->graph->output, *first = outputs[0];
    struct onnx_dimension bound = bound_of(t, k);
    struct onnx_options o = { .batch = batch, .inference = true, .type = TYPE_FP32, .contents = true, .dimensions = &bound, .n_dimensions = bounded };
    struct err err = { "" };
    char path[64];
    snprintf(path, sizeof path, "/tmp/nodes_%d.onnx", (int)getpid());
    outputs[0] = outputs[k];
    outputs[k] = first;
    write_model(t, path);
    outputs[k] = outputs[0];
    outputs[0] = first;
    bool built = onnx_build(graph, im, path, &o, &t->a, &err);
    const char *at = strstr(err.msg, ": ");
    unlink(path);
    for (size_t i = 0; i < im->n_sources && built; i++)
        if (im->sources[i].layout == ONNX_AS_IS && im->sources[i].values[0] != NO_ID && !onnx_contents(im->model, im->sources[i].values[0])) {
            at = "  a constant is computed by operators whose contents are not followed";
            built = false;
        }
    if (!built)
        snprintf(why, room, "%s", at ? at + 2 : err.msg);
    return built;
}

/* Runs the node in the product's executor, in fp32. */
static bool execute_in_fp32(const struct graph *g, double **v, struct arena *a, struct err *err)
{
    struct tensor_value *values = ARENA_ARRAY(a, struct tensor_value, g->n_tensors);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        values[i] = (struct tensor_value){ ARENA_ARRAY(a, float, tensor_elements(&g->tensors[i])), tensor_elements(&g->tensors[i]) };
        for (uint64_t e = 0; e < values[i].n_elements; e++)
            values[i].x[e] = (float)v[i][e];
    }
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (!op_execute(g, i, values, &(struct op_context){ 0 }, err))
            return false;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        for (uint64_t e = 0; e < values[i].n_elements; e++)
            v[i][e] = (double)values[i].x[e];
    return true;
}

/* The output, in the file's order of dimensions. NULL with the reason if an operation is refused. */
static const double *execute(struct test *t, const struct graph *graph, const struct onnx_import *im, const int *kept, size_t n_kept, struct err *err)
{
    double **v = onnx_values(graph, im, &t->a);
    for (size_t i = 0; i < n_kept; i++) {
        const struct tensor *in = &graph->tensors[im->inputs[i]];
        double *from = onnx_tensor_contents(t->given[kept[i]], UINT32_MAX, &t->a);
        for (uint64_t e = 0; e < tensor_elements(in); e++)
            v[im->inputs[i]][im->input_is_image[i] ? channels_last(e, in) : e] = from[e];
    }
    if (!execute_in_fp32(graph, v, &t->a, err))
        return NULL;
    const struct tensor *y = &graph->tensors[im->output];
    double *found = ARENA_ARRAY(&t->a, double, tensor_elements(y));
    for (uint64_t e = 0; e < tensor_elements(y); e++)
        found[e] = v[im->output][im->output_is_image ? channels_last(e, y) : e];
    return found;
}

static enum verdict run_output(struct test *t, size_t k, const int *kept, size_t n_kept, char *why, size_t room)
{
    struct graph graph;
    struct onnx_import im = { 0 };
    const Onnx__TensorProto *x = n_kept ? t->given[kept[0]] : NULL, *y = t->expected[k];
    uint64_t n = 1;
    for (size_t i = 0; i < y->n_dims; i++)
        n *= (uint64_t)y->dims[i];
    if (n == 0) {
        snprintf(why, room, "a result without elements");
        return REFUSED;
    }
    uint64_t batch = x && x->n_dims && x->dims[0] > 0 ? (uint64_t)x->dims[0] : 1;
    if (!import(t, k, batch, false, &graph, &im, why, room) && !(strstr(why, "bound it with") && import(t, k, batch, true, &graph, &im, why, room)))
        return REFUSED;
    const struct onnx_value *made = &im.model->values[im.model->outputs[0]];
    for (size_t i = 0; i < y->n_dims && made->n_dims == y->n_dims; i++)
        n = made->dims[i] == (uint64_t)y->dims[i] ? n : 0;
    double *expected = onnx_tensor_contents(y, UINT32_MAX, &t->a);
    uint64_t found = tensor_elements(&graph.tensors[im.output]);
    if (!expected || found != n || made->n_dims != y->n_dims) {
        snprintf(why, room, "%ju elements in %u dimensions, or other sizes of them; want %zu dimensions", (uintmax_t)found, made->n_dims, y->n_dims);
        return DIFFERS;
    }
    struct err err = { "" };
    const double *results = execute(t, &graph, &im, kept, n_kept, &err);
    if (!results)
        snprintf(why, room, "%s", err.msg);
    return results && agrees(results, expected, n, why, room) ? AGREES : DIFFERS;
}

static enum verdict run_inputs(const char *folder, const char *name, enum way way, char *why, size_t room)
{
    struct test t = { .name = name };
    int kept[MOST_DATA];
    size_t n_kept, n_outputs;
    enum verdict worst = AGREES;
    if (!read_test(&t, folder)) {
        snprintf(why, room, "no tensors to compare");
        arena_free(&t.a);
        return REFUSED;
    }
    n_outputs = t.model->graph->n_output;
    fix_inputs(&t, way, kept, &n_kept);
    add_work(&t);
    for (size_t k = 0; k < n_outputs && worst == AGREES; k++) {
        enum verdict v = t.expected[k] ? run_output(&t, k, kept, n_kept, why, room) : AGREES;
        worst = k > 0 && v == REFUSED ? AGREES : v;         /* later outputs may be refused */
        if (worst == AGREES)
            *why = '\0';
    }
    draft_end(t.work);
    arena_free(&t.a);
    return worst;
}

/* Runs in a process of its own, so that an assertion fails one test alone. It ends by exit(), so that coverage is
 * recorded (make mutate). */
static enum verdict run_test(const char *folder, const char *name, char *why, size_t room)
{
    int ends[2], status;
    if (pipe(ends))
        abort();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        char said[400] = "";
        enum verdict v = REFUSED;
        for (int way = 0; way < N_WAYS && v == REFUSED; way++) {
            char again[400] = "";
            v = run_inputs(folder, name, (enum way)way, again, sizeof again);
            if (way == 0 || v != REFUSED)
                memcpy(said, again, sizeof said);
        }
        exit(write(ends[1], said, strlen(said)) < 0 ? DIFFERS : (int)v);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], why, room - 1);
    why[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    if (WIFEXITED(status))
        return (enum verdict)WEXITSTATUS(status);
    snprintf(why, room, "ended by signal %d", WTERMSIG(status));
    return DIFFERS;
}

int main(int argc, char **argv)
{
    static const char *const words[N_VERDICTS] = { "agrees", "refused", "DIFFERS", "known" };
    struct dirent **entries;
    int counts[N_VERDICTS] = { 0 }, n = argc > 1 ? scandir(argv[1], &entries, NULL, alphasort) : -1;
    if (n < 0) {
        fprintf(stderr, "usage: %s FOLDER [TEXT], a folder of tests, each with model.onnx and test_data_set_0\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < n; i++) {
        char why[400] = "";
        const char *name = entries[i]->d_name;
        if (*name == '.' || (argc > 2 && !strstr(name, argv[2])))
            continue;
        enum verdict v = run_test(argv[1], name, why, sizeof why);
        for (size_t k = 0; k < sizeof known / sizeof *known && v == DIFFERS; k++)
            if (strstr(name, known[k].part)) {
                v = KNOWN;
                snprintf(why, sizeof why, "%s", known[k].why);
            }
        counts[v]++;
        printf("%s %s%s%s\n", words[v], name, *why ? ": " : "", why);
        fflush(stdout);
    }
    printf("%d agree, %d refused, %d differ as known, %d differ\n", counts[AGREES], counts[REFUSED], counts[KNOWN], counts[DIFFERS]);
    return counts[DIFFERS] > 0;
}
