/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * models.h - the model families as graph builders, and the table of workloads: one row a model.
 */
#ifndef MODELS_H
#define MODELS_H
#include "system-model/base/base.h"
#include "system-model/graph/graph.h"

enum compute_type { COMPUTE_FP16 = TYPE_FP16, COMPUTE_FP32 = TYPE_FP32, COMPUTE_FP8 = TYPE_FP8 };
enum input_type { INPUT_OWN, INPUT_UINT8, INPUT_FP16, INPUT_FP32 };    /* INPUT_OWN: the type that a file states; bytes for a built-in model */
/* ACTIVATION_OWN: the model's own. ACTIVATION_GELU_NEW: the tanh form, operation by operation with a power, as optimum's GPT-2 runs it. */
enum activation { ACTIVATION_OWN, ACTIVATION_GELU, ACTIVATION_GELU_NEW, ACTIVATION_RELU, ACTIVATION_SWISH, N_ACTIVATIONS };

/* Text is generated token by token. Without a cache the whole text is computed for each token; with one, its newest token alone. */
enum key_cache { CACHE_NONE, CACHE_ON_CHIP, CACHE_STREAMING, N_KEY_CACHES };
enum token_choice { CHOICE_BY_HOST, CHOICE_BY_DEVICE, N_TOKEN_CHOICES };
struct text_generation {
    uint64_t prompt_tokens, new_tokens; /* tokens of a text's prompt, and tokens to generate; if new_tokens is 0, nothing is generated */
    uint64_t prompts;                   /* texts in a micro-batch, whose other rows are padding; 0: it is full */
    int cache, choice;                  /* enum key_cache, enum token_choice */
    uint64_t weight_bits;               /* 4: weights of products are stored with 4 bits, in groups of 64 with a scale and an addend each; 0: in the type of the products */
};

/* The sizes that shape a graph. All zero but micro_batch: a training step in fp16 with the sizes of the model's paper. */
struct model_options {
    const char *where;                  /* the recipe's path, for messages */
    bool inference;                     /* only forward operations; batch norms are folded */
    bool keeps_training_heads;          /* inference is the evaluation of a training run */
    int compute;
    bool all_products_fp8;              /* with fp8: products outside the body too, which are the first convolution and the last product */
    const char *fp32_operations;        /* kinds of operations that stay in fp32: "gelu, layer-norm"; NULL if none */
    uint64_t micro_batch;
    uint64_t sequence_length;           /* tokens of a pack, or frames of 30 ms of the longest utterance; 0 means the workload's own length */
    double sequences_per_pack;
    uint64_t vocabulary;                /* rows of the word table, with the padding that the run gives it; 0 means the model's own */
    uint64_t joint_slices;              /* transducers: slices of time on which the joint network runs one by one; 0: one */
    uint64_t loss_slices;               /* pieces of a text's tokens whose losses are computed one by one; 0: as the model's program has them */
    double labels_per_sample;           /* transducers: labels of the longest transcript; 0: from the audio's length */
    int input_type;                     /* images come from the host as bytes, or prepared */
    uint64_t batch_norm_span;           /* replicas that share the statistics of batch norms */
    bool stable_norm;                   /* norms by batch or group subtract the mean before they square */
    uint64_t norm_groups;               /* groups of a group norm that replaces batch norm; 0: batch norm */
    uint64_t image_size;                /* pixels in a row; 0 means the model's own */
    uint64_t embedding_serial_steps;    /* steps of the word table's products; 0 means the compiler chooses */
    const char *tensor_parallel;        /* IPUs that layers are cut over, as tensor_axes() reads it; NULL: layers are whole */
    uint64_t attention_tensor_parallel; /* the number of parts that attention is cut into, if it is smaller than the number of IPUs; 0: as many as IPUs */
    uint64_t attention_serialisation;   /* pieces of its queries that attention works on one after another; 0: one */
    uint64_t embedding_split;           /* parts of the word table, each with a lookup and a product of its own; 0: one */
    struct text_generation generation;
    bool uniform_blocks;                /* encoder-decoders: encoder blocks compute cross-attention, too, and do not use the result */
    bool split_qkv;                     /* query, key and value come from three products instead of one */
    bool unfused_attention;             /* BERT: query, key and value are three products, and scores are divided by the root of a head's width */
    bool attention_dropout;
    int activation;                     /* enum activation: of feed-forward parts */
    bool fine_tuning;                   /* training on questions: scores of an answer's start and end replace the heads of pre-training */
    const char *file;                   /* an ONNX file's path; NULL means a built-in model */
    const char *dimensions;             /* sizes of its symbolic dimensions: "tokens=128,frames=1220"; NULL if none */
    const char *output;                 /* values of the file to stop at, separated by commas; NULL means the file's outputs */
    uint64_t negatives, embedding_size; /* knowledge graphs. negatives: on each shard, for one triple or for all; embedding_size: numbers in a row of a table; 0: the own value of the model */
    const char *shard_tables;           /* tables whose rows are spread over the replicas: "auto" or layers' names; NULL: none */
    uint64_t n_shards;                  /* replicas, where tables are spread over them; 0: one */
    struct sparse_request sparse;       /* products by weights that are sparse */
    const char *operators;              /* the path of a sheet of the user's own operations; NULL: there is none */
    uint64_t repeat;                    /* rounds of the file's graph; 0 and 1: one */
    const char *grid_ipus, *grid_tiles; /* parts of its grids along each axis: "1x4"; NULL: not given */
    bool approximate;                   /* operators that are not modelled are priced roughly instead of refused */
};

