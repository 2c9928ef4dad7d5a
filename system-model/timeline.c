/*
 * timeline.c - the plan played against the clock: spans on the IPUs of each kind of replica, and what each cycle was spent on.
 *
 * Replicas that do the same are played once and counted n_alike times (folded); a replica with a slow chip is
 * of its own kind; unfolded plays every replica. All sums are whole cycles, so both agree to the bit.
 * Within a slot of a pipeline cycle IPUs run side by side and wait for the slowest; all replicas wait for the slowest
 * before gradients are reduced.
 */
#include "system-model/plan.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

const char *const span_kind_names[N_SPAN_KINDS] = {
    [SPAN_FORWARD] = "forward", [SPAN_BACKWARD] = "backward", [SPAN_COPY] = "copy", [SPAN_INPUT] = "input", [SPAN_WAIT] = "wait",
    [SPAN_COLLECTIVE] = "collective", [SPAN_OPTIMIZER] = "optimizer", [SPAN_STREAMING] = "streaming", [SPAN_HOST] = "host",
};

struct player {
    struct timeline *t;
    const struct plan *p;
    struct arena *a;
    uint32_t width;             /* IPUs of a replica */
    uint32_t first_row;         /* of the replica being played */
    uint64_t now;               /* its clock */
};

static void add_span(struct player *pl, struct span s)
{
    struct timeline *t = pl->t;
    if (!s.n_cycles)
        return;
    t->spans = arena_grow(pl->a, t->spans, t->n_spans, &t->cap_spans, sizeof *t->spans);
    t->spans[t->n_spans++] = s;
}

static double slowdown(const struct plan *p, uint32_t ipu_of_machine)
{
    const struct faults *f = p->options.faults;
    for (size_t i = 0; f && i < f->n_chips; i++)
        if (f->chips[i].ipu == ipu_of_machine)
            return f->chips[i].slowdown;
    return 1;
}

static uint64_t slowed(uint64_t cycles, double factor)
{
    return factor == 1 ? cycles : (uint64_t)ceil((double)cycles * factor);
}

/* ---- rows: which replicas are played --------------------------------------------------- */

static bool has_fault(const struct plan *p, uint32_t replica)
{
    for (uint32_t i = 0; i < p->options.ipus_per_replica; i++)
        if (slowdown(p, replica * p->options.ipus_per_replica + i) != 1)
            return true;
    return false;
}

static void add_replica(struct player *pl, uint32_t replica, uint32_t n_alike)
{
    for (uint32_t i = 0; i < pl->width; i++)
        pl->t->rows[pl->t->n_rows++] = (struct timeline_row){ .replica = replica, .ipu = i, .n_alike = n_alike };
}

/* One row set for all healthy replicas together, one for each faulty one; unfolded: one for each. */
static void make_rows(struct player *pl)
{
    const struct plan *p = pl->p;
    uint32_t n = p->options.n_replicas, healthy = 0, first_healthy = 0;
    bool faulty = p->options.faults && p->options.faults->n_chips;
    uint32_t n_kinds = p->options.unfolded ? n : 1;
    for (uint32_t r = 0; faulty && !p->options.unfolded && r < n; r++)
        n_kinds += has_fault(p, r);
    pl->t->rows = ARENA_ARRAY(pl->a, struct timeline_row, (size_t)n_kinds * pl->width);
    for (uint32_t r = 0; r < n; r++) {
        if (p->options.unfolded || (faulty && has_fault(p, r))) {
            add_replica(pl, r, 1);
            continue;
        }
        if (!healthy)
            first_healthy = r;
        healthy++;
        if (!faulty) {
            healthy = n;
            break;
        }
    }
    if (healthy)
        add_replica(pl, first_healthy, healthy);
}

/* ---- a replica's micro-batches ------------------------------------------------------------ */

