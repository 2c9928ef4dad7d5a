/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machine_internal.h - what machine.c and machine_check.c share.
 */
#ifndef MACHINE_INTERNAL_H
#define MACHINE_INTERNAL_H
#include "system-model/machine/machine.h"

extern const char *const gateway_names[];
/* Refuses values that each are in range and together make no machine. path: the outermost sheet. */
bool machine_check(const struct machine *m, const char *path, struct err *err);

#endif
