/*
 * workload.c - the table of workloads: one row a model.
 */
#include "workloads/models/builders.h"
#include "workloads/onnx/onnx.h"

enum { LONGEST_UTTERANCE_FRAMES = 557 };        /* 16.7 s in frames of 30 ms: longer ones are left out of training */

static const struct resnet_config resnet18 = { { 2, 2, 2, 2 }, false, 0, 0 }, resnet34 = { { 3, 4, 6, 3 }, false, 0, 0 },
    resnet50 = { { 3, 4, 6, 3 }, true, 0, 0 }, resnet101 = { { 3, 4, 23, 3 }, true, 0, 0 }, resnet152 = { { 3, 8, 36, 3 }, true, 0, 0 };
static const struct resnet_config resnext50 = { { 3, 4, 6, 3 }, true, 32, 4 }, resnext101 = { { 3, 4, 23, 3 }, true, 32, 4 };
/* Width, depth, image and dropout: Tan and Le 2019 and their published code. G16: groups of 16, expansion 4 (Masters et al. 2021). */
#define EFFICIENTNET(name, width, depth, image, dropout) \
    static const struct efficientnet_config name = { width, depth, image, dropout, 1, 6 }, name##_g16 = { width, depth, image, dropout, 16, 4 }
EFFICIENTNET(b0, 1000, 1000, 224, 0.2);
EFFICIENTNET(b1, 1000, 1100, 240, 0.2);
EFFICIENTNET(b2, 1100, 1200, 260, 0.3);
EFFICIENTNET(b3, 1200, 1400, 300, 0.3);
EFFICIENTNET(b4, 1400, 1800, 380, 0.4);
EFFICIENTNET(b5, 1600, 2200, 456, 0.4);
EFFICIENTNET(b6, 1800, 2600, 528, 0.5);
EFFICIENTNET(b7, 2000, 3100, 600, 0.5);
static const struct efficientnet_config mobilenet = { 1000, 1000, 224, 0.2, 1, 6 };
static const struct vgg_config vgg11 = { { 1, 1, 2, 2, 2 } }, vgg13 = { { 2, 2, 2, 2, 2 } }, vgg16 = { { 2, 2, 3, 3, 3 } }, vgg19 = { { 2, 2, 4, 4, 4 } };
static const struct vit_config vit_base = { .n_layers = 12, .hidden = 768, .heads = 12, .inner = 3072, .patch = 16, .image = 224 };
static const struct gpt2_config
    gpt2_small  = { .n_layers = 12, .hidden = 768, .heads = 12, .vocabulary = 50257, .positions = 1024 },
    gpt2_medium = { .n_layers = 24, .hidden = 1024, .heads = 16, .vocabulary = 50257, .positions = 1024 },
    gpt2_large  = { .n_layers = 36, .hidden = 1280, .heads = 20, .vocabulary = 50257, .positions = 1024 },
    gpt2_xl     = { .n_layers = 48, .hidden = 1600, .heads = 25, .vocabulary = 50257, .positions = 1024 };
/* WeNet's medium size on AISHELL-1: utterances of up to 12.2 s, whose longest transcript has 44 characters. */
static const struct conformer_config conformer_medium = { .n_encoder = 12, .n_decoder = 6, .hidden = 256, .heads = 4, .inner = 2048, .kernel = 15,
                                                          .features = 80, .vocabulary = 4233, .labels = 44 };
