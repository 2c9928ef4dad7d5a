/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fitted.c - the constants that a calibration may fit, with their bounds, and the two sheets that hold their values.
 *
 * Constants of a generation of chips, never of a kernel, a network or a row (specs/fitted-chip.csv):
 *   compute_set_cycles   cost of a superstep besides its exchange, its compute and the sync: starting the compute set, the program's control.
 *                        Open sources have 0 besides a sync of 126 cycles (C600), or 500 for both together (early PopLibs).
 *   amp_efficiency       share of its rate at which the AMP's inner loop runs where it needs two loads and a store of 8 bytes of interleaved
 *                        memory in every cycle. Open sources have 1.
 * The AMP's efficiency of the second generation is not fitted: with the open-source value the measured matmuls of Bow are met (0.985 +- 0.096).
 * Neither is the exchange's rate: the matmuls of Bow alone give 0.99 +- 0.05 of the nominal one (linearised, with the compute set free), which
 * is what GC2's streams reach.
 *   memory_error         of all chips: the spread of the bytes that are needed about those that are counted, by verdicts and fullest tiles that calibrate
 *                        (results/study/memory_known.c). A chip whose own sheet has one keeps it.
 *
 * Constants of the software around the chips (specs/fitted-system.csv):
 *   unexplained_call_s   what a training call of a large model takes besides all that sources name (plan/call.c). No source gives a
 *                        cause; the default is 0.
 *   output_reduction_s   the processes of a run average one number (Horovod, which looks for such work once a cycle); default: one cycle.
 *   streaming_s_per_byte a byte to or from a board's streaming memory passes its gateway, which all IPUs of the board share. No source gives its
 *                        rate (a write to the host was once seen at 5.5 GB/s); the default is 0.
 *   loader_s_per_byte    a loader starts its threads or processes and reads the batch of the first step while the chips wait; later batches
 *                        are made during the work. No source gives its length; the default is 0.
 *   throughput_error     not a constant: how far throughputs are from the published ones when the fit has not seen them.
 */
#include "system-model/machine/fitted.h"


const char *const generation_names[N_GENERATIONS + 1] = { "other", "mk1", "mk2", NULL };

/* ---- chips ------------------------------------------------------------------------- */

#define START { "compute_set_cycles", "cycles", FIELD_AT(U64, struct chip, compute_set_cycles), 0, 1000, NULL, false, \
               "the start of a compute set" }
#define AMP { "amp_efficiency", "share", FIELD_AT(F64, struct chip, amp_efficiency), 0.5, 1, NULL, false, \
              "of the AMP's rate in its inner loop" }
const struct fitted_constant fitted_constants[MAX_FITTED] = {
    { GENERATION_MK1, START, 0 }, { GENERATION_MK1, AMP, 1 }, { GENERATION_MK2, START, 0 },
};
const size_t n_fitted_constants = MAX_FITTED;
const struct field memory_error_field = { "memory_error", "share", FIELD_AT(F64, struct chip, memory_error), 0, 1, NULL, false, "spread of the bytes needed about those counted" };

static const char *fitted_name(const struct fitted_constant *k, struct arena *a)
{
    return arena_printf(a, "%s.%s", generation_names[k->generation], k->field.name);
}

static const struct fitted_constant *fitted_find(const char *key, struct arena *a)
{
    for (size_t i = 0; i < n_fitted_constants; i++)
        if (text_is(fitted_name(&fitted_constants[i], a), key))
            return &fitted_constants[i];
    return NULL;
}

void fitted_chip_names(const char **out, struct arena *a)
{
    for (size_t i = 0; i < n_fitted_constants; i++)
        out[i] = fitted_name(&fitted_constants[i], a);
    out[n_fitted_constants] = memory_error_field.name;
}

static bool fitted_chip_set_row(struct chip *chip, struct sheet *applied, const struct sheet *s, const struct sheet_row *row,
                                struct arena *a, struct err *err)
{
    const struct fitted_constant *k = fitted_find(row->key, a);
    const struct field *field = k ? &k->field : text_is(row->key, memory_error_field.name) ? &memory_error_field : NULL;
    if (!field) {
        const char *names[N_FITTED_CHIP_NAMES];
        fitted_chip_names(names, a);
        return fail(err, "%s:%u: %.60s: not a fitted constant; known: %s", s->path, row->line, row->key,
                    names_list(names, N_FITTED_CHIP_NAMES, a));
    }
    struct chip other = *chip;          /* rows of other chips are checked too */
    if (!sheet_row_set(&other, field, s, row, a, err))
        return false;
    if (k ? k->generation == chip->generation : chip->memory_error == 0) {
        *chip = other;
        applied->rows[applied->n_rows++] = *row;
    }
    return true;
}

