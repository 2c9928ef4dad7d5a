/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_demands.h - the keys that a log of one edition, division, benchmark and optimizer must have, from the rules that judge it.
 */
#ifndef LOG_DEMANDS_H
#define LOG_DEMANDS_H
#include "results/mlperf/rules.h"

struct demand {
    const char *key;
    bool fixed;                         /* the rules leave one value, or name a first one */
    struct value value;
    const char *layer;
};

struct log_demands {
    const struct edition *edition;
    struct demand *items;               /* keys wanted exactly once, in the order of the layers */
    size_t n;
    const struct name_list *names;      /* that weights_initialization must list; NULL: none */
};

/* optimizer: opt_name; may be NULL. */
bool log_demands_load(struct log_demands *out, const char *round, const char *division, const char *benchmark, const char *optimizer,
                      const char *rules_dir, struct arena *a, struct err *err);
#endif
