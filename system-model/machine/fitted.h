/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fitted.h - constants that a calibration has set: those of chips, and those of the software around them.
 *
 * None belongs to a workload, a system or a row. Without its sheet each has its default, as if nothing had been fitted. `changes`, which may
 * be NULL, are values in place of the sheets'.
 */
#ifndef FITTED_H
#define FITTED_H
#include "system-model/machine/machine.h"

/* ---- chips: specs/fitted-chip.csv ------------------------------------------------------- */

enum { MAX_FITTED = 3 };
struct fitted_constant {
    enum generation generation;         /* mk1 is GC2; mk2 is GC200, Bow and C600, which share their design */
    struct field field;                 /* a field of struct chip, with its bounds */
    double open_source_value;           /* the default: the value in open sources */
};
extern const struct fitted_constant fitted_constants[MAX_FITTED];
extern const size_t n_fitted_constants;

extern const struct field memory_error_field;           /* how far bytes are off, for every chip whose own sheet does not say so; on the same sheet as the constants */

enum { N_FITTED_CHIP_NAMES = MAX_FITTED + 1 };
void fitted_chip_names(const char **out, struct arena *a);      /* the keys of the sheet, GENERATION.FIELD and memory_error */
/* Sets the constants of this chip. `applied` receives the sheet with only the rows of this chip, or none if there is no sheet. */
bool fitted_chip_apply(struct chip *chip, struct sheet *applied, const char *specs_dir, const struct sheet_overrides *changes,
                       struct arena *a, struct err *err);
/* Sets the constants of this chip from `values`, one for each of fitted_constants. */
void fitted_constants_set(struct chip *chip, const double *values);

/* ---- software: specs/fitted-system.csv --------------------------------------------------- */

/* The constants that a plan reads. */
struct system_times {
    double unexplained_call_s;  /* time of a training call of a large model, beyond all that sources name */
    double output_reduction_s;  /* time to average one number over the processes of a run */
    double streaming_s_per_byte;        /* time to move a byte between a board and its streaming memory, beyond what the memory's rate gives */
    double loader_s_per_byte;   /* time for a byte of the first batch, which a loader makes after its start */
};

struct fitted_system {
    struct system_times times;
    double throughput_error;    /* standard deviation of ln(simulated / published) that the calibration left; 0 if unknown */
    struct sheet sheet;         /* the rows that these values came from, if there is a sheet */
};

struct system_constant {
    struct field field;         /* a field of struct fitted_system, with its bounds */
    double unfitted_value;      /* the default */
    double start;               /* the value that a fit starts from */
    const char *default_source;
};
enum { N_SYSTEM_CONSTANTS = 4 };
extern const struct system_constant system_constants[N_SYSTEM_CONSTANTS];
extern const struct field throughput_error_field;       /* recorded with the fitted constants, though it is not fitted */

enum { N_FITTED_SYSTEM_NAMES = N_SYSTEM_CONSTANTS + 1 };
void fitted_system_names(const char **out);             /* the keys of the sheet */
void fitted_system_defaults(struct fitted_system *out);
bool fitted_system_load(struct fitted_system *out, const char *specs_dir, const struct sheet_overrides *changes, struct arena *a,
                        struct err *err);

#endif