/* Recipe keys that shape a workload, in addition to those that shape all. */
enum workload_trait {
    TAKES_IMAGES = 1, TAKES_SEQUENCES = 2,
    HAS_PACKS = 4,                      /* several sequences in a row */
    HAS_TABLE = 8,                      /* a word table */
    HAS_ATTENTION = 16,                 /* split_qkv and attention_dropout apply */
    HAS_TRANSCRIPTS = 32,               /* labels of a transcript */
    HAS_JOINT = 64,                     /* a joint network of steps and labels */
    HAS_NORMS = 128,                    /* norms by batch, or by group */
    IS_FILE = 256,                      /* an ONNX file */
    HAS_TWO_SIDES = 512,                /* an encoder and a decoder */
    GENERATES = 2048,                   /* scores of the next token for every token */
    HAS_NEGATIVES = 4096,               /* knowledge graphs: entities are the rows of the table */
    HAS_ROW_WIDTH = 8192,               /* tables whose rows are as wide as the recipe says */
    HAS_NO_DROPOUT = 1024,              /* no product to which attention_dropout could be added */
    HAS_THREE_PRODUCTS = 32768,         /* query, key and value always come from three products */
    CUTS_LOSS = 16384,                  /* its loss may be computed in slices of the text */
};

struct builder;
struct workload;
/* Builds the forward graph with b, which has the options. */
typedef bool build_model(struct builder *b, const struct workload *w, struct err *err);
struct workload {
    const char *name, *family, *help;
    const char *sample;                 /* "image", "sequence", "utterance" */
    build_model *build;                 /* NULL for an ONNX file, which onnx_file_import() builds */
    const void *config;                 /* the family's own table row */
    uint64_t default_sequence_length;
    const char *benchmark;              /* the name in MLPerf: resnet, bert, rnnt; NULL if none */
    unsigned traits;                    /* enum workload_trait */
};
/* A family's rows, in its own file, ended by a row of zeros. */
#define WORKLOADS(family) const struct workload family##_workloads[] =
size_t workload_count(void);
const struct workload *workload_at(size_t i);       /* workloads in the order of their files; NULL past the last */
/* Finds a workload by its name; a name that ends in .onnx gives the workload of all files. NULL if unknown, with the known names in err. */
const struct workload *workload_find(const char *name, struct err *err);
/* Reads "16", or "8x4" for two axes; NULL is one IPU. False if it is neither. */
enum { MOST_AXIS_IPUS = 64 };
bool tensor_axes(uint32_t axes[2], const char *text);
/* The graph of the ONNX file o->file, and what became of its operators. */
struct onnx_import;
bool onnx_file_import(struct graph *g, struct onnx_import *import, const struct model_options *o, struct arena *a, struct err *err);
/* The options of a model with its own sizes and one sample in a micro-batch. */
extern const struct model_options own_options;
/* The graph of one micro-batch: forward, and backward unless o asks for inference. o may be NULL: own_options. */
bool workload_graph(struct graph *out, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);
/* The number of parameters of a built-in model with the sizes of its paper; 0 if no model has this name. */
uint64_t workload_parameters(const char *name, struct arena *a);

#endif
