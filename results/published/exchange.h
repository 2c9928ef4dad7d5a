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
    EXCHANGE_HOP,               /* a point-to-point exchange, averaged over all pairs of IPUs that are boards_apart */
    EXCHANGE_BROADCAST,         /* one tile of `from` sends the same message to all tiles */
    EXCHANGE_GATHER,            /* all tiles send a message to one tile of `from` */
    EXCHANGE_SCATTER,           /* one tile of `from` sends each tile a message of its own */
    EXCHANGE_ALL_TO_ALL,        /* each tile of one chip sends a message to each other tile */
    EXCHANGE_REDUCE,            /* each tile sums n_operands floats, then the sums of all tiles are added */
    EXCHANGE_HOST,              /* the hosts send each tile a message of its own */
    N_EXCHANGE_KINDS
};
extern const char *const exchange_kind_names[N_EXCHANGE_KINDS + 1];      /* NULL-ended */

struct exchange_request {
    enum exchange_kind kind;
    uint32_t from, to;          /* IPUs */
    uint32_t n_ipus;            /* 1: `from`, and `to` if that is another IPU; 2: both of them; more: the first n_ipus IPUs of the machine */
    uint32_t n_tiles;           /* tiles that take part on each IPU */
    uint32_t n_operands;
    double bytes;               /* bytes of one message */
    bool both_ways;             /* for EXCHANGE_P2P: both tiles send at once */
    uint32_t boards_apart;      /* for EXCHANGE_HOP: boards between the IPUs, and whether these are in different columns of the ladder */
    bool other_column;
};
struct exchange_cost { double time_s, bytes; };         /* `bytes` counts all bytes that arrive */

/* The costs of small messages on a board and its chips; 0 if not measured. */
struct message_costs {
    uint64_t exchange_near_cycles;              /* transit of a word between tiles of one column */
    uint64_t exchange_columns;                  /* columns of tiles on a chip */
    uint64_t exchange_island_tiles;             /* the fewest tiles to which a broadcast goes at the rate of shared buses */
    uint64_t exchange_least_cycles;             /* cycles of one word between nearby tiles */
    uint64_t exchange_gather_cycles, exchange_scatter_cycles;       /* extra cycles of a gather or scatter, besides those of its words */
    double rung_message_s, rail_message_s;      /* time that a message occupies a pair of links */
    double rung_through_message_s;              /* time that passing traffic occupies a pair of links of a rung */
    double rail_through_message_s;              /* time that a message which came along a rail occupies the next pair */
};
/* Reads FOLDER/BOARD.csv, which has the form of a sheet. Without such a file all costs are 0 and every tile counts as far. */
bool message_costs_load(struct message_costs *out, const char *folder, const struct machine *m, struct arena *a, struct err *err);

/* Fails if the machine lacks the requested IPUs or tiles, or if a cost that this exchange needs is missing. */
bool exchange_run(struct exchange_cost *out, const struct topology *t, const struct message_costs *costs, const struct exchange_request *r,
                  struct arena *scratch, struct err *err);

#endif
