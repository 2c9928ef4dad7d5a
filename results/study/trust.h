/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.h - how far a predicted throughput can be trusted, judged by how far off published runs were when the fit had
 * not seen them.
 *
 * Read in order: what makes two runs alike (properties), published runs with their errors (references), how wide an
 * interval those errors ask for (spread), what a recipe leaves open (readings), and all of it for one answer
 * (validity).
 */
#ifndef TRUST_H
#define TRUST_H
#include "results/published/published.h"
#include "results/study/inputs.h"

/* ---- trust_references.c: properties of runs, and published runs -------------------------------- */

enum { MAX_PROPERTIES = 20 };
/* Names are equal or not, counts are compared in doublings, shares are parts of the step. */
enum property_kind { PROPERTY_NAME, PROPERTY_COUNT, PROPERTY_SHARE };
struct property { const char *name; enum property_kind kind; double weight; const char *help; };
extern const struct property properties[];
extern const size_t n_properties;

/* The properties of one run, in the table's order. */
struct properties {
    const char *name[MAX_PROPERTIES];
    uint64_t count[MAX_PROPERTIES], name_hash[MAX_PROPERTIES];
    double log2_count[MAX_PROPERTIES];      /* -infinity for a count of 0 */
    double share[MAX_PROPERTIES];           /* 0 to 1 */
};
struct properties properties_of(const struct simulation *sim, struct arena *a);     /* the names live in the arena */
void properties_prepare(struct properties *p);      /* fills logarithms and hashes from counts and names */

bool property_names_equal(const struct properties *x, const struct properties *y, size_t property);
/* distance: the sum of weight times difference, which is 1 for another name, the number of doublings between two
 * counts, and the difference of two shares. unlike: the part of either step that the other spends on something else,
 * half the sum of all differences of shares. */
struct apart { double distance, unlike; };
struct apart properties_apart(const struct properties *x, const struct properties *y);
bool properties_same_kind(const struct properties *x, const struct properties *y);      /* one family of models, both trained or both run */
/* A group such as "ResNet-50 trained by PopART on bow chips": its runs are left out of the fit together. */
const char *properties_group(const struct properties *x, struct arena *a);
size_t property_find(const char *name);         /* its index; n_properties if there is none */

/* A published configuration, with the error of its prediction as if its group had not been seen by the fit. */
struct reference {
    const char *configuration, *recipe, *group;
    enum role role;
    struct properties at;
    double published, simulated;        /* samples/s */
    double left_out;                    /* ln(simulated / published), its group left out of the fit */
};
struct references { struct reference *items; size_t n, cap; };

/* One reference for each configuration with a published throughput, including context. It simulates all of them, and
 * the calibrating ones again for each constant that was fitted to runs. Recipes that cannot be simulated are skipped:
 * podbench check names them. */
void references_build(struct references *out, const struct figures *figures, struct simulator *simulator, struct arena *a);
/* The table results/validity/left-out.csv, which podbench validate --out writes: building it takes seconds. */
void references_write(FILE *f, const struct references *r);
bool references_load(struct references *out, const char *path, struct arena *a, struct err *err);      /* a missing file gives none */

/* ---- trust_interval.c: how wide an interval is, and how often it holds -------------------------- */

struct normal { double mean, deviation; };      /* deviation > 0 */
/* The p-quantile (0 < p < 1) of a mixture of n >= 1 normal distributions with equal weights. */
double mixture_quantile(double p, const struct normal *parts, size_t n);

/* Which references are left out: groups, or one configuration. NULL if none. */
struct left_out { const char *group, *other_group, *configuration; };

/* Nine in ten errors |ln(simulated / published)| stay within quantile x size (trust_interval.c). farthest is the
 * largest distance that was tested, and unlike the share of the step below which nine in ten of the tested runs were
 * unlike the others. */
struct spread { double mean_error, farthest, unlike, quantile; size_t n_errors; };

/* The published runs by which answers are judged: made once, read by many. */
struct track_record { struct references references; struct spread spread; };
bool track_record_open(struct track_record *out, const char *left_out_csv, struct arena *a, struct err *err);

/* From the errors of the references, each with its own group left out. The group `without` is not used at all (NULL:
 * every group is). */
struct spread spread_of(const struct references *r, const char *without, struct arena *scratch);
/* Half the interval's width at these properties, as a logarithm: the interval is throughput x exp(+-this). */
double spread_half_width(const struct spread *s, const struct references *r, const struct properties *at, const struct left_out *out);
/* The same from the distances to all references, infinite for those left out; and the share of the step that is unlike
 * theirs, 0 to 0.99. */
struct expected_error { double half_width, unlike; };
struct expected_error spread_expect(const struct spread *s, const struct references *r, const struct apart *apart);
/* The half width as one standard deviation of a normal error of the logarithm, with a group left out (NULL if none). 0:
 * there are no references. */
