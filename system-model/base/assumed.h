/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assumed.h - numbers of the model that are in code and that no source at hand gives, each with its meaning. podbench list assumptions prints them
 * with the values that are assumed on sheets; make assumed halves and doubles each (docs/maintainers/trust.md). An entry says so if calibrating rows
 * prompted it: the rows showed that something was missing, but the number itself is from elsewhere. PopLibs means its commit 7eac0f2, which
 * vertex_cost.c follows; an entry names a file of it if one was recorded.
 */
#ifndef ASSUMED_H
#define ASSUMED_H

/* name, value, unit, what it affects, meaning and reason */
#define ASSUMED(X) \
    X(PIECE_CHANNELS, 16, "channels", "time", \
      "size of the pieces in which a tile holds rows that a product made: a layer of tokens or an image is assumed to have the layout of a product, " \
      "in groups of the AMP's output channels. That such rows are summed and scaled in pieces was prompted by calibrating rows of BERT") \
    X(FURTHER_SUM_CYCLES, 16, "cycles", "time", "worker cycles per result after the first, as in PopLibs' general reductions") \
    X(DROPOUT_STATE_SUPERSTEPS, 3, "supersteps", "time", \
      "of a dropout, besides its mask: poprand reads the state of the generators, which stochastic rounding uses too, sets it from the seed " \
      "and restores it; prompted by calibrating rows of BERT") \
    X(GENERATOR_STATE_BYTES, 16, "B", "time", "state of a worker's generator that is read or set: 128 bits") \
    X(DROPOUT_SEED_BYTES, 8, "B", "time", "seed that reaches every tile first: two words") \
    X(COPIED_BYTES_PER_CYCLE, 4, "B/cycle", "time", \
      "of a tile, for copies of regions before and after an operation of one's own: a profile of a blur on GC2 shows 5,741 cycles for 22.6 kB and 4,826 for " \
      "16.9 kB; the vertices of such copies are not published") \
    X(LOOP_COUNTER_SUPERSTEPS, 1, "supersteps", "time", \
      "of each iteration of a serial loop, to count it: the counter is on a tile like any number. PopLibs' planner leaves it out, as it does " \
      "all syncs; prompted by calibrating rows of BERT") \
    X(STASH_INDEX_SUPERSTEPS, 2, "supersteps", "time", \
      "after each slice of a pipeline's stash: the index is incremented, and taken modulo the depth") \
    X(RESULTS_LIE_ALIKE, 1, "flag", "time", \
      "results of one shape and one plan are on the same tiles, so that nothing is sent to add them: the first tile of a convolution follows " \
      "from its parameters") \
    X(CHAIN_PARTS_IN_USE, 2, "parts", "time", \
      "groups whose channels fill less than one part in so many of the AMP's input chain do not use it: ResNeXt's groups of 4 on GC2 do not " \
      "(arXiv:1912.03413 Table 5.5), and those of 8 do; nothing is published for other chips") \
    X(TRANSDUCER_CELL_CYCLES, 44, "cycles", "time", \
      "worker cycles per cell of the transducer's lattice: PopLibs has this for CTC, two additions of logarithms at 16, loads and stores; " \
      "Graphcore's own loss is not published") \
    X(QUARTERS_GATHERED, 1, "flag", "time", \
      "a chain of the AMP takes 32 quarters of a position, but results are in groups of 16: two groups are brought together before the loop; " \
      "no source has poplin's plans of quarters") \
    X(ONLY_HALVES_JOINED, 1, "flag", "time", \
      "kernel elements of channels that are not in fours become channels of the AMP only if they are halves; others are padded to its grain. No " \
      "source has such plans; prompted by calibrating rows: with such plans, ResNet-50 in fp32 on C600 is predicted 9 % too fast") \
    X(QUARTER_METADATA_BYTES, 4, "B", "time", \
      "format and scale of quarters, which every tile that casts them reads; they are cast two at a time, like halves and floats: no source " \
      "has their vertex") \
    X(BROADCAST_LEAST_RANKS, 3, "ranks", "time", \
      "all-reduces of at least so many ranks are broadcast if that is faster. When GCL does so is not known; two ranks keep the ring, as in " \
      "its open ancestor (docs/maintainers/trust.md)") \
    X(TORUS_LINK_BY_LINK, 1, "flag", "time", \
      "with framework.torus_exchanges=link-by-link each exchange on a torus takes the copies of a step one link further; so do rings that do not meet in the " \
      "middle (docs/maintainers/unexplained.md)") \
    X(UNCUT_TILE_BYTES, 128, "B", "time", \
      "per tile: on a torus a vector of at most this size is sent to all at once, and a larger one link by link, as the pieces of a ring are, " \
      "which have at least as much (PopLibs). How much an IPU on the way can buffer is not at hand") \
    X(PART_OF_TORUS_OPEN, 1, "flag", "time", \
      "a program on part of a torus (2^k IPUs) has a ladder: the loop closes over all IPUs; no source at hand states the links of a partition") \
    X(NETWORK_SWITCHES, 3, "switches", "time", "between two pods whose gateways are joined by a network: a leaf, the spine and a leaf") \
    X(MOVED_PIECE_BYTES, 512, "B", "memory", \
      "contiguous bytes on the sending tile, which decide the code of an exchange: a row of sixteen channels or so") \
    X(SUPERSTEP_CONTROL_BYTES, 17, "B", "memory", \
      "control code of a superstep: a layer of BERT-Large that is not outlined has 920 B a tile (popliner, test_popart_bert_inf.py), and 53 " \
      "compute sets in its plan here; other operations are assumed to have as much") \
    X(DISTANCE_CYCLES, 5, "cycles", "time", \
      "8 bytes of a sum of absolute differences: two loads, a difference, an absolute value and a sum in compiled C++ (l1distance.codelet.cpp of " \
      "graphcore/distributed-kge-poplar at 0dfc4be, which states no cycles)") \
    X(DISTANCE_SLOPE_CYCLES, 16, "cycles", "time", \
      "8 bytes of its gradient: two loads, a difference, a comparison, a sign by way of integers, a product and a sum there") \
    X(DISTANCE_FIXED_CYCLES, 30, "cycles", "time", "start of such a vertex, the sum of a vector's elements, and the store") \
    X(SUPERSTEP_STATE_BYTES, 11, "B", "memory", \
      "vertex state of a superstep that is not a product's own: that layer has 713 B a tile, of which its six products take 192 by PopLibs' fields, and 47 other " \
      "compute sets in its plan here") \
    X(EXCHANGE_BYTES, 12, "B", "memory", \
      "start and end of an exchange: an adder on GC2 has 50 B of internal exchange code (TensorFlow's logging.rst); that it has four exchanges " \
      "is assumed") \
    X(PIECES_PER_BYTE, 2, "pieces", "memory", \
      "received pieces for each byte of exchange code, about what the 696 B of that layer leave for the 512 pieces planned here") \
    X(FIELD_PIECE_BYTES, 32, "B", "memory", \
      "of an image that a convolution of single positions receives, one instruction: a position's 16 halves. Block 0 of EfficientNet-EdgeTPU-L has 584 " \
      "for 17.6 kB (popliner, test_profile.py), and its 1x1 convolutions have 1.2 to 2.4 kB of exchange code") \
    X(KERNEL_PIECE_BYTES, 93, "B", "memory", "the same for wider kernels: 282 instructions for 26 kB there, and 0.8 to 1.2 kB") \
    X(MOST_FIELD_PIECES, 584, "pieces", "memory", \
      "of one convolution: the most there. In proportion to exchanged bytes, ResNet-50 of 64 images in fp16 and of 16 in fp32, whose rates calibrate, would lack 174 and " \
      "67 kB of a C600's tile, where they ran") \
    X(INSTRUCTION_BYTES, 4, "B", "memory", "of exchange code for each such piece (PopLibs counts as much for a message: DynamicSlice.cpp:4500)") \
    X(UNLIKE_COPY_PIECES, 215, "pieces", "memory", \
      "at most, one for each word, of an image that is brought into another convolution's layout: a residual sum has 861 B of exchange code there for 682 B of " \
      "an operand") \
    X(OUTLINED_RUN, 10, "operations", "memory", \
      "elementwise operations share code only in runs of so many that repeat: PopART's threshold of 1.0 at 0.1 an operation (sessionoptions.hpp:849, " \
      "op.hpp:1617)") \
    X(CALL_BYTES, 17, "B", "memory", "a call of code that is shared: as long as a superstep's control") \
    X(SMALL_CODELET_BYTES, 200, "B", "memory", \
      "the smallest codelets, of elementwise work: popliner has 200 to 400 B, and the whole of BERT-Large has less vertex code than is counted") \
    X(STACK_BYTES, 3168, "B", "memory", "stacks of the supervisor and the workers: the adder's on GC2, assumed to be those of other chips") \
    X(EMPTY_CONTROL_BYTES, 700, "B", "memory", "control code that every program has: the adder's") \
    X(EMPTY_VERTEX_CODE_BYTES, 140, "B", "memory", "vertex code that every program has: the adder's") \
    X(HOST_EXCHANGE_BYTES, 289, "B", "memory", "code of the exchange with the host: the adder's, which has three streams")

#define X(name, value, unit, enters, why) name = value,
enum { ASSUMED(X) };
#undef X

#endif
