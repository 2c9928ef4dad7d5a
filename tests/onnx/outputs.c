/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outputs.c - runs ONNX files and compares their outputs with expected ones in the same folder.
 *
 * usage: outputs FOLDER. For each NAME.onnx with a NAME_output_0.pb (a TensorProto): the input is i / n, i = 0 .. n -
 * 1 in row-major order, or i % 2 where it is of whole numbers. Every element must agree to 1e-3 of the larger of the two, or of a tenth of
 * the largest (a runtime in fp32 loses digits in a variance, or a sum near zero). Plain loops in double precision
 * take minutes, so this is not in `make test`.
 */
#include "tests/onnx/execute_onnx.h"
#include "workloads/onnx/onnx_internal.h"
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

/* The largest difference, relative to the number or, for small ones, to a tenth of the largest. t: where the result is an image, its
 * tensor. */
static double compare(const double *found, const double *expected, uint64_t n, const struct tensor *t)
{
    double worst = 0, largest = 1e-12;
    for (uint64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (uint64_t i = 0; i < n; i++) {
        double x = found[t ? channels_last(i, t) : i];
        worst = fmax(worst, fabs(x - expected[i]) / fmax(fmax(fabs(x), fabs(expected[i])), largest / 10));
    }
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
    if (good) {
        double **v = onnx_values(&g, &im, &a);
        for (size_t i = 0; i < im.n_inputs; i++)
            fill_input(v[im.inputs[i]], &g.tensors[im.inputs[i]], im.input_is_image[i]);
        graph_execute(&g, v);
        *worst = compare(v[im.output], expected, n, im.output_is_image ? &g.tensors[im.output] : NULL);
    }
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
        good = good && worst <= 1e-3;
        printf("%s %-20s worst relative difference %.2g, %.1f s%s%s\n", good ? "ok    " : "not ok", names[i], worst,
               (double)(clock() - start) / CLOCKS_PER_SEC, *err.msg ? ": " : "", err.msg);
        status |= !good;
        err.msg[0] = '\0';
        fflush(stdout);
    }
    arena_free(&a);
    return status;
}
