/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machine.h - what a machine is: a chip, the boards that carry it, the system that links them.
 *
 * Every value comes from a spec sheet (specs/NAME.csv: key,value,unit,source[,note]); a value without
 * a unit or a source is refused. Rates are one way unless the name says otherwise. Link, gateway,
 * memory and network rates do not depend on the chip's clock.
 */
#ifndef MACHINE_H
#define MACHINE_H
#include "system-model/base/base.h"

/* ---- the chip ------------------------------------------------------------------- */

enum generation { GENERATION_OTHER, GENERATION_MK1, GENERATION_MK2, N_GENERATIONS };
extern const char *const generation_names[N_GENERATIONS + 1];   /* NULL-ended */

/* How the planner of convolutions reckons copies by single elements: by what was measured of them, which it then pays, or by a rule
 * that is far below, so that it chooses plans for which the chip pays more. */
enum planner_copies { COPIES_MEASURED, COPIES_ESTIMATED };

struct chip {
    const char *name;
    enum generation generation;             /* chips of one share their design, and what was fitted of it */
    uint64_t n_tiles, n_workers;            /* workers: per tile */
    uint64_t worker_turn_cycles;            /* a worker issues once in so many cycles, or in n_workers if they are more; 0: in n_workers */
    double clock_hz;
    enum planner_copies planner_copies;     /* of the release that its programs are compiled with */
    uint64_t tile_memory_bytes;             /* SRAM per tile */
    uint64_t interleaved_bytes;             /* the part of it with 128-bit loads */
    /* Arithmetic, per tile and cycle. */
    uint64_t mac_fp16_fp16_per_cycle;       /* AMP, fp16 in, fp16 partials */
    uint64_t mac_fp16_fp32_per_cycle;       /* AMP, fp16 in, fp32 partials */
    uint64_t mac_fp32_per_cycle;
    uint64_t mac_fp8_per_cycle;             /* 0: none */
    uint64_t vector_bytes_per_cycle;        /* data path of the vector unit: 8 */
    uint64_t load_bytes_per_cycle;          /* from the standard region */
    uint64_t interleaved_load_bytes_per_cycle;      /* 0: not stated */
    uint64_t weight_load_bytes_per_cycle;   /* coefficients into the AMP unit, as compilers use it by default */
    double amp_efficiency;                  /* share of these rates where the inner loop uses all memory ports; 0: all */
    uint64_t conv_units_fp16_fp16, conv_units_fp16_fp32, conv_units_fp32;   /* AMP units in use by type */
    /* Exchange and sync. */
    uint64_t exchange_bytes_per_cycle;      /* per tile, each way, send and receive at once */
    uint64_t tiles_per_exchange_bus;        /* tiles that may receive the same data together at twice the rate */
    double exchange_efficiency;             /* measured share of the nominal rate */
    uint64_t on_chip_sync_cycles;           /* a sync of the tiles alone */
    uint64_t compute_set_cycles;            /* what starting a compute set costs besides; fitted, 0 without a fit */
    uint64_t global_sync_cycles;            /* across chips, per exchange between them */
    uint64_t exchange_near_cycles;          /* transit of a word to a tile of the same column; exchange_transit_cycles if the sheet has none */
    uint64_t exchange_transit_cycles;       /* transit to the farthest tile */
    uint64_t supervisor_cycles;             /* fixed cost of starting a vertex on a tile */
    /* Off chip. */
    uint64_t n_links;
    double link_bytes_per_s;                /* nominal, one link, one way */
    double link_efficiency;                 /* protocol */
    double host_link_bytes_per_s;           /* the chip's own port, one way, after protocol */
    double tdp_w;                           /* 0: not published */
};

/* ---- the system: how many, how linked --------------------------------------------- */

enum domain_topology { DOMAIN_NONE, DOMAIN_LADDER, DOMAIN_TORUS };      /* rungs and rails; torus: rails closed */
enum gateway_topology { GATEWAY_NONE, GATEWAY_DIRECT, GATEWAY_SWITCHED, GATEWAY_NETWORK };

