/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_table.c - several runs in one table, a row for each; the most asked-for columns come first.
 */
#include "harness/harness.h"
#include "results/study/trust.h"
#include "results/published/published.h"

#define C(member, ...) { COLUMN(struct run_summary, member), __VA_ARGS__ }
static const struct table_column run_columns[] = {
    C(id, .heading = "recipe"), C(ipus, .heading = "IPUs"), C(fits, .heading = "fits"), C(samples, .heading = "samples/s", .aligns_right = true),
    C(interval, .heading = "90 % interval", .aligns_right = true), C(step, .heading = "step", .aligns_right = true),
    C(mfu, .heading = "MFU", .format = "%.1f %%", .scale = 100, .zero_is_unknown = true),
    C(power, .heading = "W an IPU", .format = "%.0f", .zero_is_unknown = true),
    C(train_min, .heading = "minutes", .format = "%.1f", .zero_is_unknown = true),
    C(published, .heading = "published", .aligns_right = true),
};
#undef C

/* The published throughput, or else the published time to train, and the prediction's error. */
static const char *published_text(const struct result *r, const struct figures *figures, struct arena *a)
{
    for (size_t i = 0; figures && i < figures->n; i++) {
        const struct figure *g = &figures->items[i];
        double simulated = text_is(g->recipe, r->id) ? result_of_figure(g, r) : 0;
        if (simulated > 0)
            return arena_printf(a, "%.6g %s (%+.1f %%)", g->value, g->unit, 100 * (simulated / g->value - 1));
    }
    return NULL;
}

struct run_summary run_summary(const struct result *r, const struct validity *v, const struct figures *figures, struct arena *a)
{
    double half = (v->high - v->low) / 2, share = validity_uncertainty(v);
    struct run_summary line = { .id = r->id, .ipus = r->ipus, .fits = !r->fits ? "NO" : result_fits_surely(r) ? "yes" : "barely",
                             .mfu = r->mfu, .power = r->ipu_power_w, .train_min = r->time_to_train_s / 60 };
    line.samples = quantity_within(r->throughput_samples_per_s, "", half, a);
    line.step = quantity_within(r->step_time_s, "s", share * r->step_time_s, a);
    line.interval = v->foreign ? "none: no run near" : NULL;
    if (share > 0)
        line.interval = arena_printf(a, "%s to %s", quantity_within(v->low, "", half, a), quantity_within(v->high, "", half, a));
    if (validity_is_guess(v))
        line.interval = arena_printf(a, "a guess: %s", line.interval);
    if (v->as_if_fitted && line.interval)
        line.interval = arena_printf(a, "if it fitted: %s", line.interval);
    line.published = r->overrides && *r->overrides ? NULL : published_text(r, figures, a);
    return line;
}

struct table run_table(const struct run_summary *lines, size_t n)
{
    return TABLE_OF(run_columns, lines, n, .formats = IN_TEXT | IN_MARKDOWN);
}
