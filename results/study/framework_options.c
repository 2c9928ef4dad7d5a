/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework_options.c - keys of recipes under the names that the frameworks and Graphcore's published programs give them.
 *
 * A line that ends in a value in brackets or after a colon belongs into the program's configuration file; one with = or () is code. A key
 * without a row has no name here.
 *
 * A name is checked if notes of the program's source have it, as published configurations or as what a framework's program sets; others are from memory of
 * the guides that they cite, and `fit` says so.
 */
#include "results/study/fit.h"

#include <string.h>

#define POPART_BERT "graphcore/examples v2.4.0: applications/popart/bert/configs"
#define POPTORCH_BERT "graphcore/examples v3.1.0: nlp/bert/pytorch/configs_pretraining.yml"
#define TENSORFLOW_CNN "graphcore/examples v2.4.0: applications/tensorflow/cnns/training/configs.yml"
#define TENSORFLOW_PIPELINE "TensorFlow for the IPU, ipu.pipelining_ops.pipeline()"
#define POPRT_BENCHMARKS "graphcore/PopRT: benchmarks/bert/test_bert_large.py"
#define PADDLE_BERT "MLPerf Training v2.0 results: Graphcore bert/implementations/paddlepaddle/bert.py"

static const struct framework_option_row {
    const char *framework;              /* the beginning of the recipe's framework */
    const char *key, *value;            /* value: the row is for this one; NULL: %s in text takes it */
    const char *text;
    struct option_origin from;
} option_rows[] = {
    { "PopART", "parallel.layers_per_ipu", NULL, "layers_per_ipu: [%s]", { POPART_BERT, true } },
    { "PopART", "parallel.available_memory", NULL, "available_memory_proportion: [%s]", { POPART_BERT, true } },
    { "PopART", "parallel.micro_batch", NULL, "micro_batch_size: %s", { POPART_BERT, false } },
    { "PopART", "parallel.gradient_accumulation", NULL, "gradient_accumulation_factor: %s", { POPART_BERT, false } },
    { "PopART", "parallel.replicas", NULL, "replication_factor: %s", { POPART_BERT, true } },
    { "PopART", "parallel.optimizer_state", "streaming", "optimizer_state_offchip: true", { POPART_BERT, false } },
    { "PopART", "parallel.rts", "yes", "replicated_tensor_sharding: true", { POPART_BERT, false } },
    { "PopART", "parallel.recompute", "layer",
      "options.autoRecomputation = popart.RecomputationType.Pipeline, and builder.checkpointOutput() after each layer",
      { "PopART user guide: recomputation", false } },
    { "PopART", "parallel.io_tiles", NULL, "options.numIOTiles = %s", { "PopART user guide: session options", true } },

    { "PyTorch", "parallel.layers_per_ipu", NULL, "layers_per_ipu: [%s]", { POPTORCH_BERT, true } },
    { "PyTorch", "parallel.available_memory", NULL, "matmul_proportion: [%s]", { POPTORCH_BERT, true } },
    { "PyTorch", "parallel.micro_batch", NULL, "micro_batch_size: %s", { POPTORCH_BERT, false } },
    { "PyTorch", "parallel.gradient_accumulation", NULL, "options.Training.gradientAccumulation(%s)", { "PopTorch user guide: options", false } },
    { "PyTorch", "parallel.replicas", NULL, "options.replicationFactor(%s)", { "PopTorch user guide: options", false } },
    { "PyTorch", "parallel.optimizer_state", "streaming",
      "options.TensorLocations.setOptimizerLocation(poptorch.TensorLocationSettings().useOnChipStorage(False))",
      { "PopTorch user guide: tensor locations", false } },
    { "PyTorch", "parallel.rts", "yes",
      "options.TensorLocations.setOptimizerLocation(poptorch.TensorLocationSettings().useReplicatedTensorSharding(True))",
      { "PopTorch user guide: tensor locations", false } },
    { "PyTorch", "parallel.recompute", "layer", "recompute_checkpoint_every_layer: true", { POPTORCH_BERT, true } },
    { "PyTorch", "parallel.io_tiles", NULL, "options.TensorLocations.numIOTiles(%s)", { "PopTorch user guide: tensor locations", false } },

    { "TensorFlow", "parallel.available_memory", NULL, "available_memory_proportion: %s", { TENSORFLOW_CNN, true } },
    { "TensorFlow", "parallel.gradient_accumulation", NULL, "gradient_accumulation_count=%s", { TENSORFLOW_PIPELINE, false } },
    { "TensorFlow", "parallel.optimizer_state", "streaming", "offload_weight_update_variables=True", { TENSORFLOW_PIPELINE, false } },
    { "TensorFlow", "parallel.rts", "yes", "replicated_optimizer_state_sharding=True", { TENSORFLOW_PIPELINE, false } },
    { "TensorFlow", "parallel.recompute", "layer", "enable_recomputation: true", { TENSORFLOW_CNN, true } },
    { "TensorFlow", "parallel.io_tiles", NULL, "num_io_tiles: %s", { TENSORFLOW_CNN, true } },

    { "PopRT", "parallel.available_memory", NULL, "available_memory_proportion=%s", { POPRT_BENCHMARKS, false } },
    { "PopRT", "parallel.io_tiles", NULL, "num_io_tiles=%s", { "graphcore/PopRT: examples/resnet50/README.md", true } },

    { "PaddlePaddle", "parallel.optimizer_state", "streaming", "optimizer_state_offchip=True", { PADDLE_BERT, true } },
    { "PaddlePaddle", "parallel.recompute", "stage", "auto_recomputation=3", { PADDLE_BERT, true } },
};

/* "0.3,0.2" as "0.3, 0.2". A last ",0", which puts the heads on the first IPU, is left out: the programs put them there by themselves. */
static const char *spaced(const char *value, bool is_division, struct arena *a)
{
    char *out = arena_alloc(a, 2 * strlen(value) + 1), *p = out;
    for (; *value && !(is_division && text_is(value, ",0")); value++) {
        *p++ = *value;
        if (*value == ',')
            *p++ = ' ';
    }
    return out;
}

static bool row_names(const struct framework_option_row *row, const char *framework, const char *setting, const char *equals)
{
    size_t n_key = (size_t)(equals - setting);
    return strncmp(framework, row->framework, strlen(row->framework)) == 0 && strlen(row->key) == n_key
        && strncmp(setting, row->key, n_key) == 0 && (!row->value || text_is(row->value, equals + 1));
}

/* Half layers, as in 7/6, are podbench's own way to write a division. */
const char *framework_option(struct option_origin *from, const char *framework, const char *setting, struct arena *a)
{
    const char *equals = strchr(setting, '=');
    bool is_division = strncmp(setting, "parallel.layers_per_ipu=", 24) == 0;
    if (!framework || !equals || !equals[1] || (is_division && strchr(setting, '/')))
        return NULL;
    for (size_t i = 0; i < sizeof option_rows / sizeof *option_rows; i++) {
        const struct framework_option_row *row = &option_rows[i];
        if (!row_names(row, framework, setting, equals))
            continue;
        *from = row->from;
        const char *hole = strstr(row->text, "%s");
        if (!hole)
            return row->text;
        return arena_printf(a, "%.*s%s%s", (int)(hole - row->text), row->text, spaced(equals + 1, is_division, a), hole + 2);
    }
    return NULL;
}
