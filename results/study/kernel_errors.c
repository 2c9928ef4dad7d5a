/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_errors.c - errors of published single operations, and the intervals that follow.
 *
 * After n errors, nine in ten further errors are expected below the k-th smallest size, k = ceil(0.9 (n + 1)), whatever their distribution.
 * This needs n of at least nine. With fewer errors the bound is their root mean square times the quantile of Student's distribution with n
 * degrees of freedom.
 */
#include "results/study/kernel_errors.h"
#include "results/published/parts.h"
#include "system-model/graph/graph.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <unistd.h>

static const double LEVEL = 0.9;
enum { LEAST_ON_CHIP = 3, LEAST_SORTED = 9 };           /* judgements */

static const char *const operation_kinds[N_OP_KINDS] = {
    [OP_MATMUL] = "product", [OP_SPARSE_MATMUL] = "sparse product", [OP_GATHER] = "lookup",
    [OP_SCATTER] = "lookup", [OP_LSTM] = "recurrence", [OP_GRU] = "recurrence", [OP_CODELET] = "codelet",
};

static const char *convolution_kind(uint64_t groups)
{
    return groups > 1 ? "grouped convolution" : "convolution";
}

const char *kernel_kind_of(const struct op *op)
{
    if (op->kind == OP_CONV || op->kind == OP_CONV_TRANSPOSE)
        return convolution_kind(op->at->groups);
    return operation_kinds[op->kind] ? operation_kinds[op->kind] : "other";
}

static const char *kind_of_case(const struct kernel_case *c)
{
    if (c->kind == KERNEL_CONV)
        return convolution_kind(c->groups);
    return kernel_is_sparse(c) ? "sparse product" : c->kind == KERNEL_TRIAD ? "other" : "product";
}

/* ---- the errors of published operations ---------------------------------------------------------------------- */

/* The kind of the operation that takes most cycles. */
static const char *main_kind(const struct plan *p)
{
    const char *kind = "other";
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->graph->n_ops; i++) {
        const struct op *op = &p->graph->ops[i];
        uint64_t cycles = op_plan_cycles(plan_stage_of(p, op->layer_id)->compiled->op_plans[i]) * op_repeats(p->graph, op);
        if (cycles > most) {
            most = cycles;
            kind = kernel_kind_of(op);
        }
    }
    return kind;
}

static void add_operation_error(struct kernel_errors *out, const struct check_row *row, const char *kind, const char *chip, const struct first_sight *seen, struct arena *a)
{
    const struct sight *first = first_sight_find(seen, row->figure->id, false);
    bool known_before = !first || first != first_sight_find(seen, row->figure->id, true);
    double predicted = known_before ? row->simulated : first->predicted;
    if (predicted > 0 && row->figure->value > 0)
        LIST_ADD(out, a, ((struct kernel_error){ row->figure->id, kind, chip, fabs(log(predicted / row->figure->value)) }));
}

static void add_recipe(struct kernel_errors *out, const struct check_row *row, const struct first_sight *seen, struct simulator *simulator, struct arena *a)
{
    struct simulation sim;
    struct result r;
    if (!simulator_run(simulator, &sim, &r, path_beside(row->figure->path, row->figure->recipe, a), NULL, 0, NULL))
        return;
    add_operation_error(out, row, main_kind(&sim.plan), arena_strdup(a, sim.machine->chip.name), seen, a);
    simulation_free(&sim);
}

static bool is_time_of_operation(const char *metric)
{
    return TEXT_IS_ONE_OF(metric, "cycles", "time_s", "tflop_per_s", "nonzero_tflop_per_s", "speed_over_dense_x", "device_cycles", "device_time_s",
                          "codelet_cycles");
}

