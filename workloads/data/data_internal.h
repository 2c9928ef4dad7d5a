/* SPDX-License-Identifier: GPL-3.0-or-later */
/* data_internal.h - what the files of this folder share: readers of formats, and what each kind of data has for the inputs of a graph. */
#ifndef DATA_INTERNAL_H
#define DATA_INTERNAL_H
#include "workloads/data/data.h"

struct data_source { const struct data_request *q; struct arena *a; struct err *err; };

/* Numbers of a file with one row for each item; row_elements is the product of the further dimensions. */
struct data_rows {
    const char *path;
    uint64_t n, row_elements;
    uint32_t n_dims; uint64_t dims[MAX_DIMS];
    const uint8_t *bytes; const float *floats; const int32_t *counts;          /* one of the three is set, and the others are NULL */
};
/* idx.c, npy.c */
bool rows_read_idx(struct data_rows *out, const char *path, const struct data_source *s);
bool rows_read_npy(struct data_rows *out, const char *path, const struct data_source *s);
bool data_missing(const char *path, const char *remedy, struct err *err);       /* returns false, with a message that states the remedy */

/* text.c */
struct pack { uint32_t first, n; };                         /* passages */
struct text {
    uint32_t *words; size_t n_words, cap_words;             /* the words of all passages, as rows of the word table */
    struct pack *passages; size_t n_passages, cap_passages; /* a passage's `first` is an index into words */
    struct pack *packs[N_DATA_PARTS]; size_t n_packs[N_DATA_PARTS];
    uint32_t *order[N_DATA_PARTS]; size_t n_order[N_DATA_PARTS];       /* passages by part; packs are runs of it */
    uint64_t vocabulary, length, sequences, n_masked;
    double known_share;                                     /* the share of words that are in the vocabulary */
};
/* A pack as the graph's inputs want it; label -1: an empty place. */
struct pack_row { int32_t *tokens, *positions, *types, *numbers, *masked, *labels, *starts, *next; };
bool text_read(struct text *out, const char *path, const struct data_source *s);
void text_row(struct pack_row *out, const struct text *t, enum data_part part, uint64_t item, uint64_t key, struct arena *a);
uint64_t data_draw(uint64_t key, uint64_t a, uint64_t b);

#endif
