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

/* Everything that one simulation made. Recipe, plan and timeline are in its arena, the rest is in its simulator. */
struct simulation {
    struct arena arena;
    struct recipe recipe;
    struct sheet_overrides changes;            /* overrides of values on sheets */
    const struct recipe_file *file;            /* the recipe without overrides */
    struct machine *machine;
    uint64_t sheets_id;                 /* at least 1; equal for two simulations of one simulator that read the same values of sheets */
    struct sdk sdk;
    struct framework framework;         /* the framework's sheets, overridden by the recipe's settings */
    struct fitted_system fitted;
    struct topology *topology;
    struct graph *graph;
    struct compiler *compiler;
    struct plan plan;
    const char *smaller_available_memory;       /* shares of memory with which the plan would fit; NULL if there are none or they were not searched */
    struct timeline timeline;
    double evaluation_s;                /* time of one evaluation, and of its checkpoint if it is evaluated at the end; 0 without evaluations */
    struct simulator *simulator;
    struct hash_entry *compiler_entry;  /* an entry of the simulator's cache; its count of users keeps the compiler and everything that it needs */
    bool owns_simulator;
};

struct model_paths {
    const char *specs_dir, *recipes_dir, *data_dir;
    const char *validity_dir;               /* the folder of known programs (memory_record.h); NULL: the chip's memory_error applies to all */
    const struct fitted_system *fitted;     /* replaces the sheet in specs_dir, unless NULL */
    const double *chip_constants;           /* values of fitted_constants that replace those on the sheet, unless NULL */
    bool unfolded;                          /* simulates every replica instead of one for all equal ones */
};

/* Simulates once, with a simulator of its own; simulator.h has many simulations. An override is a key of the recipe, or machine.KEY=value for
 * a value on a sheet. `cache` may be shared between simulations, or NULL. If it fails, there is nothing to free. */
bool simulate(struct simulation *sim, struct result *out, const char *recipe, const char *const *overrides, size_t n_overrides,
              const struct model_paths *paths, struct plan_cache *cache, struct err *err);
double last_evaluations_load_s(const struct simulation *sim);       /* time to load the program of evaluations at the end, once */
void simulation_free(struct simulation *sim);       /* frees the simulator, too, if the simulation owns it */
/* Lists every sheet that the simulation read, outermost first, and returns their number. */
enum { MAX_SHEETS = 10 };
size_t simulation_sheets(const struct sheet *out[MAX_SHEETS], const struct simulation *sim);
/* The seconds that each part of a step takes, as means over the IPUs; the N_PARTS values sum to the step. */
void step_breakdown(double *part_s, const struct timeline *t);
/* Fills the result of one step, without the time to train. */
void result_of_step(struct result *out, const struct recipe *recipe, const struct timeline *t);

/* ---- provenance.c: what made a result --------------------------------------------------------- */

/* Fills `version`, `overrides` ("a.b=1; c.d=2", in order) and `inputs`, a hash of every value that was read. Results with equal version and
 * inputs are equal to the bit. The texts live in sim's arena. */
void result_provenance(struct result *r, struct simulation *sim, const char *const *overrides, size_t n_overrides);
/* result_provenance() as a JSON object, with the recipe's path and all sheets. The caller owns it. */
struct json_t *provenance_json(const struct result *r, struct simulation *sim, const char *const *overrides, size_t n_overrides);

/* ---- root.c: where spec sheets, recipes, published figures and rules are ----------------------- */

/* Finds the root, the first of these folders that holds system-model/specs: the given folder, PODBENCH_ROOT, the program's own (the source
 * tree, or ../share/podbench if installed), the current folder, and the usual places of installed data. NULL if there is none; given_as names
 * the option in the message. */
const char *root_find(const char *given, const char *given_as, struct arena *a, struct err *err);
const char *root_path(const char *root, const char *folder, struct arena *a);   /* "FOLDER" if the root is the current folder, else "ROOT/FOLDER" */
bool root_is_installed(const char *root);       /* true if the root is no source tree, so that nothing may be written there */
/* Fails if a table has fewer lines than results/validity/tables.csv says, or is gone from its folder: half a table is valid CSV, and would
 * change answers in silence. A root without that list has nothing to compare with. */
bool root_is_whole(const char *root, struct arena *a, struct err *err);

/* ---- recompute_curve.c: what keeping fewer activations saves in memory, and costs in work --------------- */

struct recompute_point {
    uint32_t n_checkpoints;
    uint64_t memory_bytes;          /* bytes kept for one micro-batch: checkpoints and the activations of the largest segment */
    double memory_share;            /* memory_bytes divided by the bytes of all activations */
    double extra_work_share;        /* recomputed multiply-accumulates divided by all others, forward and backward */
};

/* For each number of checkpoints between layers, the placement with least memory. The first point has no checkpoints and keeps everything;
 * each further point has less memory and more work. The graph must have a backward pass. */
void recompute_curve(struct recompute_point **out, size_t *n, const struct graph *g, struct arena *a);

/* ---- remedies.c: what would make a model fit: changes of its recipe, simulated, and what each costs ----- */

enum { MOST_IPUS_TRIED = 16 };          /* a model that does not fit is tried on up to this many IPUs */
/* The largest number of IPUs a replica to try: MOST_IPUS_TRIED, or the recipe's own number if larger, but at most those of the system. */
uint64_t most_ipus_tried(const struct recipe *r, const struct machine *m);
/* There are at most eight remedies of memory, half the micro-batch, and one for each doubling of the IPUs up to MAX_STAGES. */
enum { MAX_SINGLE_REMEDIES = 20, MAX_PAIRS = 3, MAX_RESORTS = 9, MAX_REMEDIES = MAX_SINGLE_REMEDIES + MAX_RESORTS, MAX_REMEDY_SETS = 20 };
struct remedy {
    const char *what;                   /* a description such as "recompute every layer" */
    const char *sets[MAX_REMEDY_SETS];  /* the overrides of the change, in the form of --set */
    uint32_t n_sets;
    bool fits;
    double fits_probability;
    double throughput_samples_per_s;
    uint64_t shortfall_bytes_per_tile;
    const char *rounded;                /* an override with an accumulation that every schedule can run, used if the recipe's own is refused; may be NULL */
    /* the division of layers that was found, as an override of parallel.layers_per_ipu; NULL if the change keeps the division */
    const char *division;
};

/* A simulation that does not fit, and the request that made it. */
struct remedy_request {
    const struct simulation *sim;
    const char *recipe;
    const char *const *overrides; size_t n_overrides;
    bool keeps_micro_batch;             /* if true, a smaller micro-batch is not tried */
};

/* Tries every change that is not in force already, and all pairs if no single one fits; only the fastest pairs that fit are kept. Changes that
 * fit come first, fastest first, then the others by shortfall. */
bool remedies_find(struct remedy *out, size_t *n, const struct remedy_request *q, struct arena *a, struct err *err);
void remedies_document(struct document *d, const struct remedy *r, size_t n);
struct json_t *remedies_json(const struct remedy *r, size_t n);     /* the caller owns the returned array */

#endif
