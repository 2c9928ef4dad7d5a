/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.h - the largest sizes of a recipe that fit its machine, what fills the fullest tile there, and what would make a larger size fit.
 *
 * A size is the micro-batch, the sequence length, the IPUs of a replica, or the rows of a table of entities or categories. Each size that is tried is a whole simulation, as `run` would do
 * it with --set. The micro-batch and the IPUs of a replica change the gradient accumulation so that the global batch stays, if it can be
 * kept exactly; more IPUs for a replica leave fewer replicas, and the layers are divided anew.
 */
#ifndef FIT_H
#define FIT_H
#include "results/simulate/simulator.h"
#include "system-model/output/output.h"

enum fit_axis_kind { FIT_MICRO_BATCH, FIT_SEQUENCE_LENGTH, FIT_IPUS, FIT_ROWS, N_FIT_AXES };
extern const char *const fit_axis_keys[N_FIT_AXES];         /* parallel.micro_batch, ... */

/* One size that was tried. */
struct fit_size {
    uint64_t size;
    const char *refused;                        /* why it cannot be simulated at all; NULL if it was */
    bool fits;
    const char *fits_published;                 /* the published outcome of this size; NULL if there is none */
    double fits_probability, fits_probability_counted, memory_distance, throughput_samples_per_s, global_batch;
    uint64_t shortfall_bytes;
    uint32_t n_ipus, worst_ipu;
    const struct tile_memory *memory;           /* by IPU of a replica */
};

/* The sizes that were tried, smallest first. */
struct fit_axis {
    enum fit_axis_kind kind;
    uint64_t own, step, most;                   /* own: the recipe's size. Sizes are multiples of step, up to most; step 0: there is no such size */
    struct fit_size *sizes; size_t n, cap;
    uint64_t best, best_surely;                 /* best: the last size before the first that does not fit; best_surely: the last before the first that does not surely fit (FITS_SURELY); 0 if there is none */
    uint64_t next;                              /* the first that does not fit; 0 if none was found */
    uint64_t fits_again;                        /* a size past `next` that fits nevertheless; 0 if none was found */
};

struct fit_layer { const char *name; uint64_t held_bytes, stash_bytes, work_bytes; };

struct fit_request {
    struct simulation_request simulation;       /* the recipe; progress may be NULL */
    uint64_t size;                              /* the micro-batch to make fit; 0 means the recipe's own */
};
struct fit_answer {
    const char *recipe, *workload, *system, *framework;
    uint64_t n_ipus, tile_memory_bytes;
    bool training;
    struct fit_axis axes[N_FIT_AXES];
    uint64_t point;                             /* the largest micro-batch that fits, or 1 */
    struct fit_layer *layers; size_t n_layers;  /* the layers of the fullest IPU at that point; those that need most come first */
    uint64_t target;                            /* the micro-batch that the remedies are for; 0 if the user asked for none and the recipe fits */
    const char *const *target_sets; size_t n_target_sets;      /* the settings that give the recipe that size */
    bool target_fits;
    double target_throughput_samples_per_s;     /* throughput if the recipe did fit */
    struct remedy remedies[MAX_REMEDIES]; size_t n_remedies;
};

/* Tries sizes until the largest are found. Fails when the recipe, or the size asked for, cannot be simulated. Texts live in a. */
bool fit_find(struct fit_answer *out, const struct fit_request *q, struct arena *a, struct err *err);
const struct fit_size *fit_tried(const struct fit_axis *axis, uint64_t size);       /* NULL if the size was not tried */

/* ---- fit_print.c ------------------------------------------------------------------------------------- */

/* Text and JSON have everything, CSV the sizes that were tried, one row for each size and IPU. */
void fit_write(FILE *f, enum output_format format, const struct fit_answer *answer, struct arena *a);

#endif
