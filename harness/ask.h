/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask.h - what the words of podbench ask mean.
 */
#ifndef ASK_H
#define ASK_H
#include "harness/harness.h"
#include "results/study/search.h"

/* "bert-large on bow-pod16 train at least 2000/s fits with 95 %", "llama2-13b on pod64 cheapest at least 10 tokens/s for 16 texts". */
struct asked {
    const char *model;                  /* a built-in model, or the path of an ONNX file */
    const char *system;                 /* a sheet */
    uint64_t ipus;                      /* number of IPUs to use: all of the system, or as many as the words say */
    const char *mode;                   /* train or infer; NULL where the words do not say */
    enum objective objective;
    bool has_objective;                 /* the words name it */
    double least_throughput;            /* samples/s; 0 if none is asked for */
    double least_token_rate;            /* new tokens a second of all texts; 0 if none is asked for */
    uint64_t most_texts;                /* the most texts at a time; 0: as many as where the search begins */
    uint64_t row_tokens;                /* tokens of a row; 0: as where the search begins */
    double least_fits;                  /* the least probability to fit that is accepted; 0: the default */
};
/* Names may be written without signs and in any case ("POD16", "resnet 50"); "16 bow" is the smallest system of that chip with this many IPUs. Fails at
 * a word without a meaning, with the words that there are, and at a second word of a kind. */
bool ask_read_words(struct asked *out, const char *const *words, size_t n, struct session *s, struct err *err);

#endif
