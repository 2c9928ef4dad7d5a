/*
 * workloads.h - the model families as graph builders, recipes, and how many samples they need to converge.
 */
#ifndef WORKLOADS_H
#define WORKLOADS_H
#include "system-model/graph.h"
#include "system-model/plan.h"

/* ---- recipe.c: how one run is configured (recipes/ID.ini) ------------------------------ */

enum recipe_mode { MODE_TRAIN, MODE_INFER };
enum eval_placement { EVAL_INLINE, EVAL_END };
enum eval_program { EVAL_FORWARD, EVAL_TRAINING };
enum compute_type { COMPUTE_FP16, COMPUTE_FP32, COMPUTE_FP8 };
enum input_type { INPUT_UINT8, INPUT_FP16 };

struct recipe {
    const char *path;
    /* [recipe] */
    const char *id, *workload, *system, *framework, *sdk, *source;
    int mode;
    /* [data] */
    uint64_t sequence_length;           /* tokens a pack, or frames of the longest utterance (three stacked: 30 ms); 0: the workload's own */
    double sequences_per_pack;
    double logged_sequences_per_pack;   /* as MLPerf logs count a global batch; 0: sequences_per_pack */
    const char *dataset;
    uint64_t samples_per_epoch;
    uint64_t vocabulary;                /* rows of the word table, as padded by the run; 0: the model's own */
    uint64_t joint_slices;              /* transducers: the joint network runs on so many slices of time, one by one; 0: on all */
    double labels_per_sample;           /* transducers: labels of the longest transcript; 0: by the audio's length */
    int input_type;                     /* images from the host: bytes, or prepared there */
    /* [parallel] */
    uint64_t replicas, ipus_per_replica, micro_batch, gradient_accumulation;
    const char *layers_per_ipu;         /* comma list, one a stage: "3,7,7,7,0" or "0,7/6,6/7,7/6,4/5" (attention/feed-forward) */
    int schedule, recompute;
    const char *recompute_checkpoints;  /* comma list of layer names */
    int stash_type;
    int optimizer_state, rts, rts_domain;
    uint64_t io_tiles;
    const char *available_memory;       /* one share, or a comma list by IPU */
    int all_reduce;                     /* enum collective_method */
    uint64_t batch_norm_span;           /* replicas that share the statistics of batch norms */
    uint64_t embedding_serial_steps;    /* steps the word table's products are cut into; 0: the compiler's choice */
    bool split_qkv;                     /* three products for query, key and value instead of one */
    /* [precision] */
    int compute, partials;
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
    bool attention_dropout;
    bool initial_checkpoint;            /* training starts from given weights, read inside the timed region */
    double target;
    /* [hosts] */
    uint64_t host_count, instances;
    double host_decode_bytes_per_s;     /* what one host can read, decode and prepare of the input; 0: not a limit */
    double steps_per_call;              /* weight updates between two returns to the host; 0: the run is one call */
    /* [faults], as written */
    struct ini_entry *faults; size_t n_faults;
    struct ini_entry *entries; size_t n_entries;    /* everything as read, overrides applied: for printing and hashing */
};

/* id: a recipe in recipes_dir, or a path ending in .ini. overrides: "section.key=value", applied in order;
 * an empty value takes the key away. */
bool recipe_load(struct recipe *out, const char *id, const char *recipes_dir, const char *const *overrides, size_t n_overrides,
                 struct arena *a, struct err *err);
/* "section.key" of every key given that changes nothing in this recipe's result; those that only document are not listed. */
bool recipe_unused_keys(const char ***names, size_t *n, const struct recipe *r, struct arena *a);
uint64_t recipe_global_batch(const struct recipe *r);   /* in micro-batch units: images, packs, utterances */
bool recipe_plan_options(struct plan_options *out, const struct recipe *r, struct arena *a, struct err *err);
/* Field table of all keys: for --help and the README. */
void recipe_keys_print(FILE *f);

/* ---- workload.c: the families ----------------------------------------------------------- */

struct workload {
    const char *name, *family, *help;
    const char *sample;                 /* "image", "sequence", "utterance" */
    bool (*build)(struct graph *out, const struct workload *w, const struct recipe *r, struct arena *a, struct err *err);
    const void *config;                 /* the family's own table row */
    uint64_t default_sequence_length;
    const char *benchmark;              /* its MLPerf name: resnet, bert, rnnt; NULL: none */
};
extern const struct workload workloads[];
extern const size_t n_workloads;
/* NULL for an unknown name, with the known ones in err. */
const struct workload *workload_find(const char *name, struct err *err);
/* Graph of one micro-batch, forward only (mode infer) or with backward. r may be NULL: micro-batch 1, defaults. */
bool workload_graph(struct graph *out, const struct workload *w, const struct recipe *r, struct arena *a, struct err *err);
/* Samples as sources count them (sequences for packs) in one graph sample. */
double workload_samples_per_item(const struct recipe *r);

#endif
