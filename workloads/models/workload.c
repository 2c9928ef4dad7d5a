/*
 * workload.c - the table of workloads: one row a model.
 */
#include "workloads/models/builders.h"
#include "workloads/onnx/onnx.h"

enum { LONGEST_UTTERANCE_FRAMES = 557 };        /* 16.7 s in frames of 30 ms: longer ones are left out of training */

static const struct resnet_config resnet18 = { { 2, 2, 2, 2 }, false }, resnet34 = { { 3, 4, 6, 3 }, false },
    resnet50 = { { 3, 4, 6, 3 }, true }, resnet101 = { { 3, 4, 23, 3 }, true }, resnet152 = { { 3, 8, 36, 3 }, true };
static const struct densenet_config densenet121 = { { 6, 12, 24, 16 }, 32 };
static const struct bert_config
    bert_base  = { .n_layers = 12, .hidden = 768, .heads = 12, .inner = 3072, .vocabulary = 30522, .positions = 512 },
    bert_large = { .n_layers = 24, .hidden = 1024, .heads = 16, .inner = 4096, .vocabulary = 30522, .positions = 512 };
static const struct rnnt_config rnnt = {
    .features = 240, .encoder_hidden = 1024, .encoder_first = 2, .encoder_second = 3, .time_stack = 2,
    .predictor_hidden = 512, .predictor_layers = 2, .joint_hidden = 512, .labels = 1023,
};
static const struct transducer_config transducer = {
    .n_layers = 14, .hidden = 768, .heads = 8, .inner = 4 * 768, .kernel = 16, .subsampling = 2, .features = 240,
    .predictor_hidden = 512, .predictor_layers = 2, .joint_hidden = 512, .labels = 1023,
};

const struct workload workloads[] = {
    { "resnet18", "resnet", "residual network, 18 layers", "image", resnet_build, &resnet18, 0, NULL, TAKES_IMAGES },
    { "resnet34", "resnet", "residual network, 34 layers", "image", resnet_build, &resnet34, 0, NULL, TAKES_IMAGES },
    { "resnet50", "resnet", "residual network, 50 layers, v1.5", "image", resnet_build, &resnet50, 0, "resnet", TAKES_IMAGES },
    { "resnet101", "resnet", "residual network, 101 layers, v1.5", "image", resnet_build, &resnet101, 0, NULL, TAKES_IMAGES },
    { "resnet152", "resnet", "residual network, 152 layers, v1.5", "image", resnet_build, &resnet152, 0, NULL, TAKES_IMAGES },
    { "densenet121", "densenet", "densely connected network, 121 layers", "image", densenet_build, &densenet121, 0,
      NULL, TAKES_IMAGES },
    { "bert-base", "bert", "BERT Base: 12 layers of 768", "sequence", bert_build, &bert_base, 512, NULL, TAKES_SEQUENCES | HAS_WORDS },
    { "bert-large", "bert", "BERT Large: 24 layers of 1024", "sequence", bert_build, &bert_large, 512, "bert", TAKES_SEQUENCES | HAS_WORDS },
    { "rnnt", "transducer", "RNN-T of the MLPerf reference: LSTM encoder", "utterance", rnnt_build, &rnnt,
      LONGEST_UTTERANCE_FRAMES, "rnnt", TAKES_SEQUENCES | HAS_TRANSCRIPTS },
    { "transformer-transducer", "transducer", "RNN-T of the open MLPerf v2.0 entry: transformer encoder", "utterance",
      transducer_build, &transducer, LONGEST_UTTERANCE_FRAMES, "rnnt", TAKES_SEQUENCES | HAS_TRANSCRIPTS },
};
const size_t n_workloads = sizeof workloads / sizeof *workloads;

static const struct workload any_file = { "model.onnx", "onnx", "a model of your own, from an ONNX file", "sample", onnx_file_build,
                                          NULL, 0, NULL, IS_FILE | TAKES_IMAGES };

const struct workload *workload_find(const char *name, struct err *err)
{
    if (onnx_is_file(name))
        return &any_file;
    for (size_t i = 0; i < n_workloads; i++)
        if (text_is(workloads[i].name, name))
            return &workloads[i];
    const char *names[sizeof workloads / sizeof *workloads];
    struct arena scratch = { 0 };
    for (size_t i = 0; i < n_workloads; i++)
        names[i] = workloads[i].name;
    fail(err, "unknown workload '%.60s'; %sknown: %s", name, names_suggestion(names, n_workloads, name, &scratch),
         names_list(names, n_workloads, &scratch));
    arena_free(&scratch);
    return NULL;
}

/* The planner counts the rows of a product in 32 bits. */
static bool check_products(const struct graph *g, const struct model_options *o, struct err *err)
{
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        uint64_t rows = op->kind == OP_MATMUL ? op_matmul_shape(g, op).rows : 0;
        if (rows > UINT32_MAX)
            return fail(err, "%s: parallel.micro_batch: %llu: a product of layer %s has %llu rows, at most %llu; lower it",
                        o ? o->where : g->name, (unsigned long long)g->micro_batch, g->layers[op->layer_id].name,
                        (unsigned long long)rows, (unsigned long long)UINT32_MAX);
    }
    return true;
}

bool workload_graph(struct graph *out, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err)
{
    return w->build(out, w, o, a, err) && check_products(out, o, err);
}
