/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layers.h - a model's layers as compiled, and what a stage of them takes and holds.
 *
 * What follows from a stage's layers alone is known before anything is placed: cycles of a micro-batch with recomputation,
 * accumulation, copies to the stash and input; bytes by how many micro-batches are in flight. It is what the plan has for such a
 * stage, or less (statistics of batch norms that span replicas, code of two stages on one IPU). That is a law, tested as such.
 */
#ifndef LAYERS_H
#define LAYERS_H
#include "system-model/plan/plan.h"

/* What a layout is judged under. */
struct layout_rules {
    bool training;
    bool accumulates, keeps_gradients;      /* whatever is still to be chosen: gradients are added up; live beside the weights */
    enum recompute recompute;
    enum schedule schedule;
    bool stash_is_known, half_stash;        /* half: kept as fp8 */
    double state_bytes_per_param;           /* of the optimizer, on the chip; 0: elsewhere */
    uint64_t grad_accum;                    /* the most */
    uint64_t once_cycles, each_cycles;      /* of the host, whatever the layout: of a step, of a micro-batch */
    uint64_t floor_cycles;                  /* a micro-batch cannot take less: the host's input */
    uint64_t most_cuts;                     /* tried with one number of IPUs; what is left then is given up, and told */
};

/* From an IPU to another; a flow alone on its route. */
struct hop { double latency_s, s_per_byte; };
struct layer_work {
    const struct graph *graph;
    const struct layer_cost *layers; uint32_t n_layers;
    uint32_t first_body, n_body;            /* the body is one run of layers; heads come after it */
    uint64_t n_tiles, tile_bytes;
    struct chip chip;
    struct op_plan_options options;
    const uint64_t *accumulate_cycles;      /* by layer; NULL: none */
    const bool *named_checkpoints;          /* by layer; NULL: none are named */
    const uint64_t *code_bytes;             /* of layers first to end - 1: [first * (n_layers + 1) + end]; NULL: none */
    struct tied { uint32_t layer, owner; uint64_t bytes, n_elements; } *tied; size_t n_tied;   /* weights that another layer reads */
    double input_s_per_byte;                /* from the host; 0: beside the work */
    struct hop forth[MAX_STAGES], back[MAX_STAGES], home[MAX_STAGES], out[MAX_STAGES];     /* IPU i to i + 1, back; to IPU 0, out again */
};
/* False where the body is not one run: then there is no layout but the recipe's own. The plan is of one IPU. */
bool layer_work_of(struct layer_work *out, const struct plan *p, struct compiler *c, struct arena *a);

/* One layer's activations, all that is computed again cut off, are more than a tile's part: nothing makes them fit. */
bool activations_fill_a_tile(const struct layer_work *w, bool training);

/* Layers first to end - 1 as stage s of n_stages on n_ipus. */
struct stage_place { uint32_t s, n_stages, n_ipus, first, end; };
struct stage_cost {
    uint64_t forward, backward;                         /* cycles of a micro-batch */
    uint64_t lasting_bytes, stash_bytes, moment_bytes, code_bytes;      /* of a tile: always; of micro-batches in flight; at the worst moment */
    uint64_t output_bytes;                              /* of the whole IPU, to the next stage */
};
struct stage_cost stage_cost(const struct layer_work *w, const struct layout_rules *r, struct stage_place at);
/* The same in two steps. As a stage that is neither the first nor the last a run of layers has the same, but for what micro-batches in
 * flight leave behind and the worst moment beside that. */
struct run_cost { struct stage_cost cost; uint64_t stash_bytes, moment_bytes; };    /* of one micro-batch, on the whole IPU; where it is the same */
struct run_cost run_cost(const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at);
struct stage_cost run_cost_at(const struct run_cost *run, const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at);
uint64_t ipu_bytes(const struct stage_cost *a, const struct stage_cost *b);     /* of a tile; b NULL: one stage alone */

/* Of a layer in a stage that is not the last, or in the last one. */
uint64_t layer_work_cycles(const struct layer_work *w, const struct layout_rules *r, uint32_t layer, bool last);

#endif
