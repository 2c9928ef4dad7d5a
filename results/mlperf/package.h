/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * package.h - the parts of the package checker's verdict on a folder of logs; private to folder.c and package.c.
 */
#ifndef PACKAGE_H
#define PACKAGE_H
#include "results/mlperf/folder.h"

struct package {
    struct folder *f;
    struct judge *j;
    struct seed_seen *seeds;
    size_t n_seeds, cap_seeds;
    bool batch_differs;
    const char *description_division;   /* NULL: there is no description */
    bool rcp_bypass, seed_bypass;
    struct arena *a;
};

/* Fills the folder's parts, its convergence verdict and whether it passes. */
void package_judge(struct package *p);
#endif
