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
    EXCHANGE_BROADCAST,         /* one tile of `from` sends a message to all tiles */
    EXCHANGE_GATHER,            /* all tiles send a message to one tile of `from` */
    EXCHANGE_SCATTER,           /* one tile of `from` sends a message to each tile */
    EXCHANGE_ALL_TO_ALL,        /* on one chip: each tile sends a message to each */
    EXCHANGE_REDUCE,            /* n_operands floats on each tile are summed, then the sums of all tiles */
    EXCHANGE_HOST,              /* hosts send a message to each tile */
    N_EXCHANGE_KINDS
};
extern const char *const exchange_kind_names[N_EXCHANGE_KINDS + 1];      /* NULL-ended */

struct exchange_request {
    enum exchange_kind kind;
    uint32_t from, to;          /* IPUs */
    uint32_t n_ipus;            /* 1: `from`, and `to` if it is another; 2: both; n > 2: the first n IPUs of the machine */
    uint32_t n_tiles;           /* the tiles of each IPU */
    uint32_t n_operands;
    double bytes;               /* bytes of each message */
    bool both_ways;             /* P2P: both tiles send at once */
    uint32_t boards_apart;      /* HOP: between the two IPUs, which are in the same column of the ladder or not */
    bool other_column;
};
struct exchange_cost { double time_s, bytes; };         /* bytes: all bytes that arrive */

/* The costs of small messages on a board and its chips; 0 if not measured. */
struct message_costs {
    uint64_t exchange_near_cycles;              /* transit of a word to a tile of the same column */
    uint64_t exchange_columns;                  /* columns of tiles of a chip */
    uint64_t exchange_island_tiles;             /* fewest tiles that a broadcast reaches at the rate of shared buses */
    uint64_t exchange_least_cycles;             /* a word from or to nearby tiles */
    uint64_t exchange_gather_cycles, exchange_scatter_cycles;       /* cycles to and from one tile, besides those of its words */
    double rung_message_s, rail_message_s;      /* time for which a message occupies a pair of links */
    double rung_through_message_s;              /* occupancy of a rung pair that carries only traffic passing through */
    double rail_through_message_s;              /* occupancy for a message that came along a rail */
};
/* Reads FOLDER/BOARD.csv, a table in the form of a sheet. A board without one has no costs, and its words are all as far as the farthest. */
bool message_costs_load(struct message_costs *out, const char *folder, const struct machine *m, struct arena *a, struct err *err);

/* Fails if the machine does not have the IPUs or the tiles, or if a cost is missing that this exchange needs. */
bool exchange_run(struct exchange_cost *out, const struct topology *t, const struct message_costs *costs, const struct exchange_request *r,
                  struct arena *scratch, struct err *err);

#endif
