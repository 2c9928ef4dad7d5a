/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_words.c - podbench list words: words in answers that newcomers to these machines may not know. docs/glossary.md is made from it.
 */
#include "harness/harness.h"

struct explained_word { const char *word, *meaning; };

static const struct explained_word words[] = {
    { "IPU", "the processor: 1,216 or 1,472 tiles on one chip, without a shared memory" },
    { "tile", "a core with a few hundred kB of memory of its own; a model fits when the fullest tile of each IPU does" },
    { "pod", "IPUs in machines of four, linked: a bow-pod16 has 16 IPUs in four Bow-2000" },
    { "recipe", "a file that says what runs and how: model, system, sizes, splits, precision, training; 'list recipes' names those of published runs" },
    { "micro-batch", "the samples that an IPU works on at a time" },
    { "gradient accumulation", "how many micro-batches a replica adds up before the weights change" },
    { "global batch", "the samples between two changes of the weights: micro-batch x gradient accumulation x replicas" },
    { "step", "everything between two changes of the weights" },
    { "replica", "a copy of the model on one or several IPUs; replicas work on different samples and average their gradients" },
    { "stage", "the layers that one IPU of a replica computes before it hands its result to the next" },
    { "bubble", "time in which an IPU of a pipeline has nothing to do: while it fills and drains, and while it waits for a slower stage" },
    { "turn", "waiting in the weight update while other IPUs have theirs, where a framework updates one after the other" },
    { "stash", "activations that a stage keeps from the forward pass until the backward pass of the same micro-batch" },
    { "recomputation", "computing activations a second time instead of keeping them, which saves memory and costs time" },
    { "AMP", "the unit of a tile that multiplies matrices; all other work runs on the slower vector unit" },
    { "available memory", "the share of a tile's memory that products may use for temporaries; a larger share is faster, but leaves less memory for everything else" },
    { "exchange", "data that tiles of a chip send each other between two computations" },
    { "sync", "the wait of all tiles, or all IPUs, for the last one" },
    { "all-reduce", "adding gradients over all replicas" },
    { "RTS", "replicated tensor sharding: each replica keeps a part of the optimizer's state and updates that part of the weights" },
    { "streaming memory", "memory beside the chips, reached over the host's port: larger, and slower by far" },
    { "I/O tiles", "tiles that only load and store, so that others can compute meanwhile" },
    { "MFU", "model FLOP utilisation: the arithmetic of the model over what the chips could do at their full rate" },
    { "calibrate, validate, context", "what a published figure may do: shape constants of the model, only test it, or only stand beside it" },
};

#define C(member) { COLUMN(struct explained_word, member), .heading = #member }
static const struct table_column word_columns[] = { C(word), C(meaning) };
#undef C

int list_words(const struct options *o, struct session *s, struct err *err)
{
    (void)err;
    if (o->format == FORMAT_MARKDOWN)
        document_line_for(&s->answer, IN_MARKDOWN, "# Words\n\nMade by `podbench list words --format markdown`.\n");
    document_table(&s->answer, TABLE_OF(word_columns, words, sizeof words / sizeof *words));
    return EXIT_DONE;
}
