/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.h - measured parts of a machine: one kernel on a chip, or one exchange between tiles, over links or with a host.
 *
 * A row of a published table describes its part in columns of its own; an empty cell states nothing.
 */
#ifndef RESULTS_PARTS_H
#define RESULTS_PARTS_H
#include "results/published/exchange.h"
#include "system-model/compiler/compiler.h"

/* ---- parts.c: the cells of a part ------------------------------------------------------------------------- */

/* A column of parts. Bits of `may` and `must` say which kinds of part may or must fill it; the first column names the kind. */
struct part_field { struct field field; unsigned may, must; };

/* False, without a message, if the column of the kind is missing or empty, as the row then describes no such part. */
bool part_is_in(const struct part_field *fields, const struct csv_table *t, const struct csv_row *row);
bool part_read(void *out, const struct part_field *fields, size_t n, const struct csv_table *t, const struct csv_row *row, struct err *err);
/* The part's cells as one text, for reports and the ledger: "kernel:matmul;machine=bow;m=4096". */
const char *part_text(const char *what, const struct part_field *fields, size_t n, const struct csv_table *t, const struct csv_row *row, struct arena *a);

/* ---- kernel_rows.c: the planner's value for a measured kernel --------------------------------------------- */

/* Products multiply m x k weights by n columns; gemm is alpha A B + beta C. fc and conv-layer are training layers: forward, backward and
 * update. Sparse weights consist of blocks of block x block elements at random places, which are fixed at compile time (static) or read at run
 * time (dynamic). */
enum kernel_kind { KERNEL_MATMUL, KERNEL_CONV, KERNEL_GEMM, KERNEL_FC, KERNEL_CONV_LAYER, KERNEL_TRIAD, KERNEL_STATIC_SPARSE, KERNEL_DYNAMIC_SPARSE,
                   N_KERNEL_KINDS };
extern const char *const kernel_kind_names[N_KERNEL_KINDS + 1];

struct kernel_case {
    enum kernel_kind kind;
    const char *machine;                /* the name of a chip's sheet */
    uint64_t m, k, n;                   /* n is also the elements of a triad; n = 0: the sparse product takes its fastest n */
    uint64_t block;                     /* rows and columns of a sparse block */
    double density;                     /* the share of blocks that are not zero */
    uint64_t in, out;
    double available_memory;            /* share of tile memory for temporaries; 0: PopLibs' default */
    uint64_t batch, filter, input, input_w, in_chans, out_chans, stride, groups, pad, ipus;
    int type, partials, layout, host_type;
};
extern const struct part_field kernel_fields[];
extern const size_t n_kernel_fields;

/* The machines on which kernels are predicted, each loaded once, and the cache of plans. A new bench has no machines. */
struct kernel_bench { const char *specs_dir; struct plan_cache *plans; struct kernel_machine *machines; struct arena *arena; };
const struct machine *kernel_machine(struct kernel_bench *b, const char *name, struct err *err);        /* returns NULL if the sheet cannot be loaded */

bool kernel_case_read(struct kernel_case *out, const struct csv_table *t, const struct csv_row *row, struct err *err);
/* Predicts a metric: "tflop_per_s", "time_s", "cycles", "peak_share", "energy_above_idle_j" or "energy_error_j". Cycles include the sync but
 * no transfer of operands. Rates are those of one IPU. */
bool kernel_row_predict(double *value, const struct kernel_case *c, const char *metric, struct kernel_bench *bench, struct err *err);
/* Plans the kernel on this chip instead of the case's machine. `energy` receives the energy of a call without the idle power; it may be NULL. */
bool kernel_row_plan(struct op_plan *out, struct energy *energy, const struct kernel_case *c, const struct chip *chip, struct plan_cache *cache,
                     struct arena *a, struct err *err);
/* The rate of the plan. A multiplication and an addition are two operations; operations on padding do not count. */
double kernel_row_flop_per_s(const struct kernel_case *c, const struct op_plan *plan, const struct chip *chip);

/* Bytes that one IPU needs while the kernel runs; data is spread evenly over its tiles. */
struct kernel_memory {
    uint64_t operand_bytes, temporary_bytes, code_bytes;        /* sums over all tiles */
    uint64_t tile_temporary_bytes, tile_code_bytes, interleaved_bytes, max_tile_bytes, max_tile_with_gaps_bytes;       /* bytes of the fullest tile */
    uint64_t n_tiles;
    double fits_probability;
    bool fits;
};
bool kernel_row_memory(struct kernel_memory *out, const struct kernel_case *c, struct kernel_bench *bench, struct err *err);

/* ---- sparse_rows.c: the same for a product with a sparse matrix ------------------------------------------- */

bool kernel_is_sparse(const struct kernel_case *c);
/* Predicts "nonzero_tflop_per_s", or "speed_over_dense_x": the speed relative to a dense product of the same size. */
bool sparse_row_predict(double *value, const struct kernel_case *c, const char *metric, struct kernel_bench *bench, struct err *err);

/* ---- link_rows.c: predictions of micro-benchmarks of links, of collectives between tiles, and of the host ---- */

struct link_case { struct exchange_request request; int column; const char *machine; };     /* column: 1 if the two IPUs are in different columns */
extern const struct part_field link_fields[];
extern const size_t n_link_fields;

/* The machines on which exchanges are predicted, each loaded once. A new bench has only its folders and an arena; costs_dir is the folder for
 * message_costs_load(). */
struct link_bench { const char *specs_dir, *costs_dir; struct link_machine *machines; struct arena *arena; };

bool link_case_read(struct link_case *out, const struct csv_table *t, const struct csv_row *row, struct err *err);
/* metric: "latency_us" or "aggregate_gb_per_s" */
bool link_row_predict(double *value, const struct link_case *c, const char *metric, struct link_bench *bench, struct err *err);

#endif