bool fitted_chip_apply(struct chip *chip, struct sheet *applied, const char *specs_dir, const struct sheet_overrides *changes,
                       struct arena *a, struct err *err)
{
    const char *path = arena_printf(a, "%s/fitted-chip.csv", specs_dir);
    struct sheet s;
    *applied = (struct sheet){ 0 };
    if (is_missing(path))
        return true;
    if (!sheet_read(&s, changes, path, a, err))
        return false;
    sheet_apply_overrides(&s, changes, a);
    *applied = (struct sheet){ .path = s.path, .name = s.name, .rows = ARENA_ARRAY(a, struct sheet_row, s.n_rows) };
    for (size_t i = 0; i < s.n_rows; i++)
        if (!fitted_chip_set_row(chip, applied, &s, &s.rows[i], a, err))
            return false;
    return true;
}

static void fitted_constant_set(struct chip *chip, const struct fitted_constant *k, double value)
{
    void *at = (char *)chip + k->field.offset;
    if (k->field.type == FIELD_U64)
        *(uint64_t *)at = (uint64_t)lround(value);
    else
        *(double *)at = value;
}

void fitted_constants_set(struct chip *chip, const double *values)
{
    for (size_t i = 0; i < n_fitted_constants; i++)
        if (fitted_constants[i].generation == chip->generation)
            fitted_constant_set(chip, &fitted_constants[i], values[i]);
}

/* ---- the software around them --------------------------------------------------------- */

const struct system_constant system_constants[N_SYSTEM_CONSTANTS] = {
#define C(member, unit, low, high, unfitted, start, source, help) \
    { { #member, unit, FIELD_AT(F64, struct fitted_system, times.member), low, high, NULL, false, help }, unfitted, start, source }
    C(unexplained_call_s, "s", 0, 1, 0, 0.03, "no source",
      "a time of a large model's training call that no source explains"),
    C(output_reduction_s, "s", 0, 0.01, 0.005, 0.007, "assumed: one cycle of Horovod, 5 ms by default before release 0.21 (HOROVOD_CYCLE_TIME)",
      "one number averaged over a run's processes"),
    C(streaming_s_per_byte, "s/B", 0, 1e-9, 0, 1e-11, "no source", "a byte of a board passes the gateway to or from streaming memory"),
    C(loader_s_per_byte, "s/B", 0, 1e-6, 0, 1e-8, "no source", "a loader that has just been started makes the first step's batch"),
#undef C
};

const struct field throughput_error_field = {
    "throughput_error", "share", FIELD_AT(F64, struct fitted_system, throughput_error), 0, 10, NULL, false,
    "spread of ln(simulated / published), rows left out of the fit" };

void fitted_system_names(const char **out)
{
    for (int i = 0; i < N_SYSTEM_CONSTANTS; i++)
        out[i] = system_constants[i].field.name;
    out[N_SYSTEM_CONSTANTS] = throughput_error_field.name;
}

void fitted_system_defaults(struct fitted_system *out)
{
    *out = (struct fitted_system){0};
    for (int i = 0; i < N_SYSTEM_CONSTANTS; i++)
        *(double *)((char *)out + system_constants[i].field.offset) = system_constants[i].unfitted_value;
}

static bool fitted_system_set_row(void *out, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err)
{
    for (int i = 0; i <= N_SYSTEM_CONSTANTS; i++) {
        const struct field *f = i < N_SYSTEM_CONSTANTS ? &system_constants[i].field : &throughput_error_field;
        if (text_is(f->name, row->key))
            return sheet_row_set(out, f, s, row, a, err);
    }
    const char *names[N_FITTED_SYSTEM_NAMES];
    fitted_system_names(names);
    return fail(err, "%s: not a fitted constant of the system; known: %s", sheet_row_place(s, row, a), names_list(names, sizeof names / sizeof *names, a));
}

bool fitted_system_load(struct fitted_system *out, const char *specs_dir, const struct sheet_overrides *changes, struct arena *a,
                        struct err *err)
{
    fitted_system_defaults(out);
    return sheet_read_rows(&out->sheet, changes, arena_printf(a, "%s/fitted-system.csv", specs_dir), fitted_system_set_row, out, a, err);
}
