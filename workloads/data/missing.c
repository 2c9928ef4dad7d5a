/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * missing.c - the refusal of data that is not there.
 */
#include "workloads/data/data_internal.h"

bool data_missing(const char *path, const char *remedy, struct err *err) { return fail(err, "%s: is not there; %s", path, remedy); }
