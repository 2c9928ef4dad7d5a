/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gptj.c - the size of GPT-J: Wang and Komatsuzaki 2021, as its released configuration has it (EleutherAI/gpt-j-6b).
 *
 * One norm serves attention and the feed-forward part, which are added to the input together (graphcore/examples 3cc8f81
 * nlp/gpt_j/popxl/modelling/decoder.py). The first 64 elements of each head turn by their position, in pairs of neighbours. The head is a
 * matrix of its own, with a bias (decoder.c).
 */
#include "workloads/models/builders.h"

static const struct decoder_config gptj_6b = { .kind = DECODER_GPTJ, .n_layers = 28, .hidden = 4096, .heads = 16, .turned = 64, .vocabulary = 50400 };

WORKLOADS(gptj)
{
    { "gpt-j", "gptj", "GPT-J, 6.05 billion parameters", "sequence", decoder_build, &gptj_6b, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | CUTS_LOSS },
    { 0 }
};
