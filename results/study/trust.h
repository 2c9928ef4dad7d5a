/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.h - how far a predicted throughput can be trusted, judged by how far off published runs were: known ones when the fit had not seen
 * them, others when they were first predicted.
 *
 * Read in order: what makes two runs alike (properties), the values of a machine that published runs had (known
 * values), published runs with their errors (references), how far a run is from them (distances), what those errors let expect of it (spread), how often that
 * holds (coverage), what a recipe leaves open (readings), and all of it for one answer (validity).
 */
#ifndef TRUST_H
#define TRUST_H
#include "results/published/published.h"
#include "results/simulate/program_names.h"
#include "results/study/inputs.h"

/* ---- trust_properties.c: what makes two runs alike -------------------------------------------- */

/* The names of program_names.h come first, then counts, then the share of the step that each class of work takes. */
enum property_id {
    BY_IPUS = N_PROGRAM_NAMES, BY_WIDTH, BY_MICRO_BATCH, BY_GLOBAL_BATCH, BY_SEQUENCE, BY_SHARES, N_PROPERTIES = BY_SHARES + N_PART_CLASSES
};

/* The properties of one run: names, counts and shares. Two shares are no part of distances. off_amp_share: the share of a micro-batch's cycles in products
 * whose plans do not use the AMP unit, which shows if a run lies beyond all published ones. vector_share: the share of what the chips compute that is
 * neither a product nor a convolution. */
struct properties { const char *name[BY_IPUS]; double number[N_PROPERTIES], off_amp_share, vector_share; };
struct properties properties_of(const struct simulation *sim, struct arena *a);     /* the names live in the arena */
bool property_names_equal(const struct properties *x, const struct properties *y, size_t property);
/* A group such as "resnet50 train PopART bow": its runs are left out of the fit together. */
const char *properties_group(const struct properties *x, struct arena *a);

/* ---- trust_known.c: the values of the chip, board, links and host that published runs had ----------- */

/* Each value of each key that changes the speed; the value "" stands for a machine without the key. */
struct known_value { const char *key, *value; };
struct known_values { struct known_value *items; size_t n, cap, n_runs; };
void known_values_add(struct known_values *known, const struct simulation *sim, struct arena *a);      /* adds the values that one published run had */
/* Which optional parts of the machine the costs of this simulation read: links, gateways.. The value has no meaning but equality. */
unsigned machine_values_read(const struct simulation *sim);
/* The values of a machine that this simulation reads and that no published run had; none where no run is known. */
struct known_values known_values_foreign(const struct known_values *known, const struct simulation *sim, struct arena *a);
void known_values_write(FILE *f, const struct known_values *known);
bool known_values_load(struct known_values *out, const char *path, struct arena *a, struct err *err);

/* ---- trust_references.c: published runs and their errors ---------------------------------------- */

/* A published configuration, with the error of its prediction as if its group had not been seen by the fit. */
struct reference {
    const char *configuration, *recipe, *group, *origin;        /* origin: who published it (figure_origin) */
    enum role role;
    struct properties at;
    double published, simulated;        /* samples/s */
    double left_out;                    /* ln(simulated / published), its group left out of the fit */
    double without_family, unfitted;    /* without_family: as left_out, but without all runs of its family and mode; unfitted: with nothing fitted. Context rows have neither */
    double first_sight;                 /* ln(predicted / published) when it was first simulated; NaN if first predictions were not kept yet */
    double open_low, open_high;         /* ln(throughput / answer) of the slowest open reading, at most 0, and of the fastest, at least 0 */
    double first_open_low, first_open_high;     /* the same range, for the readings that were open at the first prediction */
    bool is_own;                        /* measured on the user's machine (own_runs.h): it counts as several published runs do */
    const char *role_name, *id;         /* the row's role and id in its table */
    enum generation generation;         /* generation of its chip, used only while the reference is built */
};
struct references { struct reference *items; size_t n, cap; struct known_values known; };
/* The rest of the error, if the open reading that explains most of it is taken. */
double reference_unexplained(const struct reference *r);

/* One reference for each configuration with a published throughput, including context. It simulates all of them, and
 * the calibrating ones again for each constant that was fitted to runs. Recipes that cannot be simulated are skipped:
 * podbench check names them. */
void references_build(struct references *out, const struct figures *figures, const struct first_sight *seen, struct simulator *simulator, struct arena *a);
/* The table left-out.csv of results/validity, which podbench validate --out writes: building it takes seconds. */
void references_write(FILE *f, const struct references *r);
bool references_load(struct references *out, const char *path, struct arena *a, struct err *err);
const char *property_name(size_t property);       /* the property's column in left-out.csv; for N_PROPERTIES the column of off_amp_share */
struct references references_without_group(const struct references *r, const char *group, struct arena *a);

/* ---- without_fit.c: errors as fitted, with the family left out of the fit, and with nothing fitted ---- */

extern const char without_fit_title[];
struct table without_fit_table(const struct references *all, struct arena *a);          /* by role, and by family of at least three runs */

/* ---- trust_distance.c: how far apart two runs are ------------------------------------------------ */

