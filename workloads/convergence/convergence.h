/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence.h - how many samples a training run needs to reach MLPerf's target, as a distribution over runs.
 *
 * The reference convergence points of the round give the centre: on the line between them inside their range, by the fitted law
 * (convergence_law.h, scaled to meet the table's end) beyond it. A run converges at a latent point X, lognormal about the median;
 * what is logged is the first scheduled evaluation at or after X. Where a run trains a planned number of epochs and evaluates at the
 * end (ResNet-50 on IPUs), the plan is the reference times a margin and the last evaluation's accuracy is what varies.
 * What is known of submissions moves the centre: a submitter's in a round, from runs that may calibrate; that of the open division, from
 * what re-tuning gained on the reference itself. What is left is spread, measured on all submissions at hand.
 */
#ifndef CONVERGENCE_H
#define CONVERGENCE_H
#include "workloads/convergence/eval_schedule.h"
#include "workloads/convergence/rcp_points.h"

enum convergence_method { CONVERGENCE_INTERPOLATED, CONVERGENCE_EXTRAPOLATED };
extern const char *const convergence_method_names[3];

struct convergence {
    const char *benchmark, *ruleset;
    double global_batch;                /* samples a step */
    enum convergence_method method;
    bool in_samples;                    /* the benchmark counts samples, not epochs */
    double samples_per_epoch;           /* 1 when it counts samples */
    double reference;                   /* the reference's mean at this batch, in epochs or samples */
    double median_samples;              /* of X */
    double sigma;                       /* run to run, of ln X */
    double mean_samples;                /* expected at the scheduled evaluations */
    double effect;                      /* ln of how far off the reference this submitter, round and division are known to be; in the median */
    double error, error_dof;            /* what is left unknown of the median: spread of ln, a Student t with so many degrees of freedom */
    struct eval_schedule schedule;
    bool has_plan;                      /* the next four hold */
    double planned_epochs;              /* whole epochs of a fixed schedule */
    double plan_error, plan_dof;        /* spread of ln planned_epochs, a Student t */
    double accuracy_mean, accuracy_sd;  /* of the last evaluation */
    double target;                      /* of the accuracy, as the rules have it */
    bool higher_is_better;
    const struct edition *edition;
    bool is_closed;                     /* its convergence is tested against the reference */
    struct rcp_limit limit;             /* of that test, in epochs or samples */
};

/* What is known of a submission. A submitter without calibration runs, or NULL, has no effect of its own. */
struct submission_terms {
    const char *benchmark, *round;      /* "resnet", "bert", "rnnt"; "v1.0" ... "v2.1" or its ruleset */
    const char *division;               /* "closed" or "open"; NULL: closed */
    const char *submitter, *optimizer;  /* sgd or lars, on which a fixed schedule's margin depends; NULL: lars */
    double global_batch;                /* samples a step */
    double base_learning_rate;          /* names the reference record, where rounds have several of one batch; 0: the round's own */
};
/* data_dir: workloads/convergence. */
bool convergence_predict_for(struct convergence *out, const struct submission_terms *terms, const char *data_dir, struct arena *a,
                             struct err *err);

/* The same from tables that are read once, for many predictions. The terms' benchmark has to outlive out. */
struct convergence_tables;
bool convergence_tables_load(struct convergence_tables **out, const char *data_dir, struct arena *a, struct err *err);
bool convergence_predict_from(struct convergence *out, struct convergence_tables *tables, const struct submission_terms *terms,
                              struct err *err);
/* The median by the reference alone, and the schedule; nothing that is fitted. False for a batch outside the reference points. */
bool convergence_reference(struct convergence *out, struct convergence_tables *tables, const struct submission_terms *terms, struct err *err);

/* Samples at the first scheduled evaluation at or after x samples; offset (in epochs, 0 to interval - 1) moves an epoch schedule. */
double convergence_observed(const struct convergence *c, double x, double offset);
/* The mean of what is observed, of a run at any offset. */
double convergence_expected(const struct convergence *c);

/* By what the times of a submission are multiplied whose runs took so many samples on average: 1, or the reference's samples over these
 * where the round scales a closed submission to the reference. */
double convergence_scaling(const struct convergence *c, double samples);

/* ---- the tables behind it ------------------------------------------------------------------- */

struct benchmark_facts {
    const char *name, *unit;
    double samples_per_epoch;           /* 1 for samples */
    double eval_samples, target, reference_grid;
    bool higher_is_better;
};
bool benchmark_facts(struct benchmark_facts *out, const char *benchmark, const char *data_dir, struct arena *a, struct err *err);

/* One row of fits.csv. ruleset or benchmark may be "any" in the table. */
bool fit_value(double *value, double *standard_error, const char *benchmark, const char *ruleset, const char *key,
               const char *data_dir, struct arena *a, struct err *err);
/* The reference points that a prediction stands on, pruned by mean; and those that its law is fitted to. */
bool convergence_points(struct rcp_table *line, struct rcp_table *law, const char *benchmark, const char *round, const char *data_dir,
                        struct arena *a, struct err *err);
#endif
