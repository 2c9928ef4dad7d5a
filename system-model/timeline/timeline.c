/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline.c - plays a plan against the clock: spans on the IPUs of each kind of replica, and how each cycle was spent.
 *
 * Replicas that do the same are played once and counted n_alike times (folded); a replica with a slow chip is
 * of its own kind; unfolded plays every replica. All sums are whole cycles, so both agree to the bit.
 * Within a slot of a pipeline cycle IPUs run side by side and wait for the slowest; all replicas wait for the slowest
 * before gradients are reduced.
 */
#include "system-model/timeline/player.h"

const char *const span_kind_names[N_SPAN_KINDS] = {
    [SPAN_FORWARD] = "forward", [SPAN_BACKWARD] = "backward", [SPAN_COPY] = "copy", [SPAN_INPUT] = "input", [SPAN_RESULTS] = "results", [SPAN_WAIT] = "wait", [SPAN_LOAD] = "load", [SPAN_TURN] = "turn",
    [SPAN_REARRANGE] = "rearrange", [SPAN_REDUCE] = "reduce", [SPAN_CLIP] = "clip", [SPAN_STREAMING] = "streaming",
    [SPAN_OPTIMIZER] = "optimizer", [SPAN_NORMS] = "norms", [SPAN_GATHER] = "gather", [SPAN_CALL] = "call", [SPAN_UPLOAD] = "upload",
    [SPAN_HOST] = "host",
};

/* ---- rows: which replicas are played --------------------------------------------------- */

static bool has_fault(const struct plan *p, uint32_t replica)
{
    for (uint32_t i = 0; i < p->request.ipus_per_replica && p->request.faults; i++)
        if (slowdown(p, replica * p->request.ipus_per_replica + i) != 1)
            return true;
    return false;
}

static void add_replica(struct player *pl, uint32_t replica, uint32_t n_alike)
{
    for (uint32_t i = 0; i < pl->width; i++)
        pl->t->rows[pl->t->n_rows++] = (struct timeline_row){ .replica = replica, .ipu = i, .n_alike = n_alike };
}

/* Makes one set of rows for all healthy replicas together and one for each faulty replica; unfolded, one for every replica. */
static void make_rows(struct player *pl)
{
    const struct plan *p = pl->p;
    uint32_t n = p->request.n_replicas, healthy = 0, first_healthy = 0, n_kinds = 1;
    for (uint32_t r = 0; r < n; r++)
        n_kinds += p->request.detail.unfolded || has_fault(p, r);
    pl->t->rows = ARENA_ARRAY(pl->a, struct timeline_row, (size_t)n_kinds * pl->width);
    for (uint32_t r = 0; r < n; r++)
        if (p->request.detail.unfolded || has_fault(p, r))
            add_replica(pl, r, 1);
        else if (healthy++ == 0)
            first_healthy = r;
    if (healthy)
        add_replica(pl, first_healthy, healthy);
}

/* ---- a replica's micro-batches ------------------------------------------------------------ */

/* A slow chip's tasks take longer. Norms over several replicas and sums of activations are not slowed: they are on the links. */
static uint64_t task_cycles(const struct plan *p, const struct task *t, double factor)
{
    const struct stage_plan *s = &p->stages[t->stage];
    uint64_t on_links = stage_link_cycles(t->kind == TASK_FORWARD ? &s->forward : &s->backward);
    return slowed(t->n_cycles - on_links, factor) + on_links;
}

static void time_tasks(struct player *pl)
{
    const struct plan *p = pl->p;
    uint32_t first_ipu = pl->t->rows[pl->first_row].replica * pl->width;
    for (uint32_t i = 0; i < p->n_tasks; i++) {
        const struct task *t = &p->tasks[i];
        struct played_task *out = &pl->tasks[i];
        out->input = t->kind == TASK_FORWARD ? p->io_cycles[t->stage] : 0;
        out->results = t->kind == TASK_FORWARD ? p->result_cycles[t->stage] : 0;
        out->ipu = p->stages[t->stage].ipu;
        out->work = task_cycles(p, t, slowdown(p, first_ipu + out->ipu));
        out->all = out->input + out->work + out->results;
        assert(out->ipu < pl->width);
    }
}

