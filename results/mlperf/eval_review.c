/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * eval_review.c - see eval_review.h. An evaluation may come as late as the next batch after it is due.
 */
#include "results/mlperf/eval_review.h"

#include "workloads/convergence/eval_schedule.h"

void eval_review_line(struct eval_review *r, const char *benchmark, double batch, const struct mllog_line *l)
{
    struct eval_schedule s;
    double point;
    if (!text_is(l->key, "eval_accuracy") || !eval_schedule_of(&s, benchmark, batch)
        || !mllog_number_loose(json_object_get(l->metadata, "epoch_num"), &point))
        return;
    double slack = s.in_samples ? batch : 0, gap = r->n ? point - r->last : point, most = r->n ? s.interval : s.latest_first;
    bool off = gap > most + slack || (r->n && gap < s.interval - slack);
    if (off && r->n_off++ == 0)
        r->first_off_line = l->line, r->off_gap = gap;
    r->last = point;
    r->n++;
}

void eval_review_end(const struct eval_review *r, const char *benchmark, double batch, struct compliance *out, struct arena *a)
{
    struct eval_schedule s;
    if (!r->n_off || !eval_schedule_of(&s, benchmark, batch))
        return;
    const char *unit = s.in_samples ? "samples" : "epochs";
    struct log_message m = { SEVERITY_REVIEW, r->first_off_line, "eval_accuracy", NULL };
    if (r->n > 1 && r->last == 1 && s.in_samples)
        m.line = 0, m.text = "epoch_num does not count samples: the evaluation schedule cannot be seen";
    else
        m.text = arena_printf(a, "%.10g %s after the one before, want evaluations every %.10g %s (%llu of %llu are off the schedule)",
                              r->off_gap, unit, s.interval, unit, (unsigned long long)r->n_off, (unsigned long long)r->n);
    compliance_say(out, m, a);
}
