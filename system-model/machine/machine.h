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

/* ---- spec sheets ------------------------------------------------------------------ */

struct sheet_row { const char *key, *value, *unit, *source, *note; uint32_t line; };    /* line 0: on no sheet, but given for one simulation */
struct sheet { const char *path, *name; struct sheet_row *rows; size_t n_rows; };
/* The kind of a value's source: sourced is measured or stated, else the source begins with "fitted" or "assumed". */
enum origin { ORIGIN_SOURCED, ORIGIN_FITTED, ORIGIN_ASSUMED, N_ORIGINS };
extern const char *const origin_names[N_ORIGINS];
enum origin sheet_row_origin(const struct sheet_row *row);

/* Loads one sheet and checks its columns: a unit and a source in every row, no repeated key. */
bool sheet_load(struct sheet *out, const char *path, struct arena *a, struct err *err);
const struct sheet_row *sheet_find(const struct sheet *s, const char *key);     /* NULL if the sheet has no such key */

/* Values given for one simulation in place of those on sheets: "machine.clock_hz=2e9". The prefix is the same for every sheet: chip, board,
 * system, fitted constants, software. The loader of a sheet checks such a value as it checks those of the sheet. */
#define SHEET_OVERRIDE_SECTION "machine"
struct sheet_override { const char *key, *value; bool used; };      /* an empty value removes the row */
struct sheet_cache { struct sheet *sheets; size_t n, cap; struct arena *arena; };   /* sheets as they are in their files, each read once */
/* At most one override of each key. cache may be NULL; if not, its arena must outlive what is loaded through it. */
struct sheet_overrides { struct sheet_override *items; size_t n; struct sheet_cache *cache; };

bool is_sheet_override(const char *override);       /* "machine.KEY=value", not a key of a recipe */
/* Separates "machine.KEY=value" from the other overrides, which keep their order in rest. The last value of a key holds. */
bool sheet_overrides_split(struct sheet_overrides *out, const char ***rest, size_t *n_rest, const char *const *overrides, size_t n_overrides,
                           struct arena *a, struct err *err);
/* Refuses overrides that no sheet has used. The nearest of `names` are offered. */
bool sheet_overrides_check(const struct sheet_overrides *w, const char *const *names, size_t n, struct err *err);

/* In the functions below, w may be NULL. sheet_read() loads a sheet through the cache, with rows that may be changed. */
bool sheet_read(struct sheet *out, const struct sheet_overrides *w, const char *path, struct arena *a, struct err *err);
/* Puts the values into the rows that the sheet has, and marks these values as used. */
void sheet_apply_overrides(struct sheet *s, const struct sheet_overrides *w, struct arena *a);
/* Reads a sheet, applies the overrides and hands each row to set(). A sheet that does not exist has no rows. */
typedef bool sheet_row_reader(void *out, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err);
bool sheet_read_rows(struct sheet *s, const struct sheet_overrides *w, const char *path, sheet_row_reader *set, void *out, struct arena *a,
                     struct err *err);
/* Adds a row for an override whose key the sheet does not have, and marks it used. */
void sheet_add_override(struct sheet *s, struct sheet_override *w, const char *unit, struct arena *a);
/* "path:12: key", or the override that set the row, to head a message. */
const char *sheet_row_place(const struct sheet *s, const struct sheet_row *row, struct arena *a);
/* Sets the field to the row's value; refuses another unit than the field's. */
bool sheet_row_set(void *record, const struct field *f, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err);

/* ---- the chip ------------------------------------------------------------------- */

enum generation { GENERATION_OTHER, GENERATION_MK1, GENERATION_MK2, N_GENERATIONS };
extern const char *const generation_names[N_GENERATIONS + 1];   /* NULL-ended */

/* How the planner of convolutions estimates copies of single elements: at their measured cost, or by a rule that is far too low, so that the plans
 * it chooses cost the chip more than estimated. */
enum planner_copies { COPIES_MEASURED, COPIES_ESTIMATED };
/* How often the planner counts the bytes of an input that serial steps share: once; or twice, because it is sent before the loop and read again by a
   step. */
enum planner_input { INPUT_TWICE, INPUT_ONCE };

