/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fitted_chip.h - constants of a chip that a calibration has set: specs/fitted-chip.csv over the chip's own sheet.
 */
#ifndef FITTED_CHIP_H
#define FITTED_CHIP_H
#include "system-model/machine/what_if.h"

enum { MAX_FITTED = 3 };
struct fitted_constant {
    enum generation generation;         /* whose constant: mk1 is GC2; mk2 GC200, Bow and C600, which share their design */
    struct field field;                 /* of struct chip, with its bounds */
    double open_source_value;           /* without any fit */
};
extern const struct fitted_constant fitted_constants[MAX_FITTED];
extern const size_t n_fitted_constants;

void fitted_chip_names(const char **out, struct arena *a);      /* the keys of the sheet: n_fitted_constants */
/* Sets what specs_dir/fitted-chip.csv has for this chip, keys GENERATION.FIELD. No such file: nothing is fitted.
 * applied: the sheet with the rows of this chip alone; n_rows 0 for none. changes: values in place of the sheet's, or NULL. */
bool fitted_chip_apply(struct chip *chip, struct sheet *applied, const char *specs_dir, const struct what_ifs *changes, struct arena *a,
                       struct err *err);
/* Sets those of the constants that are this chip's; values: one for each of fitted_constants. */
void fitted_constants_set(struct chip *chip, const double *values);

#endif