/* Plays one slot of a run of equal cycles; returns how long the slot takes. */
static uint64_t play_slot(struct player *pl, const struct pipeline_run *run, uint32_t slot, uint64_t start, uint64_t period,
                          bool emit)
{
    const struct plan *p = pl->p;
    uint64_t longest = 0, busy[MAX_STAGES] = {0};
    for (uint32_t i = 0; i < p->n_tasks; i++) {
        const struct task *task = &p->tasks[i];
        if (!(run->active >> i & 1) || task->slot != slot)
            continue;
        const struct stage_plan *stage = &p->stages[task->stage];
        struct timeline_row *row = &pl->t->rows[pl->first_row + stage->ipu];
        bool forward = task->kind == TASK_FORWARD;
        uint64_t input = forward && stage->host_bytes ? p->io_cycles[stage->ipu] : 0, work = task_cycles(p, task);
        uint64_t took = slowed(work, slowdown(p, row->replica * pl->width + stage->ipu));
        if (emit) {
            struct span s = { .row = pl->first_row + stage->ipu, .repeat = run->n_cycles, .period_cycles = period, .stage = (uint16_t)task->stage };
            s.start_cycle = start + busy[stage->ipu];
            s.n_cycles = input;
            s.kind = SPAN_INPUT;
            add_span(pl, s);
            s.start_cycle += input;
            s.n_cycles = took;
            s.kind = forward ? SPAN_FORWARD : SPAN_BACKWARD;
            add_span(pl, s);
            cycles_add(&row->spent, forward ? &stage->forward : &stage->backward, run->n_cycles);
            row->spent.part[PART_BUBBLE] += (took - work) * run->n_cycles;      /* a slow chip's loss */
            row->spent.part[PART_HOST] += input * run->n_cycles;
        }
        busy[stage->ipu] += input + took;
        if (longest < busy[stage->ipu])
            longest = busy[stage->ipu];
    }
    for (uint32_t i = 0; emit && i < pl->width; i++) {
        pl->t->rows[pl->first_row + i].spent.part[PART_BUBBLE] += (longest - busy[i]) * run->n_cycles;
        add_span(pl, (struct span){ .row = pl->first_row + i, .repeat = run->n_cycles, .period_cycles = period, .start_cycle = start + busy[i],
                                    .n_cycles = longest - busy[i], .stage = UINT16_MAX, .kind = SPAN_WAIT });
    }
    return longest;
}

static uint64_t cycle_length(struct player *pl, const struct pipeline_run *run)
{
    uint64_t length = run->copy_cycles;
    for (uint32_t slot = 0; slot < pl->p->n_slots; slot++)
        length += play_slot(pl, run, slot, 0, 0, false);
    return length;
}

static void play_run(struct player *pl, const struct pipeline_run *run)
{
    uint64_t period = cycle_length(pl, run), at = pl->now;
    for (uint32_t slot = 0; slot < pl->p->n_slots; slot++)
        at += play_slot(pl, run, slot, at, period, true);
    for (uint32_t i = 0; i < pl->width; i++) {
        pl->t->rows[pl->first_row + i].spent.part[PART_STAGE_COPY] += run->copy_cycles * run->n_cycles;
        add_span(pl, (struct span){ .row = pl->first_row + i, .repeat = run->n_cycles, .period_cycles = period, .start_cycle = at,
                                    .n_cycles = run->copy_cycles, .stage = UINT16_MAX, .kind = SPAN_COPY });
    }
    pl->now += period * run->n_cycles;
}

/* The first micro-batch leaves the last stage after as many cycles as it takes to reach it. */
static void note_first_output(struct player *pl)
{
    const struct plan *p = pl->p;
    uint32_t left = p->tasks[p->n_stages - 1].first_cycle + 1;
    for (uint32_t r = 0; r < p->n_runs && left; r++) {
        uint32_t n = p->runs[r].n_cycles < left ? p->runs[r].n_cycles : left;
        pl->t->first_output_cycles += n * cycle_length(pl, &p->runs[r]);
        left -= n;
    }
}