double spread_deviation(const struct references *r, const struct properties *at, const char *group, struct arena *scratch);

/* How often the interval holds the published value: with each group left out in turn (all, groups), with all runs of a family, framework or chip
 * left out (wider), and with each configuration left out alone while its group is known, as for an answer close to published ones (near). */
enum { N_WIDER = 3 };
struct interval_count { const char *what; size_t n, inside; double mean_half_width; };
struct interval_coverage { struct interval_count all, near, wider[N_WIDER]; struct interval_count *groups; size_t n_groups; };
void interval_coverage(struct interval_coverage *out, const struct references *r, struct arena *a);
struct table interval_coverage_table(const struct interval_coverage *c, struct arena *a);
struct json_t *interval_coverage_json(const struct interval_coverage *c, struct arena *a);

/* ---- trust_readings.c: what a recipe leaves open ---------------------------------------------- */

struct open_reading {
    const char *key, *taken, *alternative;
    double throughput_ratio;            /* the alternative's over the answer's; NAN if not simulated */
    double half_width;                  /* half of the alternative's own interval, as a logarithm */
    bool fits;
    const char *refused;                /* why it cannot be simulated, or NULL */
    double unset_share;                 /* the share of the step that calls take, if nobody has stated the key and a sheet's value is taken; else 0 */
    const char *zero_means;             /* the meaning of a key's 0, such as "unknown, no limit"; else NULL */
};
/* Readings of one key are neighbours. unset_taken_from names the sheet of those that nobody has stated. */
struct open_readings { struct open_reading *items; size_t n; const char *unset_taken_from; };

/* Lists the recipe's [open] section. Where calls of a session take more than a twentieth of the step, it adds two readings of keys that nobody
 * has stated: one call for the whole run, as each program has its own number of steps a call; and the engine's launch alone, if a process
 * handles less input in a call than in any published run, as what a call takes was found in those. */
void open_readings_list(struct open_readings *out, const struct simulation *sim, struct arena *a);
void open_readings_try(struct open_readings *o, const struct track_record *by, const struct result *base, const struct simulation_request *q,
                       struct arena *a);
/* The interval of the equal mixture of the answer, with half width `half`, and all simulated readings that differ from
 * it; as logarithms of the ratio to the answer. */
struct log_interval { double low, high; };
struct log_interval open_readings_interval(const struct open_readings *o, double half);
void open_readings_print(FILE *f, const struct open_readings *o);
struct json_t *open_readings_json(const struct open_readings *o);
struct json_t *open_readings_unset_json(const struct open_readings *o);     /* an array of keys that the program has to state, and a sheet stated */

/* ---- trust.c: one answer ----------------------------------------------------------------------- */

enum { MAX_NEAREST = 3, NEAR_DISTANCE = 3, MAX_EXTRAPOLATES = MAX_PROPERTIES + 16 };
struct validity {
    double low, high;                   /* throughput, samples/s; 0 without an interval: it is foreign, or there are no errors to go by */
    double distance;                    /* to the nearest published run; -1: none */
    double unlike, tested_unlike;       /* share of the step unlike the published runs near it, and how much of that was tested: beyond,
                                         * the interval is wider */
    struct { const struct reference *reference; double distance; } nearest[MAX_NEAREST]; size_t n_nearest;
    const char *extrapolates[MAX_EXTRAPOLATES]; size_t n_extrapolates;
    bool same_kind;                     /* some published run has this family of models and mode */
    bool near;                          /* and one is within NEAR_DISTANCE: three names apart, or as much in doublings */
    const char *foreign;                /* a chip or a sheet's value that no published run had: no error is known there; NULL if none */
    double largest_error;               /* the largest error of a published run left out of the fit, as a logarithm */
    struct open_readings open;
    double throughput, half_width;      /* the interval's centre, and half its width as a logarithm without other readings */
    double from_fitted_share, from_assumed_share;   /* shares of the step's time; NAN if not computed */
};

/* q says how the result was simulated; without it (NULL) shares and other readings are not computed. */
void validity_of(struct validity *out, const struct track_record *by, const struct simulation *sim, const struct result *r,
                 const struct simulation_request *q, struct arena *a);
/* Widens the interval by other readings, simulated as q says. validity_of does it if it is given a request. */
void validity_add_readings(struct validity *v, const struct track_record *by, const struct result *as_asked, const struct simulation_request *q,
                           struct arena *a);
bool validity_has_interval(const struct validity *v);
double validity_uncertainty(const struct validity *v);       /* half the interval as a share of the throughput; 0 if unknown */
void validity_print(FILE *f, const struct validity *v, const struct result *r);     /* two or three lines */
struct json_t *validity_json(const struct validity *v);

#endif
