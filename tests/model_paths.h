/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_paths.h - the project's own sheets, recipes and tables, for tests that simulate. */
#ifndef TEST_MODEL_PATHS_H
#define TEST_MODEL_PATHS_H
#include "results/simulate/simulator.h"

static const struct model_paths paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes", .data_dir = "workloads/convergence" };

#endif