/* distance: the sum of the differences, each times its weight: 1 for another name, the number of doublings between two
 * counts, and the difference of two shares. unlike: the part of either step that the other spends on something else,
 * half the sum of all differences of shares. */
struct apart { double distance, unlike; };
struct apart properties_apart(const struct properties *x, const struct properties *y);

/* From one run to each reference. terms: what each name and count adds to each distance; names and counts: those of the run. */
struct distance { double terms[BY_SHARES]; struct apart apart; };
struct distances { struct distance *items; char names[BY_IPUS][48]; double counts[BY_SHARES]; };
/* Distances begin as zeros and find their room in the arena. For another run and the same references, only what differs is computed again. */
void distances_find(struct distances *d, const struct references *r, const struct properties *at, struct arena *a);
bool distance_has_name(const struct distance *d, size_t property);    /* the reference has the same name there as the run */
bool distance_is_of_kind(const struct distance *d);     /* the two are of one family of models, and both are trained or both infer */

/* ---- trust_interval.c: what to expect of a prediction ---------------------------------------------- */

/* Standard deviations of ln(simulated / true), fitted in trust_fit.c: near published runs (base), for each unit of distance beyond 1 (far), by the
 * host's share of the step (host), and by the share of vector work (vector); trust_interval.c has the formula. nine_in_ten: nine in ten errors are
 * within this many spreads. n_runs, n_values: how many lines left-out.csv and known-values.csv had when they were written with it. base 0: there is
 * no interval. */
struct spread { double base, far, host, vector, nine_in_ten; double largest_error; uint64_t n_runs, n_values; };
/* The expected ln(simulated / true): the middle and half the width of its 90 % interval, and its spread. All three are 0 without references. */
struct expectation { double bias, half_width, spread; };
struct expectation spread_expect(const struct spread *s, const struct references *r, const struct distances *d, const struct properties *at);
struct expectation spread_expect_at(const struct spread *s, const struct references *r, const struct properties *at);      /* finds the distances itself */
double student_nine_in_ten(void);       /* half of Student's 90 % interval, in units of its spread */

/* ---- trust_fit.c: the fit of the spread ------------------------------------------------------------- */

/* Fits the spread to one error of each reference. If its first prediction was kept, that is judged, by the references of other origins. If not, today's
 * prediction is judged, by all other references. References of without_origin, which may be NULL, take no part. */
struct spread spread_fit(const struct references *r, const char *without_origin, struct arena *a);
void spread_write(FILE *f, const struct references *r);         /* results/validity/spread.csv */
bool spread_load(struct spread *out, const char *path, struct arena *a, struct err *err);

/* Results for the run judged before, which the next one shares in part: for a thread that judges the runs of one simulator. */
struct judged_run { struct distances distances; uint64_t sheets_id; unsigned values_read; const char *foreign; struct arena arena, texts; };
void judged_run_free(struct judged_run *last);
/* The published runs by which answers are judged: made once, read by many. A folder without left-out.csv gives none.
 * last: NULL where nothing is kept from one run to the next. */
struct track_record { struct references references; struct spread spread; struct judged_run *last; };
/* trust_distance.c: the distances of a run to all references; kept in `last` if there is one. */
const struct distances *track_record_distances(const struct track_record *by, const struct properties *at, struct arena *a);
bool track_record_open(struct track_record *out, const char *validity_dir, struct arena *a, struct err *err);
/* The standard deviation of the logarithm of a step's time, by all references or by those of other groups; where there are none, the
 * throughput_error of the fit. */
double step_deviation(const struct simulation *sim, const struct track_record *by, bool without_group);

/* ---- trust_coverage.c: how often the interval holds the published value ----------------------------- */

/* How unlike a question is to all references: program and chip known, family and mode known, no such family, no such framework. */
enum likeness { LIKE_PROGRAM, LIKE_FAMILY, LIKE_NO_FAMILY, LIKE_NO_FRAMEWORK, N_LIKENESSES };
extern const char *const likeness_names[N_LIKENESSES];
enum likeness likeness_of(const struct references *r, const struct distances *d);

/* Questions of one kind: how many true values lie in their 90 % interval; the chance of so few or so many if nine in ten did; the median half width,
 * as a share; and Winkler's score, the interval's width plus 20 times what a true value lies outside, as logarithms: a wide interval costs, too. */
struct interval_count { const char *kind; uint64_t runs, inside; double share, chance, median_half_width, score; };
struct interval_coverage { struct interval_count *rows; size_t n; };
/* Adds one interval to a kind: its half width, its width, and how far the true value lies outside. half_widths has room for all. */
void interval_count_add(struct interval_count *c, double *half_widths, double half_width, double width, double outside);
bool interval_count_end(struct interval_count *c, double *half_widths);        /* false if there are none */
void interval_coverage(struct interval_coverage *out, const struct references *r, struct arena *a);
struct table interval_coverage_table(const struct interval_coverage *c);
struct json_t *interval_coverage_json(const struct interval_coverage *c);

