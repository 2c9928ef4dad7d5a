/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_times.c - times to train of IPU systems, published and predicted, and those of GPU systems of the same rounds with at most 256 chips.
 */
#include "results/figures/drawings.h"
#include "results/published/check.h"

struct bar { const char *label, *recipe, *configuration; uint64_t chips; const char *round; double published, simulated, peer; };
struct bars { struct bar *items; size_t n, cap; };

static void add_ipu_bars(struct bars *bars, const struct drawing *d, const char *workload)
{
    struct arena *a = d->a;
    for (size_t i = 0; i < d->from->results->n; i++) {
        const struct result *r = &d->from->results->items[i];
        struct mlperf_id id;
        if (!text_is(r->workload, workload) || !mlperf_id_parse(&id, r) || id.has_framework)
            continue;
        const struct figure *f = published_figure(d->from->published, r->id, "time_to_train_min");
        struct bar bar = { .chips = r->ipus, .recipe = r->id, .round = arena_strdup(a, id.round), .peer = NAN, .published = f ? f->value : NAN,
                           .configuration = f ? f->configuration : "",
                           .simulated = is_known(r->time_to_train_s) ? r->time_to_train_s / 60 : NAN };
        bar.label = arena_printf(a, "%s %s%s%s", id.round, r->system, text_is(id.division, "open") ? " (open)" : "",
                                 isnan(bar.published) ? " (predicted)" : "");
        LIST_ADD(bars, a, bar);
    }
}

/* Shortens a name such as "NVIDIA A100-SXM4-80GB (400W)" to "A100", because the legend names the vendor. */
static const char *short_accelerator(const char *name, struct arena *a)
{
    static const char vendor[] = "NVIDIA ";
    if (strncmp(name, vendor, strlen(vendor)) == 0)
        name += strlen(vendor);
    return arena_printf(a, "%.*s", (int)strcspn(name, "-("), name);
}

/* The value of a key in a note "key=value; ...", or "". */
static const char *note_value(const char *note, const char *key, struct arena *a)
{
    size_t n = strlen(key);
    for (const char *p = note; p; p = strchr(p, ';')) {
        p += strspn(p, "; ");
        if (strncmp(p, key, n) == 0 && p[n] == '=')
            return arena_printf(a, "%.*s", (int)strcspn(p + n + 1, ";"), p + n + 1);
    }
    return "";
}

/* Adds GPU systems of the closed division with up to 256 chips, from the rounds that IPUs took part in. */
static bool add_peer_bars(struct bars *bars, const struct drawing *d, const char *benchmark, struct err *err)
{
    struct arena *a = d->a;
    for (size_t i = 0; i < d->from->published->n; i++) {
        const struct figure *f = &d->from->published->items[i];
        struct bar bar = { .recipe = "", .round = note_value(f->note, "round", a), .published = NAN, .simulated = NAN, .peer = f->value };
        const char *accelerator = note_value(f->note, "accelerator", a);
        bool of_round = strcmp(bar.round, "v1.0") >= 0 && strcmp(bar.round, "v2.0") <= 0;
        if (!of_round || !text_is(note_value(f->note, "division", a), "closed") || !strstr(accelerator, "NVIDIA") ||
            !text_is(note_value(f->note, "benchmark", a), benchmark))
            continue;
        if (!parse_u64(note_value(f->note, "chips", a), &bar.chips))
            return fail(err, "%s:%u: note: has no chips=NUMBER", f->path, f->line);
        if (bar.chips > 256)
            continue;
        const char *framework = note_value(f->note, "framework", a);
        bar.label = arena_printf(a, "%s %llu x %s (%s%s%s)", bar.round, (unsigned long long)bar.chips, short_accelerator(accelerator, a),
                                 note_value(f->note, "submitter", a), *framework ? " " : "", framework);
        LIST_ADD(bars, a, bar);
    }
    return true;
}

static bool write_times(struct bars *bars, struct drawing *d, const char *workload, const char *benchmark, struct err *err)
{
    *bars = (struct bars){0};
    add_ipu_bars(bars, d, workload);
    if (!add_peer_bars(bars, d, benchmark, err))
        return false;
    SORT_BY(bars->items, bars->n, FALLING(struct bar, chips), FALLING(struct bar, round), FALLING(struct bar, label));
    FILE *f = drawing_table(d, arena_printf(d->a, "time-to-train-%s", benchmark), "label,recipe,row,chips,published,simulated,peer");
    for (size_t i = 0; i < bars->n; i++) {
        const struct bar *b = &bars->items[i];
        csv_write_cell(f, b->label, false);
        DRAWING_ROW(f, b->recipe, (double)i, (double)b->chips, b->published, b->simulated, b->peer);
    }
    return true;
}

/* A sentence about the errors of the drawn IPU runs. Each configuration counts once in the median; the largest error is that of a single run. */
static const char *times_finding(const struct bars bars[2], struct arena *a)
{
    struct row_error *rows = ARENA_ROOM(a, struct row_error, bars[0].n + bars[1].n);
    double worst = 0;
    size_t n = 0;
    for (size_t k = 0; k < 2; k++)
        for (const struct bar *b = bars[k].items; b < bars[k].items + bars[k].n; b++) {
            double error = b->simulated / b->published - 1;
            if (isnan(error))
                continue;
            rows[n++] = (struct row_error){ b->configuration, error, 0 };
            worst = fmax(worst, fabs(error));
        }
    struct error_summary errors = errors_by_configuration(rows, n, a);
    if (!n)
        return NULL;
    return arena_printf(a, "Time to train with the published samples: half of %zu configurations within %.1f %%, the worst run off by %.0f %%", errors.n,
                        100 * errors.median, 100 * worst);
}

bool draw_times(struct drawing *d, struct err *err)
{
    struct bars bars[2];
    d->missing = "no run with a published time to train";
    if (!write_times(&bars[0], d, "resnet50", "resnet", err) || !write_times(&bars[1], d, "bert-large", "bert", err))
        return false;
    d->finding = times_finding(bars, d->a);
    return true;
}
