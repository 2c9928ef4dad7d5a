/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gpt2.c - sizes of GPT-2: Radford et al. 2019, as its released configurations have it; of GPT-3: Brown et al. 2020 (arXiv 2005.14165), two of its sizes.
 *
 * Norms come before attention and before the feed-forward product. A product with the word table scores every token (decoder.c).
 */
#include "workloads/models/builders.h"

/* The smallest is nanoGPT's of characters, without dropout (graphcore-research/flash-attention-ipu demo/train.py). */
static const struct decoder_config
    gpt2_tiny   = { .kind = DECODER_GPT2, .n_layers = 6, .hidden = 384, .heads = 6, .vocabulary = 65, .positions = 1024 },
    gpt2_small  = { .kind = DECODER_GPT2, .n_layers = 12, .hidden = 768, .heads = 12, .vocabulary = 50257, .positions = 1024, .loss_tokens = 128, .dropout = 0.1 },
    gpt2_medium = { .kind = DECODER_GPT2, .n_layers = 24, .hidden = 1024, .heads = 16, .vocabulary = 50257, .positions = 1024, .loss_tokens = 128, .dropout = 0.1 },
    gpt2_large  = { .kind = DECODER_GPT2, .n_layers = 36, .hidden = 1280, .heads = 20, .vocabulary = 50257, .positions = 1024, .loss_tokens = 128, .dropout = 0.1 },
    gpt2_xl     = { .kind = DECODER_GPT2, .n_layers = 48, .hidden = 1600, .heads = 25, .vocabulary = 50257, .positions = 1024, .loss_tokens = 128, .dropout = 0.1 },
    gpt3_2_7b   = { .kind = DECODER_GPT2, .n_layers = 32, .hidden = 2560, .heads = 32, .vocabulary = 50257, .positions = 2048, .dropout = 0.1 },
    gpt3_175b   = { .kind = DECODER_GPT2, .n_layers = 96, .hidden = 12288, .heads = 96, .vocabulary = 50257, .positions = 2048, .dropout = 0.1 };

WORKLOADS(gpt2)
{
    { "gpt2-small", "gpt2", "GPT-2, 124 million parameters", "sequence", decoder_build, &gpt2_small, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt2-medium", "gpt2", "GPT-2, 355 million parameters", "sequence", decoder_build, &gpt2_medium, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt2-large", "gpt2", "GPT-2, 774 million parameters", "sequence", decoder_build, &gpt2_large, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt2-xl", "gpt2", "GPT-2, 1558 million parameters", "sequence", decoder_build, &gpt2_xl, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt2-tiny", "gpt2", "GPT-2 of characters, 11 million parameters", "sequence", decoder_build, &gpt2_tiny, 256, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt3-2.7b", "gpt2", "GPT-3, 2.65 billion parameters", "sequence", decoder_build, &gpt3_2_7b, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt3-175b", "gpt2", "GPT-3, 175 billion parameters", "sequence", decoder_build, &gpt3_175b, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { 0 }
};
