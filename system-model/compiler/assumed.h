/*
 * assumed.h - the numbers of the compiler's model that no source gives, each with what it stands for. podbench list assumptions prints them
 * with the values that are assumed on sheets. None was set to meet a row.
 */
#ifndef ASSUMED_H
#define ASSUMED_H

/* name, value, unit, what it enters, why */
#define COMPILER_ASSUMPTIONS(X) \
    X(OWN_PARTS_AT_MOST, 4, "tiles", "time", \
      "an operand held by so many tiles in turn: a tile's own part is not received; beyond, no tile is taken to hold the part that it needs") \
    X(CHAIN_PARTS_IN_USE, 2, "parts", "time", \
      "groups whose channels fill less than one part in so many of the AMP's input chain are no work for it") \
    X(EXPANDED_CHAINS_AT_MOST, 4, "chains", "time", \
      "kernels are unrolled into input channels up to so many of the AMP's input chains") \
    X(MOVED_PIECE_BYTES, 512, "B", "memory", \
      "what lies together on the sending tile, for the code of an exchange: sixteen channels of a row or so") \
    X(SUPERSTEP_CONTROL_BYTES, 24, "B", "memory", "control code of a superstep on a tile") \
    X(SUPERSTEP_STATE_BYTES, 32, "B", "memory", "vertex state of a superstep on a tile")

#define X(name, value, unit, enters, why) name = value,
enum { COMPILER_ASSUMPTIONS(X) };
#undef X

#endif
