/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulate.h - one simulation: from a recipe to machine, graph, plan, timeline and result.
 */
#ifndef SIMULATE_H
#define SIMULATE_H
#include "results/simulate/result.h"
#include "system-model/machine/fitted.h"
#include "system-model/machine/framework.h"
#include "system-model/timeline/timeline.h"
#include "workloads/recipe/recipe.h"

/* Everything that one simulation made. Recipe, plan and timeline live in its arena, the rest in its simulator. */
struct simulation {
    struct arena arena;
    struct recipe recipe;
    struct sheet_overrides changes;            /* values that were given in place of the sheets' */
    bool may_be_published;                     /* false if a value was changed for sure; the recipe's hash tells the rest */
    struct machine *machine;
    uint64_t sheets_id;                 /* 1 or more; two simulations of one simulator have the same number if they read the same values of sheets */
    struct sdk sdk;
    struct framework framework;         /* the framework's values, with the recipe's settings in place of those of its sheets */
    struct fitted_system fitted;
    struct topology *topology;
    struct graph *graph;
    struct compiler *compiler;
    struct plan plan;
    const char *smaller_available_memory;       /* the shares of memory with which it would fit; NULL if none, or not looked for */
    struct timeline timeline;
    double evaluation_s;                /* one evaluation, and its checkpoint if that is evaluated at the end; 0 if none, or inference */
    struct simulator *simulator;
    struct hash_entry *compiler_entry;  /* an entry of the simulator's cache: while it has users, the compiler and all that it depends on are kept */
    bool owns_simulator;
};

struct model_paths {
    const char *specs_dir, *recipes_dir, *data_dir;
    const char *validity_dir;               /* the programs whose memory is known (memory_record.h); NULL: the chip's memory_error holds for all */
    const struct fitted_system *fitted;     /* used instead of the sheet in specs_dir; NULL: the sheet */
    const double *chip_constants;           /* values of fitted_constants to use instead of the sheet's; NULL: the sheet's */
    bool unfolded;                          /* simulates every replica, instead of one for all that are alike */
};

/* One simulation with a simulator of its own; simulator.h is for more than one. overrides: keys of the recipe, and
 * machine.KEY=value for values on sheets. Nothing is left to free if it fails. cache may be shared by several
 * simulations, or NULL. */
bool simulate(struct simulation *sim, struct result *out, const char *recipe, const char *const *overrides, size_t n_overrides,
              const struct model_paths *paths, struct plan_cache *cache, struct err *err);
double last_evaluations_load_s(const struct simulation *sim);       /* loading the program of evaluations at the end, once */
void simulation_free(struct simulation *sim);       /* frees the simulation, and its simulator if it owns one */
/* Every sheet that the simulation read, outermost first; returns the number of sheets. */
enum { MAX_SHEETS = 10 };
size_t simulation_sheets(const struct sheet *out[MAX_SHEETS], const struct simulation *sim);
/* The seconds of a step by part, mean over the IPUs; the N_PARTS of them sum to the step. */
void step_breakdown(double *part_s, const struct timeline *t);
/* The result of one step, without the time to train. */
void result_of_step(struct result *out, const struct recipe *recipe, const struct timeline *t);

/* ---- provenance.c: what made a result --------------------------------------------------------- */

/* Fills version, overrides ("a.b=1; c.d=2", in order) and inputs, a hash of every value that was read; the texts live
 * in sim's arena. Two results with the same version and inputs are the same to the bit. */
void result_provenance(struct result *r, struct simulation *sim, const char *const *overrides, size_t n_overrides);
/* result_provenance() as a JSON object, with the recipe's path and every sheet that was read. The caller owns it. */
struct json_t *provenance_json(const struct result *r, struct simulation *sim, const char *const *overrides, size_t n_overrides);

/* ---- root.c: where spec sheets, recipes, published figures and rules are ----------------------- */

/* The first of: the given folder; PODBENCH_ROOT; the program's own (the folder above its own in a source tree,
 * ../share/podbench if it is installed); the current folder; one installed below a usual prefix. NULL if none holds
 * system-model/specs; given_as names the option in the message. */
const char *root_find(const char *given, const char *given_as, struct arena *a, struct err *err);
const char *root_path(const char *root, const char *folder, struct arena *a);   /* "FOLDER" if the root is the current folder, else "ROOT/FOLDER" */
bool root_is_installed(const char *root);       /* the root is not a source tree, so nothing is written there */

/* ---- recompute_curve.c: what keeping fewer activations saves in memory, and costs in work --------------- */

struct recompute_point {
    uint32_t n_checkpoints;
    uint64_t memory_bytes;          /* bytes kept for one micro-batch: checkpoints, and the activations of the largest segment */
    double memory_share;            /* the share of the memory that would be needed to keep all activations */
    double extra_work_share;        /* recomputed multiply-accumulates divided by all others, forward and backward */
};

/* The placement with least memory for each number of checkpoints between layers, beginning with none, which keeps
 * everything. The graph has a backward pass. Each point has less memory and more work than the one before. */
void recompute_curve(struct recompute_point **out, size_t *n, const struct graph *g, struct arena *a);

/* ---- remedies.c: what would make a model fit: changes of its recipe, simulated, and what each costs ----- */

enum { MOST_IPUS_TRIED = 16 };          /* a model that does not fit is tried on up to this many IPUs, even if the recipe uses fewer */
/* The largest number of IPUs of a replica to try: MOST_IPUS_TRIED, or the recipe's own number if that is larger, but no more than the system has. */
uint64_t most_ipus_tried(const struct recipe *r, const struct machine *m);
/* At most eight remedies of memory, half the micro-batch, and a doubling of the IPUs for each power of two up to MAX_STAGES. */
enum { MAX_SINGLE_REMEDIES = 20, MAX_PAIRS = 3, MAX_REMEDIES = MAX_SINGLE_REMEDIES + MAX_PAIRS + 1, MAX_REMEDY_SETS = 20 };
struct remedy {
    const char *what;                   /* "recompute every layer" */
    const char *sets[MAX_REMEDY_SETS];  /* overrides, as --set takes them */
    uint32_t n_sets;
    bool fits;
    double fits_probability;
    double throughput_samples_per_s;
    uint64_t shortfall_bytes_per_tile;
    const char *rounded;                /* an accumulation that every schedule can run, if the recipe's own is refused; NULL if none is changed */
    const char *division;               /* the layers of each IPU as a value of parallel.layers_per_ipu; NULL if the change keeps the division of layers */
};

/* The simulation that does not fit, and the request that made it. */
struct remedy_request {
    const struct simulation *sim;
    const char *recipe;
    const char *const *overrides; size_t n_overrides;
    bool keeps_micro_batch;             /* a smaller micro-batch is no remedy */
};

/* Tries every change that is not in force already, and all pairs if no single one fits; the fastest pairs that fit are kept. Those that fit
 * come first, fastest first, then the others by shortfall. */
bool remedies_find(struct remedy *out, size_t *n, const struct remedy_request *q, struct arena *a, struct err *err);
void remedies_document(struct document *d, const struct remedy *r, size_t n);
struct json_t *remedies_json(const struct remedy *r, size_t n);     /* a JSON array, which the caller owns */

#endif
