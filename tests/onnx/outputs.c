/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outputs.c - runs ONNX files and compares their outputs with expected ones in the same folder.
 *
 * usage: outputs FOLDER. For each NAME.onnx with a NAME_output_0.pb (a TensorProto): the input is i / n, i = 0 .. n -
 * 1 in row-major order, or i % 2 where it is of whole numbers. The graph is executed in double precision. A runtime in fp32 may differ from that by
 * as much as fp32 loses, which is measured: the graph is executed again with every weight, input and result of an operation changed by at most half a
 * unit of the last place (2^-24 of it) at random. Each element may differ by MARGIN times (the largest change that this made to it, and 2^-24 of the
 * largest element). Plain loops take minutes, so this is not in `make test`.
 */
#include "tests/onnx/execute_onnx.h"
#include "workloads/onnx/onnx_model.h"
#include <time.h>

static double *read_output(const char *path, uint64_t *n, struct arena *a, struct err *err)
{
    char *bytes;
    size_t n_bytes;
    FILE *f = fopen(path, "rb");
    if (!f) {
        fail(err, "%s: %m", path);
        return NULL;
    }
    bytes = arena_alloc(a, 1 << 24);
    n_bytes = fread(bytes, 1, 1 << 24, f);
    fclose(f);
    Onnx__TensorProto *t = onnx__tensor_proto__unpack(NULL, n_bytes, (const uint8_t *)bytes);
    double *out = t ? onnx_tensor_contents(t, UINT32_MAX, a) : NULL;
    *n = 1;
    for (size_t i = 0; t && i < t->n_dims; i++)
        *n *= (uint64_t)t->dims[i];
    if (!out)
        fail(err, "%s: no tensor in it", path);
    onnx__tensor_proto__free_unpacked(t, NULL);
    return out;
}

static void fill_input(double *v, const struct tensor *t, bool image)
{
    uint64_t n = tensor_elements(t);
    for (uint64_t i = 0; i < n; i++)
        v[image ? channels_last(i, t) : i] = t->type == TYPE_INT32 ? (double)(i % 2) : (double)((float)i / (float)n);
}

enum { N_ROUNDED = 4, MARGIN = 16 };
static const double half_unit = 0x1p-24;

static void disturb(double *v, uint64_t n, uint64_t seed, uint64_t tensor)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key[2] = { tensor, i };
        v[i] *= 1 + half_unit * (2 * (double)(hash_bytes(key, sizeof key, seed) >> 11) * 0x1p-53 - 1);
    }
}

/* Outputs of the graph, in the file's order. seed 0: exactly; else as if everything was rounded. */
static double *outputs_of(const struct graph *g, const struct onnx_import *im, uint64_t seed, struct arena *a)
{
    double **v = onnx_values(g, im, a), *const *peers[] = { v };
    const struct tensor *y = &g->tensors[im->output];
    for (size_t i = 0; i < im->n_inputs; i++)
        fill_input(v[im->inputs[i]], &g->tensors[im->inputs[i]], im->input_is_image[i]);
    for (uint32_t i = 0; i < g->n_tensors && seed; i++)
        if (g->tensors[i].producer_op == NO_ID && g->tensors[i].type != TYPE_INT32)
            disturb(v[i], tensor_elements(&g->tensors[i]), seed, i);
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        struct run r = { .g = g, .v = v, .op = op, .peers = peers, .n_peers = 1, .loss_factor = 1 };
        run_kernel(&r);
        for (uint32_t k = 0; k < op->n_outputs && seed; k++)
            if (g->tensors[op->outputs[k]].type != TYPE_INT32)
                disturb(v[op->outputs[k]], tensor_elements(&g->tensors[op->outputs[k]]), seed, op->outputs[k]);
    }
    double *out = ARENA_ARRAY(a, double, tensor_elements(y));
    for (uint64_t i = 0; i < tensor_elements(y); i++)
        out[i] = v[im->output][im->output_is_image ? channels_last(i, y) : i];
    return out;
}

/* The largest difference, as a share of what is allowed. */
static double compare(const struct graph *g, const struct onnx_import *im, const double *expected, uint64_t n)
{
    struct arena a = { 0 };
    const double *exact = outputs_of(g, im, 0, &a), *rounded[N_ROUNDED];
    double worst = 0, largest = 1e-30;
    for (uint64_t k = 0; k < N_ROUNDED; k++)
        rounded[k] = outputs_of(g, im, k + 1, &a);
    for (uint64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(exact[i]));
    for (uint64_t i = 0; i < n; i++) {
        double change = half_unit * largest, difference = fabs(exact[i] - expected[i]);
        for (int k = 0; k < N_ROUNDED; k++)
            change = fmax(change, fabs(rounded[k][i] - exact[i]));
        worst = fmax(worst, exact[i] == expected[i] ? 0 : isnan(difference) ? INFINITY : difference / (MARGIN * change));
    }
    arena_free(&a);
    return worst;
}

static bool run_file(const char *folder, const char *name, double *worst, struct err *err)
{
    struct arena a = { 0 };
    struct graph g;
    struct onnx_import im;
    struct onnx_options o = { .batch = 1, .inference = true, .type = TYPE_FP32, .contents = true };
    uint64_t n = 0;
    double *expected = read_output(arena_printf(&a, "%s/%s_output_0.pb", folder, name), &n, &a, err);
    bool good = expected && onnx_build(&g, &im, arena_printf(&a, "%s/%s.onnx", folder, name), &o, &a, err);
    if (im.model && im.model->file_batch > 1) {         /* run as many samples as the file has */
        o.batch = im.model->file_batch;
        *err = (struct err){ "" };
        good = expected && onnx_build(&g, &im, arena_printf(&a, "%s/%s.onnx", folder, name), &o, &a, err);
    }
    if (good && tensor_elements(&g.tensors[im.output]) != n)
        good = fail(err, "%s: %ju results, want %ju", name, (uintmax_t)tensor_elements(&g.tensors[im.output]), (uintmax_t)n);
    if (good)
        *worst = compare(&g, &im, expected, n);
    arena_free(&a);
    return good;
}

int main(int argc, char **argv)
{
    struct arena a = { 0 };
    struct err err = { "" };
    char **names;
    size_t n;
    int status = 0;
    if (argc != 2 || !list_folder(&names, &n, argv[1], "_output_0.pb", &a, &err)) {
        fprintf(stderr, "usage: %s FOLDER with NAME.onnx and NAME_output_0.pb\n%s\n", argv[0], err.msg);
        return 2;
    }
    for (size_t i = 0; i < n; i++) {
        double worst = 0;
        clock_t start = clock();
        bool good = run_file(argv[1], names[i], &worst, &err);
        good = good && worst <= 1;
        printf("%s %-20s %.2g of what fp32 may differ, %.1f s%s%s\n", good ? "ok    " : "not ok", names[i], worst,
               (double)(clock() - start) / CLOCKS_PER_SEC, *err.msg ? ": " : "", err.msg);
        status |= !good;
        err.msg[0] = '\0';
        fflush(stdout);
    }
    arena_free(&a);
    return status;
}
