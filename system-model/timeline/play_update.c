/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * play_update.c - plays the weight update and the host's call: chain by chain, in series over the IPUs or side by side.
 *
 * Steps of equal tensors recur, so they are one span with a period. Merged collectives occupy all IPUs. In series, an IPU's chains
 * start when those of the IPU before have ended on every replica, so a slow chip delays all of them.
 */
#include "system-model/timeline/player.h"

static const enum span_kind span_of_step[N_UPDATE_KINDS] = {
    [UPDATE_ZERO] = SPAN_REARRANGE, [UPDATE_REARRANGE] = SPAN_REARRANGE, [UPDATE_COPY_BACK] = SPAN_REARRANGE,
    [UPDATE_REDUCE] = SPAN_REDUCE, [UPDATE_REDUCE_PODS] = SPAN_REDUCE, [UPDATE_CLIP] = SPAN_CLIP,
    [UPDATE_STORE_GRADIENT] = SPAN_STREAMING, [UPDATE_LOAD] = SPAN_STREAMING, [UPDATE_STORE] = SPAN_STREAMING,
    [UPDATE_OPTIMIZER] = SPAN_OPTIMIZER, [UPDATE_NORMS] = SPAN_NORMS, [UPDATE_GATHER] = SPAN_GATHER,
};

static void spend(struct player *pl, uint32_t row, uint64_t *at, uint64_t cycles, enum part part, enum span_kind kind)
{
    pl->t->rows[row].spent.part[part] += cycles;
    if (wants_span(pl, cycles))
        add_span(pl, (struct span){ .row = row, .repeat = 1, .start_cycle = *at, .n_cycles = cycles, .stage = UINT16_MAX, .kind = (uint16_t)kind });
    *at += cycles;
}

/* Lets every row wait until this time. */
static void wait_all(struct player *pl, uint64_t *at, uint64_t until, enum part part, enum span_kind kind)
{
    for (uint32_t r = 0; r < pl->t->n_rows; r++)
        spend(pl, r, &at[r], until - at[r], part, kind);
}

static uint64_t latest(const uint64_t *at, uint32_t n)
{
    uint64_t most = at[0];
    for (uint32_t r = 1; r < n; r++)
        most = max_u64(most, at[r]);
    return most;
}

/* Plays the steps of a chain's first tensor one by one, with the delay of a slow chip; returns how long they take. */
static uint64_t play_steps(struct player *pl, uint32_t row, uint64_t start, uint32_t chain_id, double factor)
{
    const struct update_chain *chain = &pl->p->update.chains[chain_id];
    struct timeline_row *r = &pl->t->rows[row];
    size_t first_span = pl->t->n_spans;
    uint64_t period = 0;
    for (uint32_t i = 0; i < chain->steps->n_ops; i++) {
        const struct update_op *op = &chain->steps->ops[i];
        uint64_t took = op->on_tiles ? slowed(op->n_cycles, factor) : op->n_cycles;
        if (wants_span(pl, took))
            add_span(pl, (struct span){ .row = row, .repeat = chain->n_tensors, .start_cycle = start + period, .n_cycles = took, .stage = UINT16_MAX,
                                        .kind = (uint16_t)span_of_step[op->kind], .which = chain_id * N_UPDATE_KINDS + i });
        r->spent.part[PART_BUBBLE] += (took - op->n_cycles) * chain->n_tensors;
        r->slow_cycles += (took - op->n_cycles) * chain->n_tensors;
        period += took;
    }
    for (size_t i = first_span; i < pl->t->n_spans; i++)
        pl->t->spans[i].period_cycles = period;
    return period;
}

/* Plays a part chain by chain if spans are wanted or the chip is slow; otherwise adds the part's sums. */
static void play_part(struct player *pl, uint32_t row, uint64_t *at, const struct update_part *part)
{
    struct timeline_row *r = &pl->t->rows[row];
    double factor = slowdown(pl->p, r->replica * pl->width + r->ipu);
    if (factor == 1 && pl->p->request.detail.totals_only) {
        cycles_add(&r->spent, &part->cycles, 1);
        *at += part->n_cycles;
        return;
    }
    for (uint32_t i = part->first; i < part->end; i++) {
        const struct update_chain *chain = &pl->p->update.chains[i];
        cycles_add(&r->spent, &chain->steps->cycles, chain->n_tensors);
        *at += chain->n_tensors * play_steps(pl, row, *at, i, factor);
    }
}

static void play_group(struct player *pl, uint64_t *at, uint32_t first, uint32_t end, uint64_t start)
{
    const struct update_part *parts = pl->p->update.parts;
    for (uint32_t r = 0; r < pl->t->n_rows; r++)
        for (uint32_t i = first; i < end; i++) {
            if (parts[i].ipu != ALL_IPUS && parts[i].ipu != pl->t->rows[r].ipu)
                continue;
            spend(pl, r, &at[r], start - at[r], PART_BUBBLE, SPAN_TURN);
            play_part(pl, r, &at[r], &parts[i]);
        }
}

static void play_call(struct player *pl, uint64_t *at)
{
    const struct plan *p = pl->p;
    uint64_t call = 0;
    for (int i = 0; i < N_CALL_PARTS; i++)
        call += i == CALL_UPLOAD ? 0 : p->call_cycles[i];
    for (uint32_t r = 0; r < pl->t->n_rows; r++) {
        spend(pl, r, &at[r], call, PART_HOST, SPAN_CALL);
        spend(pl, r, &at[r], p->call_cycles[CALL_UPLOAD], PART_HOST, SPAN_UPLOAD);
    }
}

void play_update(struct player *pl, uint64_t *at)
{
    struct timeline *t = pl->t;
    const struct plan *p = pl->p;
    uint64_t clock = t->micro_batches_cycles = latest(at, t->n_rows);
    wait_all(pl, at, clock, PART_BUBBLE, SPAN_WAIT);        /* all IPUs wait for the slowest replica */
    for (uint32_t i = 0, end; i < p->update.n_parts; i = end) {
        /* in series one part is played at a time; otherwise all that are not merged are played together */
        end = p->update.in_series || p->update.parts[i].ipu == ALL_IPUS ? i + 1 : p->update.n_parts;
        play_group(pl, at, i, end, clock);
        clock = latest(at, t->n_rows);
    }
    wait_all(pl, at, clock, PART_BUBBLE, SPAN_TURN);
    play_call(pl, at);
    t->step_cycles = max_u64(latest(at, t->n_rows), p->host_floor_cycles);
    wait_all(pl, at, t->step_cycles, PART_HOST, SPAN_HOST);
}
