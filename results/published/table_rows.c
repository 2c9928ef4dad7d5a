/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_rows.c - the size limit of a recipe's table: the most rows with which it fits, in thousands, as published limits are rounded.
 *
 * `podbench fit` finds the same number, and says more about other sizes (results/study/fit.c).
 */
#include "results/published/check.h"

enum { ROWS_STEP = 1000, MOST_THOUSANDS = 1000000 };

static bool rows_fit(bool *fits, struct simulator *s, const char *recipe, uint64_t thousands, struct err *err)
{
    char set[64];
    const char *sets[] = { set };
    struct simulation sim;
    struct result r;
    snprintf(set, sizeof set, "data.vocabulary=%" PRIu64, thousands * ROWS_STEP);
    bool good = simulator_run(s, &sim, &r, recipe, sets, 1, err);
    *fits = good && r.fits;
    simulation_free(&sim);
    return good;
}

bool table_rows_predict(double *out, struct simulator *s, const char *recipe, struct err *err)
{
    uint64_t most = 0, fails = 1;
    bool fits, good = true;
    for (; good && fails < MOST_THOUSANDS; fails *= 2) {
        good = rows_fit(&fits, s, recipe, fails, err);
        if (!fits)
            break;
        most = fails;
    }
    while (good && fails - most > 1) {
        uint64_t middle = most + (fails - most) / 2;
        good = rows_fit(&fits, s, recipe, middle, err);
        *(fits ? &most : &fails) = middle;
    }
    *out = (double)most * ROWS_STEP;
    return good && (most || fail(err, "%s: no table of %d rows fits", recipe, ROWS_STEP));
}
