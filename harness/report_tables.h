/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_tables.h - the report's text, folded tables and cards.
 */
#ifndef REPORT_TABLES_H
#define REPORT_TABLES_H
#include "results/published/check.h"

struct report_page {
    const char *figures_dir, *plots_dir, *baselines_dir, *check_path;       /* check_path is the run's check.csv */
    const struct figures *published;
    struct simulator *simulator;
    const char **trust;         /* says for each result how far it can be trusted; NULL if its recipe is missing or was changed */
    struct arena *a;
};

/* The number with this many significant digits and commas between thousands, such as "100,900"; zeros at the end of a fraction are dropped. */
const char *grouped_number(double x, int digits, struct arena *a);

/* ---- report_story.c */
void report_write_opening(FILE *f, const struct check *c, const struct results *results, const struct report_page *r);
void report_write_hero(FILE *f, const struct results *results, const struct report_page *r);
void report_write_help(FILE *f, const struct results *results, const struct report_page *r);
void report_write_missed(FILE *f, const struct check *c, const struct report_page *r);

/* ---- report_tables.c */
void report_write_accuracy(FILE *f, const struct check *c, const struct report_page *r);
void report_write_published(FILE *f, const struct check *c, const struct report_page *r);
void report_write_runs(FILE *f, const struct check *c, const struct results *results, const struct report_page *r);

#endif
