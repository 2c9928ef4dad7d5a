/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assumed.h - the numbers of the compiler's model that no source gives, each with what it stands for. podbench list assumptions prints them
 * with the values that are assumed on sheets. None was set to meet a row.
 */
#ifndef ASSUMED_H
#define ASSUMED_H

/* name, value, unit, what it enters, why */
#define COMPILER_ASSUMPTIONS(X) \
    X(CHAIN_PARTS_IN_USE, 2, "parts", "time", \
      "groups whose channels fill less than one part in so many of the AMP's input chain are no work for it: so are ResNeXt's groups of 4 on GC2 " \
      "(arXiv:1912.03413 Table 5.5), and those of 8 are; of other chips nothing is published") \
    X(MOVED_PIECE_BYTES, 512, "B", "memory", \
      "what lies together on the sending tile, for the code of an exchange: sixteen channels of a row or so") \
    X(SUPERSTEP_CONTROL_BYTES, 24, "B", "memory", "control code of a superstep on a tile") \
    X(SUPERSTEP_STATE_BYTES, 32, "B", "memory", "vertex state of a superstep on a tile") \
    X(SELECT_CYCLES, 9, "cycles", "time", \
      "of a worker for an element of a selection: each asks its own selector, so that nothing is done by vectors; as PopLibs' broadcast of a vector " \
      "takes where columns do not come in fours")

#define X(name, value, unit, enters, why) name = value,
enum { COMPILER_ASSUMPTIONS(X) };
#undef X

#endif
