/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework_options.c - the table of names, and how a row is written for a configuration.
 *
 * A line that ends in a value in brackets or after a colon belongs in the program's configuration file; one with -- is an option of its command
 * line, and anything else is code. A key without a row has no name here.
 */
#include "results/study/framework_options.h"
#include "system-model/graph/graph.h"

#define POPART_BERT "MLPerf Training v1.0 to v2.0 results: Graphcore bert/implementations/popart, bert.py and configs"
#define POPTORCH_BERT "graphcore/examples v3.1.0: nlp/bert/pytorch/configs_pretraining.yml"
#define TENSORFLOW_CNN "MLPerf Training v2.0 results: Graphcore resnet/implementations/tensorflow/configs.yml and train.py"
#define TENSORFLOW_BERT "graphcore/examples v2.4.0: applications/tensorflow/bert/run_pretraining.py"
#define PADDLE_BERT "MLPerf Training v2.0 results: Graphcore bert/implementations/paddlepaddle/bert.py"
#define POPRT_BENCHMARKS "graphcore/PopRT: benchmarks/bert/test_bert_large.py"
#define POPART_GUIDE "PopART user guide"
#define POPTORCH_GUIDE "PopTorch user guide"
#define TENSORFLOW_GUIDE "TensorFlow for the IPU, API"
#define PADDLE_GUIDE "PaddlePaddle for the IPU, API"
/* Both of its options are set on one object, as a second call would replace the first. */
#define LOCATION "  # a poptorch.TensorLocationSettings(), for options.TensorLocations.setOptimizerLocation()"

/* AS_COUNT: only a whole number above 0; BY_STAGE: a line for each stage, where %s stands for its IPU, its number and its
 * layers; STAGE_IPUS: the IPU of each stage; TOTAL_IPUS: the number of IPUs of all replicas. */
enum fill { AS_WRITTEN, AS_COUNT, BY_STAGE, STAGE_IPUS, TOTAL_IPUS };

