/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.h - the largest sizes of a recipe that fit its machine, what fills the fullest tile there, and what would make a larger size fit.
 *
 * A size is the micro-batch, the sequence length, the IPUs of a replica, or the rows of a table of entities or categories. Each size that is
 * tried is a whole simulation, like that of `run --set`. When the micro-batch or the IPUs of a replica change, the gradient accumulation
 * changes so that the global batch stays the same, if that is possible exactly; more IPUs for a replica leave fewer replicas, and the layers
 * are divided anew.
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
    const char *refused;                        /* the reason if it cannot be simulated, or NULL */
    bool fits;
    const char *fits_published;                 /* the published outcome of this size, or NULL */
    double fits_probability, fits_probability_counted, memory_distance, throughput_samples_per_s, global_batch;
    uint64_t shortfall_bytes;
    uint32_t n_ipus, worst_ipu;
    const struct tile_memory *memory;           /* the fullest tile of each IPU of a replica */
};

/* The sizes that were tried, smallest first. */
struct fit_axis {
    enum fit_axis_kind kind;
    /* own: the recipe's size; sizes are multiples of `step` up to `most`. If step is 0, the recipe has no such size */
    uint64_t own, step, most;
    struct fit_size *sizes; size_t n, cap;
    /* the largest sizes below the first that does not fit, or does not surely fit (FITS_SURELY); 0 if there is none */
    uint64_t best, best_surely;
    uint64_t next;                              /* the first size that does not fit; 0 if none was found */
    uint64_t fits_again;                        /* a size above `next` that fits nevertheless; 0 if none was found */
};

struct fit_layer { const char *name; uint64_t held_bytes, stash_bytes, work_bytes; };

struct fit_request {
    struct simulation_request simulation;       /* the recipe to simulate */
    uint64_t size;                              /* the micro-batch that should fit; 0 for the recipe's own */
};
struct fit_answer {
    const char *recipe, *workload, *system, *framework;
    uint64_t n_ipus, tile_memory_bytes;
    bool training;
    struct fit_axis axes[N_FIT_AXES];
    uint64_t point;                             /* the largest micro-batch that fits, at least 1 */
    struct fit_layer *layers; size_t n_layers;  /* the layers on the fullest IPU at `point`, sorted by their memory */
    uint64_t target;                            /* the micro-batch that remedies are for; 0 if the recipe fits and the user asked for none */
    const char *const *target_sets; size_t n_target_sets;      /* the settings that give the recipe that micro-batch */
    bool target_fits;
    double target_throughput_samples_per_s;     /* the throughput as if the recipe did fit */
    struct remedy remedies[MAX_REMEDIES]; size_t n_remedies;
};

/* Tries sizes until the largest ones that fit are found. Fails if the recipe, or the size asked for, cannot be simulated. Texts live in `a`. */
bool fit_find(struct fit_answer *out, const struct fit_request *q, struct arena *a, struct err *err);
const struct fit_size *fit_tried(const struct fit_axis *axis, uint64_t size);       /* NULL if the size was not tried */

/* ---- fit_print.c ------------------------------------------------------------------------------------- */

/* Text and JSON have everything; CSV has one row for each size that was tried and each IPU. */
void fit_write(FILE *f, enum output_format format, const struct fit_answer *answer, struct arena *a);

#endif