struct chip {
    const char *name;
    enum generation generation;             /* the generation of the chip: chips of one generation share a design and its fitted constants */
    uint64_t n_tiles, n_workers;            /* workers: per tile */
    uint64_t worker_turn_cycles;            /* cycles between two instructions of a worker, at least n_workers; 0: n_workers */
    double clock_hz;
    enum planner_copies planner_copies;     /* the rule of the software release that compiles the chip's programs */
    enum planner_input planner_input;       /* how the same release counts inputs of serial steps */
    uint64_t tile_memory_bytes;             /* SRAM of a tile */
    uint64_t interleaved_bytes;             /* the part of tile memory with 128-bit loads */
    double memory_error;                    /* standard deviation of ln(bytes needed / bytes counted), for all but tensors that always live */
    double memory_gaps_share;               /* share by which short-lived tensors take more of the fullest tile than their plan counts */
    /* Arithmetic, per tile and cycle. */
    uint64_t mac_fp16_fp16_per_cycle;       /* AMP, fp16 in, fp16 partials */
    uint64_t mac_fp16_fp32_per_cycle;       /* AMP, fp16 in, fp32 partials */
    uint64_t mac_fp32_per_cycle;
    uint64_t mac_fp8_per_cycle;             /* 0 if the AMP has no fp8 */
    uint64_t vector_bytes_per_cycle;        /* data path of the vector unit: 8 */
    uint64_t load_bytes_per_cycle;          /* loads from the standard region */
    uint64_t interleaved_load_bytes_per_cycle;      /* 0 if not stated */
    uint64_t weight_load_bytes_per_cycle;   /* bytes of weights that are loaded into the AMP unit, in the way that compilers use by default */
    double amp_efficiency;                  /* share of these rates in inner loops that use all memory ports; 0 means the full rate */
    uint64_t conv_units_fp16_fp16, conv_units_fp16_fp32, conv_units_fp32;   /* AMP units in use by type */
    /* Exchange and sync. */
    uint64_t exchange_bytes_per_cycle;      /* per tile, each way, send and receive at once */
    uint64_t tiles_per_exchange_bus;        /* tiles that may receive the same data together at twice the rate */
    double exchange_efficiency;             /* measured share of the nominal rate */
    uint64_t on_chip_sync_cycles;           /* a sync of the tiles alone */
    uint64_t compute_set_cycles;            /* cost of starting a compute set, besides the sync; fitted, 0 without a fit */
    uint64_t global_sync_cycles;            /* cycles of a sync across chips, once an exchange */
    uint64_t exchange_transit_cycles;       /* transit to the farthest tile */
    uint64_t supervisor_cycles;             /* fixed cost of starting a vertex on a tile */
    /* Off chip. */
    uint64_t n_links;
    double link_bytes_per_s;                /* nominal, one link, one way */
    double link_efficiency;                 /* protocol */
    double host_link_bytes_per_s;           /* the chip's own port, one way, after protocol */
    /* Power: the energy of what a chip does, besides what it draws while nothing runs. Without tdp_w or idle_power_w it is not known. */
    double tdp_w;                           /* 0 if not published */
    double idle_power_w;                    /* power while nothing runs; 0 if not measured */
    double running_power_w;                 /* power above idling while all tiles run, whatever they do: clocks, instructions */
    double running_power_error_w;           /* how far running_power_w may be off, in either direction */
    double work_power_error_w;              /* how far tdp_w - idle_power_w - running_power_w, the peak of all other power, may be off */
    double link_byte_j;                     /* the energy of a byte over an IPU-Link; 0 if not counted */
    double power_clock_hz;                  /* the clock at which the watts above hold; 0: any */
    double voltage_exponent;                /* the supply's voltage grows as clock^voltage_exponent; 0: it is fixed */
    double voltage_exponent_error;          /* how far the exponent may be off, in either direction */
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
    enum gateway_topology gateway_topology; /* links between domains */
    uint64_t rung_links, rail_links;        /* number of links from one IPU to its rung partner, and to each rail neighbour */
    uint64_t rung_through_links;            /* links of the rung that carry only traffic passing through (GC2) */
    double rung_latency_s, rail_latency_s;  /* one hop, without the sync before it */
    double sync_hop_latency_s;              /* a sync from one board to the next, one way */
    double gateway_bytes_per_s;             /* one way: the links of one board to other domains, or of the IPUs behind one shared port */
    double gateway_efficiency, gateway_latency_s;
    double switch_latency_s;                /* added by each switch between two gateways; 0 if no switch */
    double streaming_bytes_per_s;           /* one board's DDR, shared by its IPUs; 0 if none */
    double streaming_efficiency;
    uint64_t streaming_bytes;
    uint64_t ipus_per_host, host_cores;     /* host_cores: cores of one host, 0 if unknown */
    double host_network_bytes_per_s;        /* one board to its host, one way, after protocol */
    double host_latency_s;
    uint64_t pcie_shared_ipus;              /* IPUs behind one shared host port (DSS 8440: 4); 1: none shared */
    double pcie_shared_bytes_per_s;         /* one way, after protocol */
    double board_power_w;                   /* while the board works; 0 if not published */
    double board_rest_power_w;              /* a board without its chips, whatever they do; 0 if not known */
    double board_idle_power_w;              /* power while the chips wait; 0 if not published */
    double board_power_cap_w;               /* a limit of the board's power; 0 if not published */
    struct sheet *sheets;                   /* the rows it was built from, for printing: chip, board, system */
    size_t n_sheets;
};

