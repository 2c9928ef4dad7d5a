/*
 * answer.c - a run in ten lines, the verdict first.
 *
 * The step is bound by the IPU that waits least: its largest kind of work is named, and the IPU that waits most. The parts of a step are
 * means over the IPUs. A published figure is set beside the result only where nothing of its recipe was changed.
 */
#include "harness/answer.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds of work ------------------------------------------------------------------------- */

enum work { WORK_COMPUTE, WORK_EXCHANGE, WORK_COPIES, WORK_WAITING, WORK_ALL_REDUCE, WORK_STREAMING, WORK_HOST, N_WORK };
static const char *const work_names[N_WORK] = { "compute", "exchange on the chip", "copies between IPUs", "waiting", "all-reduce",
                                                "streaming memory", "the host" };
static const unsigned char work_of_part[] = {
    [PART_MATMUL] = WORK_COMPUTE, [PART_CONV] = WORK_COMPUTE, [PART_NORM] = WORK_COMPUTE, [PART_ELEMENTWISE] = WORK_COMPUTE,
    [PART_SOFTMAX] = WORK_COMPUTE, [PART_EMBEDDING] = WORK_COMPUTE, [PART_POOLING] = WORK_COMPUTE, [PART_LSTM] = WORK_COMPUTE,
    [PART_LOSS] = WORK_COMPUTE, [PART_REARRANGE] = WORK_COMPUTE, [PART_ACCUMULATE] = WORK_COMPUTE, [PART_OPTIMIZER] = WORK_COMPUTE,
    [PART_EXCHANGE] = WORK_EXCHANGE, [PART_SYNC] = WORK_EXCHANGE, [PART_STAGE_COPY] = WORK_COPIES, [PART_BUBBLE] = WORK_WAITING,
    [PART_ALL_REDUCE] = WORK_ALL_REDUCE, [PART_STREAMING] = WORK_STREAMING, [PART_HOST] = WORK_HOST,
};
_Static_assert(sizeof work_of_part == N_PARTS, "one kind of work a part");

static void shares_of(double out[N_WORK], const struct timeline *t, uint32_t row)
{
    memset(out, 0, N_WORK * sizeof *out);
    for (int k = 0; k < N_PARTS; k++)
        out[work_of_part[k]] += (double)t->rows[row].spent.part[k] / (double)t->step_cycles;
}

static enum work largest_work(const double share[N_WORK])
{
    enum work best = WORK_COMPUTE;
    for (int k = 0; k < N_WORK; k++)
        if (k != WORK_WAITING && share[k] > share[best])
            best = (enum work)k;
    return best;
}

/* ---- the lines ------------------------------------------------------------------------------- */

static void print_fit(FILE *f, const struct simulation *sim, const struct result *r)
{
    uint64_t tile = sim->machine->chip.tile_memory_bytes;
    if (r->fits)
        fprintf(f, "fits: yes, %" PRIu64 " of a tile's %" PRIu64 " B free on the fullest IPU (%u)\n", tile - r->memory_peak_bytes_per_tile,
                tile, sim->plan.worst_ipu);
    else
        fprintf(f, "fits: NO, %" PRIu64 " B more than a tile's %" PRIu64 " on the fullest IPU (%u); what follows holds only if it fitted\n",
                r->memory_shortfall_bytes_per_tile, tile, sim->plan.worst_ipu);
}

static void print_speed(FILE *f, const struct simulation *sim, const struct result *r)
{
    fprintf(f, "throughput: %.6g samples/s, %.4g s a step of %.6g samples", r->throughput_samples_per_s, r->step_time_s, r->global_batch);
    if (r->latency_s > 0)
        fprintf(f, ", %.4g ms from input to result", 1e3 * r->latency_s);
    if (sim->machine->board_power_w > 0)
        fprintf(f, ", %.3g J a sample (boards)", sim->machine->board_power_w * (double)r->ipus / (double)sim->machine->ipus_per_board
                / r->throughput_samples_per_s);
    fprintf(f, "\n");
}

static double waiting(const struct timeline *t, uint32_t ipu)
{
    double share[N_WORK];
    shares_of(share, t, ipu);
    return share[WORK_WAITING];
}

/* " on IPUs 0, 2-3": those of the first replica that wait at most so much. */
static void print_busy(FILE *f, const struct timeline *t, uint32_t n_ipus, double most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_ipus; i++)
        n += waiting(t, i) <= most;
    fprintf(f, n > 1 ? " on IPUs" : " on IPU");
    for (uint32_t from = 0, to, shown = 0; from < n_ipus; from = to + 1) {
        for (to = from; to < n_ipus && waiting(t, to) <= most; to++)
            ;
        if (to == from)
            continue;
        fprintf(f, "%s %u", shown++ ? "," : "", from);
        if (to - from > 1)
            fprintf(f, "-%u", to - 1);
    }
}

