/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence.h - how many samples a training run needs to reach MLPerf's target, as a distribution over runs.
 *
 * The reference convergence points of the round give the centre: the line between two points inside their range, the
 * fitted law (convergence_law.h, scaled to meet the last point) beyond it. A run converges at a latent point X,
 * lognormal about the median, and logs the first scheduled evaluation at or after X. A run that trains a planned number
 * of epochs and evaluates at the end (ResNet-50 on IPUs) has a plan of the reference times a margin, and the accuracy
 * of its last evaluation varies. Two effects move the centre: that of a submitter in a round, fitted to runs whose role
 * is calibrate, and that of the open division, from what re-tuning gained on the reference itself. The rest is spread,
 * measured on all known submissions.
 */
#ifndef CONVERGENCE_H
#define CONVERGENCE_H
#include "workloads/convergence/rcp_points.h"

enum convergence_method { CONVERGENCE_INTERPOLATED, CONVERGENCE_EXTRAPOLATED };

struct convergence {
    const char *benchmark, *ruleset;
    double global_batch;                /* samples a step */
    enum convergence_method method;
    bool in_samples;                    /* the benchmark counts samples, not epochs */
    double samples_per_epoch;           /* 1 for a benchmark that counts samples */
    double reference;                   /* the reference's mean at this batch, in epochs or samples */
    double median_samples;              /* median of X */
    double sigma;                       /* standard deviation of ln X from run to run */
    double mean_samples;                /* samples at the scheduled evaluation that first sees the target, as a mean over runs */
    double effect;                      /* ln of the known ratio of this submitter, round and division to the reference; included in the median */
    double error, error_dof;            /* uncertainty of ln of the median, a Student t with this many degrees of freedom */
    struct eval_schedule schedule;
    bool has_plan;                      /* true: a fixed schedule, for which planned_epochs to accuracy_sd are valid */
    double planned_epochs;              /* length of a fixed schedule, whole */
    double plan_error, plan_dof;        /* uncertainty of ln of planned_epochs, a Student t */
    double accuracy_mean, accuracy_sd;  /* accuracy of the last evaluation */
    double target;                      /* accuracy to reach, by the rules */
    bool higher_is_better;
    const struct edition *edition;
    bool is_closed;                     /* the closed division, whose convergence is tested against the reference */
    struct rcp_limit limit;             /* the limit of the reference-convergence test, in epochs or samples */
};

/* A submission. A submitter without calibration runs, or NULL, has no effect of its own. */
struct submission_terms {
    const char *benchmark, *round;      /* "resnet", "bert", "rnnt"; "v1.0" ... "v2.1" or its ruleset */
    const char *division;               /* "closed" or "open"; NULL: closed */
    const char *submitter, *optimizer;  /* optimizer: sgd or lars, which set the margin of a fixed schedule; NULL: lars */
    double global_batch;                /* samples a step */
    double base_learning_rate;          /* learning rate: selects the reference record where rounds have several for one batch; 0: the round's own */
};
/* data_dir: workloads/convergence. The prediction names an edition, which is in the arena. */
bool convergence_predict_for(struct convergence *out, const struct submission_terms *terms, const char *data_dir, struct arena *a,
                             struct err *err);

/* Predicts from tables that are read once for many predictions. terms->benchmark has to outlive out. */
struct convergence_tables;
bool convergence_tables_load(struct convergence_tables **out, const char *data_dir, struct arena *a, struct err *err);
bool convergence_predict_from(struct convergence *out, struct convergence_tables *tables, const struct submission_terms *terms,
                              struct err *err);
/* Fills only the median that the reference gives, and the schedule; nothing that was fitted. Fails for a batch outside the reference points. */
bool convergence_reference(struct convergence *out, struct convergence_tables *tables, const struct submission_terms *terms, struct err *err);

/* Samples at the first scheduled evaluation at or after x samples; offset (in epochs, 0 to interval - 1) shifts a
 * schedule in epochs. */
double convergence_observed(const struct convergence *c, double x, double offset);
/* The mean of convergence_observed over X and all offsets. */
double convergence_expected(const struct convergence *c);

/* Factor on the times of a closed submission, whose runs took this many samples on average. It is the reference's samples divided by `samples`, or
 * 1 if the round does not scale the submission. */
double convergence_scaling(const struct convergence *c, double samples);

/* ---- the tables behind it ------------------------------------------------------------------- */

struct benchmark_facts {
    const char *benchmark, *unit;
    double samples_per_epoch;           /* samples of an epoch; 1 if the unit is samples */
    double eval_samples, target, reference_grid;
    int higher_is_better;               /* 1: true */
};
bool benchmark_facts(struct benchmark_facts *out, const char *benchmark, const char *data_dir, struct arena *a, struct err *err);

/* Finds a row of fits.csv. ruleset or benchmark may be "any" in the table; standard_error may be NULL. */
bool fit_value(double *value, double *standard_error, const char *benchmark, const char *ruleset, const char *key, const char *data_dir, struct arena *a,
               struct err *err);
/* Loads the reference points that a prediction uses, pruned by mean, and those that its law is fitted to. */
bool convergence_points(struct rcp_table *line, struct rcp_table *law, const char *benchmark, const char *round, const char *data_dir,
                        struct arena *a, struct err *err);
#endif
