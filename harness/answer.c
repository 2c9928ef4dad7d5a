/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * answer.c - a run in a dozen lines, beginning with the verdict.
 *
 * The IPU that waits least bounds the step: the answer names its largest kind of work, and the IPU that waits most. The parts of a step are
 * means over the IPUs. Published figures are compared only if the recipe is unchanged.
 */
#include "results/published/published.h"
#include "results/simulate/simulate.h"
#include "results/study/trust.h"
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

/* Adds the line about memory off the chip: "off chip, an IPU: weights 757 MB, ..; 11 GB of the 137 GB of a board: fits". */
static void answer_add_off_chip(struct document *d, const struct plan *p)
{
    const struct off_chip *m = &p->off_chip;
    const char *parts = "";
    for (int k = 0; k < N_OFF_CHIP; k++)
        if (m->bytes[k] > 0)
            parts = arena_printf(d->arena, "%s%s %s %s", parts, *parts ? "," : "", off_chip_names[k], quantity_kept(m->bytes[k], "B", 3, d->arena));
    if (!*parts || !plan_is_phased(&p->request))
        return;
    const char *verdict = m->capacity_bytes > 0 ? arena_printf(d->arena, "%s %s of a board's streaming memory", m->overflows ? "do NOT fit the" : "fit the",
                                                               quantity_kept(m->capacity_bytes, "B", 3, d->arena))
                                                : "in the host's memory, whose size no sheet has";
    document_line(d, "off chip, of an IPU:%s; %s of a board's IPUs %s", parts, quantity_kept(m->board_bytes, "B", 3, d->arena), verdict);
}

static void answer_add_fit(struct document *d, const struct simulation *sim, const struct result *r, bool colour)
{
    const struct verdict { const char *word, *colour; } verdicts[] = { { "NO", "\033[1;31m" }, { "barely", "\033[33m" }, { "yes", "\033[32m" } },
                         *v = &verdicts[r->fits + result_fits_surely(r)];
    uint64_t tile = sim->machine->chip.tile_memory_bytes;
    bool on_chip = r->memory_shortfall_bytes_per_tile == 0;
    uint64_t bytes = on_chip ? tile - r->memory_peak_bytes_per_tile : r->memory_shortfall_bytes_per_tile;
    document_line(d, "fits: %s%s%s (%s), %s %s %s %s (IPU %u)%s", colour ? v->colour : "", v->word, colour ? "\033[0m" : "",
                  memory_chance_text(r->fits_published, r->fits_probability_counted, r->memory_distance, d->arena), quantity_kept((double)bytes, "B", 3, d->arena), on_chip ? "of" : "too many for the",
                  quantity_kept((double)tile, "B", 3, d->arena), on_chip ? "free on the fullest tile" : "of the fullest tile", sim->plan.worst_ipu,
                  r->fits ? "" : "; the rest is as if it fitted");
    answer_add_off_chip(d, &sim->plan);
    if (r->smaller_available_memory)
        document_line(d, "with less memory for temporaries it fits: parallel.available_memory=%s, %s per step (%+.1f %%)", r->smaller_available_memory,
                      quantity_kept(r->smaller_memory_step_time_s, "s", 4, d->arena), 100 * (r->smaller_memory_step_time_s / r->step_time_s - 1));
}

static double waiting(const struct timeline *t, uint32_t ipu)
{
    return work_share(t, ipu, CLASS_WAITING);
}

/* Names the IPUs of the first replica that wait for at most this share of the step, such as " on IPUs 0, 2-3". */
static const char *busy_text(const struct timeline *t, uint32_t n_ipus, double most, struct arena *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_ipus; i++)
        n += waiting(t, i) <= most;
    const char *text = n > 1 ? " on IPUs" : " on IPU", *comma = "";
    for (uint32_t from = 0, to; from < n_ipus; from = to + 1) {
        for (to = from; to < n_ipus && waiting(t, to) <= most; to++)
            ;
        if (to == from)
            continue;
        text = to - from > 1 ? arena_printf(a, "%s%s %u-%u", text, comma, from, to - 1) : arena_printf(a, "%s%s %u", text, comma, from);
        comma = ",";
    }
    return text;
}

static void answer_add_bound(struct document *d, const struct timeline *t)
{
    enum { NOTEWORTHY_PERCENT = 10 };
    uint32_t n_ipus = t->plan->request.ipus_per_replica, busiest = 0, idlest = 0;
    for (uint32_t i = 1; i < n_ipus; i++) {
        busiest = waiting(t, i) < waiting(t, busiest) ? i : busiest;
        idlest = waiting(t, i) > waiting(t, idlest) ? i : idlest;
    }
    enum part_class bound = largest_work(t, busiest);
    const char *where = n_ipus > 1 ? busy_text(t, n_ipus, waiting(t, busiest) + 0.05, d->arena) : "";
    double idle = 100 * waiting(t, idlest);
    document_line(d, "bound by: %s, %.0f %% of the step%s%s", part_class_names[bound], 100 * work_share(t, busiest, bound), where,
                  idle > NOTEWORTHY_PERCENT ? arena_printf(d->arena, "; IPU %u waits %.0f %%", idlest, idle) : "");
}

