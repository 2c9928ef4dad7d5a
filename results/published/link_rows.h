/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * link_rows.h - predictions of measured micro-benchmarks of links, of collectives between tiles, and of the host.
 *
 * A case is written as link:EXPERIMENT;key=value;... - the recipe column of results/published/links.csv.
 * Experiments: p2p halves hop broadcast gather scatter all-to-all reduce host. Keys (link_rows.c has them in a table): machine from to
 * ipus tiles bytes operands both apart column. Metrics: latency_us, aggregate_gb_per_s.
 */
#ifndef LINK_ROWS_H
#define LINK_ROWS_H
#include "system-model/base/base.h"

bool link_row_predict(double *value, const char *recipe, const char *metric, const char *specs_dir, struct arena *a, struct err *err);

#endif
