/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask.h - the meaning of the words in podbench ask.
 */
#ifndef ASK_H
#define ASK_H
#include "harness/harness.h"
#include "results/study/search.h"

/* A question such as "bert-large on bow-pod16 train at least 2000/s fits with 95 %", or "llama2-13b on pod64 cheapest at least 10 tokens/s for
 * 16 texts". */
struct asked {
    const char *model;                  /* a built-in model, or the path of an ONNX file */
    const char *system;                 /* the name of a system's sheet */
    uint64_t ipus;                      /* the IPUs to use: all of the system, or the number in the words */
    const char *mode;                   /* train or infer; NULL if the words do not say */
    enum objective objective;
    bool has_objective;                 /* true if the words name an objective */
    double least_throughput;            /* in samples/s; 0 if none is asked for */
    double least_token_rate;            /* new tokens per second over all texts; 0 if none is asked for */
    uint64_t most_texts;                /* the most texts at the same time, in training of a global batch; 0 for those of the first recipe */
    uint64_t row_tokens;                /* tokens in a row; 0 for those of the first recipe */
    double least_fits;                  /* the least chance to fit; 0 for the default */
};
/* Reads the words of a question. Names may be written without signs and in any case ("POD16", "resnet 50"); "16 bow" is the smallest system of
 * that chip with this many IPUs. Fails at a word without a meaning, with a list of the possible words, and at a second word of the same kind. */
bool ask_read_words(struct asked *out, const char *const *words, size_t n, struct session *s, struct err *err);

#endif
