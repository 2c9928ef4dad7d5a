/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_versions.c - operators in each opset that changed them compute what ONNX Runtime 1.30 did (tests/onnx/versions.txt).
 *
 * A case is a line "@OPSET TEXT" (draft.h), and the sizes and numbers of its result. A line that begins with '!' says why the case is refused.
 * `make onnx-versions` computes the numbers again.
 */
#include "tests/onnx/import.h"

static const struct onnx_dimension no_batch = { "batch", 0 };     /* sizes are those of the text */

static double value(uint64_t i) { return (double)(i * 5 % 7) / 2 - 1.5; }

static struct imported *import_text(const char *opset_and_text)
{
    char *text;
    struct draft *d = draft_start(strtol(opset_and_text + 1, &text, 10));
    draft_text(d, text + 1);
    draft_text(d, "o = 1,1; one: 1,1; MatMul one o > work");       /* a model without a product is refused */
    return import(d, "y work", (struct onnx_options){ .inference = true, .dimensions = &no_batch, .n_dimensions = 1 });
}

static const double *computed(struct imported *r)
{
    double **v = onnx_values(&r->g, &r->im, &r->arena);
    for (size_t i = 0; i < r->im.n_inputs; i++) {
        const struct tensor *t = &r->g.tensors[r->im.inputs[i]];
        for (uint64_t k = 0; k < tensor_elements(t); k++)
            v[r->im.inputs[i]][r->im.input_is_image[i] ? channels_last(k, t) : k] = t->type == TYPE_INT32 ? (double)(k % 2) : value(k);
    }
    return executed(r, v);
}

/* "2,3: 1 2 3 4 5 6" */
static bool agrees(struct imported *r, const char *expected)
{
    char *at = strchr(expected, ':') + 1;
    const double *y = computed(r);
    uint64_t n = tensor_elements(&r->g.tensors[r->im.output]);
    double largest = 0;
    for (uint64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(y[i]));
    for (uint64_t i = 0; i < n; i++) {
        char *end;
        double want = strtod(at, &end);
        if (end == at || fabs(want - y[i]) > 1e-5 * fmax(largest, 1)) {
            print_error("element %d: %g, want %g\n", (int)i, y[i], want);
            return false;
        }
        at = end;
    }
    return strspn(at, " \n") == strlen(at);
}

static bool refused_as_said(struct imported *r, const char *expected)
{
    size_t n = strcspn(expected, "\n");
    const char *said = strstr(r->err.msg, "': ");
    said = said ? said + 3 : r->err.msg;
    if (!r->good && *expected == '!' && strlen(said) == n - 1 && strncmp(said, expected + 1, n - 1) == 0)
        return true;
    print_error("%s\n", r->err.msg);
    return false;
}

static void every_version(void **state)
{
    FILE *f = fopen("tests/onnx/versions.txt", "r");
    char text[2000], expected[4000];
    int n_bad = 0;
    (void)state;
    assert_non_null(f);
    while (fgets(text, sizeof text, f)) {
        if (*text != '@')
            continue;
        text[strcspn(text, "\n")] = '\0';
        assert_non_null(fgets(expected, sizeof expected, f));
        struct imported *r = import_text(text);
        const char *want = expected + strspn(expected, " ");
        if (r->good && *want != '!' ? !agrees(r, want) : !refused_as_said(r, want)) {
            print_error("    %s\n", text);
            n_bad++;
        }
        done(r);
    }
    fclose(f);
    assert_int_equal(n_bad, 0);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(every_version) };
TAP_MAIN(tests)
