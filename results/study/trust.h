/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.h - how far a predicted throughput can be trusted, judged by the errors of published runs. A known run counts with its error when the
 * fit had not seen it, others with the error of their first prediction.
 *
 * Read in order: what makes two runs alike (properties), the values of a machine that published runs had (known values), published runs with
 * their errors (references), how far a run is from them (distances), the errors to be expected (spread), how often intervals hold (coverage),
 * what a recipe leaves open (readings), and all of it for one answer (validity).
 */
#ifndef TRUST_H
#define TRUST_H
#include "results/published/published.h"
#include "results/simulate/program_names.h"
#include "results/study/inputs.h"

/* ---- trust_properties.c: what makes two runs alike -------------------------------------------- */

/* Properties in order: the names of program_names.h, then counts, then the share of the step that each class of work takes. */
enum property_id {
    BY_IPUS = N_PROGRAM_NAMES, BY_WIDTH, BY_MICRO_BATCH, BY_GLOBAL_BATCH, BY_SEQUENCE, BY_SHARES, N_PROPERTIES = BY_SHARES + N_PART_CLASSES
};

/* The properties of one run. Two further shares do not enter distances. off_amp_share is the share of a micro-batch's cycles in products whose
 * plans do not use the AMP unit; a large one can put a run beyond all published runs. vector_share is the share of the chips' computing that
 * is neither product nor convolution. */
struct properties { const char *name[BY_IPUS]; double number[N_PROPERTIES], off_amp_share, vector_share; };
struct properties properties_of(const struct simulation *sim, struct arena *a);     /* the names live in the arena */
bool property_names_equal(const struct properties *x, const struct properties *y, size_t property);
/* The group of a run, such as "resnet50 train PopART bow". Runs of a group are left out of the fit together. */
const char *properties_group(const struct properties *x, struct arena *a);

/* ---- trust_known.c: the values of the chip, board, links and host that published runs had ----------- */

/* One value that a published run had for a key that affects speed; "" if its machine lacked the key. */
struct known_value { const char *key, *value; };
struct known_values { struct known_value *items; size_t n, cap, n_runs; };
void known_values_add(struct known_values *known, const struct simulation *sim, struct arena *a);      /* adds the values of one published run */
/* A number that is equal for two simulations whose costs read the same optional parts of the machine, such as links or gateways. */
unsigned machine_values_read(const struct simulation *sim);
/* The values of a machine that this simulation reads and that no published run had. The list is empty if no run is known. */
struct known_values known_values_foreign(const struct known_values *known, const struct simulation *sim, struct arena *a);
void known_values_write(FILE *f, const struct known_values *known);
bool known_values_load(struct known_values *out, const char *path, struct arena *a, struct err *err);

/* ---- trust_references.c: published runs and their errors ---------------------------------------- */

/* A published configuration, and the error that its prediction has if its group is left out of the fit. */
struct reference {
    const char *configuration, *recipe, *group, *origin;        /* `origin` is the publisher (figure_origin) */
    enum role role;
    struct properties at;
    double published, simulated;        /* samples/s */
    double left_out;                    /* ln(simulated / published) if its group is left out of the fit */
    /* ln(simulated / published): without_family if no run of its family and mode is in the fit, unfitted if no constant is fitted; not set for context rows */
    double without_family, unfitted;
    double first_sight;                 /* ln(predicted / published) of the first prediction; NaN if it was not recorded */
    double open_low, open_high;         /* ln(throughput / answer) of the slowest open reading, at most 0, and of the fastest, at least 0 */
    double first_open_low, first_open_high;     /* open_low and open_high, for the readings open at the first prediction */
    bool is_own;                        /* measured on the user's machine (own_runs.h); it counts as several published runs */
    const char *role_name, *id;         /* role and id of the row in its table */
    enum generation generation;         /* the generation of its chip, needed only while references are built */
};
struct references { struct reference *items; size_t n, cap; struct known_values known; };
/* The error that remains if the open reading that explains most of it is taken. */
double reference_unexplained(const struct reference *r);