/* Adds the spans of one task in every cycle of a run, from `start` on. */
static void show_task(struct player *pl, const struct pipeline_run *run, uint32_t task_id, uint64_t start)
{
    const struct task *task = &pl->p->tasks[task_id];
    uint64_t input = pl->tasks[task_id].input, work = pl->tasks[task_id].work, results = pl->tasks[task_id].results;
    struct span s = { .row = pl->first_row + pl->tasks[task_id].ipu, .repeat = run->n_cycles, .stage = (uint16_t)task->stage,
                      .which = run->first_cycle - task->first_cycle };
    s.start_cycle = start;
    s.n_cycles = input;
    s.kind = SPAN_INPUT;
    if (wants_span(pl, input))
        add_span(pl, s);
    s.start_cycle += input;
    s.n_cycles = work;
    s.kind = task->kind == TASK_FORWARD ? SPAN_FORWARD : SPAN_BACKWARD;
    if (wants_span(pl, work))
        add_span(pl, s);
    s.start_cycle += work;
    s.n_cycles = results;
    s.kind = SPAN_RESULTS;
    if (wants_span(pl, results))
        add_span(pl, s);
}

static void show_waits(struct player *pl, const struct pipeline_run *run, const uint64_t *busy, uint64_t longest, uint64_t start)
{
    for (uint32_t i = 0; i < pl->width; i++)
        if (wants_span(pl, longest - busy[i]))
            add_span(pl, (struct span){ .row = pl->first_row + i, .repeat = run->n_cycles, .start_cycle = start + busy[i],
                                        .n_cycles = longest - busy[i], .stage = UINT16_MAX, .kind = SPAN_WAIT });
}

/* Plays one slot of a run of equal cycles; returns how long the slot takes. */
static uint64_t play_slot(struct player *pl, const struct pipeline_run *run, uint32_t slot, uint64_t start)
{
    const struct plan *p = pl->p;
    bool shows = !p->request.detail.totals_only;
    uint64_t longest = 0, busy[MAX_STAGES];
    for (uint32_t i = 0; i < pl->width; i++)
        busy[i] = 0;
    for (uint32_t i = run->first_task; i < run->end_task; i++) {
        if (p->tasks[i].slot != slot)
            continue;
        uint64_t *ipu = &busy[pl->tasks[i].ipu];
        if (shows)
            show_task(pl, run, i, start + *ipu);
        *ipu += pl->tasks[i].all;
        longest = max_u64(longest, *ipu);
    }
    if (shows)
        show_waits(pl, run, busy, longest, start);
    return longest;
}

/* Adds a span for every IPU, in each cycle of a run. */
static uint64_t play_together(struct player *pl, const struct pipeline_run *run, uint64_t cycles, uint64_t start, enum span_kind kind, uint32_t which)
{
    for (uint32_t i = 0; i < pl->width && wants_span(pl, cycles); i++)
        add_span(pl, (struct span){ .row = pl->first_row + i, .repeat = run->n_cycles, .start_cycle = start, .n_cycles = cycles,
                                    .stage = UINT16_MAX, .kind = (uint16_t)kind, .which = which });
    return cycles;
}

/* A phase loads its weights before its first micro-batch. */
static void play_load(struct player *pl, const struct pipeline_run *run)
{
    if (!run->load)
        return;
    for (uint32_t i = 0; i < pl->width && wants_span(pl, run->load_cycles); i++)
        add_span(pl, (struct span){ .row = pl->first_row + i, .repeat = 1, .start_cycle = pl->now, .n_cycles = run->load_cycles,
                                    .stage = UINT16_MAX, .kind = SPAN_LOAD, .which = (uint32_t)(run - pl->p->runs) });
    for (uint32_t i = 0; i < pl->width; i++)
        cycles_add(&pl->t->rows[pl->first_row + i].spent, run->load, 1);
    pl->now += run->load_cycles;
}