enum { LONGEST_AISHELL_FRAMES = 1220 };
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
    { "resnet18", "resnet", "residual network, 18 layers", "image", resnet_build, &resnet18, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnet34", "resnet", "residual network, 34 layers", "image", resnet_build, &resnet34, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnet50", "resnet", "residual network, 50 layers, v1.5", "image", resnet_build, &resnet50, 0, "resnet", TAKES_IMAGES | HAS_NORMS },
    { "resnet101", "resnet", "residual network, 101 layers, v1.5", "image", resnet_build, &resnet101, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnet152", "resnet", "residual network, 152 layers, v1.5", "image", resnet_build, &resnet152, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "densenet121", "densenet", "densely connected network, 121 layers", "image", densenet_build, &densenet121, 0,
      NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnext50", "resnet", "ResNeXt, 50 layers, 32 groups of 4", "image", resnet_build, &resnext50, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnext101", "resnet", "ResNeXt, 101 layers, 32 groups of 4", "image", resnet_build, &resnext101, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b0", "efficientnet", "EfficientNet-B0, depthwise", "image", efficientnet_build, &b0, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b1", "efficientnet", "EfficientNet-B1, depthwise", "image", efficientnet_build, &b1, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b2", "efficientnet", "EfficientNet-B2, depthwise", "image", efficientnet_build, &b2, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b3", "efficientnet", "EfficientNet-B3, depthwise", "image", efficientnet_build, &b3, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b4", "efficientnet", "EfficientNet-B4, depthwise", "image", efficientnet_build, &b4, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b5", "efficientnet", "EfficientNet-B5, depthwise", "image", efficientnet_build, &b5, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b6", "efficientnet", "EfficientNet-B6, depthwise", "image", efficientnet_build, &b6, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b7", "efficientnet", "EfficientNet-B7, depthwise", "image", efficientnet_build, &b7, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b0-g16", "efficientnet", "EfficientNet-B0 in groups of 16", "image", efficientnet_build, &b0_g16, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b1-g16", "efficientnet", "EfficientNet-B1 in groups of 16", "image", efficientnet_build, &b1_g16, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b2-g16", "efficientnet", "EfficientNet-B2 in groups of 16", "image", efficientnet_build, &b2_g16, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b3-g16", "efficientnet", "EfficientNet-B3 in groups of 16", "image", efficientnet_build, &b3_g16, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b4-g16", "efficientnet", "EfficientNet-B4 in groups of 16", "image", efficientnet_build, &b4_g16, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b5-g16", "efficientnet", "EfficientNet-B5 in groups of 16", "image", efficientnet_build, &b5_g16, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b6-g16", "efficientnet", "EfficientNet-B6 in groups of 16", "image", efficientnet_build, &b6_g16, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "efficientnet-b7-g16", "efficientnet", "EfficientNet-B7 in groups of 16", "image", efficientnet_build, &b7_g16, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "mobilenet-v2", "mobilenet", "MobileNet v2", "image", mobilenet_build, &mobilenet, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "inception-v3", "inception", "Inception v3", "image", inception_build, NULL, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "vgg11", "vgg", "VGG, 11 layers", "image", vgg_build, &vgg11, 0, NULL, TAKES_IMAGES },
    { "vgg13", "vgg", "VGG, 13 layers", "image", vgg_build, &vgg13, 0, NULL, TAKES_IMAGES },
    { "vgg16", "vgg", "VGG, 16 layers", "image", vgg_build, &vgg16, 0, NULL, TAKES_IMAGES },
    { "vgg19", "vgg", "VGG, 19 layers", "image", vgg_build, &vgg19, 0, NULL, TAKES_IMAGES },
    { "unet", "unet", "U-Net for medical images", "image", unet_build, NULL, 0, NULL, TAKES_IMAGES },
    { "vit-b16", "vit", "ViT-Base, patches of 16 x 16", "image", vit_build, &vit_base, 0, NULL, TAKES_IMAGES | HAS_ATTENTION },
    { "gpt2-small", "gpt2", "GPT-2, 124 million parameters", "sequence", gpt2_build, &gpt2_small, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION },
    { "gpt2-medium", "gpt2", "GPT-2, 355 million parameters", "sequence", gpt2_build, &gpt2_medium, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION },
    { "gpt2-large", "gpt2", "GPT-2, 774 million parameters", "sequence", gpt2_build, &gpt2_large, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION },
    { "gpt2-xl", "gpt2", "GPT-2, 1558 million parameters", "sequence", gpt2_build, &gpt2_xl, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION },
    { "conformer-medium", "conformer", "WeNet's conformer with its decoder", "utterance", conformer_build, &conformer_medium, LONGEST_AISHELL_FRAMES,
      NULL, TAKES_SEQUENCES | HAS_TRANSCRIPTS | HAS_NORMS },
    { "bert-base", "bert", "BERT Base: 12 layers of 768", "sequence", bert_build, &bert_base, 512, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_PACKS },
    { "bert-large", "bert", "BERT Large: 24 layers of 1024", "sequence", bert_build, &bert_large, 512, "bert", TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_PACKS },
    { "rnnt", "transducer", "RNN-T of the MLPerf reference: LSTM encoder", "utterance", rnnt_build, &rnnt,
      LONGEST_UTTERANCE_FRAMES, "rnnt", TAKES_SEQUENCES | HAS_TRANSCRIPTS | HAS_JOINT },
    { "transformer-transducer", "transducer", "RNN-T of the open MLPerf v2.0 entry: transformer encoder", "utterance",
      transducer_build, &transducer, LONGEST_UTTERANCE_FRAMES, "rnnt", TAKES_SEQUENCES | HAS_TRANSCRIPTS | HAS_JOINT },
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
