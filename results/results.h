/*
 * results.h - ratios from timelines, tables of published figures, the comparison with them, and the files of a run.
 */
#ifndef RESULTS_H
#define RESULTS_H
#include "system-model/plan.h"
#include "system-model/fitted_system.h"
#include "system-model/sdk.h"
#include "workloads/workloads.h"

/* ---- simulate.c: recipe -> machine, graph, plan, timeline -> result ---------------------- */

/* Everything one simulation made; lives in its arena. */
struct simulation {
    struct arena arena;
    struct recipe recipe;
    struct machine machine;
    struct sdk sdk;
    struct fitted_system fitted;
    struct topology topology;
    struct graph graph;
    struct compiler compiler;
    struct plan plan;
    struct timeline timeline;
    double evaluation_s;                /* one evaluation, with its checkpoint where that is evaluated at the end; 0: none, or inference */
};

struct result {
    const char *id, *workload, *system;
    uint64_t ipus;
    double global_batch;                /* samples as the source counts them */
    double throughput_samples_per_s;    /* steady state */
    double step_time_s;
    double latency_s;                   /* inference: one micro-batch from first byte in to result */
    double samples_to_converge;         /* 0: unknown */
    double train_time_s, eval_time_s, startup_time_s, tail_time_s;  /* time_to_train_s is their sum */
    double time_to_train_s;             /* 0: unknown */
    double predicted_samples_to_converge, predicted_time_to_train_s;    /* by the global batch, whatever is given; 0: unknown */
    bool fits;
    uint64_t memory_peak_bytes_per_tile;
    uint64_t memory_shortfall_bytes_per_tile;
    double mfu, hfu;
    double energy_j;                    /* 0: no published power */
    double fault_cost_s;                /* of step_time_s: what the recipe's faults cost */
    double breakdown_s[N_PARTS];        /* mean over the IPUs; sums to step_time_s */
};

struct model_paths {
    const char *specs_dir, *recipes_dir, *data_dir;
    const struct fitted_system *fitted;     /* instead of the sheet in specs_dir; NULL: the sheet */
    const double *chip_constants;           /* values of fitted_constants instead of their sheet's; NULL: the sheet */
    bool unfolded;                          /* every replica is played, instead of one for all that are alike */
};

/* Loads, builds, plays. cache may be shared by many simulations. */
bool simulate(struct simulation *sim, struct result *out, const char *recipe, const char *const *overrides, size_t n_overrides,
              const struct model_paths *paths, struct plan_cache *cache, struct err *err);
void simulation_free(struct simulation *sim);
/* The ratios of one step; how long the training takes is not filled in. */
void result_of_step(struct result *out, const struct recipe *recipe, const struct timeline *t);

/* The columns of rows.csv and the members of the JSON object, in order; one table for both. */
void result_print_text(FILE *f, const struct result *r);
void result_write_csv_header(FILE *f);
void result_write_csv(FILE *f, const struct result *r);
struct json_t *result_json(const struct result *r);             /* jansson; the caller owns it */
/* +1: higher is better, -1: lower is better, 0: neither, or no such column. */
int result_column_direction(const char *name);

/* The rows of a run, read back (absent values are 0), or gathered as they are simulated. */
struct results { struct result *items; size_t n, cap; };
bool results_load(struct results *out, const char *rows_csv, struct arena *a, struct err *err);
void results_add(struct results *set, const struct result *r, struct arena *a);     /* copies r and its texts */
const struct result *results_find(const struct results *set, const char *id);       /* NULL: not there */

/* ---- published.c: results/published/<table>.csv ------------------------------------------- */

enum role { FIGURE_CALIBRATE, FIGURE_VALIDATE, FIGURE_CONTEXT, N_FIGURE_ROLES };
extern const char *const role_names[N_FIGURE_ROLES + 1];
struct figure {
    const char *id, *recipe, *metric, *unit, *source, *quote, *note, *path;
    double value, tolerance;            /* tolerance: relative, 0.1 = 10 % */
    enum role role;
    uint32_t line;
};
struct figures { struct figure *items; size_t n, cap; };
bool published_load(struct figures *out, const char *path, struct arena *a, struct err *err);   /* a file, or a folder of them */

#endif
