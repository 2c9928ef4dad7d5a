/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage_program.h - what the tasks of a stage run, keep and drop, operation by operation. Memory is counted by it, and execution follows it.
 */
#ifndef STAGE_PROGRAM_H
#define STAGE_PROGRAM_H
#include "system-model/plan/plan.h"

struct id_list { uint32_t *ids, n; };

/* Operations in order. After operation i, the task no longer reads or keeps the tensors freed.ids[freed_first[i] .. freed_first[i + 1]). An
 * operation in place writes over those of them that it reads. */
struct op_sequence { struct id_list ops, freed; uint32_t *freed_first; bool *in_place; };

/* How a tensor waits for the backward pass: in the stash; as an input of the host; or in its place, if it belongs to the last segment, which is
   not recomputed. */
enum kept_kind { KEPT_IN_STASH, KEPT_INPUT, KEPT_CARRIED };

struct stage_program {
    struct op_sequence pass[2];         /* by task_kind */
    struct id_list inputs;              /* inputs from the host that either pass reads */
    struct id_list states;              /* states filled before each task, neither trained nor streamed */
    struct id_list kept;                /* tensors kept between the passes: those that the backward pass reads and does not make */
    enum kept_kind *kept_as;            /* by place in `kept` */
    struct id_list handed[2];           /* tensors for the next stage forward, and for the stage before backward */
    bool *handed_is_kept;               /* by place in handed[TASK_FORWARD]: true if the stage also keeps the tensor */
};

/* The layers of a stage, and which of them are checkpoints or recomputed. Nothing else shapes its program. whole: recomputed layers run all of their forward
 * operations; else those that serve later layers alone are left out before a checkpoint or the end of the stage. */
struct stage_layers { uint32_t first, n, n_again; enum recompute recompute; const bool *checkpoints; bool whole; };
/* True if the backward pass runs a forward operation again. ahead: graph_for_later_layers(). */
bool stage_runs_again(const struct graph *g, const struct stage_layers *s, uint32_t op_id, const enum ahead *ahead);
enum ahead stage_spares(const struct graph *g, const struct stage_layers *s, uint32_t layer);     /* the least that an operation of the layer is, if it is not run again; AHEAD_NEVER: all are */
struct stage_layers plan_stage_layers(const struct plan *p, uint32_t stage);
void stage_program_make(struct stage_program *out, const struct graph *g, const struct stage_layers *s, const enum ahead *ahead, struct arena *a);
const struct stage_program *compile_stage_program(struct compiler *c, const struct stage_layers *s);     /* the program, remembered for the graph */

/* phase_moves.c: the bytes that a phase of these layers loads and stores for each micro-batch. */
struct phase_moves phase_moves(const struct graph *g, const struct stage_program *program, const struct stage_layers *layers);

/* stage_moments.c: sets stash_bytes and kept_input_bytes of a stage, and its layers. A plan that is only timed leaves out the layers' moments. */
void stage_moments(struct stage_plan *s, const struct graph *g, const struct stage_program *program, bool timed_only, bool calls_by_value,
                   struct arena *a);

#endif
