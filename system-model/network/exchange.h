/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exchange.h - one exchange between tiles of a machine, or between its hosts and its tiles, as micro-benchmarks measure it.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H
#include "system-model/network/topology.h"

enum exchange_kind {
    EXCHANGE_P2P,               /* each tile of `from` sends a message to a tile of `to` */
    EXCHANGE_HALVES,            /* each tile of each half of the IPUs sends a message to the other half, evenly spread */
    EXCHANGE_HOP,               /* P2P, as the mean over all pairs of IPUs that are boards_apart */
    EXCHANGE_BROADCAST,         /* one tile of `from` to all tiles */
    EXCHANGE_GATHER,            /* all tiles to one tile of `from` */
    EXCHANGE_SCATTER,           /* one tile of `from` sends a message to each tile */
    EXCHANGE_ALL_TO_ALL,        /* on one chip: each tile sends a message to each */
    EXCHANGE_REDUCE,            /* n_operands floats on each tile are summed, then the sums of all tiles */
    EXCHANGE_HOST,              /* hosts send a message to each tile */
    N_EXCHANGE_KINDS
};
extern const char *const exchange_kind_names[N_EXCHANGE_KINDS];

struct exchange_request {
    enum exchange_kind kind;
    uint32_t from, to;          /* IPUs */
    uint32_t n_ipus;            /* 1: `from`, and `to` if it is another; 2: both; n > 2: the first n IPUs of the machine */
    uint32_t n_tiles;           /* the tiles of each IPU */
    uint32_t n_operands;
    double bytes;               /* a message */
    bool both_ways;             /* P2P: in both directions at once */
    uint32_t boards_apart;      /* HOP: between the two IPUs, which are in the same column of the ladder or not */
    bool other_column;
};
struct exchange_cost { double time_s, bytes; };         /* bytes: all that arrives */

/* Fails if the machine does not have the IPUs or the tiles, or its chip's sheet lacks a constant. */
bool exchange_run(struct exchange_cost *out, const struct topology *t, const struct exchange_request *r, struct arena *scratch, struct err *err);

#endif
