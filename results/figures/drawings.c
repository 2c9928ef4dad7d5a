/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawings.c - the table of figures, and helpers that several figures share.
 */
#include "results/figures/drawings.h"
#include <math.h>
#include <string.h>

const struct drawing_kind drawing_kinds[] = {
    { "accuracy", draw_accuracy }, { "scaling", draw_scaling }, { "time-to-train", draw_times }, { "breakdown", draw_breakdown },
    { "waterfall", draw_waterfall }, { "roofline", draw_roofline }, { "memory", draw_memory }, { "fit", draw_fit }, { "pipeline", draw_pipeline },
    { "links", draw_links }, { "map", draw_map }, { "recompute", draw_recompute }, { "servers", draw_servers },
};
const size_t n_drawing_kinds = sizeof drawing_kinds / sizeof *drawing_kinds;

bool drawing_open(struct new_file *file, const struct drawing *d, const char *table, struct err *err)
{
    return new_file_open(file, arena_printf(d->a, "%s/%s.csv", d->folder, table), err);
}

void drawing_number(FILE *f, double x, bool last)
{
    char text[32];
    snprintf(text, sizeof text, isnan(x) ? "NaN" : "%.8g", x);
    csv_write_cell(f, text, last);
}

const char *drawing_label(const char *id, struct arena *a)
{
    static const char *const prefixes[] = { "mlperf-", "vendor-" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(id, prefixes[i], strlen(prefixes[i])) == 0)
            id += strlen(prefixes[i]);
    char *label = arena_strdup(a, id);
    int n_spaces = 0;
    for (char *p = label; *p && *label == 'v' && n_spaces < 2; p++)     /* "v2.0-closed-bow-pod16-...": splits off round and division */
        if (*p == '-') {
            *p = ' ';
            n_spaces++;
        }
    return label;
}

/* Only inference has a latency. */
const struct result *drawing_run(const struct drawing *d, bool (*better)(const struct result *x, const struct result *y))
{
    const struct result *best = NULL;
    for (size_t i = 0; i < d->from->results->n; i++) {
        const struct result *r = &d->from->results->items[i];
        if (r->fits && r->step_time_s > 0 && !is_known(r->latency_s) && (!best || better(r, best)))
            best = r;
    }
    return best;
}