/* Adds the largest parts of the step, and the sum of all others. */
static void answer_add_step(struct document *d, const struct result *r)
{
    enum { PARTS_SHOWN = 6 };
    enum part parts[N_PARTS];
    double rest = 0;
    const char *text = "";
    parts_by_size(parts, r->breakdown_s);
    for (int i = 0; i < N_PARTS; i++) {
        double share = r->breakdown_s[parts[i]] / r->step_time_s;
        if (i < PARTS_SHOWN && share > 0)
            text = arena_printf(d->arena, "%s%s %s %.0f %%", text, i ? "," : "", part_names[parts[i]], 100 * share);
        else
            rest += share;
    }
    document_line(d, "step, mean of the IPUs:%s%s", text, rest > 0 ? arena_printf(d->arena, ", others %.0f %%", 100 * rest) : "");
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

/* The row's id without the recipe's id at its start. */
static const char *row_name(const struct figure *g)
{
    size_t n = strlen(g->recipe);
    return strncmp(g->id, g->recipe, n) == 0 && g->id[n] == '.' ? g->id + n + 1 : g->id;
}

/* True if the row is about this recipe, or compares it with another one. */
static bool figure_is_of(const struct figure *g, const char *recipe)
{
    const char *at = strstr(g->recipe, recipe);
    size_t n = strlen(recipe);
    return at && ((at == g->recipe && (at[n] == ':' || !at[n])) || (at > g->recipe && at[-1] == ':' && !at[n]));
}

/* Adds the published figures that the answer shows, and the number of further ones that podbench check compares. */
static void answer_add_published(struct document *d, const struct simulation *sim, const struct result *r, const struct figures *figures)
{
    const char *text = "", *none = sim->recipe.no_figure;
    size_t n_others = 0;
    for (const struct figure *g = figures->items; g < figures->items + figures->n; g++) {
        double simulated = text_is(g->recipe, r->id) ? result_of_figure(g, r) : 0;
        n_others += !(simulated > 0) && figure_is_of(g, r->id);
        if (simulated > 0)
            text = arena_printf(d->arena, "%s%s %.6g %s (%s: %s, %+.1f %%)", text, *text ? ";" : "", g->value, g->unit, row_name(g), role_names[g->role],
                                100 * (simulated / g->value - 1));
    }
    if (none && !*text)
        text = arena_printf(d->arena, " no throughput: %s%s", none, n_others ? ";" : "");
    if (n_others)
        text = arena_printf(d->arena, "%s%s %zu figure%s of memory, power, evaluation or a ratio, in podbench check", text, *text && !none ? ";" : "", n_others, plural(n_others));
    document_line(d, "published:%s", *text ? text : " no figure of this recipe");
}

static void answer_add_group(struct document *d, enum metric_group group, const struct result *r, double uncertainty)
{
    const char *line = result_line(group, r, uncertainty, d->arena);
    if (line)
        document_line(d, "%s", line);
}

void answer_document(struct document *d, const struct simulation *sim, const struct result *r, double uncertainty, const struct figures *figures, bool colour)
{
    bool changed = r->overrides && *r->overrides;
    document_line(d, "%s: %s on %" PRIu64 " IPU%s of %s, %s", r->id, r->workload, r->ipus, plural(r->ipus), r->system,
                  sim->recipe.mode == MODE_INFER ? "inference" : "training");
    answer_add_fit(d, sim, r, colour);
    answer_add_group(d, METRICS_SPEED, r, uncertainty);
    answer_add_bound(d, &sim->timeline);
    answer_add_step(d, r);
    for (int g = METRICS_TRAINING; g < N_METRIC_GROUPS; g++)
        answer_add_group(d, (enum metric_group)g, r, uncertainty);
    document_line(d, "changed: %s", changed ? r->overrides : "nothing");
    if (changed)
        document_line(d, "published: no figure of the changed recipe");
    else
        answer_add_published(d, sim, r, figures);
}

/* Names published throughputs outside the interval, and what they measure, since the interval is about the steady state. */
void answer_add_outside(struct document *d, const struct result *r, const struct validity *v, const struct figures *figures)
{
    if (!validity_has_interval(v) || (r->overrides && *r->overrides))
        return;
    for (const struct figure *g = figures->items; g < figures->items + figures->n; g++) {
        bool is_rate = text_is(g->recipe, r->id) && text_is(g->metric, "throughput_samples_per_s");
        if (is_rate && (g->value < v->low || g->value > v->high))
            document_line(d, "  outside the interval: %.6g %s (%s)%s%s", g->value, g->unit, row_name(g), *g->note ? ": " : "", g->note);
    }
}