/* the rows that the machine was built from, for printing: chip, board, system */
bool machine_load(struct machine *out, const char *name, const char *specs_dir, struct arena *a, struct err *err);
/* machine_load() with overrides. Those whose keys no sheet of a machine may have stay unused. */
bool machine_load_changed(struct machine *out, const char *name, const char *specs_dir, const struct sheet_overrides *changes,
                          struct arena *a, struct err *err);
/* The row that holds this key, on the outermost sheet that has one, or NULL. `sheet`, which may be NULL, receives that sheet. */
const struct sheet_row *machine_row(const struct machine *m, const char *key, const struct sheet **sheet);

/* The sorted names of the machines in a folder of sheets. */
const char *machine_key(size_t i);              /* the keys that a sheet may have; NULL past the last */
bool machine_names(char ***names, size_t *n, const char *specs_dir, struct arena *a, struct err *err);

/* Refuses values that are in range but make no machine together. `path`, the outermost sheet, heads the message. machine_load() does this. */
bool machine_check(const struct machine *m, const char *path, struct err *err);

/* Prints the sheets with their sources, and what follows from them: peak rates, total memory, aggregate exchange. */
void machine_print(FILE *f, const struct machine *m);

/* Cycles from one instruction of a worker to its next. */
static inline uint64_t chip_turn_cycles(const struct chip *c)
{
    return c->worker_turn_cycles > c->n_workers ? c->worker_turn_cycles : c->n_workers;
}

/* The address behind the last byte in use of a tile whose program needs `bytes`, `interleaved` of which must lie in interleaved memory. Interleaved
 * memory begins after all other memory, which everything else fills first. If interleaved_bytes is 0, the chip has no such region. */
static inline uint64_t chip_end_of_memory(const struct chip *c, uint64_t bytes, uint64_t interleaved)
{
    uint64_t end = c->tile_memory_bytes - c->interleaved_bytes + interleaved;
    return c->interleaved_bytes && interleaved && end > bytes ? end : bytes;
}

/* The rate at which a tile receives. */
static inline double chip_exchange_bytes_per_cycle(const struct chip *c)
{
    return (double)c->exchange_bytes_per_cycle * c->exchange_efficiency;
}

/* Cycles of a vertex that adds vectors, 3 for each 8 bytes of a worker: 11 + 6 (26 + 3 vectors) (PopLibs, popops binary vertex). */
static inline uint64_t add_vertex_cycles(const struct chip *c, uint64_t worker_vectors)
{
    return c->supervisor_cycles + chip_turn_cycles(c) * (26 + 3 * worker_vectors);
}

/* Cost of a superstep besides its exchange and its compute. */
static inline uint64_t superstep_cycles(const struct chip *c) { return c->on_chip_sync_cycles + c->compute_set_cycles; }

/* Peak of one chip for a number of multiply-accumulates per tile and cycle, each 2 flop. */
double chip_peak_flop_per_s(const struct chip *c, uint64_t mac_per_cycle);
/* The chip's voltage, divided by that at which the watts on its sheet hold. The energy of a switch grows with its square; leakage is assumed to be
 * proportional to it. */
double chip_voltage(const struct chip *c);
/* Joules of one tile's cycle of work at its peak, where all tiles together draw tdp_w; 0 if tdp_w or idle_power_w is not known. */
double chip_cycle_j(const struct chip *c);
/* Joules above idling of a cycle in which a tile runs, without the work that it does. */
double chip_running_cycle_j(const struct chip *c);
/* Joules of one byte that a tile loads or stores, if all tiles draw tdp_w at their peak: an interleaved load and a store in each cycle. */
double chip_memory_byte_j(const struct chip *c);

/* ---- power --------------------------------------------------------------------------- */

/* Power of the first n_ipus IPUs with their share of the boards. Hosts, switches and cooling are not counted.
 *
 * A chip whose sheet has idle_power_w (has_law) draws that and the energy of its work. For other chips only the power at work is known, their board's
 * or their own.
 */
struct power {
    bool has_law;                       /* at_work_w and waiting_w are then 0: the work decides */
    double idle_w;                      /* the draw of all chips, whatever they do */
    double boards_rest_w;               /* the draw of the boards without their chips; 0 if not known */
    double at_work_w;                   /* 0 if no source gives it */
    double waiting_w;                   /* power while chips wait for each other or the host; at_work_w if no source gives it */
    double cap_w;                       /* limit of the boards; 0 if unknown */
    bool knows_waiting;
    const char *of;                     /* "boards", "chips" */
    const struct sheet_row *row; const struct sheet *sheet;     /* the source of idle_w or at_work_w */
    const char *missing;                /* why the power is unknown, or NULL */
};
void machine_power(struct power *out, const struct machine *m, uint64_t n_ipus);
double power_mean_w(const struct power *p, double waiting_share);       /* mean power of a step that waits for this share of its time; for chips without has_law */

#endif