/* Makes one reference for each configuration with a published throughput, including context. All are simulated, and the calibrating ones are
 * simulated again for each constant that was fitted to runs. Recipes that cannot be simulated are skipped, as podbench check reports them. */
void references_build(struct references *out, const struct figures *figures, const struct first_sight *seen, struct simulator *simulator, struct arena *a);
/* Writes left-out.csv of results/validity for podbench validate --out. Reading it saves the seconds that building takes. */
void references_write(FILE *f, const struct references *r);
bool references_load(struct references *out, const char *path, struct arena *a, struct err *err);
const char *property_name(size_t property);       /* the property's column in left-out.csv; N_PROPERTIES stands for off_amp_share */
struct references references_without_group(const struct references *r, const char *group, struct arena *a);

/* ---- without_fit.c: errors as fitted, with the family left out of the fit, and with nothing fitted ---- */

extern const char without_fit_title[];
struct table without_fit_table(const struct references *all, struct arena *a);          /* has a row for each role and each family of at least three runs */

/* ---- trust_distance.c: how far apart two runs are ------------------------------------------------ */

/* `distance` sums the differences with their weights: 1 for another name, the number of doublings between two counts, and the difference of
 * two shares. `unlike` is the part of a step that the other run spends on something else, half the sum of all differences of shares. */
struct apart { double distance, unlike; };
struct apart properties_apart(const struct properties *x, const struct properties *y);

/* The distance from one run to one reference; `terms` has the part of each name and count. */
struct distance { double terms[BY_SHARES]; struct apart apart; };
struct distances { struct distance *items; char names[BY_IPUS][48]; double counts[BY_SHARES]; };
/* Finds the distances of a run to all references. Distances begin as zeros and allocate in the arena. For another run with the same
 * references, only terms that changed are computed again. */
void distances_find(struct distances *d, const struct references *r, const struct properties *at, struct arena *a);
bool distance_has_name(const struct distance *d, size_t property);    /* true if the reference and the run have the same name for this property */
bool distance_is_of_kind(const struct distance *d);     /* true if both have the same family of models and both train or both infer */

/* ---- trust_interval.c: what to expect of a prediction ---------------------------------------------- */

/* The spread of ln(simulated / true) as fitted in trust_fit.c: near published runs (base), for each unit of distance beyond 1 (far), by the
 * host's share of the step (host), and by the share of vector work and of products without the AMP (vector); trust_interval.c has the formula. Nine in ten errors are within
 * nine_in_ten spreads. n_runs and n_values are the lines of left-out.csv and known-values.csv when both were written. There is no interval if
 * base is 0. */
struct spread { double base, far, host, vector, nine_in_ten; double largest_error; uint64_t n_runs, n_values; };
/* The expected ln(simulated / true): the middle and half the width of its 90 % interval, and its spread. All are 0 without references. */
struct expectation { double bias, half_width, spread; };
struct expectation spread_expect(const struct spread *s, const struct references *r, const struct distances *d, const struct properties *at);
/* like spread_expect(), but finds the distances itself */
struct expectation spread_expect_at(const struct spread *s, const struct references *r, const struct properties *at);
double student_nine_in_ten(void);       /* half of Student's 90 % interval, in units of its spread */

/* ---- trust_fit.c: the fit of the spread ------------------------------------------------------------- */

/* Fits the spread to one error of each reference. If its first prediction is recorded, that prediction's error is used, judged by references of other origins;
 * otherwise today's error, judged by all other references. References of without_origin, which may be NULL, are ignored. */
struct spread spread_fit(const struct references *r, const char *without_origin, struct arena *a);
void spread_write(FILE *f, const struct references *r);         /* results/validity/spread.csv */
bool spread_load(struct spread *out, const char *path, struct arena *a, struct err *err);