/* ---- the update ------------------------------------------------------------------------------ */

static void spend(struct player *pl, uint32_t row, uint64_t *at, uint64_t cycles, enum part part, enum span_kind kind)
{
    if (part != N_PARTS)                /* N_PARTS: accounted by the caller */
        pl->t->rows[row].spent.part[part] += cycles;
    add_span(pl, (struct span){ .row = row, .repeat = 1, .start_cycle = *at, .n_cycles = cycles, .stage = UINT16_MAX, .kind = (uint16_t)kind });
    *at += cycles;
}

/* Every row waits until `until`. */
static void wait_all(struct player *pl, uint64_t *at, uint64_t until, enum part part, enum span_kind kind)
{
    for (uint32_t r = 0; r < pl->t->n_rows; r++)
        spend(pl, r, &at[r], until - at[r], part, kind);
}

static uint64_t latest(const uint64_t *at, uint32_t n)
{
    uint64_t most = 0;
    for (uint32_t r = 0; r < n; r++)
        if (most < at[r])
            most = at[r];
    return most;
}

static void play_update(struct player *pl, uint64_t *at)
{
    struct timeline *t = pl->t;
    const struct plan *p = pl->p;
    wait_all(pl, at, latest(at, t->n_rows), PART_BUBBLE, SPAN_WAIT);
    for (uint32_t r = 0; r < t->n_rows; r++) {
        const struct update_plan *u = &p->update[t->rows[r].ipu];
        uint32_t ipu = t->rows[r].replica * pl->width + t->rows[r].ipu;
        uint64_t work = cycles_total(&u->optimizer), took = slowed(work, slowdown(p, ipu));
        spend(pl, r, &at[r], u->gradient_cycles + u->norm_cycles, PART_ALL_REDUCE, SPAN_COLLECTIVE);
        spend(pl, r, &at[r], u->streaming_cycles, PART_STREAMING, SPAN_STREAMING);
        cycles_add(&t->rows[r].spent, &u->optimizer, 1);
        t->rows[r].spent.part[PART_BUBBLE] += took - work;      /* a slow chip's loss */
        spend(pl, r, &at[r], took, N_PARTS, SPAN_OPTIMIZER);
    }
    wait_all(pl, at, latest(at, t->n_rows), PART_BUBBLE, SPAN_WAIT);
    for (uint32_t r = 0; r < t->n_rows; r++) {
        const struct update_plan *u = &p->update[t->rows[r].ipu];
        spend(pl, r, &at[r], u->weight_cycles, PART_ALL_REDUCE, SPAN_COLLECTIVE);
        spend(pl, r, &at[r], u->host_cycles, PART_HOST, SPAN_HOST);
    }
    t->step_cycles = latest(at, t->n_rows);
    if (t->step_cycles < p->host_floor_cycles)
        t->step_cycles = p->host_floor_cycles;
    wait_all(pl, at, t->step_cycles, PART_HOST, SPAN_HOST);
}

bool timeline_run(struct timeline *out, const struct plan *p, struct arena *a, struct err *err)
{
    *out = (struct timeline){ .plan = p };
    struct player pl = { .t = out, .p = p, .a = a, .width = p->options.ipus_per_replica };
    if (pl.width > MAX_STAGES)
        return fail(err, "parallel.ipus_per_replica: %u, at most %d", pl.width, MAX_STAGES);
    make_rows(&pl);
    uint64_t *at = ARENA_ARRAY(a, uint64_t, out->n_rows);
    for (uint32_t row = 0; row < out->n_rows; row += pl.width) {
        pl.first_row = row;
        pl.now = 0;
        for (uint32_t r = 0; r < p->n_runs; r++)
            play_run(&pl, &p->runs[r]);
        for (uint32_t i = 0; i < pl.width; i++)
            at[row + i] = pl.now;
    }
    pl.first_row = 0;
    note_first_output(&pl);
    play_update(&pl, at);
    return true;
}

