/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sdk.h - what a release of the software stack costs once a run, outside the chips: host work that the rules time.
 *
 * Values are read off the logs of runs that may calibrate; a release without a sheet has none, and costs nothing.
 */
#ifndef SDK_H
#define SDK_H
#include "system-model/machine/what_if.h"

struct sdk {
    const char *name;
    double checkpoint_start_s;  /* start of the clock to the first step, when training starts from a given checkpoint */
    double eval_switch_s;       /* end of training to the first evaluation, when evaluation comes at the end */
    double eval_load_s;         /* the evaluation program onto the chips, once */
    double checkpoint_save_s;   /* training waits so long for each checkpoint it writes */
    double checkpoint_restore_s;    /* from one evaluation at the end to the next */
    struct sheet sheet;         /* the rows they came from; none where there is no sheet */
    const char *others;         /* where it has no sheet: the releases that have one */
    bool is_newest;             /* than each of these */
};

/* "2.5.1", or "2.5.1" followed by - or + and any text. */
bool is_release(const char *text);
/* "2.5.1" against "2.10": number by number; what is missing counts as 0. */
int compare_releases(const char *a, const char *b);
/* The sheet specs_dir/sdk/NAME.csv; name may be NULL. changes: values in place of the sheet's, or NULL. */
bool sdk_load(struct sdk *out, const char *name, const char *specs_dir, const struct what_ifs *changes, struct arena *a, struct err *err);

#endif
