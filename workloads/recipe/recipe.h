/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe.h - how one run is configured: recipes/ID.ini, checked key by key, with overrides.
 */
#ifndef RECIPE_H
#define RECIPE_H
#include "system-model/output/output.h"
#include "system-model/plan/plan_request.h"
#include "workloads/models/models.h"

enum recipe_mode { MODE_TRAIN, MODE_INFER };
enum eval_placement { EVAL_INLINE, EVAL_END };
enum training_rate { RATE_OF_STEPS, RATE_LOGGED };
enum eval_program { EVAL_FORWARD, EVAL_TRAINING };

/* A reading: another value that a key may have, where the source does not state its value. */
struct reading { const char *key, *value; };        /* "precision.partials" */

struct recipe {
    struct model_options model;         /* the keys of [data], [parallel], [precision] and [training] that shape the graph */
    const char *path;
    const struct workload *model_family;    /* found when the recipe was read; NULL: look it up by name */
    /* [recipe] */
    const char *id, *workload, *system, *framework, *sdk, *source, *no_figure;
    const char *operators;              /* a sheet of the user's own operations, as written; model.operators is its path */
    int mode;
    /* [data] */
    double logged_sequences_per_pack;   /* sequences of a pack as MLPerf logs count them in a global batch; 0: sequences_per_pack */
    double graphs_per_pack;             /* samples of an ONNX file are packs of this many graphs, and graphs are counted; 0: samples are counted as
                                           they are */
    const char *dataset, *data_path;
    uint64_t samples_per_epoch;
    /* [parallel] */
    uint64_t replicas, ipus_per_replica, gradient_accumulation;
    const char *layers_per_ipu;         /* comma list, one item per stage: "3,7,7,7,0" or "0,7/6,6/7,7/6,4/5" (attention/feed-forward) */
    int schedule, recompute;
    const char *recompute_checkpoints;  /* comma list of layer names */
    int stash_type;
    int optimizer_state, rts, rts_domain, outlining, fully_connected_pass;
    int weights;                        /* enum weights_place */
    int phase_io;                       /* enum phase_io */
    const char *phases;                 /* blocks in each phase: "1", or a comma list like layers_per_ipu */
    bool synthetic_data;
    uint64_t io_tiles;
    const char *available_memory;       /* one share, or a comma list with one per IPU */
    int all_reduce;                     /* enum collective_method */
    /* [precision] */
    int partials;
    bool stochastic_rounding;
    double loss_scale;
    /* [optimizer] */
    const char *optimizer_name;         /* sgd lars adam lamb */
    double state_bytes_per_param;
    struct ini_entry *hyperparameters;  /* the rest of the section, under the names of MLPerf logs: documentation, written to simulated logs */
    size_t n_hyperparameters;
    /* [training] */
    double epochs, samples_to_converge; /* 0 if not given */
    const char *converge;               /* "model", or NULL */
    const char *submitter;              /* the submitter whose effect on the samples to converge applies; NULL: Graphcore */
    const char *reference_round;        /* the round whose reference convergence points are used: "v2.0"; NULL means the id's */
    uint64_t eval_every, eval_samples;  /* eval_every: samples between evaluations; eval_samples: samples of one evaluation */
    int eval_placement;
    int eval_program;                   /* the forward pass alone, or training steps that change nothing */
    uint64_t save_every;                /* samples from one checkpoint to the next, where training waits for each; 0: no checkpoints */
    int rate;                           /* enum training_rate: what the throughput counts */
    uint64_t evaluations;               /* number of evaluations, if eval_every does not decide it; else 0 */
    bool initial_checkpoint;            /* training starts from given weights, read inside the timed region */
    double target;
    /* [hosts] */
    uint64_t host_count, instances;
    double host_decode_bytes_per_s;     /* the rate at which one host reads, decodes and prepares input; 0 if no limit */
    uint64_t host_cores, workers;       /* host_cores: of one host; workers: loader processes or threads of one host process; 0 if unknown */
    double sample_s;                    /* time in which one core prepares a sample; 0 if it is no limit */
    double price_per_hour;              /* [cost]: for all IPUs in use, in any currency; 0 if none */
    double price_per_kwh, carbon_g_per_kwh;     /* the user's factors of energy; 0 if none */
    double host_power_w, cooling_share; /* host_power_w: of one host; cooling_share: the power of cooling over all other power; 0 if not counted */
    uint64_t timed_steps;               /* the source's rate is a mean over this many first steps; 0 if it does not include the loader's start */
    uint64_t requests;                  /* inference: requests under way at once; 0: the framework's own */
    double steps_per_call;              /* weight updates between two returns to the host; 0 if the run is one call; below 0: the framework's own */
    /* [framework], as written: keys of framework_fields */
    struct ini_entry *framework_settings; size_t n_framework_settings;
    /* [faults], as written */
    struct ini_entry *faults; size_t n_faults;
    /* [open], as written; and its readings without those that an override settles, grouped by key */
    struct ini_entry *open; size_t n_open;
    struct reading *readings; size_t n_readings;
    struct ini_entry *entries; size_t n_entries;    /* everything as read, overrides applied: for printing and hashing */
};

