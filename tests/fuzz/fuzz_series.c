/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_series.c - any bytes as a measured series: judged, scanned, and told as a history.
 *
 * The first byte is the rule. Laws: a series that never moves is steady; in a unit of half the size it is judged the same; better one way is
 * worse the other; a scan finds changes in order, each after what came before it, and nothing before the point that showed it.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/series_scan.h"

#include <string.h>

#define LAW(holds) ((holds) ? (void)0 : (fprintf(stderr, "broken: %s\n", #holds), abort()))
enum { MOST_POINTS = 400 };

static void check_judgement(const double *x, const double *twice, size_t n, const struct series_rule *rule, struct arena *a)
{
    struct series_rule turned = *rule;
    turned.better = -rule->better;
    struct series_change c = series_judge(x, n, rule, a), scaled = series_judge(twice, n, rule, a), other = series_judge(x, n, &turned, a);
    static const enum series_verdict mirror[N_SERIES_VERDICTS] = {
        [SERIES_STEADY] = SERIES_STEADY, [SERIES_WORSE] = SERIES_BETTER, [SERIES_BETTER] = SERIES_WORSE, [SERIES_CHANGED] = SERIES_CHANGED };
    LAW(c.verdict < N_SERIES_VERDICTS && c.found == n - 1 && c.from < n);
    LAW(scaled.verdict == c.verdict && scaled.from == c.from && scaled.before == 2 * c.before && scaled.after == 2 * c.after);
    LAW(other.verdict == mirror[c.verdict]);
}

static void check_scan(const double *x, size_t n, const struct series_rule *rule, struct arena *a)
{
    struct series_change *changes, *earlier;
    size_t n_changes = series_scan(&changes, x, n, rule, a), start = 0;
    for (size_t i = 0; i < n_changes; i++) {
        LAW(changes[i].from >= start && changes[i].found >= changes[i].from && changes[i].found < n);
        LAW(changes[i].before != changes[i].after || rule->least_change <= 0);
        start = changes[i].from;
    }
    if (n_changes)
        LAW(series_scan(&earlier, x, changes[0].found, rule, a) == 0 && series_scan(&earlier, x, changes[0].found + 1, rule, a) == 1);
}

static void check_drawing(const double *x, size_t n, struct arena *a)
{
    struct history_series s = { .points = ARENA_ARRAY(a, struct history_point, n), .n = n };
    for (size_t i = 0; i < n; i++)
        s.points[i].value = x[i];
    LAW(strlen(sparkline(&s, 60, a)) == 3 * (n < 60 ? n : 60));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    if (n < 2 || n > MOST_POINTS)
        return 0;
    struct series_rule rule = { .better = data[0] % 3 - 1, .least_change = data[0] / 3 % 4 * 0.05 };
    double *x = ARENA_ARRAY(&a, double, n), *twice = ARENA_ARRAY(&a, double, n);
    bool moves = false;
    n--;
    for (size_t i = 0; i < n; i++) {
        x[i] = data[0] & 128 ? (double)data[i + 1] - 100 : 1000 + (double)data[i + 1];
        twice[i] = 2 * x[i];
        moves |= x[i] != x[0];
    }
    check_judgement(x, twice, n, &rule, &a);
    check_scan(x, n, &rule, &a);
    check_drawing(x, n, &a);
    if (!moves)
        LAW(series_judge(x, n, &rule, &a).verdict == SERIES_STEADY);
    arena_free(&a);
    return 0;
}
