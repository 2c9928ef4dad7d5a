/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder_names.h - who and what a folder of logs is about, from its path; "" where the path does not say.
 */
#ifndef FOLDER_NAMES_H
#define FOLDER_NAMES_H
#include "results/mlperf/judge.h"

struct folder_names { const char *round, *division, *submitter, *system, *benchmark; };

/* logged_benchmark: what the logs say; NULL: nothing. */
void folder_names_take(struct folder_names *out, const struct judge *j, const char *path, const char *logged_benchmark, struct arena *a);
#endif