static void print_bound(FILE *f, const struct timeline *t)
{
    enum { NOTEWORTHY_PERCENT = 10 };
    uint32_t n_ipus = t->plan->options.ipus_per_replica, busiest = 0, idlest = 0;
    double share[N_WORK];
    for (uint32_t i = 1; i < n_ipus; i++) {
        busiest = waiting(t, i) < waiting(t, busiest) ? i : busiest;
        idlest = waiting(t, i) > waiting(t, idlest) ? i : idlest;
    }
    shares_of(share, t, busiest);
    enum work bound = largest_work(share);
    fprintf(f, "bound by: %s, %.0f %% of the step", work_names[bound], 100 * share[bound]);
    if (n_ipus > 1)
        print_busy(f, t, n_ipus, waiting(t, busiest) + 0.05);
    if (100 * waiting(t, idlest) > NOTEWORTHY_PERCENT)
        fprintf(f, "; IPU %u waits %.0f %%", idlest, 100 * waiting(t, idlest));
    fprintf(f, "\n");
}

/* The largest parts; what is left is summed. */
struct share { int part; double share; };

static int by_share(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    return x->share != y->share ? (x->share < y->share) - (x->share > y->share) : x->part - y->part;
}

static void print_step(FILE *f, const struct result *r)
{
    enum { SHOWN = 6 };
    struct share shares[N_PARTS];
    double rest = 0;
    for (int i = 0; i < N_PARTS; i++)
        shares[i] = (struct share){ i, r->breakdown_s[i] / r->step_time_s };
    qsort(shares, N_PARTS, sizeof *shares, by_share);
    fprintf(f, "step, mean of the IPUs:");
    for (int i = 0; i < N_PARTS; i++)
        if (i < SHOWN && shares[i].share > 0)
            fprintf(f, "%s %s %.0f %%", i ? "," : "", part_names[shares[i].part], 100 * shares[i].share);
        else
            rest += shares[i].share;
    fprintf(f, rest > 0 ? ", others %.0f %%\n" : "\n", 100 * rest);
}

static void print_training(FILE *f, const struct result *r)
{
    if (!(r->time_to_train_s > 0))
        return;
    fprintf(f, "time to train: %.4g min for %.4g samples", r->time_to_train_s / 60, r->samples_to_converge);
    if (r->predicted_time_to_train_s > 0 && r->predicted_samples_to_converge != r->samples_to_converge)
        fprintf(f, "; %.4g min for the %.4g predicted from the batch", r->predicted_time_to_train_s / 60, r->predicted_samples_to_converge);
    fprintf(f, "\n");
}

/* What a figure's metric is in the result; 0: none of those that an answer shows. */
static double simulated_of(const struct figure *g, const struct result *r)
{
    if (text_is(g->metric, "throughput_samples_per_s"))
        return r->throughput_samples_per_s;
    if (text_is(g->metric, "time_to_train_min"))
        return r->time_to_train_s / 60;
    return text_is(g->metric, "latency_s") ? r->latency_s : 0;
}

static void print_published(FILE *f, const struct result *r, const struct figures *figures)
{
    size_t n = 0;
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *g = &figures->items[i];
        double simulated = text_is(g->recipe, r->id) ? simulated_of(g, r) : 0;
        if (!(simulated > 0))
            continue;
        fprintf(f, "%s %.6g %s (%s, %+.1f %%)", n++ ? ";" : "published:", g->value, g->unit, role_names[g->role],
                100 * (simulated / g->value - 1));
    }
    fprintf(f, n ? "\n" : "published: no figure of this recipe\n");
}

void answer_print(FILE *f, const struct simulation *sim, const struct result *r, const struct figures *figures)
{
    bool changed = r->overrides && *r->overrides;
    fprintf(f, "%s: %s on %" PRIu64 " IPUs of %s, %s\n", r->id, r->workload, r->ipus, r->system,
            sim->recipe.mode == MODE_INFER ? "inference" : "training");
    print_fit(f, sim, r);
    print_speed(f, sim, r);
    print_bound(f, &sim->timeline);
    print_step(f, r);
    print_training(f, r);
    fprintf(f, "changed: %s\n", changed ? r->overrides : "nothing, as the recipe has it");
    if (changed)
        fprintf(f, "published: no figure of the changed recipe\n");
    else if (figures)
        print_published(f, r, figures);
}
