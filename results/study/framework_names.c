/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework_names.c - the table of names. Every name was found in the source that its row states. Names in code come from the framework's own
 * repository at the commit of its snippet_start, names of settings from the program's repository. A key without a row has no known name.
 */
#include "results/study/framework_names.h"

#define POPART "graphcore/popart d2f20d78d: python/popart/popart_core/popart.cpp"
#define POPTORCH "graphcore/poptorch c2a8b177: python/options.py, ops.py, enums.py"
#define TENSORFLOW "graphcore/tensorflow b2127bbabc0: tensorflow/python/ipu/config.py, ops/pipelining_ops.py, optimizers"
#define PADDLE "PaddlePaddle/Paddle: paddle/fluid/platform/device/ipu/ipu_strategy.cc, python/paddle/static"
#define POPRT "graphcore/PopRT 77e7d66e: benchmarks/bert/test_bert_large.py"
#define POPART_BERT "graphcore/examples v2.5.0: applications/popart/bert, bert.py and configs"
#define POPART_BERT_MLPERF "MLPerf Training v1.0 to v2.0 results: Graphcore bert/implementations/popart, bert.py and configs"
#define POPTORCH_BERT "graphcore/examples v3.1.0: nlp/bert/pytorch, args.py and configs_pretraining.yml"
#define POPTORCH_CNN "graphcore/examples v3.1.0: vision/cnns/pytorch/train/configs.yml"
#define TENSORFLOW_CNN "MLPerf Training v2.0 results: Graphcore resnet/implementations/tensorflow/configs.yml and train.py"
#define PADDLE_BERT "MLPerf Training v2.0 results: Graphcore bert/implementations/paddlepaddle/bert.py"
#define POPRUN "graphcore/examples v3.1.0: benchmarks.yml"

const struct snippet_start snippet_starts[] = {
    { "PopART", "PopART 3.4", POPART, { "import popart", "options = popart.SessionOptions()", "builder = popart.Builder()",
      "state = options.optimizerStateTensorLocationSettings.location" } },
    { "PyTorch", "PopTorch 3.4", POPTORCH, { "import poptorch, torch", "options = poptorch.Options()", "location = poptorch.TensorLocationSettings()" } },
    { "TensorFlow", "TensorFlow 2.6.3 for the IPU", TENSORFLOW, { "from tensorflow.python import ipu", "config = ipu.config.IPUConfig()",
      "pipeline = {}  # for ipu.pipelining_ops.pipeline(stages, **pipeline)",
      "accumulation = {}  # for CrossReplicaGradientAccumulationOptimizerV2(optimizer, **accumulation)" } },
    { "PaddlePaddle", "PaddlePaddle 2.3", PADDLE, { "import paddle", "paddle.enable_static()", "strategy = paddle.static.IpuStrategy()" } },
    { "PopRT", "PopRT 1.4", POPRT, { "import poprt", "options = poprt.compiler.CompilerOptions()" } },
};
const size_t n_snippet_starts = sizeof snippet_starts / sizeof *snippet_starts;

#define APPLIED "; options.TensorLocations.setOptimizerLocation(location)"
#define CODE(framework, key, value, fill, when, text, source) { framework, key, value, fill, IN_CODE, when, text, source }
#define SETTING(framework, key, value, fill, text, source) { framework, key, value, fill, IN_SETTINGS, ANY_SPLIT, text, source }