/* Results of the last judged run that the next one may share. Each thread has its own for the runs of its simulator. */
struct judged_run { struct distances distances; uint64_t sheets_id; unsigned values_read; const char *foreign; struct arena arena, texts; };
void judged_run_free(struct judged_run *last);
/* The published runs by which answers are judged; it is read-only after it was loaded. A folder without left-out.csv has no runs. `last` is
 * NULL if nothing is shared between runs. */
struct track_record { struct references references; struct spread spread; struct judged_run *last; };
/* The distances of a run to all references, in trust_distance.c; they are kept in `last` if there is one. */
const struct distances *track_record_distances(const struct track_record *by, const struct properties *at, struct arena *a);
bool track_record_open(struct track_record *out, const char *validity_dir, struct arena *a, struct err *err);
/* The standard deviation of the logarithm of a step's time, by all references or by those of other groups. Without references it is the fit's
 * throughput_error. */
double step_deviation(const struct simulation *sim, const struct track_record *by, bool without_group);

/* ---- trust_coverage.c: how often the interval holds the published value ----------------------------- */

/* The nearest kind of reference that a question has: the same program and chip, the same family and mode, no such family, or no such framework. */
enum likeness { LIKE_PROGRAM, LIKE_FAMILY, LIKE_NO_FAMILY, LIKE_NO_FRAMEWORK, N_LIKENESSES };
extern const char *const likeness_names[N_LIKENESSES];
enum likeness likeness_of(const struct references *r, const struct distances *d);

/* Intervals of one kind of question: how many hold the true value; the chance of a count so extreme if nine in ten held; the median half
 * width, as a share; and Winkler's score, the width plus 20 times the distance of a true value outside, as logarithms. The score punishes wide
 * intervals, too. */
struct interval_count { const char *kind; uint64_t runs, inside; double share, chance, median_half_width, score; };
struct interval_coverage { struct interval_count *rows; size_t n; };
/* Adds an interval to a kind: its half width, its width, and how far the true value lies outside. half_widths must have room for all. */
void interval_count_add(struct interval_count *c, double *half_widths, double half_width, double width, double outside);
bool interval_count_end(struct interval_count *c, double *half_widths);        /* finishes the count; false if there are no intervals */
void interval_coverage(struct interval_coverage *out, const struct references *r, struct arena *a);
struct table interval_coverage_table(const struct interval_coverage *c);
struct json_t *interval_coverage_json(const struct interval_coverage *c);

/* ---- trust_readings.c: what a recipe leaves open ---------------------------------------------- */

struct open_reading {
    const char *key, *taken, *alternative;
    double throughput_ratio;            /* the rate of the alternative over that of the answer; NAN if it was not simulated */
    struct expectation expected;        /* the expectation if the alternative is true */
    bool fits;
    const char *refused;                /* the reason if the reading cannot be simulated, or NULL */
    double unset_share;                 /* the calls' share of the step if nobody stated the key and a sheet's value is taken; otherwise 0 */
    const char *zero_means;             /* the meaning of the key's value 0, such as "unknown, no limit", or NULL */
};
/* Open readings of a recipe; those of one key are neighbours. unset_taken_from is the sheet that gives values to keys that nobody stated.
 * may_break_law: the torus may be slower than its ladder; then there are two more readings, and links_are_stated says that the recipe states
 * the second. may_crowd: the loss is computed in slices, which may lie on only some tiles; then slices on all tiles are one more reading. */
struct open_readings { struct open_reading *items; size_t n; const char *unset_taken_from; bool may_break_law, links_are_stated, may_crowd; };

/* Lists the readings in the recipe's section [open]. If calls take more than a twentieth of the step, it adds two readings of keys that nobody
 * stated: a single call for the whole run, as each program has its own number of steps a call; and, if a process handles less input in a call
 * than in all published runs, the launch of the engine alone, as the time of calls was found in published runs. */
