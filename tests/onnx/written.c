/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * written.c - writes small models of the families whose released sizes no desk computer runs, for ONNX Runtime: FOLDER/NAME.onnx, alone and in a batch of two.
 */
#include "workloads/models/builders.h"
#include "workloads/onnx/onnx.h"

enum { SEED = 5, TOKENS = 40 };
static const struct decoder_config gptj = { .kind = DECODER_GPTJ, .n_layers = 2, .hidden = 32, .heads = 2, .turned = 8, .vocabulary = 50 };
static const struct decoder_config llama = { .kind = DECODER_LLAMA, .n_layers = 2, .hidden = 48, .heads = 6, .key_heads = 2, .inner = 40, .vocabulary = 50, .epsilon = 1e-3 };
static const struct decoder_config bloom = { .kind = DECODER_BLOOM, .n_layers = 2, .hidden = 36, .heads = 3, .vocabulary = 50 };
static const struct t5_config t5 = { .n_layers = 2, .hidden = 36, .heads = 3, .inner = 20, .vocabulary = 50 };
static const struct workload families[] = {
    { .name = "gptj", .build = decoder_build, .config = &gptj, .default_sequence_length = TOKENS }, { .name = "llama", .build = decoder_build, .config = &llama, .default_sequence_length = TOKENS },
    { .name = "bloom", .build = decoder_build, .config = &bloom, .default_sequence_length = TOKENS }, { .name = "t5", .build = t5_build, .config = &t5, .default_sequence_length = TOKENS },
};

int main(int argc, char **argv)
{
    struct arena a = { 0 };
    struct err err = { "" };
    const uint64_t seed = SEED;
    bool good = argc == 2;
    for (size_t i = 0; i < 2 * sizeof families / sizeof *families && good; i++) {
        struct graph g;
        const struct model_options o = { .where = "written", .micro_batch = 1 + i % 2, .inference = true };
        good = workload_graph(&g, &families[i / 2], &o, &a, &err) &&
               onnx_write(arena_printf(&a, "%s/%s-of-%zu.onnx", argv[1], families[i / 2].name, 1 + i % 2), &g, &seed, &err);
    }
    fputs(err.msg, stderr);
    arena_free(&a);
    return !good;
}
