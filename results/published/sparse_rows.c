/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse_rows.c - measured products of sparse matrices, from the cells of their rows to the planner's values for them.
 *
 * Rates count only products with non-zero blocks. A row without a number of columns is the fastest over powers of two from 4 to 16,384 that
 * fit (graphcore-research/sparsity-benchmarks at bab5449: analysis/Analysis.ipynb takes the maximum over n). The host of that program reads
 * and writes floats, whose copies lie on the chip next to the halves (ipu/matmul_bench.cpp, hostWriteFloat). Its rates count the compute and
 * exchange steps of a profile, without syncs (ipu/reptil/src/reptil/_cycles.py). If a row is a ratio to a dense product, the dense product adds
 * in halves and takes its own fastest n. With layout=linear the product is the body of a framework's loop on the device, whose result is the
 * dense side of the next round (graphcore-research/notebooks at 6297308, sparsity_benchmarks/SpMM.ipynb).
 */
#include "results/published/parts.h"
#include "system-model/compiler/sparse.h"
#include "system-model/machine/machine.h"

enum { FEWEST_MEASURED = 4, MOST_MEASURED = 16384, FLOAT_BYTES = 4 };        /* columns */

static struct sparse_shape sparse_shape_of(const struct kernel_case *c, uint64_t n)
{
    uint64_t places = c->m / c->block * (c->k / c->block);
    return (struct sparse_shape){ c->m, c->k, n, c->block, (uint64_t)ceil(c->density * (double)places), (uint64_t)c->type, c->kind == KERNEL_DYNAMIC_SPARSE,
                                  .order = c->layout ? ORDER_BY_COLUMNS : ORDER_PLANNED, .returns = c->layout != 0, .oversize = 0.3 };
}

static struct op_plan_options sparse_options(const struct kernel_case *c, const struct chip *chip)
{
    return (struct op_plan_options){ .partials = c->partials == 0 ? PARTIALS_FP16 : PARTIALS_FP32, .inference = true, .available_memory = 0.6, .n_tiles = chip->n_tiles };
}

/* True if operands, host copies and temporaries fit, spread evenly over the tiles. */
static bool product_fits(const struct kernel_case *c, uint64_t n, uint64_t operand_bytes, uint64_t temp_bytes, const struct chip *chip)
{
    uint64_t dense = (c->m + c->k) * n * (data_type_bytes((enum data_type)c->type) + (c->host_type ? FLOAT_BYTES : 0));
    return ceil_div(dense + operand_bytes, chip->n_tiles) + temp_bytes <= chip->tile_memory_bytes;
}

static bool plan_sparse(struct op_plan *out, const struct kernel_case *c, uint64_t n, const struct chip *chip)
{
    struct sparse_shape s = sparse_shape_of(c, n);
    struct op_plan_options opt = sparse_options(c, chip);
    struct sparse_bytes own = sparse_product_plan(out, &s, PASS_FORWARD, chip, &opt);
    return product_fits(c, n, own.values + own.meta, out->temp_bytes_per_tile, chip);
}

static bool plan_dense(struct op_plan *out, const struct kernel_case *c, uint64_t n, const struct chip *chip, struct plan_cache *cache, struct arena *a, struct err *err)
{
    struct kernel_case dense = { .kind = KERNEL_MATMUL, .machine = c->machine, .m = c->m, .k = c->k, .n = n, .groups = 1, .type = c->type };
    return kernel_row_plan(out, NULL, &dense, chip, cache, a, err)
        && product_fits(c, n, c->m * c->k * (data_type_bytes((enum data_type)c->type) + FLOAT_BYTES), out->temp_bytes_per_tile, chip);
}

static double measured_cycles(const struct kernel_case *c, const struct op_plan *plan)
{
    return (double)(c->host_type ? plan->compute_cycles + plan->exchange_cycles : op_plan_cycles(plan));
}

/* The highest rate, in multiplied places times columns per cycle, for the case's columns or over all measured numbers that fit; 0 if none
 * fits. */
static double best_rate(const struct kernel_case *c, bool dense, const struct chip *chip, struct plan_cache *cache, struct arena *a, struct err *err)
{
    double best = 0, places = dense ? (double)c->m * (double)c->k : (double)sparse_shape_of(c, 1).n_blocks * (double)(c->block * c->block);
    for (uint64_t n = c->n ? c->n : FEWEST_MEASURED; n <= (c->n ? c->n : MOST_MEASURED); n *= 2) {
        struct op_plan plan;
        bool fits = dense ? plan_dense(&plan, c, n, chip, cache, a, err) : plan_sparse(&plan, c, n, chip);
        if (fits || c->n)
            best = fmax(best, places * (double)n / measured_cycles(c, &plan));
    }
    return best;
}

bool kernel_is_sparse(const struct kernel_case *c) { return c->kind == KERNEL_STATIC_SPARSE || c->kind == KERNEL_DYNAMIC_SPARSE; }

bool sparse_row_predict(double *value, const struct kernel_case *c, const char *metric, struct kernel_bench *bench, struct err *err)
{
    const struct machine *m = kernel_machine(bench, c->machine, err);
    if (!m)
        return false;
    if (c->m % c->block || c->k % c->block || (c->block != 1 && c->block != 4 && c->block != 8 && c->block != 16))
        return fail(err, "block: %" PRIu64 "; want 1, 4, 8 or 16, which divides the weights' rows and columns", c->block);
    double rate = best_rate(c, false, &m->chip, bench->plans, bench->arena, err);
    if (rate == 0)
        return fail(err, "no number of columns from %d to %d fits", FEWEST_MEASURED, MOST_MEASURED);
    if (text_is(metric, "nonzero_tflop_per_s"))
        *value = 2 * rate * m->chip.clock_hz / 1e12;
    else if (text_is(metric, "speed_over_dense_x"))
        *value = rate / c->density / best_rate(c, true, &m->chip, bench->plans, bench->arena, err);
    else
        return fail(err, "metric '%.60s' of a sparse product; known: nonzero_tflop_per_s, speed_over_dense_x", metric);
    return true;
}