static void play_run(struct player *pl, const struct pipeline_run *run)
{
    struct timeline *t = pl->t;
    play_load(pl, run);
    size_t first_span = t->n_spans;
    /* all IPUs wait for the host exchange that brings a micro-batch to the first stage */
    uint64_t fetch = play_together(pl, run, run->first_task == 0 ? pl->p->fetch_cycles : 0, pl->now, SPAN_INPUT, run->first_cycle), slots = 0, copies = 0;
    for (uint32_t slot = 0; slot < pl->p->n_slots; slot++) {
        slots += play_slot(pl, run, slot, pl->now + fetch + slots + copies);
        copies += play_together(pl, run, run->copies[slot].cycles, pl->now + fetch + slots + copies, SPAN_COPY,
                                (uint32_t)(run - pl->p->runs) * pl->p->n_slots + slot);
    }
    uint64_t period = fetch + slots + copies;
    for (size_t i = first_span; i < t->n_spans; i++)
        t->spans[i].period_cycles = period;
    /* the first micro-batch leaves the last stage after the cycle in which it reaches that stage; a run begins with that cycle */
    if (run->first_cycle == pl->p->tasks[pl->p->n_stages - 1].first_cycle)
        t->first_output_cycles = max_u64(t->first_output_cycles, pl->now + period);     /* the latency is that of the slowest replica */
    pl->now += period * run->n_cycles;
    pl->fetch_cycles += fetch * run->n_cycles;
    pl->slot_cycles += slots * run->n_cycles;
    pl->copy_cycles += copies * run->n_cycles;
}

/* Every task has run once for each micro-batch. The rest of an IPU's time in the slots, idle or slowed, is bubble. */
static void spend_on_runs(struct player *pl)
{
    const struct plan *p = pl->p;
    struct timeline_row *rows = &pl->t->rows[pl->first_row];
    uint64_t times = p->request.grad_accum;
    for (uint32_t i = 0; i < pl->width; i++) {
        rows[i].spent.part[PART_HOST] += pl->fetch_cycles;
        rows[i].spent.part[PART_STAGE_COPY] += pl->copy_cycles;
        rows[i].spent.part[PART_BUBBLE] += pl->slot_cycles;
    }
    for (uint32_t i = 0; i < p->n_tasks; i++) {
        const struct stage_plan *s = &p->stages[p->tasks[i].stage];
        struct cycles *spent = &rows[s->ipu].spent;
        cycles_add(spent, p->tasks[i].kind == TASK_FORWARD ? &s->forward : &s->backward, times);
        uint64_t host = pl->tasks[i].input + pl->tasks[i].results;
        spent->part[PART_HOST] += host * times;
        spent->part[PART_BUBBLE] -= (host + p->tasks[i].n_cycles) * times;
        rows[s->ipu].slow_cycles += (pl->tasks[i].work - p->tasks[i].n_cycles) * times;
    }
}

static void play_replica(struct player *pl, uint32_t first_row)
{
    pl->first_row = first_row;
    pl->now = pl->fetch_cycles = pl->slot_cycles = pl->copy_cycles = 0;
    time_tasks(pl);
    for (uint32_t r = 0; r < pl->p->n_runs; r++)
        play_run(pl, &pl->p->runs[r]);
    spend_on_runs(pl);
}

bool timeline_run(struct timeline *out, const struct plan *p, struct arena *a, struct err *err)
{
    *out = (struct timeline){ .plan = p };
    struct player pl = { .t = out, .p = p, .a = a, .width = p->request.ipus_per_replica };
    if (pl.width > MAX_STAGES)
        return fail(err, "parallel.ipus_per_replica: %u, at most %d", pl.width, MAX_STAGES);
    make_rows(&pl);
    pl.tasks = ARENA_ROOM(a, struct played_task, p->n_tasks);
    uint64_t *at = ARENA_ARRAY(a, uint64_t, out->n_rows);
    for (uint32_t row = 0; row < out->n_rows; row += pl.width) {
        play_replica(&pl, row);
        for (uint32_t i = 0; i < pl.width; i++)
            at[row + i] = pl.now;
    }
    play_update(&pl, at);
    return true;
}

/* ---- spans and parts ------------------------------------------------------------------------------ */