struct machine {
    const char *name, *board_name, *chip_name;
    struct chip chip;
    uint64_t n_ipus;
    uint64_t ipus_per_board;
    uint64_t ipus_per_domain;               /* IPU-Link domain: at most 64 */
    enum domain_topology domain_topology;
    enum gateway_topology gateway_topology; /* between domains */
    uint64_t rung_links, rail_links;        /* links of one IPU to its rung partner, to each rail neighbour */
    uint64_t rung_through_links;            /* of the rung's links, those reserved for pass-through traffic (GC2); 0: none */
    double rung_latency_s, rail_latency_s;  /* one hop; the sync before it is apart */
    double sync_hop_latency_s;              /* the sync's way from a board to the next; it goes there and back */
    double rung_message_s, rail_message_s;  /* a pair of links is held so long by each message of another tile; 0: unknown */
    double rung_through_message_s;          /* the same of a pair for pass-through traffic */
    double rail_through_message_s;          /* the same of a message that came along a rail */
    double gateway_bytes_per_s;             /* one board's gateway links, one way */
    double gateway_efficiency, gateway_latency_s;
    double switch_latency_s;                /* each switch between two gateways adds it; 0: there is none */
    double streaming_bytes_per_s;           /* one board's DDR, shared by its IPUs; 0: none */
    double streaming_efficiency;
    uint64_t streaming_bytes;
    uint64_t ipus_per_host;
    double host_network_bytes_per_s;        /* one board to its host, one way, after protocol */
    double host_latency_s;
    uint64_t pcie_shared_ipus;              /* IPUs behind one shared host port (DSS 8440: 4); 1: none shared */
    double pcie_shared_bytes_per_s;         /* one way, after protocol */
    double board_power_w;                   /* at work; 0: not published */
    double board_idle_power_w;              /* while its chips wait; 0: not published */
    double board_power_cap_w;               /* never more; 0: not published */
    double unused;                          /* facts on a sheet that no cost reads; they are checked and printed */
    struct sheet *sheets;                   /* the rows it was built from, for printing: chip, board, system */
    size_t n_sheets;
};

struct sheet_row { const char *key, *value, *unit, *source, *note; uint32_t line; };    /* line 0: from no sheet, but given for one simulation */
/* What a value rests on, as its source says: measured or stated, fitted ("fitted ..."), or assumed ("assumed: why"). */
enum origin { ORIGIN_SOURCED, ORIGIN_FITTED, ORIGIN_ASSUMED, N_ORIGINS };
extern const char *const origin_names[N_ORIGINS];
enum origin sheet_row_origin(const struct sheet_row *row);
struct sheet { const char *path, *name; struct sheet_row *rows; size_t n_rows; };

/* Loads one spec sheet and checks its columns: unit and source on every row, no repeated key. */
bool sheet_load(struct sheet *out, const char *path, struct arena *a, struct err *err);
const struct sheet_row *sheet_find(const struct sheet *s, const char *key);     /* NULL: it has no such key */

/* name: a sheet in specs_dir, or a path ending in .csv. A system names its board, a board its chip;
 * a board or chip alone is a machine too (one board, one IPU). An unknown name lists the known ones. */
bool machine_load(struct machine *out, const char *name, const char *specs_dir, struct arena *a, struct err *err);
/* With other values in place of the sheets' (what_if.h); those that are no machine's stay unused. */
struct what_ifs;
bool machine_load_changed(struct machine *out, const char *name, const char *specs_dir, const struct what_ifs *changes,
                          struct arena *a, struct err *err);
/* The row that a value of this machine comes from, outermost first; NULL: none has it. sheet may be NULL. */
const struct sheet_row *machine_row(const struct machine *m, const char *key, const struct sheet **sheet);

/* The names that machine_load takes in a folder of sheets, sorted; sheets of other things are left out. */
bool machine_names(char ***names, size_t *n, const char *specs_dir, struct arena *a, struct err *err);

/* The sheet with its sources, and what is derived from it: peak rates, total memory, aggregate exchange. */
void machine_print(FILE *f, const struct machine *m);

/* From one instruction of a worker to its next. */
static inline uint64_t chip_turn_cycles(const struct chip *c)
{
    return c->worker_turn_cycles > c->n_workers ? c->worker_turn_cycles : c->n_workers;
}

/* What a tile receives, at the measured share of the nominal rate. */
static inline double chip_exchange_bytes_per_cycle(const struct chip *c)
{
    return (double)c->exchange_bytes_per_cycle * c->exchange_efficiency;
}

/* What a superstep costs besides its exchange and its compute. */
static inline uint64_t superstep_cycles(const struct chip *c)
{
    return c->on_chip_sync_cycles + c->compute_set_cycles;
}

/* peak flop/s of one chip by precision; 2 flop a multiply-accumulate. */
double chip_peak_flop_per_s(const struct chip *c, uint64_t mac_per_cycle);

#endif