const struct name_row name_rows[] = {
    CODE("PopART", "parallel.replicas", NULL, AS_COUNT, ANY_SPLIT, "options.enableReplicatedGraphs = True; options.replicatedGraphCount = %s", POPART),
    CODE("PopART", "parallel.ipus_per_replica", NULL, TOTAL_IPUS, ANY_SPLIT, "device = popart.DeviceManager().acquireAvailableDevice(%s)", POPART),
    CODE("PopART", "parallel.schedule", "popart", AS_WRITTEN, PIPELINED,
         "options.virtualGraphMode = popart.VirtualGraphMode.Manual; options.enablePipelining = True", POPART),
    CODE("PopART", "parallel.layers_per_ipu", NULL, BY_STAGE, ANY_SPLIT, "with builder.virtualGraph(%s), builder.pipelineStage(%s): pass  # %s", POPART),
    CODE("PopART", "parallel.gradient_accumulation", NULL, AS_COUNT, ANY_SPLIT, "options.enableGradientAccumulation = True; options.accumulationFactor = %s",
         POPART),
    CODE("PopART", "hosts.steps_per_call", NULL, AS_COUNT, ANY_SPLIT, "batches_per_step = %s  # of popart.DataFlow(batches_per_step, anchors)", POPART),
    CODE("PopART", "parallel.available_memory", NULL, AS_NUMBER, ANY_SPLIT,
         "share = %s  # builder.setAvailableMemoryProportion(output, share) for each matrix product", POPART),
    CODE("PopART", "parallel.recompute", "stage", AS_WRITTEN, ANY_SPLIT, "options.autoRecomputation = popart.RecomputationType.Pipeline", POPART),
    CODE("PopART", "parallel.recompute", "layer", AS_WRITTEN, ANY_SPLIT,
         "options.autoRecomputation = popart.RecomputationType.Pipeline  # and builder.checkpointOutput() after each layer", POPART),
    CODE("PopART", "parallel.recompute", "none", AS_WRITTEN, ANY_SPLIT, "options.autoRecomputation = popart.RecomputationType.NoRecompute", POPART),
    CODE("PopART", "parallel.optimizer_state", "streaming", AS_WRITTEN, ANY_SPLIT,
         "state.storage = popart.TensorStorage.OffChip", POPART),
    CODE("PopART", "parallel.rts", "yes", AS_WRITTEN, ANY_SPLIT,
         "state.replicatedTensorSharding = popart.ReplicatedTensorSharding.On", POPART),
    CODE("PopART", "parallel.io_tiles", NULL, AS_COUNT, ANY_SPLIT, "options.numIOTiles = %s", POPART),
    CODE("PopART", "precision.stochastic_rounding", "yes", AS_WRITTEN, ANY_SPLIT, "options.enableStochasticRounding = True", POPART),
    CODE("PopART", "precision.partials", "fp16", AS_WRITTEN, ANY_SPLIT,
         "options.partialsTypeMatMuls = \"half\"; options.convolutionOptions = {\"partialsType\": \"half\"}", POPART),
    CODE("PopART", "framework.merge_buffer_bytes", "1e12", AS_WRITTEN, ANY_SPLIT,
         "options.replicatedCollectivesSettings.mergeAllReduceCollectives = True", POPART),
    SETTING("PopART", "parallel.replicas", NULL, AS_WRITTEN, "replication_factor: %s", POPART_BERT),
    SETTING("PopART", "parallel.layers_per_ipu", NULL, AS_WRITTEN, "layers_per_ipu: [%s]", POPART_BERT),
    SETTING("PopART", "parallel.micro_batch", NULL, AS_WRITTEN, "micro_batch_size: %s", POPART_BERT),
    SETTING("PopART", "parallel.gradient_accumulation", NULL, AS_WRITTEN, "gradient_accumulation_factor: %s", POPART_BERT),
    SETTING("PopART", "hosts.steps_per_call", NULL, AS_COUNT, "batches_per_step: %s", POPART_BERT),
    SETTING("PopART", "parallel.available_memory", NULL, AS_WRITTEN, "available_memory_proportion: [%s]", POPART_BERT_MLPERF),
    SETTING("PopART", "parallel.optimizer_state", "streaming", AS_WRITTEN, "optimizer_state_offchip: true", POPART_BERT),
    SETTING("PopART", "parallel.rts", "yes", AS_WRITTEN, "replicated_tensor_sharding: true", POPART_BERT),
    SETTING("PopART", "parallel.rts_domain", "pod", AS_WRITTEN, "shardingDomain = CommGroup(Consecutive, replicas of one pod)", POPART_BERT),
    SETTING("PopART", "parallel.embedding_serial_steps", NULL, AS_WRITTEN, "embedding_serialization_vocab_steps: %s", POPART_BERT),
    SETTING("PopART", "parallel.split_qkv", "yes", AS_WRITTEN, "split_qkv: true", POPART_BERT_MLPERF),
    SETTING("PopART", "precision.compute", "fp16", AS_WRITTEN, "popart_dtype: FLOAT16", POPART_BERT),

    CODE("PyTorch", "parallel.replicas", NULL, AS_COUNT, ANY_SPLIT, "options.replicationFactor(%s)", POPTORCH),
    CODE("PyTorch", "parallel.schedule", "popart", AS_WRITTEN, PIPELINED,
         "options.setExecutionStrategy(poptorch.PipelinedExecution(poptorch.AutoStage.AutoIncrement))", POPTORCH),
    CODE("PyTorch", "parallel.layers_per_ipu", NULL, BY_STAGE, ANY_SPLIT, "with poptorch.Block(ipu_id=%s, user_id=\"stage %s\"): pass  # %s", POPTORCH),
    CODE("PyTorch", "parallel.micro_batch", NULL, AS_COUNT, ANY_SPLIT, "micro_batch = %s  # poptorch.DataLoader(options, dataset, batch_size=micro_batch)",
         POPTORCH),
    CODE("PyTorch", "parallel.gradient_accumulation", NULL, AS_COUNT, ANY_SPLIT, "options.Training.gradientAccumulation(%s)", POPTORCH),
    CODE("PyTorch", "hosts.steps_per_call", NULL, AS_COUNT, ANY_SPLIT, "options.deviceIterations(%s)", POPTORCH),
    CODE("PyTorch", "parallel.available_memory", NULL, MEMORY_BY_IPU, ANY_SPLIT, "options.setAvailableMemoryProportion({%s})", POPTORCH),
    CODE("PyTorch", "parallel.recompute", "checkpoints", AS_WRITTEN, ANY_SPLIT,
         "keep = poptorch.recomputationCheckpoint  # output = keep(output) where the recipe's checkpoints are", POPTORCH),
    CODE("PyTorch", "parallel.optimizer_state", "streaming", AS_WRITTEN, ANY_SPLIT, "location.useOnChipStorage(False)" APPLIED, POPTORCH),
    CODE("PyTorch", "parallel.rts", "yes", AS_WRITTEN, ANY_SPLIT, "location.useReplicatedTensorSharding(True)" APPLIED, POPTORCH),
    CODE("PyTorch", "parallel.io_tiles", NULL, AS_COUNT, ANY_SPLIT, "options.TensorLocations.numIOTiles(%s)", POPTORCH),
    CODE("PyTorch", "precision.partials", "fp16", AS_WRITTEN, ANY_SPLIT, "options.Precision.setPartialsType(torch.half)", POPTORCH),
    CODE("PyTorch", "precision.stochastic_rounding", "yes", AS_WRITTEN, ANY_SPLIT, "options.Precision.enableStochasticRounding(True)", POPTORCH),
    SETTING("PyTorch", "parallel.replicas", NULL, AS_WRITTEN, "replication_factor: %s", POPTORCH_BERT),
    SETTING("PyTorch", "parallel.layers_per_ipu", NULL, AS_WRITTEN, "layers_per_ipu: [%s]", POPTORCH_BERT),
    SETTING("PyTorch", "parallel.micro_batch", NULL, AS_WRITTEN, "micro_batch_size: %s", POPTORCH_CNN),
    SETTING("PyTorch", "parallel.gradient_accumulation", NULL, AS_WRITTEN, "gradient_accumulation: %s", POPTORCH_BERT),
    SETTING("PyTorch", "hosts.steps_per_call", NULL, AS_COUNT, "device_iterations: %s", POPTORCH_CNN),
    SETTING("PyTorch", "parallel.available_memory", NULL, AS_WRITTEN, "matmul_proportion: [%s]", POPTORCH_BERT),
    SETTING("PyTorch", "parallel.recompute", "layer", AS_WRITTEN, "recompute_checkpoint_every_layer: true", POPTORCH_BERT),
    SETTING("PyTorch", "parallel.optimizer_state", "streaming", AS_WRITTEN, "optimizer_state_offchip: true", POPTORCH_BERT),
    SETTING("PyTorch", "parallel.rts", "yes", AS_WRITTEN, "replicated_tensor_sharding: true", POPTORCH_BERT),

    CODE("TensorFlow", "parallel.ipus_per_replica", NULL, TOTAL_IPUS, ANY_SPLIT, "config.auto_select_ipus = %s", TENSORFLOW),
    CODE("TensorFlow", "parallel.layers_per_ipu", NULL, STAGE_IPUS, ANY_SPLIT, "pipeline[\"device_mapping\"] = [%s]", TENSORFLOW),
    CODE("TensorFlow", "parallel.schedule", "grouped", AS_WRITTEN, PIPELINED,
         "pipeline[\"pipeline_schedule\"] = ipu.pipelining_ops.PipelineSchedule.Grouped", TENSORFLOW),
    CODE("TensorFlow", "parallel.schedule", "interleaved", AS_WRITTEN, PIPELINED,
         "pipeline[\"pipeline_schedule\"] = ipu.pipelining_ops.PipelineSchedule.Interleaved", TENSORFLOW),
    CODE("TensorFlow", "parallel.schedule", "sequential", AS_WRITTEN, PIPELINED,
         "pipeline[\"pipeline_schedule\"] = ipu.pipelining_ops.PipelineSchedule.Sequential", TENSORFLOW),
    CODE("TensorFlow", "parallel.gradient_accumulation", NULL, AS_COUNT, PIPELINED, "pipeline[\"gradient_accumulation_count\"] = %s", TENSORFLOW),
    CODE("TensorFlow", "parallel.gradient_accumulation", NULL, AS_COUNT, NOT_PIPELINED,
         "accumulation[\"num_mini_batches\"] = %s", TENSORFLOW),
    CODE("TensorFlow", "hosts.steps_per_call", NULL, AS_COUNT, PIPELINED, "pipeline[\"repeat_count\"] = %s", TENSORFLOW),
    CODE("TensorFlow", "hosts.steps_per_call", NULL, AS_COUNT, NOT_PIPELINED, "steps = %s  # ipu.loops.repeat(steps, body, infeed_queue=infeed)", TENSORFLOW),
    CODE("TensorFlow", "parallel.available_memory", NULL, AS_NUMBER, ANY_SPLIT,
         "for part in (config.convolutions, config.matmuls): part.poplar_options[\"availableMemoryProportion\"] = \"%s\"",
         TENSORFLOW),
    CODE("TensorFlow", "parallel.recompute", "layer", AS_WRITTEN, ANY_SPLIT, "config.allow_recompute = True", TENSORFLOW),
    CODE("TensorFlow", "parallel.recompute", "stage", AS_WRITTEN, ANY_SPLIT, "config.allow_recompute = True", TENSORFLOW),
    CODE("TensorFlow", "parallel.recompute", "checkpoints", AS_WRITTEN, ANY_SPLIT, "config.allow_recompute = True", TENSORFLOW),
    CODE("TensorFlow", "parallel.optimizer_state", "streaming", AS_WRITTEN, PIPELINED, "pipeline[\"offload_weight_update_variables\"] = True", TENSORFLOW),
    CODE("TensorFlow", "parallel.optimizer_state", "streaming", AS_WRITTEN, NOT_PIPELINED, "accumulation[\"offload_weight_update_variables\"] = True", TENSORFLOW),
    CODE("TensorFlow", "parallel.optimizer_state", "on-chip", AS_WRITTEN, PIPELINED, "pipeline[\"offload_weight_update_variables\"] = False", TENSORFLOW),
    CODE("TensorFlow", "parallel.optimizer_state", "on-chip", AS_WRITTEN, NOT_PIPELINED, "accumulation[\"offload_weight_update_variables\"] = False", TENSORFLOW),
    CODE("TensorFlow", "parallel.rts", "yes", AS_WRITTEN, PIPELINED, "pipeline[\"replicated_optimizer_state_sharding\"] = True", TENSORFLOW),
    CODE("TensorFlow", "parallel.rts", "yes", AS_WRITTEN, NOT_PIPELINED, "accumulation[\"replicated_optimizer_state_sharding\"] = True", TENSORFLOW),
    CODE("TensorFlow", "parallel.io_tiles", NULL, AS_COUNT, ANY_SPLIT,
         "config.io_tiles.num_io_tiles = %s; config.io_tiles.place_ops_on_io_tiles = True", TENSORFLOW),
    CODE("TensorFlow", "precision.partials", "fp16", AS_WRITTEN, ANY_SPLIT,
         "for part in (config.convolutions, config.matmuls): part.poplar_options[\"partialsType\"] = \"half\"", TENSORFLOW),
    CODE("TensorFlow", "precision.stochastic_rounding", "yes", AS_WRITTEN, ANY_SPLIT,
         "config.floating_point_behaviour.esr = ipu.config.StochasticRoundingBehaviour.ON", TENSORFLOW),
    CODE("TensorFlow", "precision.stable_norm", "yes", AS_WRITTEN, ANY_SPLIT, "config.norms.use_stable_statistics = True", TENSORFLOW),
    CODE("TensorFlow", "framework.merge_buffer_bytes", NULL, AS_COUNT, ANY_SPLIT, "config.optimizations.maximum_cross_replica_sum_buffer_size = %s", TENSORFLOW),
    CODE("TensorFlow", "framework.merge_norm_bytes", NULL, AS_COUNT, ANY_SPLIT, "config.optimizations.maximum_reduce_many_buffer_size = %s", TENSORFLOW),
    CODE("TensorFlow", "framework.prefetch_depth", NULL, AS_COUNT, ANY_SPLIT,
         "prefetch_depth = %s  # ipu.ipu_infeed_queue.IPUInfeedQueue(dataset, prefetch_depth=prefetch_depth)", TENSORFLOW),
    SETTING("TensorFlow", "parallel.schedule", "grouped", AS_WRITTEN, "pipeline_schedule: Grouped", TENSORFLOW_CNN),
    SETTING("TensorFlow", "parallel.schedule", "interleaved", AS_WRITTEN, "pipeline_schedule: Interleaved", TENSORFLOW_CNN),
    SETTING("TensorFlow", "parallel.schedule", "sequential", AS_WRITTEN, "pipeline_schedule: Sequential", TENSORFLOW_CNN),
    SETTING("TensorFlow", "hosts.steps_per_call", NULL, AS_COUNT, "batches_per_step: %s", TENSORFLOW_CNN),
    SETTING("TensorFlow", "parallel.available_memory", NULL, AS_WRITTEN, "available_memory_proportion: %s", TENSORFLOW_CNN),
    SETTING("TensorFlow", "parallel.recompute", "checkpoints", AS_WRITTEN, "enable_recomputation: true", TENSORFLOW_CNN),
    SETTING("TensorFlow", "parallel.recompute_checkpoints", NULL, AS_WRITTEN, "pipeline_splits: [%s]", TENSORFLOW_CNN),
    SETTING("TensorFlow", "parallel.optimizer_state", "on-chip", AS_WRITTEN, "disable_variable_offloading: true", TENSORFLOW_CNN),
    SETTING("TensorFlow", "parallel.io_tiles", NULL, AS_WRITTEN, "num_io_tiles: %s", TENSORFLOW_CNN),
    SETTING("TensorFlow", "data.input_type", "uint8", AS_WRITTEN, "eight_bit_io: true", TENSORFLOW_CNN),
    SETTING("TensorFlow", "parallel.batch_norm_span", NULL, AS_WRITTEN, "BN_span: %s", TENSORFLOW_CNN),
    SETTING("TensorFlow", "precision.partials", "fp16", AS_WRITTEN, "enable_half_partials: true", TENSORFLOW_CNN),
    SETTING("TensorFlow", "precision.stable_norm", "yes", AS_WRITTEN, "stable_norm: true", TENSORFLOW_CNN),
    SETTING("TensorFlow", "framework.merge_buffer_bytes", NULL, AS_WRITTEN, "max_cross_replica_buffer_size: %s", TENSORFLOW_CNN),
    SETTING("TensorFlow", "framework.merge_norm_bytes", NULL, AS_WRITTEN, "max_reduce_many_buffer_size: %s", TENSORFLOW_CNN),
    SETTING("TensorFlow", "framework.prefetch_depth", NULL, AS_WRITTEN, "prefetch_depth: %s", TENSORFLOW_CNN),

    CODE("PaddlePaddle", "parallel.ipus_per_replica", NULL, TOTAL_IPUS, ANY_SPLIT, "strategy.set_options({\"num_ipus\": %s, \"enable_manual_shard\": True})", PADDLE),
    CODE("PaddlePaddle", "parallel.replicas", NULL, AS_COUNT, ANY_SPLIT,
         "strategy.set_options({\"enable_replicated_graphs\": True, \"replicated_graph_count\": %s})", PADDLE),
    CODE("PaddlePaddle", "parallel.layers_per_ipu", NULL, BY_STAGE, ANY_SPLIT, "with paddle.static.ipu_shard_guard(index=%s, stage=%s): pass  # %s", PADDLE),
    CODE("PaddlePaddle", "parallel.schedule", "popart", AS_WRITTEN, PIPELINED, "strategy.set_options({\"enable_pipelining\": True})", PADDLE),
    CODE("PaddlePaddle", "parallel.micro_batch", NULL, AS_COUNT, ANY_SPLIT, "strategy.set_options({\"micro_batch_size\": %s})", PADDLE),
    CODE("PaddlePaddle", "parallel.gradient_accumulation", NULL, AS_COUNT, ANY_SPLIT,
         "strategy.set_options({\"enable_gradient_accumulation\": True, \"accumulation_factor\": %s})", PADDLE),
    CODE("PaddlePaddle", "parallel.available_memory", NULL, AS_NUMBER, ANY_SPLIT, "strategy.set_options({\"available_memory_proportion\": %s})", PADDLE),
    CODE("PaddlePaddle", "parallel.io_tiles", NULL, AS_COUNT, ANY_SPLIT, "strategy.set_options({\"num_io_tiles\": %s})", PADDLE),
    CODE("PaddlePaddle", "parallel.recompute", "stage", AS_WRITTEN, ANY_SPLIT, "strategy.set_options({\"auto_recomputation\": 3})", PADDLE),
    CODE("PaddlePaddle", "parallel.recompute", "layer", AS_WRITTEN, ANY_SPLIT, "strategy.set_options({\"auto_recomputation\": 3})", PADDLE),
    CODE("PaddlePaddle", "precision.stochastic_rounding", "yes", AS_WRITTEN, ANY_SPLIT, "strategy.set_options({\"enable_stochastic_rounding\": True})", PADDLE),
    SETTING("PaddlePaddle", "parallel.replicas", NULL, AS_WRITTEN, "local_num_replicas: %s", PADDLE_BERT),
    SETTING("PaddlePaddle", "parallel.gradient_accumulation", NULL, AS_WRITTEN, "grad_acc: %s", PADDLE_BERT),
    SETTING("PaddlePaddle", "parallel.optimizer_state", "streaming", AS_WRITTEN, "optimizer_state_offchip: true", PADDLE_BERT),
    SETTING("PaddlePaddle", "parallel.optimizer_state", "on-chip", AS_WRITTEN, "optimizer_state_offchip: false", PADDLE_BERT),

    CODE("PopRT", "parallel.available_memory", NULL, AS_NUMBER, ANY_SPLIT, "options.available_memory_proportion = %s", POPRT),
    CODE("PopRT", "parallel.io_tiles", NULL, AS_COUNT, ANY_SPLIT, "options.num_io_tiles = %s", POPRT),
    CODE("PopRT", "precision.partials", "fp16", AS_WRITTEN, ANY_SPLIT, "options.partials_type = \"half\"", POPRT),
    CODE("PopRT", "hosts.steps_per_call", NULL, AS_COUNT, ANY_SPLIT, "options.batches_per_step = %s", POPRT),
    { "PopRT", "precision.partials", "fp16", AS_WRITTEN, ON_COMMAND_LINE, ANY_SPLIT, "--half_partial", "graphcore/PopRT: examples/bert/README.md" },

    { "", "hosts.instances", NULL, AS_WRITTEN, ON_COMMAND_LINE, ANY_SPLIT, "poprun --num-instances=%s", POPRUN },
    { "", "parallel.replicas", NULL, AS_WRITTEN, ON_COMMAND_LINE, ANY_SPLIT, "poprun --num-replicas=%s", POPRUN },
};
const size_t n_name_rows = sizeof name_rows / sizeof *name_rows;