/* The part that gets the cycles of a span that its task or step does not explain: the whole span, or the delay of a slow chip. */
static const enum part part_of_span[N_SPAN_KINDS] = {
    [SPAN_FORWARD] = PART_BUBBLE, [SPAN_BACKWARD] = PART_BUBBLE, [SPAN_WAIT] = PART_BUBBLE, [SPAN_LOAD] = PART_STREAMING, [SPAN_TURN] = PART_BUBBLE, [SPAN_REARRANGE] = PART_BUBBLE,
    [SPAN_REDUCE] = PART_BUBBLE, [SPAN_CLIP] = PART_BUBBLE, [SPAN_STREAMING] = PART_BUBBLE, [SPAN_OPTIMIZER] = PART_BUBBLE,
    [SPAN_NORMS] = PART_BUBBLE, [SPAN_GATHER] = PART_BUBBLE,
    [SPAN_COPY] = PART_STAGE_COPY, [SPAN_INPUT] = PART_HOST, [SPAN_RESULTS] = PART_HOST, [SPAN_CALL] = PART_HOST, [SPAN_UPLOAD] = PART_HOST, [SPAN_HOST] = PART_HOST,
};

const struct update_chain *span_chain(const struct timeline *t, const struct span *s)
{
    bool update = s->kind >= SPAN_REARRANGE && s->kind <= SPAN_GATHER;
    return update ? &t->plan->update.chains[s->which / N_UPDATE_KINDS] : NULL;
}

const struct update_op *span_op_of(const struct update_chain *chain, const struct span *s)
{
    return &chain->steps->ops[s->which % N_UPDATE_KINDS];
}

const struct update_op *span_update_op(const struct timeline *t, const struct span *s)
{
    const struct update_chain *chain = span_chain(t, s);
    return chain ? span_op_of(chain, s) : NULL;
}

struct cycles span_parts(const struct timeline *t, const struct span *s)
{
    const struct plan *p = t->plan;
    const struct update_op *op = span_update_op(t, s);
    struct cycles parts = {0};
    if (s->kind == SPAN_FORWARD)
        parts = p->stages[s->stage].forward;
    else if (s->kind == SPAN_BACKWARD)
        parts = p->stages[s->stage].backward;
    else if (s->kind == SPAN_LOAD)
        parts = *p->runs[s->which].load;
    else if (op)
        parts = op->cycles;
    parts.part[part_of_span[s->kind]] += s->n_cycles - cycles_total(&parts);
    return parts;
}

/* ---- laws ---------------------------------------------------------------------------------------- */

/* Each row's spans must add up to its `spent`, part by part, and to the step. */
static bool check_sums(const struct timeline *t, struct err *err)
{
    struct arena scratch = {0};
    struct cycles *sums = ARENA_ARRAY(&scratch, struct cycles, t->n_rows);
    bool good = true;
    for (size_t i = 0; i < t->n_spans; i++) {
        struct cycles parts = span_parts(t, &t->spans[i]);
        cycles_add(&sums[t->spans[i].row], &parts, t->spans[i].repeat);
    }
    for (uint32_t r = 0; good && r < t->n_rows; r++) {
        uint64_t spans = cycles_total(&sums[r]), parts = cycles_total(&t->rows[r].spent);
        good = spans == t->step_cycles && memcmp(&sums[r], &t->rows[r].spent, sizeof sums[r]) == 0;
        if (!good)
            fail(err, "timeline: row %u: parts sum to %" PRIu64 " and spans to %" PRIu64 " cycles, the step has %" PRIu64, r, parts,
                 spans, t->step_cycles);
    }
    arena_free(&scratch);
    return good;
}

/* Checks that two neighbouring spans of a row do not overlap. Spans of a row are made in the order of their first start; recurring ones must leave
 * each other room. */
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

/* Compares each span with the earlier ones in its row: all of its own run, and the last of the run before. */
static bool check_overlaps(const struct timeline *t, struct arena *scratch, struct err *err)
{
    size_t *last = ARENA_ARRAY(scratch, size_t, t->n_rows), *before = ARENA_ARRAY(scratch, size_t, t->n_spans);    /* index + 1; 0 if none */
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct span *s = &t->spans[i];
        for (size_t k = last[s->row]; k; k = before[k - 1]) {
            if (!check_overlap(t, &t->spans[k - 1], s, err))
                return false;
            if (t->spans[k - 1].period_cycles != s->period_cycles)
                break;
        }
        before[i] = last[s->row];
        last[s->row] = i + 1;
    }
    return true;
}

bool timeline_check(const struct timeline *t, struct err *err)
{
    struct arena scratch = {0};
    bool good = check_sums(t, err) && check_overlaps(t, &scratch, err);
    arena_free(&scratch);
    return good;
}