/* ---- laws ---------------------------------------------------------------------------------------- */

static uint64_t span_sum(const struct timeline *t, uint32_t row)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->n_spans; i++)
        if (t->spans[i].row == row)
            sum += t->spans[i].n_cycles * t->spans[i].repeat;
    return sum;
}

/* Spans of a row are made in the order of their first start; recurring ones must leave room for each other. */
static bool check_overlap(const struct timeline *t, const struct span *a, const struct span *b, struct err *err)
{
    if (a->row != b->row)
        return true;
    uint64_t a_end = a->start_cycle + (a->repeat - 1) * a->period_cycles + a->n_cycles;
    bool same_run = a->repeat == b->repeat && a->period_cycles == b->period_cycles && a->repeat > 1
                 && b->start_cycle < a->start_cycle + a->period_cycles;
    bool apart = same_run ? a->start_cycle + a->n_cycles <= b->start_cycle && b->start_cycle + b->n_cycles <= a->start_cycle + a->period_cycles
                          : a_end <= b->start_cycle;
    if (!apart)
        return fail(err, "timeline: row %u: %s from cycle %" PRIu64 " and %s from cycle %" PRIu64 " overlap (step of %" PRIu64 ")", a->row,
                    span_kind_names[a->kind], a->start_cycle, span_kind_names[b->kind], b->start_cycle, t->step_cycles);
    return true;
}

bool timeline_check(const struct timeline *t, struct err *err)
{
    for (uint32_t r = 0; r < t->n_rows; r++) {
        uint64_t parts = cycles_total(&t->rows[r].spent);
        if (parts != t->step_cycles || span_sum(t, r) != t->step_cycles)
            return fail(err, "timeline: row %u: parts sum to %" PRIu64 " and spans to %" PRIu64 " cycles, the step has %" PRIu64, r, parts,
                        span_sum(t, r), t->step_cycles);
    }
    for (size_t i = 0; i < t->n_spans; i++)
        for (size_t j = i + 1; j < t->n_spans && j < i + 4096; j++)
            if (t->spans[j].row == t->spans[i].row) {
                if (!check_overlap(t, &t->spans[i], &t->spans[j], err))
                    return false;
                if (t->spans[j].period_cycles != t->spans[i].period_cycles)
                    break;
            }
    return true;
}

/* ---- printing ------------------------------------------------------------------------------------- */

void timeline_print(FILE *f, const struct timeline *t)
{
    double hz = t->plan->topology->machine->chip.clock_hz;
    fprintf(f, "timeline of %s on %s: one step, %" PRIu64 " cycles, %.6g s\n", t->plan->graph->name, t->plan->topology->machine->name,
            t->step_cycles, (double)t->step_cycles / hz);
    for (uint32_t r = 0; r < t->n_rows; r++) {
        const struct timeline_row *row = &t->rows[r];
        fprintf(f, "ipu %u of replica %u (%u alike)\n", row->ipu, row->replica, row->n_alike);
        for (size_t i = 0; i < t->n_spans; i++) {
            const struct span *s = &t->spans[i];
            if (s->row != r)
                continue;
            fprintf(f, "  %14" PRIu64 " %12" PRIu64 " %-10s", s->start_cycle, s->n_cycles, span_kind_names[s->kind]);
            if (s->stage != UINT16_MAX)
                fprintf(f, " stage %u", s->stage);
            if (s->repeat > 1)
                fprintf(f, " x %u every %" PRIu64, s->repeat, s->period_cycles);
            fputc('\n', f);
        }
        for (int k = 0; k < N_PARTS; k++)
            if (row->spent.part[k])
                fprintf(f, "  = %-12s %14" PRIu64 " cycles %6.2f %%\n", part_names[k], row->spent.part[k],
                        100.0 * (double)row->spent.part[k] / (double)t->step_cycles);
    }
}
