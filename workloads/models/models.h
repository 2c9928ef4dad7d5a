/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * models.h - the model families as graph builders, and the table of workloads: one row a model.
 */
#ifndef MODELS_H
#define MODELS_H
#include "system-model/base/base.h"
#include "system-model/graph/types.h"

enum compute_type { COMPUTE_FP16, COMPUTE_FP32, COMPUTE_FP8 };
enum input_type { INPUT_UINT8, INPUT_FP16 };

/* What shapes a graph. Zero everywhere but micro_batch: a training step in fp16, as the model's paper has it. */
struct model_options {
    const char *where;                  /* heads messages: the recipe's path */
    bool inference;                     /* forward only, norms folded */
    bool keeps_training_heads;          /* inference: the evaluation of a training run */
    int compute;
    uint64_t micro_batch;
    uint64_t sequence_length;           /* tokens a pack, or frames of the longest utterance (three stacked: 30 ms); 0: the workload's own */
    double sequences_per_pack;
    uint64_t vocabulary;                /* rows of the word table, as padded by the run; 0: the model's own */
    uint64_t joint_slices;              /* transducers: the joint network runs on so many slices of time, one by one; 0: on all */
    double labels_per_sample;           /* transducers: labels of the longest transcript; 0: by the audio's length */
    int input_type;                     /* images from the host: bytes, or prepared there */
    uint64_t batch_norm_span;           /* replicas that share the statistics of batch norms */
    bool stable_norm;                   /* batch norms take the mean away before they square */
    uint64_t norm_groups;               /* group norm of so many groups instead of batch norm; 0: batch norm */
    uint64_t image_size;                /* pixels in a row; 0: the model's own */
    uint64_t embedding_serial_steps;    /* steps the word table's products are cut into; 0: the compiler's choice */
    bool split_qkv;                     /* three products for query, key and value instead of one */
    bool attention_dropout;
    bool fine_tuning;                   /* training on questions: scores of an answer's start and end instead of pre-training's heads */
    const char *file;                   /* an ONNX file's path; NULL: a built-in model */
    const char *dimensions;             /* sizes of its symbolic dimensions: "tokens=128,frames=1220"; NULL: none */
    const char *output;                 /* its values to stop at, with commas between; NULL: the file's outputs */
    bool approximate;                   /* what it holds that is not modelled is priced roughly instead of refused */
};

/* Which recipe keys shape a workload, besides those that shape all. */
enum workload_trait {
    TAKES_IMAGES = 1, TAKES_SEQUENCES = 2,
    HAS_PACKS = 4,                      /* several sequences in a row */
    HAS_TABLE = 8,                      /* a word table */
    HAS_ATTENTION = 16,                 /* queries, keys and values at the recipe's choice, with dropout of their shares */
    HAS_TRANSCRIPTS = 32,               /* labels of a transcript */
    HAS_JOINT = 64,                     /* a joint network of steps and labels */
    HAS_NORMS = 128,                    /* by batch, or by group */
    IS_FILE = 256,                      /* an ONNX file */
};

struct workload {
    const char *name, *family, *help;
    const char *sample;                 /* "image", "sequence", "utterance" */
    bool (*build)(struct graph *out, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);
    const void *config;                 /* the family's own table row */
    uint64_t default_sequence_length;
    const char *benchmark;              /* its MLPerf name: resnet, bert, rnnt; NULL: none */
    unsigned traits;                    /* enum workload_trait */
};
/* A family's rows, in its own file, ended by a row of zeros. */
#define WORKLOADS(family) const struct workload family##_workloads[] =
size_t workload_count(void);
const struct workload *workload_at(size_t i);       /* of all families, by file; NULL past the last */
/* One of them, or, for a name that ends in .onnx, that of all files. NULL for an unknown name, with the known ones in err. */
const struct workload *workload_find(const char *name, struct err *err);
/* A micro-batch of one sample, and the model's own sizes. */
extern const struct model_options own_options;
/* The graph of one micro-batch: forward, and backward unless o asks for inference. o may be NULL: own_options. */
bool workload_graph(struct graph *out, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);

#endif