/* id: a recipe in recipes_dir, or a path ending in .ini. overrides: "section.key=value", applied in order;
 * an empty value removes the key. */
bool recipe_load(struct recipe *out, const char *id, const char *recipes_dir, const char *const *overrides, size_t n_overrides,
                 struct arena *a, struct err *err);
/* recipe_load() in two steps: a file is read once and overridden many times. */
struct recipe_file { struct ini_file file; struct recipe values; bool has_values; };       /* has_values: the values of all keys are valid, and read */
/* name: an id in recipes_dir, or a path. */
bool recipe_file_load(struct recipe_file *out, const char *id, const char *recipes_dir, struct arena *a, struct err *err);
/* True for a plain name that the folder lacks; a folder of a user's may have only some of the recipes. */
bool recipe_is_missing(const char *id, const char *recipes_dir, struct arena *a);
/* Refuses a list that names a recipe twice, also by two names. */
bool recipes_check_unique(const char *const *ids, size_t n, const char *recipes_dir, struct err *err);
/* Applies "section.key=value" in order. The message of a failure names file, line and key. */
bool recipe_override(struct recipe *out, const struct recipe_file *file, const char *const *overrides, size_t n_overrides,
                     struct arena *a, struct err *err);
/* The entry of a key ("section.key"), overrides applied, or NULL. */
const struct ini_entry *recipe_entry(const struct recipe *r, const char *name);
/* "section.key" of every given key that changes nothing in this recipe's result, except keys that only document. p: its
 * plan; with NULL, keys that only the plan's sheets can judge are not listed. */
struct plan;
/* The name of the entry's key if it has no effect, else NULL. */
const char *recipe_unused_key(const struct ini_entry *e, const struct recipe *r, const struct plan *p, struct arena *a);
bool recipe_unused_keys(const char ***names, size_t *n, const struct recipe *r, const struct plan *p, struct arena *a);
/* True if an override surely gives a key that has an effect another number than the file does, so that the hashes differ. False if that is unknown. */
bool recipe_has_other_number(const struct recipe *r, const struct recipe_file *file, const struct plan *p);
const struct workload *recipe_workload(const struct recipe *r);     /* NULL if no workload has this name */
uint64_t recipe_global_batch(const struct recipe *r);   /* micro-batch units of a weight update: images, packs, utterances */
/* The graph of one micro-batch. */
bool recipe_graph(struct graph *out, const struct recipe *r, struct arena *a, struct err *err);
/* A key made of the workload and everything in model_options: recipes with equal keys have the same graph. */
const char *recipe_graph_key(size_t *n_bytes, const struct recipe *r, struct arena *a);
/* 16 hexadecimal digits for the values that a simulation of the recipe reads: recipes with equal ones are the same run. It reads an ONNX file.
 * p: its plan, by which more keys prove to be without effect; NULL: every key of [framework] counts. */
bool recipe_hash(const char **out, const struct recipe *r, const struct plan *p, struct arena *a, struct err *err);
double recipe_samples_per_item(const struct recipe *r);     /* samples as sources count them in one sample of the graph: sequences or graphs in a pack; a part of a grid that IPUs share */
bool recipe_plan_request(struct plan_request *out, const struct recipe *r, struct arena *a, struct err *err);
/* Every key of the table with this recipe's value, in the table's order, without [faults] and hyperparameters; returns
 * how many. */
struct recipe_setting {
    const char *section;
    const struct field *field;          /* a field of struct recipe */
    const char *value;                  /* as written; NULL if not given: the default holds */
    uint32_t line;                      /* its line in the file; 0 means an override, or not given */
    bool matters;                       /* false: changes nothing in this recipe */
};
size_t recipe_settings(struct recipe_setting **out, const struct recipe *r, struct arena *a);
/* Puts the recipe's settings in place of the framework's values, and the program that results into the request. */
bool recipe_framework(struct plan_request *out, struct framework *f, const struct recipe *r, struct arena *a, struct err *err);
/* Refuses "section.key=value" of a key that no recipe has. Sheet values, and sections whose keys the table does not hold, pass. */
bool recipe_setting_check(const char *setting, struct arena *a, struct err *err);
/* "key=value" with the first section that has such a key; otherwise, where none has. */
const char *recipe_setting_example(const char *text, const char *otherwise, struct arena *a);
const struct field *recipe_field(const char *name);     /* the field of "section.key" in struct recipe; NULL for what the table of keys does not hold */
/* Every section.key that --set takes: of recipes, of frameworks, of machines. */
const char **recipe_setting_keys(size_t *n, struct arena *a);
void recipe_keys_document(struct document *d);  /* every key with its values and meaning, for podbench list keys */

/* True if the framework can run the request's schedule with its stages and accumulation; err, which may be NULL, says why not. */
bool recipe_check_schedule(const struct plan_request *o, const struct framework *f, struct err *err);

#endif