/* ---- trust_readings.c: what a recipe leaves open ---------------------------------------------- */

struct open_reading {
    const char *key, *taken, *alternative;
    double throughput_ratio;            /* the alternative's rate over the answer's; NAN if it was not simulated */
    struct expectation expected;        /* the expectation with the alternative */
    bool fits;
    const char *refused;                /* why the reading cannot be simulated, or NULL */
    double unset_share;                 /* the share of the step that calls take, if nobody has stated the key and a sheet's value is taken; else 0 */
    const char *zero_means;             /* the meaning of a key's 0, such as "unknown, no limit"; else NULL */
};
/* Readings of one key are neighbours. unset_taken_from: the sheet that gives values to keys that nobody has stated. If the torus turns out to be
 * slower than its ladder (possible where may_break_law is set), two more readings follow. links_are_stated: the recipe states the second of them.
 * may_crowd: the loss is computed in slices, which may lie on some of the tiles only; if so, slices on all tiles are one more reading. */
struct open_readings { struct open_reading *items; size_t n; const char *unset_taken_from; bool may_break_law, links_are_stated, may_crowd; };

/* Lists the recipe's [open] section. Where calls of a session take more than a twentieth of the step, it adds two readings of keys that nobody has
 * stated: one call for the whole run, because each program has its own number of steps a call; and, if a process handles less input in a call than in
 * any published run, the engine's launch alone, because the time of calls was found in published runs. */
void open_readings_list(struct open_readings *out, const struct simulation *sim, struct arena *a);
void open_readings_try(struct open_readings *o, const struct track_record *by, const struct result *base, const struct simulation_request *q,
                       struct arena *a);
struct log_interval { double low, high; };          /* logarithms of the ratio to a prediction */
/* Spans the intervals of the answer and of all simulated readings; as logarithms of the ratio to the answer. */
struct log_interval open_readings_interval(const struct open_readings *o, struct expectation own);
/* The slowest and the fastest of the answer and its readings, without their intervals; q says how it was simulated. */
struct log_interval open_readings_span(const struct simulation *sim, const struct result *base, const struct simulation_request *q, struct arena *a);
void open_readings_document(struct document *d, const struct open_readings *o);
struct json_t *open_readings_json(const struct open_readings *o);
struct json_t *open_readings_unset_json(const struct open_readings *o);     /* keys that the recipe does not set, so that a sheet decided them, with their share of the step */

/* ---- trust.c: one answer ----------------------------------------------------------------------- */

enum { MAX_NEAREST = 3, NEAR_DISTANCE = 2 };
struct validity {
    double throughput, low, high;       /* samples/s; low and high are 0 without an interval: something is foreign, or there are no errors to go by */
    double distance;                    /* the distance to the nearest published run; -1: there is none */
    double unlike;                      /* share of the step that the nearest run spends on other things */
    struct { const struct reference *reference; double distance; } nearest[MAX_NEAREST]; size_t n_nearest;
    const char *differs[BY_SHARES + 1]; size_t n_differs;               /* the properties in which the nearest run differs */
    const char *extrapolates[N_PROPERTIES + 1]; size_t n_extrapolates;  /* names of properties */
    double off_amp_share, most_off_amp_share;   /* the share of the step on products that do not use the AMP unit, and the most that a published run had */
    bool same_kind;                     /* some published run has this family of models and mode */
    bool near;                          /* a run of this family and mode is within NEAR_DISTANCE: two names apart, or as much in doublings. Otherwise the interval is a guess */
    enum likeness likeness;
    const char *foreign;                /* values of the machine that no published run had: no error is known there; NULL if none */
    double largest_error;               /* the largest error of a published run left out of the fit, as a logarithm */
    struct open_readings open;
    struct expectation expected;        /* the expectation if there were no other readings */
    double from_fitted_share, from_assumed_share;   /* shares of the step's time; NAN if not computed */
};

/* q says how the result was simulated; without it (NULL) shares and other readings are not computed. */
void validity_of(struct validity *out, const struct track_record *by, const struct simulation *sim, const struct result *r,
                 const struct simulation_request *q, struct arena *a);
/* Widens the interval by other readings, simulated as q says. validity_of does it if it is given a request. */
void validity_add_readings(struct validity *v, const struct track_record *by, const struct result *as_asked, const struct simulation_request *q,
                           struct arena *a);
bool validity_has_interval(const struct validity *v);
bool validity_is_guess(const struct validity *v);            /* true if the answer has an interval, but no published run is near */
const char *validity_guess_name(const struct validity *v);   /* "yes" or "no", for the column guess of a row; NULL without an interval */
const char *validity_note(const struct validity *v, struct arena *a);       /* for a cell of notes: why there is no interval, or that it is a guess; or NULL */
double validity_expected(const struct validity *v);          /* samples/s: the prediction less the bias of similar runs */
double validity_uncertainty(const struct validity *v);       /* half the interval as a share of the throughput; 0 if unknown */
void validity_document(struct document *d, const struct validity *v, const struct result *r);     /* two or three lines */
struct json_t *validity_json(const struct validity *v);

#endif
