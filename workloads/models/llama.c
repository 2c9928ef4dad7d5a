/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * llama.c - sizes of Llama 2: Touvron et al. 2023 (arXiv 2307.09288), of its released configurations.
 *
 * RMS norms come before attention and before the gated feed-forward part (SwiGLU); no product has a bias. All elements of a head turn by their
 * position. Keys and values come from one product (graphcore/examples 3cc8f81 nlp/llama/popxl/modelling/attention.py); in the 70B model eight query
 * heads share one head of keys and values. The output head is a matrix of its own (decoder.c).
 */
#include "workloads/models/builders.h"

static const struct decoder_config
    llama2_7b  = { .kind = DECODER_LLAMA, .n_layers = 32, .hidden = 4096, .heads = 32, .key_heads = 32, .inner = 11008, .vocabulary = 32000, .epsilon = 1e-5 },
    llama2_13b = { .kind = DECODER_LLAMA, .n_layers = 40, .hidden = 5120, .heads = 40, .key_heads = 40, .inner = 13824, .vocabulary = 32000, .epsilon = 1e-5 },
    llama2_70b = { .kind = DECODER_LLAMA, .n_layers = 80, .hidden = 8192, .heads = 64, .key_heads = 8, .inner = 28672, .vocabulary = 32000, .epsilon = 1e-5 };

WORKLOADS(llama)
{
    { "llama2-7b", "llama", "Llama 2, 6.74 billion parameters", "sequence", decoder_build, &llama2_7b, 4096, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | CUTS_LOSS },
    { "llama2-13b", "llama", "Llama 2, 13.0 billion parameters", "sequence", decoder_build, &llama2_13b, 4096, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | CUTS_LOSS },
    { "llama2-70b", "llama", "Llama 2, 69.0 billion parameters", "sequence", decoder_build, &llama2_70b, 4096, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | CUTS_LOSS },
    { 0 }
};
