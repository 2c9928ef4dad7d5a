/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe.h - how one run is configured: recipes/ID.ini, checked key by key, with overrides.
 */
#ifndef RECIPE_H
#define RECIPE_H
#include "system-model/plan/plan_options.h"
#include "workloads/models/models.h"

enum recipe_mode { MODE_TRAIN, MODE_INFER };
enum eval_placement { EVAL_INLINE, EVAL_END };
enum eval_program { EVAL_FORWARD, EVAL_TRAINING };

/* Another value of a key whose own the source leaves open. */
struct reading { const char *key, *value; };        /* "precision.partials" */

struct recipe {
    struct model_options model;         /* what shapes the graph: of [data], [parallel], [precision] and [training] */
    const char *path;
    const struct workload *model_family;    /* looked up when it was read; NULL: by name */
    /* [recipe] */
    const char *id, *workload, *system, *framework, *sdk, *source;
    int mode;
    /* [data] */
    double logged_sequences_per_pack;   /* as MLPerf logs count a global batch; 0: sequences_per_pack */
    const char *dataset;
    uint64_t samples_per_epoch;
    /* [parallel] */
    uint64_t replicas, ipus_per_replica, gradient_accumulation;
    const char *layers_per_ipu;         /* comma list, one a stage: "3,7,7,7,0" or "0,7/6,6/7,7/6,4/5" (attention/feed-forward) */
    int schedule, recompute;
    const char *recompute_checkpoints;  /* comma list of layer names */
    int stash_type;
    int optimizer_state, rts, rts_domain;
    uint64_t io_tiles;
    const char *available_memory;       /* one share, or a comma list by IPU */
    int all_reduce;                     /* enum collective_method */
    /* [precision] */
    int partials;
    bool stochastic_rounding;
    double loss_scale;
    /* [optimizer] */
    const char *optimizer_name;         /* sgd lars adam lamb */
    double state_bytes_per_param;
    struct ini_entry *hyperparameters;  /* the rest of the section, as logged: for mllog and documentation */
    size_t n_hyperparameters;
    /* [training] */
    double epochs, samples_to_converge; /* 0: not given */
    const char *converge;               /* "model", or NULL */
    const char *reference_round;        /* whose reference convergence points hold: "v2.0"; NULL: by the id */
    uint64_t eval_every, eval_samples;  /* samples between evaluations; samples of one */
    int eval_placement;
    int eval_program;                   /* the forward pass alone, or training steps that change nothing */
    uint64_t evaluations;               /* how many, where eval_every does not tell; 0: it does */
    bool initial_checkpoint;            /* training starts from given weights, read inside the timed region */
    double target;
    /* [hosts] */
    uint64_t host_count, instances;
    double host_decode_bytes_per_s;     /* what one host can read, decode and prepare of the input; 0: not a limit */
    double price_per_hour;              /* [cost]: of all IPUs in use, in any currency; 0: none */
    uint64_t timed_steps;               /* the source's rate is the mean of so many first steps; 0: the loader's start is not in it */
    double steps_per_call;              /* weight updates between two returns to the host; 0: the run is one call; below 0: the framework's own */
    /* [framework], as written: keys of framework_fields */
    struct ini_entry *framework_settings; size_t n_framework_settings;
    /* [faults], as written */
    struct ini_entry *faults; size_t n_faults;
    /* [open], as written; and what of it is not settled by an override, in its order, those of one key together */
    struct ini_entry *open; size_t n_open;
    struct reading *readings; size_t n_readings;
    struct ini_entry *entries; size_t n_entries;    /* everything as read, overrides applied: for printing and hashing */
};

/* id: a recipe in recipes_dir, or a path ending in .ini. overrides: "section.key=value", applied in order;
 * an empty value takes the key away. */
bool recipe_load(struct recipe *out, const char *id, const char *recipes_dir, const char *const *overrides, size_t n_overrides,
                 struct arena *a, struct err *err);
/* The same in two steps: a file read once, and overridden many times. */
struct recipe_file {
    struct ini_file file;
    struct recipe plain; bool is_whole;         /* without overrides, where that makes a recipe */
};
/* By id in recipes_dir, or by path. */
bool recipe_file_load(struct recipe_file *out, const char *id, const char *recipes_dir, struct arena *a, struct err *err);
/* Refuses a recipe that stands twice in a list, by one name or by two. */
bool recipes_stand_once(const char *const *ids, size_t n, const char *recipes_dir, struct err *err);
/* "section.key=value" on top, in order. Fails on what makes no recipe, with file, line and key. */
bool recipe_override(struct recipe *out, const struct recipe_file *file, const char *const *overrides, size_t n_overrides,
                     struct arena *a, struct err *err);
/* What a recipe gives for a key ("section.key"), overrides applied; NULL: nothing. */
const struct ini_entry *recipe_entry(const struct recipe *r, const char *name);
/* "section.key" of every key given that changes nothing in this recipe's result; those that only document are not listed. p: the plan that
 * came of it; NULL: what only its sheets can tell is not looked at. */
struct plan;
bool recipe_unused_keys(const char ***names, size_t *n, const struct recipe *r, const struct plan *p, struct arena *a);
const struct workload *recipe_workload(const struct recipe *r);     /* NULL: no such workload */
uint64_t recipe_global_batch(const struct recipe *r);   /* in micro-batch units: images, packs, utterances */
/* The graph of one micro-batch, as the recipe has it. */
bool recipe_graph(struct graph *out, const struct recipe *r, struct arena *a, struct err *err);
/* Recipes of one key have the same graph: the workload, and every key that is read into model_options. */
const char *recipe_graph_key(size_t *n_bytes, const struct recipe *r, struct arena *a);
double recipe_samples_per_item(const struct recipe *r);     /* samples as sources count them (sequences for packs) in one graph sample */
bool recipe_plan_options(struct plan_options *out, const struct recipe *r, struct arena *a, struct err *err);
/* Every key of the table as this recipe has it, in the table's order, [faults] and hyperparameters apart; returns how many. */
struct recipe_setting {
    const char *section;
    const struct field *field;          /* of struct recipe */
    const char *value;                  /* as written; NULL: not given, the default holds */
    uint32_t line;                      /* 0: an override, or not given */
    bool matters;                       /* false: changes nothing in this recipe */
};
size_t recipe_settings(struct recipe_setting **out, const struct recipe *r, struct arena *a);
/* The rest of the options: the recipe's framework as its sheet has it, with what the recipe sets on top. */
bool recipe_framework(struct plan_options *out, const struct recipe *r, const struct framework *f, struct arena *a, struct err *err);
bool recipe_key_is_text(const char *name);      /* "section.key"; false: a number, or none of the table */
void recipe_keys_print(FILE *f);                /* every key, what it may be and what it means: podbench list keys */
struct json_t *recipe_keys_json(void);          /* an array of objects; jansson, the caller owns it */

#endif
