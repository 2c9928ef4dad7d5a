/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * eval_schedule.c - evaluation schedules of MLPerf Training v1.0 to v2.1.
 *
 * ResNet-50: every 4 epochs, with an offset of 0 to 3. RNN-T: every epoch. BERT: every FLOOR(0.05 * (230.23 * batch + 3,000,000), 25,000)
 * samples, which may be rounded up to the next batch. Source: mlcommons/training_policies training_rules.adoc, table of quality targets.
 */
#include "workloads/convergence/eval_schedule.h"
#include "system-model/base/base.h"

#include <math.h>

bool eval_schedule_of(struct eval_schedule *out, const char *benchmark, double global_batch)
{
    if (text_is(benchmark, "resnet")) {
        *out = (struct eval_schedule){ 4, false, 4 };
    } else if (text_is(benchmark, "rnnt")) {
        *out = (struct eval_schedule){ 1, false, 1 };
    } else if (text_is(benchmark, "bert") && global_batch > 0) {
        double interval = floor(0.05 * (230.23 * global_batch + 3e6) / 25000) * 25000;
        *out = (struct eval_schedule){ interval, true, interval };
    } else {
        return false;
    }
    return true;
}
