/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawings.c - the table of figures, and helpers that several figures share.
 */
#include "results/figures/drawings.h"

const struct drawing_kind drawing_kinds[] = {
    { "accuracy", draw_accuracy }, { "scaling", draw_scaling }, { "time-to-train", draw_times }, { "waterfall", draw_waterfall },
    { "breakdown", draw_breakdown }, { "roofline", draw_roofline }, { "memory", draw_memory }, { "fit", draw_fit }, { "pipeline", draw_pipeline },
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
static bool is_training(const struct result *r)
{
    return r->fits && r->step_time_s > 0 && !is_known(r->latency_s);
}

const struct result *drawing_run(const struct drawing *d, bool (*better)(const struct result *x, const struct result *y))
{
    const struct result *best = NULL;
    for (size_t i = 0; i < d->from->results->n; i++) {
        const struct result *r = &d->from->results->items[i];
        if (is_training(r) && (!best || better(r, best)))
            best = r;
    }
    return best;
}

static bool is_published_closed(const struct result *r, const struct figures *published)
{
    struct mlperf_id id;
    return mlperf_id_parse(&id, r) && !id.has_framework && text_is(id.division, "closed") && published_figure(published, r->id, "throughput_samples_per_s");
}

const struct result *drawing_hero(const struct results *all, const struct figures *published)
{
    const struct result *best = NULL;
    bool best_is_closed = false;
    for (size_t i = 0; i < all->n; i++) {
        const struct result *r = &all->items[i];
        bool is_closed = is_published_closed(r, published), is_as_good = best && is_closed == best_is_closed;
        if (is_training(r) && (!best || (is_closed && !best_is_closed) || (is_as_good && (r->ipus != best->ipus ? r->ipus > best->ipus : strcmp(r->id, best->id) > 0))))
            best = r, best_is_closed = is_closed;
    }
    return best;
}