static const struct name_row {
    const char *framework;              /* the beginning of the recipe's framework; "": any framework */
    const char *key, *value;            /* the value that the row is for; NULL: any value */
    enum fill fill;
    const char *text, *source;
    bool checked;
} name_rows[] = {
    { "PopART", "parallel.replicas", NULL, AS_WRITTEN, "replication_factor: %s", POPART_BERT, true },
    { "PopART", "parallel.ipus_per_replica", NULL, TOTAL_IPUS, "popart.DeviceManager().acquireAvailableDevice(%s)", POPART_GUIDE, false },
    { "PopART", "parallel.layers_per_ipu", NULL, AS_WRITTEN, "layers_per_ipu: [%s]", POPART_BERT, true },
    { "PopART", "parallel.schedule", "popart", AS_WRITTEN,
      "options.virtualGraphMode = popart.VirtualGraphMode.Manual; options.enablePipelining = True", POPART_GUIDE, false },
    { "PopART", "parallel.micro_batch", NULL, AS_WRITTEN, "micro_batch_size: %s", POPART_BERT, false },
    { "PopART", "parallel.gradient_accumulation", NULL, AS_WRITTEN, "gradient_accumulation_factor: %s", POPART_BERT, false },
    { "PopART", "parallel.gradient_accumulation", NULL, AS_WRITTEN,
      "options.enableGradientAccumulation = True; options.accumulationFactor = %s", POPART_GUIDE, false },
    { "PopART", "hosts.steps_per_call", NULL, AS_COUNT, "batches_per_step: %s", POPART_BERT, true },
    { "PopART", "parallel.available_memory", NULL, AS_WRITTEN, "available_memory_proportion: [%s]", POPART_BERT, true },
    { "PopART", "parallel.recompute", "stage", AS_WRITTEN, "options.autoRecomputation = popart.RecomputationType.Pipeline", POPART_GUIDE, false },
    { "PopART", "parallel.recompute", "layer", AS_WRITTEN,
      "options.autoRecomputation = popart.RecomputationType.Pipeline  # and builder.checkpointOutput() after each layer", POPART_GUIDE, false },
    { "PopART", "parallel.optimizer_state", "streaming", AS_WRITTEN, "optimizer_state_offchip: true", POPART_BERT, false },
    { "PopART", "parallel.rts", "yes", AS_WRITTEN, "replicated_tensor_sharding: true", POPART_BERT, false },
    { "PopART", "parallel.rts_domain", "pod", AS_WRITTEN, "shardingDomain = CommGroup(Consecutive, replicas of one pod)", POPART_BERT, true },
    { "PopART", "parallel.embedding_serial_steps", NULL, AS_WRITTEN, "embedding_serialization_vocab_steps: %s", POPART_BERT, true },
    { "PopART", "parallel.split_qkv", "yes", AS_WRITTEN, "split_qkv: true", POPART_BERT, true },
    { "PopART", "parallel.io_tiles", NULL, AS_WRITTEN, "options.numIOTiles = %s", POPART_BERT, true },
    { "PopART", "precision.compute", "fp16", AS_WRITTEN, "popart_dtype: FLOAT16", POPART_BERT, true },
    { "PopART", "precision.stochastic_rounding", "yes", AS_WRITTEN, "options.enableStochasticRounding = True", POPART_GUIDE, false },
    { "PopART", "framework.merge_buffer_bytes", "1e12", AS_WRITTEN, "merge_collectives: true", POPART_BERT, true },

    { "PyTorch", "parallel.replicas", NULL, AS_WRITTEN, "replication_factor: %s", "graphcore/examples: nlp/bert/pytorch/configs_squad.yml", true },
    { "PyTorch", "parallel.layers_per_ipu", NULL, AS_WRITTEN, "layers_per_ipu: [%s]", POPTORCH_BERT, true },
    { "PyTorch", "parallel.schedule", "popart", AS_WRITTEN,
      "options.setExecutionStrategy(poptorch.PipelinedExecution(poptorch.AutoStage.AutoIncrement))", POPTORCH_GUIDE, false },
    { "PyTorch", "parallel.micro_batch", NULL, AS_WRITTEN, "micro_batch_size: %s", POPTORCH_BERT, false },
    { "PyTorch", "parallel.micro_batch", NULL, AS_WRITTEN, "poptorch.DataLoader(options, dataset, batch_size=%s)", POPTORCH_GUIDE, false },
    { "PyTorch", "parallel.gradient_accumulation", NULL, AS_WRITTEN, "options.Training.gradientAccumulation(%s)", POPTORCH_GUIDE, false },
    { "PyTorch", "hosts.steps_per_call", NULL, AS_COUNT, "device_iterations: %s", "graphcore/examples v3.1.0: vision/cnns/pytorch/train/configs.yml", true },
    { "PyTorch", "parallel.available_memory", NULL, AS_WRITTEN, "matmul_proportion: [%s]", POPTORCH_BERT, true },
    { "PyTorch", "parallel.recompute", "layer", AS_WRITTEN, "recompute_checkpoint_every_layer: true", POPTORCH_BERT, true },
    { "PyTorch", "parallel.recompute", "checkpoints", AS_WRITTEN, "poptorch.recomputationCheckpoint(OUTPUT)", POPTORCH_GUIDE, false },
    { "PyTorch", "parallel.optimizer_state", "streaming", AS_WRITTEN,
      "optimizer_location.useOnChipStorage(False)" LOCATION, POPTORCH_GUIDE, false },
    { "PyTorch", "parallel.rts", "yes", AS_WRITTEN,
      "optimizer_location.useReplicatedTensorSharding(True)" LOCATION, POPTORCH_GUIDE, false },
    { "PyTorch", "parallel.io_tiles", NULL, AS_WRITTEN, "options.TensorLocations.numIOTiles(%s)", POPTORCH_GUIDE, false },
    { "PyTorch", "precision.partials", "fp16", AS_WRITTEN, "options.Precision.setPartialsType(torch.half)", POPTORCH_GUIDE, false },
    { "PyTorch", "precision.stochastic_rounding", "yes", AS_WRITTEN, "options.Precision.enableStochasticRounding(True)", POPTORCH_GUIDE, false },

    { "TensorFlow", "parallel.ipus_per_replica", NULL, TOTAL_IPUS, "config = ipu.config.IPUConfig(); config.auto_select_ipus = %s", TENSORFLOW_GUIDE, false },
    { "TensorFlow", "parallel.layers_per_ipu", NULL, STAGE_IPUS, "device_mapping=[%s]", TENSORFLOW_BERT, true },
    { "TensorFlow", "parallel.schedule", "grouped", AS_WRITTEN, "pipeline_schedule: Grouped", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.schedule", "interleaved", AS_WRITTEN, "pipeline_schedule: Interleaved", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.schedule", "sequential", AS_WRITTEN, "pipeline_schedule: Sequential", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.gradient_accumulation", NULL, AS_WRITTEN,
      "ipu.pipelining_ops.pipeline(..., gradient_accumulation_count=%s)", TENSORFLOW_GUIDE, false },
    { "TensorFlow", "hosts.steps_per_call", NULL, AS_COUNT, "batches_per_step: %s", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.available_memory", NULL, AS_WRITTEN, "available_memory_proportion: %s", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.recompute", "layer", AS_WRITTEN, "enable_recomputation: true", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.recompute", "stage", AS_WRITTEN, "enable_recomputation: true", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.recompute", "checkpoints", AS_WRITTEN, "enable_recomputation: true", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.recompute_checkpoints", NULL, AS_WRITTEN, "pipeline_splits: [%s]", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.optimizer_state", "streaming", AS_WRITTEN, "offload_weight_update_variables=True", TENSORFLOW_BERT, true },
    { "TensorFlow", "parallel.optimizer_state", "on-chip", AS_WRITTEN, "disable_variable_offloading: true", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.rts", "yes", AS_WRITTEN, "replicated_optimizer_state_sharding=True", TENSORFLOW_GUIDE, false },
    { "TensorFlow", "parallel.io_tiles", NULL, AS_WRITTEN, "num_io_tiles: %s", TENSORFLOW_CNN, true },
    { "TensorFlow", "data.input_type", "uint8", AS_WRITTEN, "eight_bit_io: true", TENSORFLOW_CNN, true },
    { "TensorFlow", "parallel.batch_norm_span", NULL, AS_WRITTEN, "BN_span: %s", TENSORFLOW_CNN, true },
    { "TensorFlow", "precision.partials", "fp16", AS_WRITTEN, "enable_half_partials: true", TENSORFLOW_CNN, true },
    { "TensorFlow", "precision.stable_norm", "yes", AS_WRITTEN, "stable_norm: true", TENSORFLOW_CNN, true },
    { "TensorFlow", "framework.merge_buffer_bytes", NULL, AS_WRITTEN, "max_cross_replica_buffer_size: %s", TENSORFLOW_CNN, true },
    { "TensorFlow", "framework.merge_norm_bytes", NULL, AS_WRITTEN, "max_reduce_many_buffer_size: %s", TENSORFLOW_CNN, true },
    { "TensorFlow", "framework.prefetch_depth", NULL, AS_WRITTEN, "prefetch_depth: %s", TENSORFLOW_CNN, true },

    { "PaddlePaddle", "parallel.replicas", NULL, AS_WRITTEN, "local_num_replicas: %s", PADDLE_BERT, true },
    { "PaddlePaddle", "parallel.layers_per_ipu", NULL, BY_STAGE, "with paddle.static.ipu_shard_guard(index=%s, stage=%s):  # %s", PADDLE_GUIDE, false },
    { "PaddlePaddle", "parallel.schedule", "popart", AS_WRITTEN, "ipu_strategy.set_pipelining_config(enable_pipelining=True)", PADDLE_GUIDE, false },
    { "PaddlePaddle", "parallel.micro_batch", NULL, AS_WRITTEN, "ipu_strategy.set_graph_config(micro_batch_size=%s)", PADDLE_GUIDE, false },
    { "PaddlePaddle", "parallel.gradient_accumulation", NULL, AS_WRITTEN, "grad_acc: %s", PADDLE_BERT, true },
    { "PaddlePaddle", "parallel.available_memory", NULL, AS_WRITTEN, "available_memory_proportion: %s", PADDLE_GUIDE, false },
    { "PaddlePaddle", "parallel.optimizer_state", "streaming", AS_WRITTEN, "optimizer_state_offchip=True", PADDLE_BERT, true },
    { "PaddlePaddle", "parallel.optimizer_state", "on-chip", AS_WRITTEN, "optimizer_state_offchip=False", PADDLE_BERT, true },
    { "PaddlePaddle", "parallel.recompute", "stage", AS_WRITTEN, "auto_recomputation=3", PADDLE_BERT, true },
    { "PaddlePaddle", "parallel.recompute", "layer", AS_WRITTEN, "auto_recomputation=3", PADDLE_BERT, true },
    { "PaddlePaddle", "precision.stochastic_rounding", "yes", AS_WRITTEN, "enable_stochastic_rounding=True", PADDLE_BERT, true },

    { "PopRT", "parallel.available_memory", NULL, AS_WRITTEN, "available_memory_proportion=%s", POPRT_BENCHMARKS, false },
    { "PopRT", "parallel.io_tiles", NULL, AS_WRITTEN, "num_io_tiles=%s", "graphcore/PopRT: examples/resnet50/README.md", true },
    { "PopRT", "precision.partials", "fp16", AS_WRITTEN, "--half_partial", "graphcore/PopRT: examples/bert/README.md", true },

    { "", "hosts.instances", NULL, AS_WRITTEN, "poprun --num-instances=%s", "graphcore/examples v3.1.0: benchmarks.yml", true },
    { "", "parallel.replicas", NULL, AS_WRITTEN, "poprun --num-replicas=%s", "graphcore/examples v3.1.0: benchmarks.yml", true },
};
enum { N_ROWS = sizeof name_rows / sizeof *name_rows };

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

/* The text with its next "%s" replaced, or unchanged if it has none. */
static const char *filled(const char *text, const char *value, struct arena *a)
{
    const char *hole = strstr(text, "%s");
    return hole ? arena_printf(a, "%.*s%s%s", (int)(hole - text), text, value, hole + 2) : text;
}

static bool is_row_of(const struct name_row *row, const char *framework)
{
    return framework && strncmp(framework, row->framework, strlen(row->framework)) == 0;
}

static bool is_for(const struct name_row *row, const char *value)
{
    return *value && (!row->value || text_is(row->value, value));
}

/* The text that follows from the value alone. Half layers, as in 7/6, are written in podbench's own way. */
static const char *option_of_value(const struct name_row *row, const char *value, struct arena *a)
{
    bool is_division = text_is(row->key, "parallel.layers_per_ipu");
    if (row->fill > AS_COUNT || (is_division && strchr(value, '/')))
        return NULL;
    uint64_t count;
    if (row->fill == AS_COUNT && (!parse_u64(value, &count) || count == 0))
        return NULL;
    return filled(row->text, spaced(value, is_division, a), a);
}

bool framework_option_of(struct framework_option *out, const char *framework, const char *setting, struct arena *a)
{
    const char *equals = strchr(setting, '=');
    for (size_t i = 0; equals && i < N_ROWS; i++) {
        const struct name_row *row = &name_rows[i];
        size_t n_key = (size_t)(equals - setting);
        bool names_key = strncmp(setting, row->key, n_key) == 0 && !row->key[n_key];
        if (!names_key || !is_row_of(row, framework) || !is_for(row, equals + 1))
            continue;
        const char *option = option_of_value(row, equals + 1, a);
        if (option) {
            *out = (struct framework_option){ option, row->key, row->source, row->checked };
            return true;
        }
    }
    return false;
}

/* ---- a whole configuration -------------------------------------------------------------------------------------- */

static const struct table_column option_columns[] = {
#define C(member, ...) { COLUMN(struct framework_option, member), __VA_ARGS__ }
    C(option), C(key), C(checked), C(source),
#undef C
};

static const char *stage_layers(const struct plan *p, const struct stage_plan *s, struct arena *a)
{
    const struct layer *layers = p->graph->layers;
    return s->n_layers > 1 ? arena_printf(a, "%s to %s", layers[s->first_layer].name, layers[stage_end(s) - 1].name) : layers[s->first_layer].name;
}

static void add_option(struct table *t, const struct name_row *row, const char *option, struct arena *a)
{
    if (option)
        table_add(t, &(struct framework_option){ option, row->key, row->source, row->checked }, a);
}

/* The text of a row that needs the plan, or more than one value. */
static void add_of_plan(struct table *t, const struct name_row *row, const struct plan *p, struct arena *a)
{
    const struct plan_request *q = &p->request;
    const char *list = "";
    if (row->fill == TOTAL_IPUS)
        list = arena_printf(a, "%" PRIu64, (uint64_t)q->n_replicas * q->ipus_per_replica);
    for (uint32_t i = 0; row->fill != TOTAL_IPUS && i < p->n_stages; i++) {
        if (row->fill == BY_STAGE) {
            const char *text = filled(row->text, arena_printf(a, "%" PRIu32, p->stages[i].ipu), a);
            text = filled(text, arena_printf(a, "%" PRIu32, i), a);
            add_option(t, row, filled(text, stage_layers(p, &p->stages[i], a), a), a);
        } else {
            list = arena_printf(a, "%s%s%" PRIu32, list, i ? ", " : "", p->stages[i].ipu);
        }
    }
    if (row->fill != BY_STAGE)
        add_option(t, row, filled(row->text, list, a), a);
}

static bool matters(const struct recipe *r, const struct plan *p, const char *key, struct arena *a)
{
    const char **idle;
    size_t n = 0;
    recipe_unused_keys(&idle, &n, r, p, a);
    return !find_text(idle, n, sizeof *idle, 0, key);
}

static bool row_is_set(const struct name_row *row, const struct simulation *sim, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    const struct ini_entry *entry = recipe_entry(r, row->key);
    bool starts_processes = !*row->framework, is_split = row->fill == BY_STAGE || row->fill == STAGE_IPUS;
    bool accumulates = text_is(row->key, "parallel.gradient_accumulation");
    if (!is_row_of(row, r->framework) || (starts_processes && r->instances < 2) || (accumulates && r->mode != MODE_TRAIN))
        return false;
    return is_split ? sim->plan.n_stages > 1 : entry && is_for(row, entry->value) && matters(r, &sim->plan, row->key, a);
}

struct table framework_options(const struct simulation *sim, struct arena *a)
{
    struct table t = TABLE(option_columns, struct framework_option);
    for (size_t i = 0; i < 2 * N_ROWS; i++) {
        const struct name_row *row = &name_rows[i % N_ROWS];
        if (row->checked != (i < N_ROWS) || !row_is_set(row, sim, a))
            continue;
        if (row->fill > AS_COUNT)
            add_of_plan(&t, row, &sim->plan, a);
        else
            add_option(&t, row, option_of_value(row, recipe_entry(&sim->recipe, row->key)->value, a), a);
    }
    return t;
}

void framework_options_document(struct document *d, const char *framework, const struct table *options)
{
    const struct framework_option *rows = options->rows;
    bool is_checked = true;
    if (options->n)
        document_line(d, "options of %s for this configuration (JSON has the sources)", framework);
    else
        document_line(d, "options: no names are known for %s", framework ? framework : "a recipe without recipe.framework");
    for (size_t i = 0; i < options->n; i++) {
        if (is_checked && !rows[i].checked)
            document_line(d, "  # written from memory, found in no source: look these names up before you use them");
        is_checked = rows[i].checked;
        document_line(d, "  %s%s", is_checked ? "" : "# ", rows[i].option);
    }
}
