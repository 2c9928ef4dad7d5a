/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * update.h - the weight update as a program: what is done to each weight tensor, in order, on which IPU.
 *
 * A chain is what one tensor goes through; tensors of one IPU with equal size and type have equal chains, one after the
 * other. Chains of one IPU follow in order of size. Merged collectives are chains of all IPUs at once.
 */
#ifndef UPDATE_H
#define UPDATE_H
#include "system-model/compiler/compiler.h"

enum update_kind {
    UPDATE_ZERO,                        /* the tensor that will be reduced is cleared */
    UPDATE_REARRANGE,                   /* the gradient is copied into the cleared tensor */
    UPDATE_REDUCE, UPDATE_REDUCE_PODS,  /* gradients are reduced over the replicas that share a shard; shards are reduced between pods */
    UPDATE_CLIP,                        /* squares of gradients are added to a global norm, by which gradients are scaled */
    UPDATE_STORE_GRADIENT,              /* in phases, the gradient goes to the memory off the chip */
    UPDATE_LOAD,                        /* moments come from streaming memory */
    UPDATE_OPTIMIZER,                   /* moments, norms on the chip, new weight */
    UPDATE_NORMS,                       /* partial norms are summed over the shards; a merged collective sums those of many tensors at once */
    UPDATE_GATHER,                      /* new weights from all shards */
    UPDATE_COPY_BACK,                   /* the weight is copied out of the collective's layout */
    UPDATE_STORE,                       /* moments go back to streaming memory */
    N_UPDATE_KINDS                      /* a chain has at most one step of each kind */
};
extern const char *const update_kind_names[N_UPDATE_KINDS];

struct update_op {
    enum update_kind kind;
    bool all_ipus;                      /* a merged collective, which all IPUs run at once */
    bool on_tiles;                      /* true: work on the tiles, which a slow chip delays; false: links, memory and syncs */
    struct cycles cycles;
    uint64_t n_cycles;                  /* the sum of cycles */
    double bytes;                       /* bytes that are moved or worked on, on one IPU */
    double busiest_bytes[N_LINK_KINDS]; /* collectives: on the busiest link of each kind */
};

/* The steps of all tensors of one size and type on one IPU, in order. */
struct update_steps {
    struct update_op *ops; uint32_t n_ops;
    uint32_t n_shards;                  /* replicas that share the tensor's state; 1: it is not sharded */
    uint64_t n_cycles;                  /* cycles for one tensor */
    struct cycles cycles;               /* cycles by part, and their sum */
};

enum { ALL_IPUS = UINT32_MAX };
struct update_chain {
    uint32_t ipu;                       /* an IPU of the replica; ALL_IPUS: side by side on all */
    const char *tensor;                 /* name of the first tensor; in a merged chain: what is merged */
    enum data_type type;
    uint64_t n_elements;                /* elements of each tensor */
    bool has_norms;                     /* the optimizer needs the norms of these tensors */
    bool apart;                         /* each replica has its own rows of the tensor, whose gradients nothing reduces */
    uint32_t n_tensors;                 /* tensors that are alike and go through the chain one after the other */
    uint32_t n_parts;                   /* replicas this far apart have the same part of the tensor; 1: each has it whole */
    bool is_merged;                     /* a collective of many tensors, which have chains of their own */
    const struct update_steps *steps;
};

/* A part of a program: its chains from `first` to before `end`, which are one IPU's tensors, or merged ones. chains: the memo's own array of them.
 * n_cycles, cycles: the time that they take together. */
struct update_part { uint32_t first, end, ipu; const struct update_chain *chains; uint64_t n_cycles; struct cycles cycles; };

struct update_program {
    struct update_chain *chains; uint32_t n_chains; size_t cap_chains;
    struct update_part *parts; uint32_t n_parts;
    bool in_series;                     /* the IPUs run it one after the other; else side by side */
};
void update_sum_cycles(struct update_program *u, struct arena *a);     /* makes the parts from the chains */

#endif
