/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * answer.c - a run in a dozen lines, the verdict first.
 *
 * The IPU that waits least bounds the step: the answer names its largest kind of work, and the IPU that waits most. The
 * parts of a step are means over the IPUs. Published figures are compared only when nothing of the recipe was changed.
 */
#include "results/published/published.h"
#include "results/simulate/simulate.h"
#include "harness/harness.h"
#include <unistd.h>

/* ---- kinds of work ------------------------------------------------------------------------- */

static double work_share(const struct timeline *t, uint32_t row, enum part_class class)
{
    return (double)cycles_of_class(&t->rows[row].spent, class) / (double)t->step_cycles;
}

static enum part_class largest_work(const struct timeline *t, uint32_t row)
{
    enum part_class best = CLASS_COMPUTE;
    for (int k = 0; k < N_PART_CLASSES; k++)
        if (k != CLASS_WAITING && work_share(t, row, (enum part_class)k) > work_share(t, row, best))
            best = (enum part_class)k;
    return best;
}

/* ---- the lines ------------------------------------------------------------------------------- */

static void print_fit(FILE *f, const struct simulation *sim, const struct result *r, bool colour)
{
    char some[QUANTITY_ROOM], all[QUANTITY_ROOM];
    const struct verdict { const char *word, *colour; } verdicts[] = { { "NO", "\033[1;31m" }, { "barely", "\033[33m" }, { "yes", "\033[32m" } },
                         *v = &verdicts[r->fits + result_fits_surely(r)];
    uint64_t tile = sim->machine->chip.tile_memory_bytes;
    double likely = 100 * r->fits_probability;
    uint64_t bytes = r->fits ? tile - r->memory_peak_bytes_per_tile : r->memory_shortfall_bytes_per_tile;
    fprintf(f, "fits: %s%s%s (%.0f %% likely), %s %s %s %s (IPU %u)%s\n", colour ? v->colour : "", v->word, colour ? "\033[0m" : "", likely,
            quantity_text(some, (double)bytes, "B", 3), r->fits ? "of" : "too many for the", quantity_text(all, (double)tile, "B", 3),
            r->fits ? "free on the fullest tile" : "of the fullest tile", sim->plan.worst_ipu, r->fits ? "" : "; the rest is as if it fitted");
    if (r->smaller_available_memory)
        fprintf(f, "with less memory for temporaries it fits: parallel.available_memory=%s, %s per step (%+.1f %%)\n",
                r->smaller_available_memory, quantity_text(some, r->smaller_memory_step_time_s, "s", 4),
                100 * (r->smaller_memory_step_time_s / r->step_time_s - 1));
}

static double waiting(const struct timeline *t, uint32_t ipu)
{
    return work_share(t, ipu, CLASS_WAITING);
}

/* " on IPUs 0, 2-3": the IPUs of the first replica that wait at most this share of the step. */
static void print_busy(FILE *f, const struct timeline *t, uint32_t n_ipus, double most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_ipus; i++)
        n += waiting(t, i) <= most;
    fprintf(f, n > 1 ? " on IPUs" : " on IPU");
    bool shown = false;
    for (uint32_t from = 0, to; from < n_ipus; from = to + 1) {
        for (to = from; to < n_ipus && waiting(t, to) <= most; to++)
            ;
        if (to == from)
            continue;
        fprintf(f, "%s %u", shown ? "," : "", from);
        shown = true;
        if (to - from > 1)
            fprintf(f, "-%u", to - 1);
    }
}

static void answer_print_bound(FILE *f, const struct timeline *t)
{
    enum { NOTEWORTHY_PERCENT = 10 };
    uint32_t n_ipus = t->plan->request.ipus_per_replica, busiest = 0, idlest = 0;
    for (uint32_t i = 1; i < n_ipus; i++) {
        busiest = waiting(t, i) < waiting(t, busiest) ? i : busiest;
        idlest = waiting(t, i) > waiting(t, idlest) ? i : idlest;
    }
    enum part_class bound = largest_work(t, busiest);
    fprintf(f, "bound by: %s, %.0f %% of the step", part_class_names[bound], 100 * work_share(t, busiest, bound));
    if (n_ipus > 1)
        print_busy(f, t, n_ipus, waiting(t, busiest) + 0.05);
    if (100 * waiting(t, idlest) > NOTEWORTHY_PERCENT)
        fprintf(f, "; IPU %u waits %.0f %%", idlest, 100 * waiting(t, idlest));
    fprintf(f, "\n");
}

/* The largest parts, and the sum of the others. */
static void print_step(FILE *f, const struct result *r)
{
    enum { PARTS_SHOWN = 6 };
    enum part parts[N_PARTS];
    double rest = 0;
    parts_by_size(parts, r->breakdown_s);
    fprintf(f, "step, mean of the IPUs:");
    for (int i = 0; i < N_PARTS; i++) {
        double share = r->breakdown_s[parts[i]] / r->step_time_s;
        if (i < PARTS_SHOWN && share > 0)
            fprintf(f, "%s %s %.0f %%", i ? "," : "", part_names[parts[i]], 100 * share);
        else
            rest += share;
    }
    fprintf(f, rest > 0 ? ", others %.0f %%\n" : "\n", 100 * rest);
}

double result_of_figure(const struct figure *g, const struct result *r)
{
    if (text_is(g->metric, "throughput_samples_per_s"))
        return r->throughput_samples_per_s;
    if (text_is(g->metric, "time_to_train_min"))
        return r->time_to_train_s / 60;
    return text_is(g->metric, "latency_s") ? r->latency_s : 0;
}

bool answer_shows(const struct figure *g)
{
    struct result any = { .throughput_samples_per_s = 1, .time_to_train_s = 1, .latency_s = 1 };
    return result_of_figure(g, &any) > 0;
}

/* The row's id without the recipe id at its start. */
static const char *row_name(const struct figure *g)
{
    size_t n = strlen(g->recipe);
    return strncmp(g->id, g->recipe, n) == 0 && g->id[n] == '.' ? g->id + n + 1 : g->id;
}

static void print_published(FILE *f, const struct result *r, const struct figures *figures)
{
    bool any = false;
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *g = &figures->items[i];
        double simulated = text_is(g->recipe, r->id) ? result_of_figure(g, r) : 0;
        if (!(simulated > 0))
            continue;
        fprintf(f, "%s %.6g %s (%s: %s, %+.1f %%)", any ? ";" : "published:", g->value, g->unit, row_name(g),
                role_names[g->role], 100 * (simulated / g->value - 1));
        any = true;
    }
    fprintf(f, any ? "\n" : "published: no figure of this recipe\n");
}

void answer_print(FILE *f, const struct simulation *sim, const struct result *r, double uncertainty, const struct figures *figures, bool colour)
{
    bool changed = r->overrides && *r->overrides;
    fprintf(f, "%s: %s on %" PRIu64 " IPU%s of %s, %s\n", r->id, r->workload, r->ipus, plural(r->ipus), r->system,
            sim->recipe.mode == MODE_INFER ? "inference" : "training");
    print_fit(f, sim, r, colour);
    result_print_line(f, METRICS_SPEED, r, uncertainty);
    answer_print_bound(f, &sim->timeline);
    print_step(f, r);
    for (int g = METRICS_TRAINING; g < N_METRIC_GROUPS; g++)
        result_print_line(f, (enum metric_group)g, r, uncertainty);
    fprintf(f, "changed: %s\n", changed ? r->overrides : "nothing");
    if (changed)
        fprintf(f, "published: no figure of the changed recipe\n");
    else if (figures)
        print_published(f, r, figures);
}
