/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_keys.c - the table of all keys of a recipe, looked up by name and listed as text and JSON.
 *
 * A row has a key's section, type, range, and when it matters. The loader, the messages, the list of keys and the
 * report of keys without effect all walk the table. [optimizer] also takes the hyperparameters that MLPerf logs name,
 * which document a run and are written to its logs; [faults] takes numbered keys.
 */
#include "workloads/recipe/recipe_internal.h"
#include "system-model/compiler/optimizers.h"
#include "system-model/graph/graph.h"
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const modes[] = { "train", "infer", NULL };
static const char *const eval_placements[] = { "inline", "end", NULL };
static const char *const eval_programs[] = { "forward", "training", NULL };
static const char *const training_rates[] = { "steps", "logged", NULL };
static const char *const activations[] = { "own", "gelu", "gelu-new", "relu", "swish", NULL };
static const char *const input_types[] = { "own", "uint8", "fp16", "fp32", NULL };      /* in the order of enum input_type */
static const char *const optimizer_places[] = { "on-chip", "streaming", NULL };
static const char *const weights_places[] = { "on-chip", "streaming", NULL };        /* in the order of enum weights_place */
static const char *const phase_ios[] = { "in-turn", "overlapped", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const yes_no[] = { "yes", "no", NULL };
static const char *const key_caches[] = { "none", "on-chip", "streaming", NULL };         /* in the order of enum key_cache */
static const char *const token_choices[] = { "host", "device", NULL };                      /* in the order of enum token_choice */
static const char *const rts_domains[] = { "all", "pod", NULL };

/* ---- when a key matters ------------------------------------------------------------------- */

const struct workload *recipe_workload(const struct recipe *r)
{
    return r->model_family ? r->model_family : workload_find(r->workload, NULL);
}

static bool has_trait(const struct recipe *r, unsigned trait)
{
    const struct workload *w = recipe_workload(r);
    return w && w->traits & trait;
}

static bool in_reading(const struct recipe *r) { (void)r; return false; }
static bool in_training(const struct recipe *r) { return r->mode == MODE_TRAIN; }
static bool in_inference(const struct recipe *r) { return r->mode == MODE_INFER; }
static bool in_sequences(const struct recipe *r) { return has_trait(r, TAKES_SEQUENCES); }
static bool in_table(const struct recipe *r) { return has_trait(r, HAS_TABLE); }
static bool in_attention(const struct recipe *r) { return has_trait(r, HAS_ATTENTION); }
static bool in_split_weights(const struct recipe *r) { return in_attention(r) && !has_trait(r, HAS_THREE_PRODUCTS); }
static bool in_two_sides(const struct recipe *r) { return has_trait(r, HAS_TWO_SIDES); }
static bool may_generate(const struct recipe *r) { return has_trait(r, GENERATES) && in_inference(r); }
static bool in_generation(const struct recipe *r) { return may_generate(r) && r->model.generation.new_tokens; }
static bool in_attention_training(const struct recipe *r) { return in_attention(r) && !has_trait(r, HAS_NO_DROPOUT) && in_training(r); }
static bool in_packing(const struct recipe *r) { return has_trait(r, HAS_PACKS); }
static bool in_packing_training(const struct recipe *r) { return in_packing(r) && in_training(r); }
static bool in_cut_loss(const struct recipe *r) { return in_training(r) && has_trait(r, CUTS_LOSS); }
static bool in_joint(const struct recipe *r) { return has_trait(r, HAS_JOINT); }
static bool in_transcripts(const struct recipe *r) { return has_trait(r, HAS_TRANSCRIPTS); }
static bool in_file(const struct recipe *r) { return has_trait(r, IS_FILE); }
static bool in_split_table(const struct recipe *r) { return in_table(r) || in_file(r); }
static bool in_file_inference(const struct recipe *r) { return in_file(r) && in_inference(r); }
static bool in_images(const struct recipe *r) { return has_trait(r, TAKES_IMAGES); }
static bool in_norms(const struct recipe *r) { return has_trait(r, HAS_NORMS); }
static bool in_norm_training(const struct recipe *r) { return (in_norms(r) || in_file(r)) && in_training(r); }
static bool in_stages(const struct recipe *r) { return r->ipus_per_replica > 1 || r->layers_per_ipu; }
static bool in_cut_attention(const struct recipe *r) { return in_attention(r) && r->model.tensor_parallel; }
static bool in_phases(const struct recipe *r) { return r->weights == WEIGHTS_STREAMING; }
static bool in_checkpoints(const struct recipe *r) { return in_training(r) && r->recompute == RECOMPUTE_CHECKPOINTS; }
static bool in_stash(const struct recipe *r) { return in_training(r) && r->schedule != SCHEDULE_NONE; }
static bool in_sharding(const struct recipe *r) { return in_training(r) && r->rts == RTS_YES; }
static bool in_replicas(const struct recipe *r) { return in_training(r) && (r->replicas > 1 || r->model.tensor_parallel); }
static bool trains_in_epochs(const struct recipe *r) { return in_training(r) && r->epochs > 0; }
bool recipe_is_packed(const struct recipe *r) { return in_packing(r) && r->model.sequences_per_pack > 1; }
bool recipe_may_converge(const struct recipe *r)
{
    const struct workload *w = recipe_workload(r);
    return w && w->benchmark && in_training(r);
}
static bool has_length(const struct recipe *r) { return r->epochs > 0 || r->samples_to_converge > 0 || r->converge; }
/* True for a training run without a given end: the first steps of other runs are not averaged. */
bool recipe_times_first_steps(const struct recipe *r) { return in_training(r) && !has_length(r); }
static bool in_whole_training(const struct recipe *r) { return in_training(r) && (has_length(r) || recipe_may_converge(r)); }     /* a run drawn from reference points has an end */
static bool in_logged_loop(const struct recipe *r) { return in_whole_training(r) || (!in_training(r) && r->rate == RATE_LOGGED); }
static bool in_logged_rate(const struct recipe *r) { return in_training(r) ? in_whole_training(r) : r->eval_samples > 0; }
static bool in_own_schedule(const struct recipe *r) { return in_training(r) && has_length(r) && !r->converge; }
static bool in_training_heads(const struct recipe *r) { return in_training(r) || (in_packing(r) && !r->model.fine_tuning); }
static bool in_narrow_types(const struct recipe *r) { return r->model.compute != COMPUTE_FP32; }
static bool in_fp8(const struct recipe *r) { return r->model.compute == COMPUTE_FP8 && !in_file(r); }
static bool in_decoding(const struct recipe *r) { return r->host_decode_bytes_per_s > 0; }
static bool in_word_table(const struct recipe *r) { return in_table(r) && !has_trait(r, HAS_ROW_WIDTH); }
static bool in_row_width(const struct recipe *r) { return has_trait(r, HAS_ROW_WIDTH); }
static bool in_knowledge(const struct recipe *r) { return has_trait(r, HAS_NEGATIVES); }
static bool in_sparsity(const struct recipe *r) { return r->model.sparse.density > 0; }
static bool in_dynamic_sparsity(const struct recipe *r) { return in_sparsity(r) && r->model.sparse.pattern == PATTERN_DYNAMIC; }
static bool in_copies(const struct recipe *r) { return r->replicas > 1; }
bool recipe_key_describes(const struct recipe_key *k)
{
    return k->matters == in_reading || k->matters == in_decoding || k->matters == in_copies;
}

/* ---- the table of keys ---------------------------------------------------------------------- */

#define TEXT(section, key, member, required_, matters, help_) \
    { section, { .name = key, .type = FIELD_AT(TEXT, struct recipe, member), .required = required_, .help = help_ }, matters }
#define COUNT(section, key, member, min, max, required, matters, help) \
    { section, { key, "", FIELD_AT(U64, struct recipe, member), min, max, NULL, required, help }, matters }
#define NUMBER(section, key, member, unit, min, max, matters, help) \
    { section, { key, unit, FIELD_AT(F64, struct recipe, member), min, max, NULL, false, help }, matters }
#define CHOICE(section, key, member, choices_, matters, help_) \
    { section, { .name = key, .type = FIELD_AT(CHOICE, struct recipe, member), .choices = choices_, .help = help_ }, matters }
#define FLAG(section, key, member, matters, help_) \
    { section, { .name = key, .type = FIELD_AT(BOOL, struct recipe, member), .help = help_ }, matters }

#define OPTIMIZER_NAME(work, name) " " #name
const struct recipe_key recipe_keys[] = {
    TEXT("recipe", "id", id, true, NULL, "the recipe's name, which is also the file's"),
    TEXT("recipe", "workload", workload, true, NULL, "a model of podbench list workloads, or the path of an ONNX file"),
    TEXT("recipe", "system", system, true, NULL, "a machine of podbench list machines, or the path of a sheet"),
    TEXT("recipe", "framework", framework, false, NULL,
         "the framework that the program was written for, such as TensorFlow 1.15: "
         "its newest sheet up to the release of the SDK is used (podbench framework NAME)"),
    TEXT("recipe", "sdk", sdk, false, NULL, "release of the Poplar SDK, such as 2.5.1; default: the newest sheet of the framework, without one of the SDK"),
    CHOICE("recipe", "mode", mode, modes, NULL, "training or inference"),
    FLAG("recipe", "approximate", model.approximate, in_file, "give operators of an ONNX file that are not modelled a rough price, instead of refusing them"),
    TEXT("recipe", "output", model.output, false, in_file, "values of the ONNX file to stop at, separated by commas; default: its outputs"),
    TEXT("recipe", "operators", operators, false, in_file, "a sheet of your own operations: the costs of nodes that are not ONNX's; a path, also relative to the recipe (docs/operators.md)"),
    COUNT("recipe", "repeat", model.repeat, 1, 1e7, false, in_file_inference,
          "rounds of the whole ONNX file in one call; each takes the results of the round before, which stay on the chip; default 1"),
    TEXT("recipe", "source", source, true, NULL, "where this configuration was published"),
    TEXT("recipe", "no_figure", no_figure, false, in_reading, "why no published figure is compared with this recipe, for podbench run to say; documentation only"),

    COUNT("data", "sequence_length", model.sequence_length, 1, 16384, false, in_sequences,
          "tokens per row, or frames of the longest utterance, each of 30 ms, of conformers 10 ms; default: the model's"),
    NUMBER("data", "sequences_per_pack", model.sequences_per_pack, "", 1, 64, in_packing, "mean number of sequences in a packed row, by which samples are counted; default 1"),
    NUMBER("data", "logged_sequences_per_pack", logged_sequences_per_pack, "", 1, 64, recipe_is_packed,
           "sequences per packed row as MLPerf logs count the global batch; default: the mean"),
    TEXT("data", "dataset", dataset, false, in_reading, "name of the data set; documentation only"),
    TEXT("data", "path", data_path, false, in_reading, "file or folder that podbench train reads: a path, also relative to the recipe; no other command reads it"),
    COUNT("data", "samples_per_epoch", samples_per_epoch, 1, 1e12, false, trains_in_epochs, "samples in one epoch"),
    COUNT("data", "vocabulary", model.vocabulary, 2, 1e9, false, in_table, "rows of the word embedding, entities of a knowledge graph, or most rows of a table of categories; default: the model's"),
    COUNT("data", "negatives", model.negatives, 1, 100000, false, in_knowledge,
          "negative entities from each shard: for each triple, or once for all where they share them; default: the model's"),
    COUNT("data", "embedding_size", model.embedding_size, 1, 65536, false, in_row_width, "numbers of an entity or a category; default: the model's"),
    NUMBER("data", "labels_per_sample", model.labels_per_sample, "", 1, 4096, in_transcripts,
           "labels of the longest transcript; default: from the length of the audio"),
    COUNT("data", "norm_groups", model.norm_groups, 1, 1024, false, in_norms, "number of groups of a group norm; default: batch norm instead"),
    COUNT("data", "image_size", model.image_size, 16, 4096, false, in_images, "width and height of an image in pixels; default: the model's"),
    NUMBER("data", "graphs_per_pack", graphs_per_pack, "", 1, 1e6, in_file,
           "mean number of graphs in a pack of an ONNX file's nodes and edges, by which samples are counted; default 1"),
    FLAG("data", "synthetic", synthetic_data, NULL, "input is made on the chip (synthetic data mode): none is read from the host"),
    CHOICE("data", "input_type", model.input_type, input_types, in_images, "type of the images that the host sends: own (the default) is bytes for a built-in model, and for an ONNX file the type that the model computes in; uint8; or fp16 or fp32 if the host normalises them, of which fp32 is cast on the chip"),

    CHOICE("model", "activation", model.activation, activations, in_attention,
           "function between the products of a feed-forward part: own (the default), the model's; gelu-new: the tanh form, operation by operation with a power, "
           "as huggingface's NewGELUActivation runs it"),
    FLAG("model", "unfused_attention", model.unfused_attention, in_packing,
         "query, key and value are three products, and scores are divided by the root of a head's width, as huggingface's own BERT has them"),

    FLAG("model", "uniform_blocks", model.uniform_blocks, in_two_sides,
         "encoder blocks are decoder blocks, whose cross-attention is computed and multiplied by zero, as PopXL's T5 has them"),

    COUNT("generation", "prompt_tokens", model.generation.prompt_tokens, 1, 16384, false, in_generation, "tokens of a text before the first new one"),
    COUNT("generation", "new_tokens", model.generation.new_tokens, 1, 16384, false, may_generate,
          "tokens that are generated for each text, one a call; default 0: the scores of whole texts are computed once"),
    COUNT("generation", "prompts", model.generation.prompts, 1, 65536, false, in_generation, "texts in a micro-batch, which is padded; default: all of it"),
    CHOICE("generation", "cache", model.generation.cache, key_caches, in_generation,
           "where keys and values of earlier tokens are kept; none (the default): each call computes the whole row of data.sequence_length tokens"),
    CHOICE("generation", "choice", model.generation.choice, token_choices, in_generation,
           "who picks the next token: the host, to which its scores go, or the device, the most probable one"),
    COUNT("generation", "weight_bits", model.generation.weight_bits, 4, 4, false, in_generation,
          "4: matrices of dense products are kept in 4 bits, in groups of 64 with a scale and an addend, and unpacked before each product; default: as computed"),

    COUNT("parallel", "replicas", replicas, 1, 65536, true, NULL, "copies of the model"),
    COUNT("parallel", "ipus_per_replica", ipus_per_replica, 1, 64, true, NULL, "IPUs that hold one copy of the model"),
    COUNT("parallel", "micro_batch", model.micro_batch, 1, 65536, true, NULL, "samples that pass through the model at once"),
    COUNT("parallel", "gradient_accumulation", gradient_accumulation, 1, 1e6, false, NULL,
          "micro-batches per weight update, or per call (device_iterations) in inference; default 1"),
    TEXT("parallel", "layers_per_ipu", layers_per_ipu, false, NULL,
         "blocks in each stage, such as 3,7,7,7,0, counting the body layers of podbench workload; 7/6 means 7 attentions and 6 feed-forwards, -1 those that are left; "
         "a stage past the last IPU is on the first, so that 3,7,7,7,0 has the heads with the embedding on IPU 0, and 3,7,7,7 has them on IPU 3; "
         "auto (the default): balanced, within the memory"),
    TEXT("parallel", "tensor_parallel", model.tensor_parallel, false, NULL,
         "IPUs that every layer is cut over (heads, feed-forward, vocabulary), such as 16, or 8x8 over two axes; "
         "they are a stage of the pipeline, so that ipus_per_replica is a multiple; default 1"),
    COUNT("parallel", "attention_tensor_parallel", model.attention_tensor_parallel, 1, 64, false, in_cut_attention,
          "parts that the heads of attention are cut into, each on several IPUs if these are more; default: as tensor_parallel"),
    COUNT("parallel", "attention_serialisation", model.attention_serialisation, 1, MAX_OP_OUTPUTS, false, in_attention,
          "pieces of its queries that the attention of a layer works on one after another; default 1"),
    COUNT("parallel", "embedding_split", model.embedding_split, 1, 64, false, in_split_table,
          "stages that the word embedding and the product with it are cut over, by rows of the table; default 1"),
    CHOICE("parallel", "weights", weights, weights_places, NULL,
           "where weights, their gradients and optimizer state, and activations between phases are kept; "
           "streaming: in streaming memory, or the host's where there is none, in phases"),
    TEXT("parallel", "phases", phases, false, in_phases,
         "blocks in each phase with streaming weights: 2, with embeddings and heads in phases of their own, or a list like layers_per_ipu; default 1"),
    CHOICE("parallel", "phase_io", phase_io, phase_ios, in_phases,
           "a micro-batch's activations come and go before and after its work (PopXL's io_mode io, or compute), or while others are at work (io_overlapped)"),
    CHOICE("parallel", "schedule", schedule, schedule_names, in_stages,
           "schedule of the pipeline's stages; none: no pipeline, the IPUs of a replica take turns"),
    CHOICE("parallel", "recompute", recompute, recompute_names, in_training,
           "which activations are recomputed for the backward pass: "
           "all but the inputs of each stage, or of each layer, a whole block (recompute_checkpoint_every_layer), or the outputs of recompute_checkpoints"),
    TEXT("parallel", "recompute_checkpoints", recompute_checkpoints, false, in_checkpoints,
         "layers whose output is kept, by their names in podbench workload, such as stage1/unit1,stage2/unit1"),
    CHOICE("parallel", "stash_type", stash_type, float_type_names, in_stash, "type of the activations kept in the pipeline"),
    CHOICE("parallel", "optimizer_state", optimizer_state, optimizer_places, in_training, "where the optimizer state is kept"),
    CHOICE("parallel", "rts", rts, no_yes, in_replicas, "replicated tensor sharding of the optimizer state"),
    CHOICE("parallel", "rts_domain", rts_domain, rts_domains, in_sharding, "shard over all replicas, or over those of one pod"),
    COUNT("parallel", "io_tiles", io_tiles, 0, 1472, false, NULL,
          "tiles reserved for input and output, which proceed while the others compute; default 0"),
    TEXT("parallel", "available_memory", available_memory, false, NULL,
         "share of tile memory for temporaries (availableMemoryProportion): 0.3, or for each IPU 0.15,0.25,0.25,0.25; default 0.6"),
    CHOICE("parallel", "outlining", outlining, yes_no, NULL,
           "layers that are alike share their code (enableOutlining); without, each has its own, which takes memory"),
    CHOICE("parallel", "fully_connected_pass", fully_connected_pass, yes_no, NULL,
           "products with weights are planned as fully connected layers (useFullyConnectedPass); without, no copy of weights is made for serial steps, and passes of training are planned apart"),
    TEXT("parallel", "grid_ipus", model.grid_ipus, false, in_file_inference,
         "IPUs that share the grid of the codelets, along each axis that the sheet cuts, such as 1x4: each is a replica with its part, and they exchange halos; "
         "a sample is the whole grid; default: each replica has a grid"),
    TEXT("parallel", "grid_tiles", model.grid_tiles, false, in_file, "tiles along each axis that the sheet cuts, such as 24x49, if the program says so; default: the split with the fewest cycles"),
    CHOICE("parallel", "all_reduce", all_reduce, collective_method_names, in_replicas, "algorithm of the all-reduce"),
    COUNT("parallel", "batch_norm_span", model.batch_norm_span, 1, 65536, false, in_norm_training,
          "replicas that share batch-norm statistics; default 1"),
    COUNT("parallel", "embedding_serial_steps", model.embedding_serial_steps, 1, 4096, false, in_word_table,
          "serial steps that products with the word embedding are cut into; default 1"),
    FLAG("parallel", "split_qkv", model.split_qkv, in_split_weights, "query, key and value have weights of their own, and products, unless the program joins the weights (BERT)"),
    COUNT("parallel", "joint_slices", model.joint_slices, 1, 4096, false, in_joint,
          "time slices that the joint network processes one after another; default 1"),
    COUNT("parallel", "loss_slices", model.loss_slices, 1, MAX_OP_OUTPUTS, false, in_cut_loss,
          "slices of a text, with an equal number of tokens, whose losses and accuracies are computed one after another (enable_sequence_serialized); default: of 128 tokens each in GPT-2 whose layers are not cut over IPUs, otherwise one"),

    TEXT("parallel", "shard_tables", model.shard_tables, false, NULL,
         "tables that are looked up, with their rows spread over all replicas: auto (all), or layers of podbench workload, separated by commas, * for any text; "
         "what is looked up goes to its replica in an all-to-all, and no gradient of a table is reduced"),

    CHOICE("precision", "compute", model.compute, float_type_names, NULL, "type of weights and activations"),
    FLAG("precision", "all_products_fp8", model.all_products_fp8, in_fp8, "with fp8, the first convolution and the last product are in fp8, too"),
    CHOICE("precision", "partials", partials, partials_type_names, NULL,
           "type of partial sums in matmuls and convolutions: fp16 if the program asks for half partials, else fp32 as the frameworks do"),
    TEXT("precision", "fp32_operations", model.fp32_operations, false, in_narrow_types,
         "kinds of operations kept in fp32, between casts, separated by commas: gelu,layer-norm; podbench workload NAME --ops names a model's; default: none"),
    FLAG("precision", "stable_norm", model.stable_norm, in_norm_training,
         "compute the variances of norms by batch or group after subtracting the mean: one more pass and reduction"),
    FLAG("precision", "stochastic_rounding", stochastic_rounding, in_reading, "round fp16 results stochastically; it costs no time in hardware, so that podbench execute and train alone read it"),
    NUMBER("precision", "loss_scale", loss_scale, "", 0, 1e9, in_reading, "factor that scales the loss for the backward pass, and is taken out of the gradients again; only podbench execute and train read it"),

    NUMBER("sparsity", "density", model.sparse.density, "", 1e-6, 1, NULL, "share of the blocks of weights that are not zero, in products of the named layers; default: all are dense"),
    COUNT("sparsity", "block", model.sparse.block, 1, 16, false, in_sparsity, "rows and columns of a block: 1 (the default), 4, 8 or 16"),
    CHOICE("sparsity", "pattern", model.sparse.pattern, sparse_pattern_names, in_sparsity,
           "static: the program has the places of the blocks, and no gradients; dynamic: it reads them, so that they may change while it runs"),
    TEXT("sparsity", "layers", model.sparse.layers, false, in_sparsity, "layers of podbench workload, separated by commas, * for any text: encoder*; default *"),
    NUMBER("sparsity", "oversize", model.sparse.oversize, "", 0.01, 10, in_dynamic_sparsity,
           "room of a tile's bucket beyond an even share of the blocks (metaInfoBucketOversizeProportion); default 0.3"),

    TEXT("optimizer", "name", optimizer_name, false, in_training_heads,
         "required in training; in inference it keeps the heads of pre-training; one of:" OPTIMIZERS(OPTIMIZER_NAME)),
    NUMBER("optimizer", "state_bytes_per_param", state_bytes_per_param, "B", 0.125, 64, in_training,
           "bytes of moments per parameter; default: for each moment of the optimizer framework.moment_bytes, or with sgd and lars the bytes of a weight"),

    NUMBER("training", "epochs", epochs, "", 0.001, 1e6, in_training, "epochs until the target is reached"),
    NUMBER("training", "samples_to_converge", samples_to_converge, "", 1, 1e15, in_training, "samples until the target is reached, instead of epochs"),
    TEXT("training", "converge", converge, false, in_training, "model: predict the samples to converge from the global batch"),
    TEXT("training", "submitter", submitter, false, recipe_may_converge,
         "who submitted an MLPerf run, as the round's results name it: predicted samples to converge have its effect; default: Graphcore"),
    TEXT("training", "reference_round", reference_round, false, recipe_may_converge,
         "MLPerf round whose reference points apply; default: the round in the id, else v2.0"),
    COUNT("training", "eval_every", eval_every, 1, 1e12, false, in_whole_training, "samples between evaluations"),
    COUNT("training", "eval_samples", eval_samples, 1, 1e12, false, in_logged_loop, "samples per evaluation"),
    COUNT("training", "save_every", save_every, 1, 1e12, false, in_whole_training, "samples between checkpoints, for which training waits; default: none"),
    CHOICE("training", "rate", rate, training_rates, in_logged_rate,
           "what the throughput counts: the steps alone, or as a trainer's log (train_samples_per_second, eval_samples_per_second) evaluations, checkpoints, compilation and start, too"),
    CHOICE("training", "eval_placement", eval_placement, eval_placements, in_whole_training, "evaluate during training, or at its end"),
    CHOICE("training", "eval_program", eval_program, eval_programs, in_whole_training,
           "evaluate with forward passes, or with training steps at a learning rate of 0"),
    COUNT("training", "evaluations", evaluations, 1, 1e6, false, in_own_schedule, "number of evaluations, if eval_every does not say"),
    FLAG("training", "attention_dropout", model.attention_dropout, in_attention_training, "apply dropout to the attention probabilities"),
    FLAG("training", "fine_tuning", model.fine_tuning, in_packing_training,
         "fine-tune on question answering: scores of an answer's start and end instead of the heads of pre-training; "
         "inference has them unless optimizer.name is given"),
    FLAG("training", "initial_checkpoint", initial_checkpoint, in_whole_training, "start from a checkpoint, which is read inside the timed region"),
    NUMBER("training", "target", target, "", 0, 1e6, in_reading, "quality at which podbench train stops; else documentation, as samples to converge are those to MLPerf's target"),

    COUNT("hosts", "count", host_count, 1, 65536, false, in_decoding, "host machines, which share the preparation of input; default 1"),
    COUNT("hosts", "instances", instances, 1, 65536, false, in_copies,
          "host processes on all machines together (poprun --num-instances), each feeding its own replicas; default 1"),
    NUMBER("hosts", "decode_bytes_per_s", host_decode_bytes_per_s, "B/s", 1, 1e15, NULL,
           "rate at which one host prepares input; default: no limit"),
    NUMBER("hosts", "sample_s", sample_s, "s", 0, 1e3, NULL, "time in which one core prepares a sample; default 0: no limit"),
    COUNT("hosts", "cores", host_cores, 0, 65536, false, NULL, "cores of one host; default 0: those of the system's sheet, if it has them, else no limit"),
    COUNT("hosts", "workers", workers, 0, 65536, false, NULL,
          "loader processes or threads of each host process, a core each; default 0: as many as there are cores; a DataLoader without workers is framework.host_data=in-call"),
    COUNT("hosts", "requests", requests, 0, 10000, false, in_inference,
          "micro-batches of requests for inference under way at once, which wait for each other: 1 if each call is answered before the next is made; default 0: as the framework does"),
    NUMBER("hosts", "steps_per_call", steps_per_call, "", 0, 1e9, in_training,
           "weight updates before control returns to the host (batches_per_step, device_iterations); "
           "0: all in one call; default: the framework's"),
    COUNT("hosts", "timed_steps", timed_steps, 0, 1e9, false, recipe_times_first_steps,
          "throughput is the mean over this many steps from the start of a run (--training-steps), the first of which waits for the loader; default 0: over later steps"),

    NUMBER("cost", "price_per_hour", price_per_hour, "", 1e-6, 1e9, NULL, "price of all IPUs in use per hour, in any currency"),
    NUMBER("cost", "price_per_kwh", price_per_kwh, "", 1e-6, 1e9, NULL, "price of energy, in the same currency"),
    NUMBER("cost", "carbon_g_per_kwh", carbon_g_per_kwh, "", 1e-3, 1e5, NULL, "carbon dioxide of a kWh of the site's supply in grams"),
    NUMBER("cost", "host_power_w", host_power_w, "", 0, 1e5, NULL, "power of one host; default: hosts are not counted"),
    NUMBER("cost", "cooling_share", cooling_share, "", 0, 10, NULL, "power of cooling over that of all else, such as 0.2; default: it is not counted"),
};
enum { N_RECIPE_KEYS = sizeof recipe_keys / sizeof *recipe_keys };
const size_t n_recipe_keys = N_RECIPE_KEYS;

/* Hyperparameters under their names in MLPerf logs, and three that submissions state elsewhere; optimizers.c has those of one optimizer. */
static const char *const hyperparameters[] = {
    "label_smoothing", "model_bn_span", "num_warmup_steps", "start_warmup_step",
    "opt_base_learning_rate", "opt_end_learning_rate", "opt_epsilon", "opt_gradient_clip_norm",
    "opt_learning_rate_decay_steps", "opt_learning_rate_schedule", "opt_learning_rate_training_steps",
    "opt_learning_rate_warmup_epochs", "opt_learning_rate_warmup_steps", "opt_learning_rate_warmup_share",
    "opt_lamb_learning_rate_hold_epochs", "lars_opt_learning_rate_warmup_epochs", "opt_momentum", "opt_weight_decay",
    "model_weights_initialization_scale", "model_eval_ema_factor", "data_train_max_duration", "data_train_num_buckets",
};
enum { N_HYPERPARAMETERS = sizeof hyperparameters / sizeof *hyperparameters };

const struct recipe_key *recipe_key_find(const char *section, const char *key)
{
    for (size_t i = 0; i < N_RECIPE_KEYS; i++)
        if (*recipe_keys[i].field.name == *key && text_is(recipe_keys[i].field.name, key) && text_is(recipe_keys[i].section, section))
            return &recipe_keys[i];
    return NULL;
}

const struct recipe_key *recipe_key_of(const struct ini_entry *e)
{
    return !e->place ? recipe_key_find(e->section, e->key) : e->place <= N_RECIPE_KEYS ? &recipe_keys[e->place - 1] : NULL;
}

const struct field *recipe_field(const char *name)
{
    const char *point = strchr(name, '.');
    for (size_t i = 0; point && i < N_RECIPE_KEYS; i++) {
        const struct recipe_key *k = &recipe_keys[i];
        size_t n = (size_t)(point - name);
        if (text_is(point + 1, k->field.name) && strncmp(name, k->section, n) == 0 && !k->section[n])
            return &k->field;
    }
    return NULL;
}

static bool is_setting_of_optimizer(const char *key)
{
    bool found = false;
    for (int i = N_GRADIENT_WORKS; i < N_VECTOR_WORKS; i++)
        found |= find_text(optimizer_rule((enum vector_work)i)->settings, N_OPTIMIZER_SETTINGS, sizeof(char *), 0, key) != NULL;
    return found;
}

static bool takes_hyperparameter(const char *key)
{
    return find_text(hyperparameters, N_HYPERPARAMETERS, sizeof *hyperparameters, 0, key) || is_setting_of_optimizer(key);
}

/* The entry's place is one more than its key's in the table. Keys that the table does not hold have the place after the last, and hyperparameters the
   one after that. */
enum { PLACE_OF_OTHERS = N_RECIPE_KEYS + 1, PLACE_OF_HYPERPARAMETERS };

void recipe_place_entry(struct ini_entry *e)
{
    const struct recipe_key *k = recipe_key_find(e->section, e->key);
    bool is_hyperparameter = !k && text_is(e->section, "optimizer") && takes_hyperparameter(e->key);
    e->place = k ? 1 + (uint32_t)(k - recipe_keys) : is_hyperparameter ? PLACE_OF_HYPERPARAMETERS : PLACE_OF_OTHERS;
}

bool recipe_is_hyperparameter(const struct ini_entry *e)
{
    struct ini_entry placed = *e;
    if (!placed.place)
        recipe_place_entry(&placed);
    return placed.place == PLACE_OF_HYPERPARAMETERS;
}

/* link, link1, link2...; chip; flow. */
bool recipe_takes_fault(const char *key)
{
    static const char *const kinds[] = { "link", "chip", "flow" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(key, kinds[i], strlen(kinds[i])) == 0) {
            const char *rest = key + strlen(kinds[i]);
            return rest[strspn(rest, "0123456789")] == '\0';
        }
    return false;
}

static void add_offered_name(const char **names, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (text_is(names[i], name))
            return;
    names[(*n)++] = name;
}

/* The names that a message offers: keys of a section, or all sections, and the one that was probably meant. */
static const char *known_names(const char *section, const char *typed, struct arena *a)
{
    const char **names = ARENA_ARRAY(a, const char *, N_RECIPE_KEYS + n_framework_fields);
    size_t n = 0;
    for (size_t i = 0; i < N_RECIPE_KEYS; i++)
        if (!section)
            add_offered_name(names, &n, recipe_keys[i].section);
        else if (text_is(recipe_keys[i].section, section))
            add_offered_name(names, &n, recipe_keys[i].field.name);
    for (size_t i = 0; i < 3 && !section; i++)
        add_offered_name(names, &n, (const char *[]){ "framework", "faults", "open" }[i]);
    for (size_t i = 0; text_is(section, "framework") && i < n_framework_fields; i++)
        add_offered_name(names, &n, framework_fields[i].name);
    if (text_is(section, "faults")) {
        add_offered_name(names, &n, "link");
        add_offered_name(names, &n, "chip");
        add_offered_name(names, &n, "flow (and link1, link2...)");
    }
    if (text_is(section, "optimizer"))
        add_offered_name(names, &n, "hyperparameters as MLPerf logs name them");
    return n ? arena_printf(a, "%sknown: %s", names_suggestion(names, n, typed, a), names_list(names, n, a)) : "";
}

const struct ini_entry *recipe_entry(const struct recipe *r, const char *name)
{
    const char *point = strchr(name, '.');
    for (size_t i = 0; point && i < r->n_entries; i++) {
        const struct ini_entry *e = &r->entries[i];
        size_t n = (size_t)(point - name);
        if (text_is(point + 1, e->key) && strncmp(name, e->section, n) == 0 && !e->section[n])
            return e;
    }
    return NULL;
}

const char *recipe_entry_place(const struct recipe *r, const struct ini_entry *e, struct arena *a)
{
    if (e->line == 0)
        return arena_printf(a, "--set %s.%s=%s", e->section, e->key, e->value);
    return arena_printf(a, "%s:%u: %s", r->path, e->line, e->key);
}

/* The key of this name in another section, or the name in the section of this name; NULL if there is neither. */
static const struct recipe_key *key_elsewhere(const char *key)
{
    for (size_t i = 0; i < n_recipe_keys; i++)
        if (text_is(recipe_keys[i].field.name, key))
            return &recipe_keys[i];
    return recipe_key_find(key, "name");
}

bool recipe_unknown_key(const char *place, const struct ini_entry *e, struct arena *a, struct err *err)
{
    const char *known = known_names(e->section, e->key, a);
    const struct recipe_key *meant = *known ? key_elsewhere(e->key) : NULL;
    if (meant)
        return fail(err, "%s: unknown key in [%s]; did you mean '%s.%s'?", place, e->section, meant->section, meant->field.name);
    if (*known)
        return fail(err, "%s: unknown key in [%s]; %s", place, e->section, known);
    return fail(err, "%s: unknown section [%.40s]; %s", place, e->section, known_names(NULL, e->section, a));
}

/* ---- the list of keys -------------------------------------------------------------------------- */

struct key_row {
    const char *name, *unless_given, *meaning;          /* texts for people */
    const char *section, *key, *type, *unit, *help, *usual;
    bool required;
    double minimum, maximum;
    json_t *choices; const char *words;
};
static const struct table_column key_columns[] = {
#define C(member, ...) { COLUMN(struct key_row, member), __VA_ARGS__ }
#define SHOWN(member, text) { COLUMN_AS(struct key_row, member, NULL), .heading = text }
    SHOWN(name, "key"), SHOWN(unless_given, "default"), SHOWN(meaning, "meaning"), C(section), C(key), C(type), C(required), C(help), C(unit),
    C(minimum), C(maximum), C(choices, .formats = IN_JSON), { COLUMN_AS(struct key_row, words, "choices"), .formats = IN_CSV }, { COLUMN_AS(struct key_row, usual, "default") },
#undef SHOWN
#undef C
};

static const char *key_values(const struct field *field, size_t n_choices, struct arena *a)
{
    if (n_choices)
        return names_joined(field->choices, n_choices, "|", a);
    if (field->type == FIELD_BOOL)
        return "yes|no";
    return field->type == FIELD_TEXT ? "text" : arena_printf(a, "%.10g..%.10g", field->min, field->max);
}

static void add_key(struct table *t, const char *section, const struct field *field, struct arena *a)
{
    static const char *const types[] = { [FIELD_U64] = "count", [FIELD_U32] = "count", [FIELD_F64] = "number", [FIELD_TEXT] = "text",
                                         [FIELD_BOOL] = "yes|no", [FIELD_CHOICE] = "choice" };
    bool is_number = field->type == FIELD_U64 || field->type == FIELD_F64, of_sheet = text_is(section, "framework");
    size_t n = 0;
    while (field->choices && field->choices[n])
        n++;
    const char *usual = of_sheet ? NULL : field->type == FIELD_BOOL ? "no" : n ? field->choices[0] : NULL;
    struct key_row row = { arena_printf(a, "%s.%s", section, field->name), field->required ? "required" : usual,
                           arena_printf(a, "%s (%s)", field->help, key_values(field, n, a)), section, field->name, types[field->type],
                           field->unit && *field->unit ? field->unit : NULL, field->help, usual, field->required,
                           is_number ? field->min : (double)NAN, is_number ? field->max : (double)NAN, json_words(field->choices, n),
                           names_joined(field->choices, n, "|", a) };
    table_add(t, &row, a);
}

const char **recipe_setting_keys(size_t *n, struct arena *a)
{
    struct { const char **items; size_t n, cap; } keys = {0};
    for (size_t i = 0; i < N_RECIPE_KEYS; i++)
        LIST_ADD(&keys, a, arena_printf(a, "%s.%s", recipe_keys[i].section, recipe_keys[i].field.name));
    for (size_t i = 0; i < n_framework_fields; i++)
        LIST_ADD(&keys, a, arena_printf(a, "framework.%s", framework_fields[i].name));
    for (size_t i = 0; machine_key(i); i++)
        LIST_ADD(&keys, a, arena_printf(a, SHEET_OVERRIDE_SECTION ".%s", machine_key(i)));
    *n = keys.n;
    return keys.items;
}

void recipe_keys_document(struct document *d)
{
    struct table *t = document_table(d, TABLE(key_columns, struct key_row));
    for (size_t i = 0; i < N_RECIPE_KEYS; i++)
        add_key(t, recipe_keys[i].section, &recipe_keys[i].field, d->arena);
    for (size_t i = 0; i < n_framework_fields; i++)
        add_key(t, "framework", &framework_fields[i], d->arena);
    document_line(d, "[framework] without a default: the value of its sheet, which podbench framework NAME prints\n"
                  "[optimizer] also takes hyperparameters under their names in MLPerf logs, for documentation and simulated logs\n"
                  "[faults]\n  link (A-B SHARE): the link between IPUs A and B has only this share of its rate; 0 cuts it\n"
                  "  chip (N FACTOR): IPU N takes this many times as long to compute\n"
                  "  flow (A-B RATE): other traffic from A to B in bytes per second\n"
                  "  several: link1, link2, ...\n"
                  "[open] keys that the source leaves open; podbench run says what another reading does, and its interval covers all readings\n"
                  "  section.key (another value, several with | between): any key above except those of [faults], as in precision.partials = fp32");
}
