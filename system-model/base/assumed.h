/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assumed.h - the numbers of the model that stand in code and that no source at hand gives, each with what it stands for. podbench list
 * assumptions prints them with the values that are assumed on sheets; make assumed halves and doubles each (docs/trust.md). What calibrating
 * rows prompted is told: the rows said that something was missing, the number itself is from elsewhere. PopLibs is 7eac0f2, as it was read for
 * vertex_cost.c; of which file is recorded only where one is named.
 */
#ifndef ASSUMED_H
#define ASSUMED_H

/* name, value, unit, what it enters, why */
#define ASSUMED(X) \
    X(SELECT_CYCLES, 9, "cycles", "time", \
      "of a worker for an element of a selection: PopLibs has 9 for a broadcast of a vector where columns do not come in fours, and here each " \
      "element asks its own selector, so that nothing is done by vectors. Looked for because rows that calibrate were predicted too fast " \
      "(GPT-2 by 20 %, Conformer by 11 %) with 3 for four elements, as of any operation of two operands") \
    X(PIECE_CYCLES, 10, "cycles", "time", \
      "of a worker for each piece of a row that meets its sum or mean: PopLibs has as much for a row of a broadcast and for a partial of a " \
      "general reduction; that both are paid in layers of tokens is assumed, and was prompted by rows of BERT that calibrate") \
    X(PIECE_CHANNELS, 16, "channels", "time", \
      "such pieces: a row of tokens is taken to lie as a product leaves it, in groups of the AMP's output channels") \
    X(FURTHER_SUM_CYCLES, 16, "cycles", "time", "of a worker for each result after its first, as in PopLibs' general reductions") \
    X(DROPOUT_STATE_SUPERSTEPS, 3, "supersteps", "time", \
      "of a dropout beside its mask: poprand reads the state of the generators, which rounding draws from as well, sets it from the seed and " \
      "puts it back; prompted by rows of BERT that calibrate") \
    X(GENERATOR_STATE_BYTES, 16, "B", "time", "of a worker, read or set so: 128 bits") \
    X(DROPOUT_SEED_BYTES, 8, "B", "time", "which reach every tile before: two words") \
    X(LOOP_COUNTER_SUPERSTEPS, 1, "supersteps", "time", \
      "of each step of a serial loop, to count it: the counter lies on a tile as any number does. PopLibs' planner leaves it out, as it does " \
      "all syncs; prompted by rows of BERT that calibrate") \
    X(STASH_INDEX_SUPERSTEPS, 2, "supersteps", "time", \
      "after each slice of a pipeline's stash: the index goes on by one, and the remainder by the depth is taken") \
    X(RESULTS_LIE_ALIKE, 1, "flag", "time", \
      "results of one shape that one plan laid out lie on the same tiles, so that nothing is sent to add them: on which tile a convolution " \
      "begins follows from its parameters") \
    X(CHAIN_PARTS_IN_USE, 2, "parts", "time", \
      "groups whose channels fill less than one part in so many of the AMP's input chain are no work for it: so are ResNeXt's groups of 4 on " \
      "GC2 (arXiv:1912.03413 Table 5.5), and those of 8 are; of other chips nothing is published") \
    X(TRANSDUCER_CELL_CYCLES, 44, "cycles", "time", \
      "of a worker for a cell of the transducer's lattice: as PopLibs has it for CTC, two additions of logarithms at 16, loads and stores; " \
      "Graphcore's own loss is not published") \
    X(TOP_K_SELECTIONS, 2, "supersteps", "time", \
      "of a top-k's stage after its comparison, one for the values and one for their places; no source has the vertices") \
    X(QUARTERS_GATHERED, 1, "flag", "time", \
      "a chain of the AMP takes 32 quarters of a position, of which results have left two groups of 16: they are brought together before the " \
      "loop; no source has poplin's plans of quarters") \
    X(QUARTER_METADATA_BYTES, 4, "B", "time", \
      "the format and the scale of quarters, which every tile that casts them reads; they are cast two at a time, as halves and floats are: " \
      "no source has their vertex") \
    X(BROADCAST_LEAST_RANKS, 3, "ranks", "time", \
      "all-reduces of so many ranks are broadcast where that is faster. When GCL does is not known; two keep the ring, as in its open " \
      "ancestor (docs/evidence.md)") \
    X(TORUS_LINK_BY_LINK, 1, "flag", "time", \
      "on a torus each exchange takes the copies of a ring's step one link further; PopLibs splits a step where replicas are wider than two IPUs, " \
      "into how many exchanges is not at hand (docs/unexplained.md)") \
    X(UNCUT_TILE_BYTES, 128, "B", "time", \
      "on each tile: a vector of no more is sent to all at once on a torus, and one of more link by link, as the pieces of a ring are, which have at " \
      "least as much (PopLibs). What an IPU on the way holds is not at hand") \
    X(PART_OF_TORUS_OPEN, 1, "flag", "time", \
      "a program on part of a torus (2^k IPUs) has a ladder: the way round goes over all IPUs; no source at hand states a partition's links") \
    X(NETWORK_SWITCHES, 3, "switches", "time", "between two pods whose gateways meet in a network: a leaf, the spine and a leaf") \
    X(RECEIVED_SUMS_PART, 2, "parts", "memory, and by it the choice of splits", \
      "of the sums that are shared a tile has received one part in so many while its own still live") \
    X(MOVED_PIECE_BYTES, 512, "B", "memory", \
      "what lies together on the sending tile, for the code of an exchange: sixteen channels of a row or so") \
    X(SUPERSTEP_CONTROL_BYTES, 24, "B", "memory", "control code of a superstep on a tile") \
    X(SUPERSTEP_STATE_BYTES, 32, "B", "memory", "vertex state of a superstep on a tile")

#define X(name, value, unit, enters, why) name = value,
enum { ASSUMED(X) };
#undef X

#endif
