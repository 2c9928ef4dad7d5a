/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data.h - samples for the inputs of a graph: images, text, speech, from files.
 *
 *   images   IDX files, which may be compressed by gzip: FOLDER/train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz], and the same of t10k,
 *            which is evaluated on (LeCun's MNIST and those that copy its format)
 *   text     one passage a line. Every 20th is evaluated on. Words are lower case; the vocabulary has the most frequent of the passages that are trained
 *            on. A sample is a passage in two halves, the second one of another passage half of the time (BERT, arXiv 1810.04805); several
 *            samples in the order of the file make a pack
 *   speech   NPY files: FOLDER/train-features.npy [utterances, frames, width] of float, train-labels.npy [utterances, labels] of int32, and the same
 *            of eval
 *
 * The graph says which is wanted, by the names of its inputs. An item is what fills one row of the micro-batch: an image, a pack, an utterance. All that is
 * drawn at random depends on a key and the item alone.
 */
#ifndef DATA_H
#define DATA_H
#include "system-model/graph/graph.h"

enum data_part { DATA_TRAIN, DATA_EVAL, N_DATA_PARTS };

struct data_request {
    const struct graph *graph;
    const char *where, *path;           /* path: the data's file or folder, NULL if not given; messages begin with `where`, the recipe's path */
    uint32_t sequences;                 /* the most sequences in a pack */
};

struct dataset;
/* Reads everything and checks that it has the graph's shapes, and labels within its classes. Messages name file, place and remedy. */
bool dataset_open(struct dataset **out, const struct data_request *q, struct arena *a, struct err *err);
uint64_t dataset_items(const struct dataset *d, enum data_part part);
double dataset_samples_per_item(const struct dataset *d);       /* sequences in a pack, on average over those that are trained on */
/* Fills an input or state of the graph, one row from each item. `key` decides everything that is drawn. Does nothing if no operation reads the
 * tensor. */
void dataset_fill(const struct dataset *d, float *to, uint32_t tensor_id, enum data_part part, const uint64_t *items, uint64_t key);
const char *dataset_line(const struct dataset *d, struct arena *a);     /* files and numbers of items, in one line */

/* Item number i of n in the order that the key draws: a permutation of 0 .. n - 1. */
uint64_t shuffled(uint64_t i, uint64_t n, uint64_t key);

#endif
