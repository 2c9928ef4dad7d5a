/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fitted_chip.c - the few constants of chips that may be fitted, and the sheet that holds their values.
 *
 * compute_set_cycles    what a superstep costs besides its exchange, its compute and the sync alone: the start of the compute
 *                       set, the program's control. Open sources have 0 of it beside a sync of 126 cycles (a C600), or 500 for
 *                       both together (early PopLibs).
 * amp_efficiency        share of its rate at which the AMP's inner loop runs where it wants two loads and a store of 8
 *                       bytes in every cycle, of interleaved memory. Open sources have 1.
 * A constant belongs to a generation of chips, as their sheets state it, never to a kernel, a network or a row. The AMP's efficiency of the second
 * generation is not fitted: with the open-source value the measured matmuls of Bow are met (0.985 +- 0.096). Nor is the exchange's rate:
 * the matmuls of Bow alone give 0.99 +- 0.05 of the nominal one (linearised, with the compute set free), which is what GC2's streams reach.
 */
#include "system-model/machine/fitted_chip.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define START { "compute_set_cycles", "cycles", FIELD_U64, offsetof(struct chip, compute_set_cycles), 0, 1000, NULL, false, \
               "the start of a compute set" }
#define AMP { "amp_efficiency", "share", FIELD_F64, offsetof(struct chip, amp_efficiency), 0.5, 1, NULL, false, \
              "of the AMP's rate in its inner loop" }
const struct fitted_constant fitted_constants[MAX_FITTED] = {
    { GENERATION_MK1, START, 0 }, { GENERATION_MK1, AMP, 1 }, { GENERATION_MK2, START, 0 },
};
const size_t n_fitted_constants = MAX_FITTED;

static const char *constant_name(const struct fitted_constant *k, struct arena *a)
{
    return arena_printf(a, "%s.%s", generation_names[k->generation], k->field.name);
}

static const struct fitted_constant *constant_find(const char *key, struct arena *a)
{
    for (size_t i = 0; i < n_fitted_constants; i++)
        if (text_is(constant_name(&fitted_constants[i], a), key))
            return &fitted_constants[i];
    return NULL;
}

void fitted_chip_names(const char **out, struct arena *a)
{
    for (size_t i = 0; i < n_fitted_constants; i++)
        out[i] = constant_name(&fitted_constants[i], a);
}

static bool set_constant(struct chip *chip, struct sheet *applied, const struct sheet *s, const struct sheet_row *row,
                         struct arena *a, struct err *err)
{
    const struct fitted_constant *k = constant_find(row->key, a);
    if (!k) {
        const char *names[MAX_FITTED];
        fitted_chip_names(names, a);
        return fail(err, "%s:%u: %.60s: not a fitted constant; known: %s", s->path, row->line, row->key,
                    names_list(names, n_fitted_constants, a));
    }
    if (!text_is(row->unit, k->field.unit))
        return fail(err, "%s:%u: %s is in '%.40s', want '%s'", s->path, row->line, row->key, row->unit, k->field.unit);
    struct chip other = *chip;          /* every row is read, so that a bad one is found whatever the chip */
    if (!field_set(&other, &k->field, row->value, sheet_row_place(s, row, a), err))
        return false;
    if (k->generation == chip->generation) {
        *chip = other;
        applied->rows[applied->n_rows++] = *row;
    }
    return true;
}

bool fitted_chip_apply(struct chip *chip, struct sheet *applied, const char *specs_dir, const struct what_ifs *changes, struct arena *a,
                       struct err *err)
{
    const char *path = arena_printf(a, "%s/fitted-chip.csv", specs_dir);
    struct sheet s;
    *applied = (struct sheet){ 0 };
    if (access(path, R_OK) != 0)
        return true;
    if (!what_ifs_sheet(&s, changes, path, a, err))
        return false;
    what_ifs_replace(&s, changes, a);
    *applied = (struct sheet){ .path = s.path, .name = s.name, .rows = ARENA_ARRAY(a, struct sheet_row, s.n_rows) };
    for (size_t i = 0; i < s.n_rows; i++)
        if (!set_constant(chip, applied, &s, &s.rows[i], a, err))
            return false;
    return true;
}

static void constant_set(struct chip *chip, const struct fitted_constant *k, double value)
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
            constant_set(chip, &fitted_constants[i], values[i]);
}
