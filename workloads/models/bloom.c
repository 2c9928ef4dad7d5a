/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bloom.c - sizes of Bloom: Workshop et al. 2022 (arXiv 2211.05100), of its released configurations.
 *
 * A decoder like GPT-2's without learned positions: each head adds its slope times the key's position to the scores (ALiBi, Press et al. 2021).
 * The embeddings have a norm of their own, and the head shares their table (decoder.c).
 */
#include "workloads/models/builders.h"

static const struct decoder_config
    bloom_560m = { .kind = DECODER_BLOOM, .n_layers = 24, .hidden = 1024, .heads = 16, .vocabulary = 250880 },
    bloom_7b1  = { .kind = DECODER_BLOOM, .n_layers = 30, .hidden = 4096, .heads = 32, .vocabulary = 250880 },
    bloom_176b = { .kind = DECODER_BLOOM, .n_layers = 70, .hidden = 14336, .heads = 112, .vocabulary = 250880 };

WORKLOADS(bloom)
{
    { "bloom", "bloom", "Bloom, 176 billion parameters", "sequence", decoder_build, &bloom_176b, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | CUTS_LOSS },
    { "bloom-560m", "bloom", "Bloom, 559 million parameters", "sequence", decoder_build, &bloom_560m, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | CUTS_LOSS },
    { "bloom-7b1", "bloom", "Bloom, 7.07 billion parameters", "sequence", decoder_build, &bloom_7b1, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | CUTS_LOSS },
    { 0 }
};
