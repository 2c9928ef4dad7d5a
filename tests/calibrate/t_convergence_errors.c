/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_convergence_errors.c - what the reference points predict for the published submissions, as text. */
#include "tests/golden_text.h"
#include "results/calibrate/calibration.h"

static char *printed(const struct convergence_errors *e)
{
    struct arena a = {0};
    struct document d = { .arena = &a };
    char *text;
    convergence_errors_document(&d, e);
    PRINTED(text, document_write(f, FORMAT_TEXT, &d));
    arena_free(&a);
    return text;
}

/* Sums by hand: three submissions of BERT that validate, with errors of 10, -20 and 40 %, and one of RNN-T in a sum
 * of its own. */
static void sums_by_hand(void **state)
{
    struct convergence_error items[] = {
        { "v1.0", "closed", "pod", "bert", "validate", FIGURE_VALIDATE, 1536, 2e6, 2.2e6, 0.1 }, { "v1.1", "open", "pod16", "bert", "validate", FIGURE_VALIDATE, 3072, 3e6, 2.4e6, -0.2 },
        { "v2.0", "closed", "pod64", "rnnt", "context", FIGURE_CONTEXT, 1024, 9e6, 9.9e6, 0.1 }, { "v2.1", "closed", "pod", "bert", "validate", FIGURE_VALIDATE, 448, 1e6, 1.4e6, 0.4 },
    };
    const struct convergence_errors e = { .items = items, .n = 4 };
    (void)state;
    char *text = printed(&e);
    assert_string_equal(text,
        "samples to converge: mean of a submission's runs, and the prediction from its batch size\n"
        "round  division  system  benchmark  role      batch  published  predicted  error %\n"
        "v1.0   closed    pod     bert       validate   1536    2000000    2200000    +10.0\n"
        "v1.1   open      pod16   bert       validate   3072    3000000    2400000    -20.0\n"
        "v2.1   closed    pod     bert       validate    448    1000000    1400000    +40.0\n"
        "\n"
        "benchmark  role      submissions  rms error %  mean %\n"
        "bert       validate            3         26.5   +10.0\n"
        "rnnt       context             1         10.0   +10.0\n");
    free(text);
}

static void published_submissions(void **state)
{
    struct arena a = {0};
    struct err err = { "" };
    struct convergence_errors e;
    (void)state;
    convergence_errors(&e, "results/published/runs/mlperf_runs.csv", "workloads/convergence", &a, &err);
    assert_string_equal(err.msg, "");
    char *text = printed(&e);
    assert_golden(text, "tests/golden/convergence_errors.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(sums_by_hand), cmocka_unit_test(published_submissions) };
TAP_MAIN(tests)