void kernel_errors_build(struct kernel_errors *out, const struct check *c, const struct first_sight *seen, struct simulator *simulator, struct arena *a)
{
    *out = (struct kernel_errors){0};
    for (const struct check_row *row = c->rows; row < c->rows + c->n; row++) {
        const struct figure *f = row->figure;
        if (!row->has_simulated || !is_time_of_operation(f->metric) || row->counts_as == COUNTS_AS_REPEAT)
            continue;
        if (f->kernel)
            add_operation_error(out, row, kind_of_case(f->kernel), f->kernel->machine, seen, a);
        else if (!f->link)
            add_recipe(out, row, seen, simulator, a);
    }
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static const struct field error_fields[] = { FIELD_OF(struct kernel_error, id, .required = true), FIELD_OF(struct kernel_error, kind, .required = true),
    FIELD_OF(struct kernel_error, chip, .required = true), FIELD_OF(struct kernel_error, error, .min = 0, .max = 100, .required = true) };
static const struct table_column error_columns[] = {
    { COLUMN(struct kernel_error, id) }, { COLUMN(struct kernel_error, kind) }, { COLUMN(struct kernel_error, chip) }, { COLUMN(struct kernel_error, error), .csv_digits = 4 },
};

void kernel_errors_write(FILE *f, const struct kernel_errors *k)
{
    struct table t = TABLE_OF(error_columns, k->items, k->n);
    table_write(f, FORMAT_CSV, &t);
}

bool kernel_errors_load(struct kernel_errors *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct kernel_errors){0};
    return access(path, F_OK) != 0 || LIST_LOAD(out, &t, path, error_fields, a, err);
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* Half the width of the interval that follows from n sizes of errors. Sorts `sizes`. */
static double bound_of(double *sizes, size_t n)
{
    double squares = 0;
    if (n < LEAST_SORTED) {
        for (size_t i = 0; i < n; i++)
            squares += sizes[i] * sizes[i] / (double)n;
        return sqrt(squares) * gsl_cdf_tdist_Pinv((1 + LEVEL) / 2, (double)n);
    }
    gsl_sort(sizes, 1, n);
    return sizes[(size_t)ceil(LEVEL * (double)(n + 1)) - 1];
}

/* Lists the errors of a kind on a chip, without those of `without`, and returns their number. NULL stands for all kinds or all chips. */
static size_t list_errors(double *sizes, const struct kernel_errors *k, const char *kind, const char *chip, const struct kernel_error *without)
{
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++) {
        const struct kernel_error *x = &k->items[i];
        if (x != without && (!kind || text_is(x->kind, kind)) && (!chip || text_is(x->chip, chip)))
            sizes[n++] = x->error;
    }
    return n;
}

static struct kernel_trust trust_without(const struct kernel_errors *k, const char *kind, const char *chip, const struct kernel_error *without)
{
    struct arena a = { 0 };
    double *sizes = ARENA_ARRAY(&a, double, k->n + 1);
    size_t n = list_errors(sizes, k, kind, chip, without);
    bool is_guess = n < LEAST_ON_CHIP;
    if (is_guess)
        n = list_errors(sizes, k, kind, NULL, without);
    if (n < LEAST_ON_CHIP)
        n = list_errors(sizes, k, NULL, NULL, without);
    struct kernel_trust trust = { n ? bound_of(sizes, n) : 0, n, is_guess };
    arena_free(&a);
    return trust;
}

struct kernel_trust kernel_trust_of(const struct kernel_errors *k, const char *kind, const char *chip)
{
    return trust_without(k, kind, chip, NULL);
}

/* ---- how often they hold ------------------------------------------------------------------------------------------ */

static void count_kind(struct interval_coverage *out, const struct kernel_errors *k, const char *kind, struct arena *a)
{
    double *widths = ARENA_ROOM(a, double, k->n + 1);
    struct interval_count c = { .kind = kind };
    for (const struct kernel_error *x = k->items; x < k->items + k->n; x++) {
        if (!text_is(x->kind, kind))
            continue;
        const struct kernel_trust trust = trust_without(k, kind, x->chip, x);
        interval_count_add(&c, widths, trust.half_width, 2 * trust.half_width, fmax(0, x->error - trust.half_width));
    }
    if (interval_count_end(&c, widths))
        out->rows[out->n++] = c;
}

void kernel_coverage(struct interval_coverage *out, const struct kernel_errors *k, struct arena *a)
{
    static const char *const kinds[] = { "product", "convolution", "grouped convolution", "sparse product", "lookup", "recurrence", "codelet", "other" };
    enum { N_KINDS = sizeof kinds / sizeof *kinds };
    *out = (struct interval_coverage){ .rows = ARENA_ARRAY(a, struct interval_count, N_KINDS) };
    for (size_t i = 0; i < N_KINDS; i++)
        count_kind(out, k, kinds[i], a);
}
