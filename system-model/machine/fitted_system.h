/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fitted_system.h - constants of the software around the chips that a calibration has set: specs/fitted-system.csv.
 *
 * None belongs to a workload, a system or a row. Without the sheet each has its default, as if nothing had been fitted.
 */
#ifndef FITTED_SYSTEM_H
#define FITTED_SYSTEM_H
#include "system-model/machine/what_if.h"

struct fitted_system {
    double call_s;              /* the chips stand still this long each time a session's call ends and the host starts the next */
    double output_reduction_s;  /* one number averaged over a host's processes */
    double remote_access_s;     /* one transfer to or from streaming memory, beside its bytes */
    double loader_s_per_byte;   /* a loader that has just been started makes the batch of its process's first step */
    double throughput_error;    /* spread of ln(simulated / published) that the calibration left; 0: not known */
    struct sheet sheet;         /* the rows they came from; none where there is no sheet */
};

struct system_constant {
    struct field field;         /* of struct fitted_system, with its bounds */
    double unfitted_value;      /* its default */
    double start;               /* where a fit starts */
    const char *default_source;
};
enum { N_SYSTEM_CONSTANTS = 4 };
extern const struct system_constant system_constants[N_SYSTEM_CONSTANTS];
extern const struct field throughput_error_field;       /* recorded beside them, not fitted */

enum { N_FITTED_SYSTEM_NAMES = N_SYSTEM_CONSTANTS + 1 };
void fitted_system_names(const char **out);             /* the keys of the sheet */
void fitted_system_defaults(struct fitted_system *out);
/* changes: values in place of the sheet's, or NULL. */
bool fitted_system_load(struct fitted_system *out, const char *specs_dir, const struct what_ifs *changes, struct arena *a,
                        struct err *err);

#endif