void open_readings_list(struct open_readings *out, const struct simulation *sim, struct arena *a);
void open_readings_try(struct open_readings *o, const struct track_record *by, const struct result *base, const struct simulation_request *q,
                       struct arena *a);
struct log_interval { double low, high; };          /* logarithms of ratios to a prediction */
/* The interval that spans those of the answer and of all simulated readings, as logarithms of the ratio to the answer. */
struct log_interval open_readings_interval(const struct open_readings *o, struct expectation own);
/* The range of the answer and its readings, without their own intervals. `q` is the request that simulated it. */
struct log_interval open_readings_span(const struct simulation *sim, const struct result *base, const struct simulation_request *q, struct arena *a);
void open_readings_document(struct document *d, const struct open_readings *o);
struct json_t *open_readings_json(const struct open_readings *o);
/* lists keys that nobody stated and a sheet decided, with their share of the step */
struct json_t *open_readings_unset_json(const struct open_readings *o);

/* ---- trust.c: one answer ----------------------------------------------------------------------- */

enum { MAX_NEAREST = 3, NEAR_DISTANCE = 2 };
struct validity {
    double throughput, low, high;       /* in samples/s; low and high are 0 if there is no interval, because of a foreign value or without references */
    double distance;                    /* distance of the nearest published run; -1 if there is none */
    double unlike;                      /* the share of the step that the nearest run spends on other things */
    struct { const struct reference *reference; double distance; } nearest[MAX_NEAREST]; size_t n_nearest;
    const char *differs[BY_SHARES + 1]; size_t n_differs;               /* properties in which the nearest run differs */
    const char *extrapolates[N_PROPERTIES + 1]; size_t n_extrapolates;  /* names of the extrapolated properties */
    double off_amp_share, most_off_amp_share;   /* this run's share of products that do not use the AMP unit, and the largest of a published run */
    bool same_kind;                     /* true if a published run has this family of models and mode */
    /* true if a run of this family and mode is within NEAR_DISTANCE (two names, or as much in doublings); otherwise the interval is a guess */
    bool near;
    enum likeness likeness;
    bool as_if_fitted;                  /* the program does not fit, so that rate and interval are those that it would have */
    const char *foreign;                /* values of the machine that no published run had, so that no error is known for them; may be NULL */
    double largest_error;               /* the largest error of a published run left out of the fit, as a logarithm */
    struct open_readings open;
    struct expectation expected;        /* the expectation without other readings */
    double from_fitted_share, from_assumed_share;   /* shares of the step's time; NAN if not computed */
};

/* Judges an answer. `q` is the request that simulated it; if it is NULL, shares and other readings are not computed. */
void validity_of(struct validity *out, const struct track_record *by, const struct simulation *sim, const struct result *r,
                 const struct simulation_request *q, struct arena *a);
/* Widens the interval by other readings, which are simulated as in `q`. validity_of() does so if it gets a request. */
void validity_add_readings(struct validity *v, const struct track_record *by, const struct result *as_asked, const struct simulation_request *q,
                           struct arena *a);
bool validity_has_interval(const struct validity *v);
bool validity_is_guess(const struct validity *v);            /* true if there is an interval but no published run is near */
const char *validity_guess_name(const struct validity *v);   /* "yes" or "no" for the column "guess"; NULL if there is no interval */
extern const char as_if_fitted_note[];                       /* the note of a row whose program does not fit */
const char *validity_note(const struct validity *v, struct arena *a);       /* a note for a row: why there is no interval, or that it is a guess; or NULL */
double validity_expected(const struct validity *v);          /* samples/s: the prediction corrected by the bias of similar runs */
double validity_uncertainty(const struct validity *v);       /* half the interval over the throughput; 0 if unknown */
void validity_document(struct document *d, const struct validity *v, const struct result *r);     /* adds two or three lines */
struct json_t *validity_json(const struct validity *v);

#endif
