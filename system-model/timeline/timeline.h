/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline.h - a plan played against the clock: spans of time on each IPU, their text, picture and trace.
 */
#ifndef TIMELINE_H
#define TIMELINE_H
#include "system-model/plan/plan.h"

/* One stretch of time on one IPU; it recurs `repeat` times, `period_cycles` apart. */
struct span {
    uint32_t row;                       /* into timeline.rows */
    uint32_t repeat;
    uint64_t start_cycle, n_cycles, period_cycles;
    uint16_t stage;                     /* UINT16_MAX: none */
    uint16_t kind;                      /* enum span_kind */
    uint32_t which;                     /* forward, backward: its first micro-batch; copy: its run x slots + slot; load: its run; update: its chain x kinds + step */
};
enum span_kind { SPAN_FORWARD, SPAN_BACKWARD, SPAN_COPY, SPAN_INPUT, SPAN_RESULTS, SPAN_WAIT, SPAN_LOAD, SPAN_TURN,   /* SPAN_LOAD: a phase loads and gathers its weights; SPAN_TURN: other IPUs run their part of the update */
                 SPAN_REARRANGE, SPAN_REDUCE, SPAN_CLIP, SPAN_STREAMING, SPAN_OPTIMIZER, SPAN_NORMS, SPAN_GATHER,   /* parts of the update */
                 SPAN_CALL, SPAN_UPLOAD, SPAN_HOST, N_SPAN_KINDS };
extern const char *const span_kind_names[N_SPAN_KINDS];
static inline bool span_is_waiting(uint16_t kind) { return kind == SPAN_WAIT || kind == SPAN_TURN; }

/* One IPU of one replica, on behalf of n_alike replicas that do the same (1 when unfolded). spent adds up to step_cycles; slow_cycles: the part
 * of its bubble in which a slow chip is still at its own work. */
struct timeline_row { uint32_t replica, ipu; uint32_t n_alike; struct cycles spent; uint64_t slow_cycles; };

struct timeline {
    const struct plan *plan;
    uint64_t step_cycles;
    uint64_t micro_batches_cycles;      /* when the slowest replica has ended its last micro-batch */
    uint64_t first_output_cycles;       /* when the first micro-batch has left the last stage: inference latency */
    struct span *spans; size_t n_spans, cap_spans;
    struct timeline_row *rows; uint32_t n_rows;
};
/* Fails on replicas of more than MAX_STAGES IPUs. The timeline points to the plan; its spans are in the arena. */
bool timeline_run(struct timeline *out, const struct plan *p, struct arena *a, struct err *err);
struct document;
void timeline_document(struct document *d, const struct timeline *t, bool spans);   /* adds the picture, what each IPU spends the step on and, if `spans`, each span */
/* How one recurrence of a span was spent. The spans of a row add up to the row's `spent`. */
struct cycles span_parts(const struct timeline *t, const struct span *s);
const struct update_chain *span_chain(const struct timeline *t, const struct span *s);     /* the chain of the update that the span is part of; NULL if it is no part of the update */
const struct update_op *span_op_of(const struct update_chain *chain, const struct span *s);  /* the span's step of its chain */
const struct update_op *span_update_op(const struct timeline *t, const struct span *s);    /* the span's step of the update; NULL if it is no part of the update */
/* Chrome trace event JSON; refuses what no viewer opens. made_by: a JSON value that says what made it, or NULL. */
bool timeline_write_trace(FILE *f, const struct timeline *t, const char *made_by, struct err *err);
void timeline_write_csv(FILE *f, const struct timeline *t);     /* one row per span and recurrence */
/* Draws the first replica in n_columns, one line for each IPU: A B C.. are forward passes of micro-batches, a b c.. backward passes, - copies,
 * # the update and the call, . waiting; then the share of the step in forward and backward passes. A column shows the kind that takes most of
 * its time. */
void timeline_picture(struct document *d, const struct timeline *t, uint32_t n_columns);
/* Checks that spans of a row neither overlap nor leave gaps, and that each row's parts add up to the step. */
bool timeline_check(const struct timeline *t, struct err *err);

#endif
