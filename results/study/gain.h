/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gain.h - how far the ratio of two predictions of one program can be trusted, and what the best result of a search is worth.
 *
 * Two configurations of one program on one kind of chip share most of their errors, so their ratio is more certain than either prediction.
 * Pairs of published runs show how much more (ratio_test). The gain that a search promises is as certain as such a ratio, minus the part that
 * comes from choosing the best of many (gain_of). A setting that no published run had occurs in no such pair (settings_never_published).
 */
#ifndef GAIN_H
#define GAIN_H
#include "results/study/trust.h"

/* ---- ratios.c: pairs of published runs, and a gain ----------------------------------------------- */

/* The pairs of one group of published runs, which have the same model, mode, framework, chip and number format. Rates are those of one IPU. */
struct ratio_group { const char *group; uint64_t pairs, told_apart, right; double mean_error, largest_error; };
/* told_apart counts pairs whose published rates differ by more than TOLD_APART, and `right` those among them that the prediction ranks
 * correctly. An error is |ln(predicted ratio / published ratio)|, shown as a share. Nine in ten errors are below nine_in_ten, in units of the
 * runs' spread, with each group weighted equally; NaN if no group has a pair. `rows` has one row for each group, then their sum. */
struct ratio_test { struct ratio_group *rows; size_t n_groups; double nine_in_ten; };
void ratio_test(struct ratio_test *out, const struct references *r, const struct spread *s, struct arena *a);
void ratio_test_document(struct document *d, const struct ratio_test *t);

/* The interval of a gain, and the number of other families so close to the best that luck may have chosen between them. The numbers are NaN
 * without a test or without a published run nearby. */
struct gain { double ratio, expected, low, high; uint64_t n_rivals; };
/* The gain of the best configuration over the recipe. `ratio` is that of their predicted rates, `spread` the deviation of the best prediction
 * as a logarithm. `values` has the best value of each family tried, `best` the best of these. Ratios of the objective's values are ratios of
 * rates. */
struct gain gain_of(const struct ratio_test *t, double ratio, double spread, const double *values, size_t n_values, double best);

/* ---- novel_settings.c: what no published run had ---------------------------------------------------- */

/* Lists the settings ("section.key=value") that no published run of the framework had: a word that none used, or a number outside their range.
 * The division of layers is ignored, as each program has its own. */
struct novel_settings { const char *settings[32]; size_t n; uint64_t n_runs; };
void settings_never_published(struct novel_settings *out, const char *const *settings, size_t n, const struct references *r, const struct properties *at,
                              const char *recipes_dir, struct arena *a);

#endif
