/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework_names.h - the names under which frameworks take what a recipe's keys say; framework_names.c has the table.
 */
#ifndef FRAMEWORK_NAMES_H
#define FRAMEWORK_NAMES_H
#include <stddef.h>

/* How the value is written. AS_COUNT: only a whole number above 0; AS_NUMBER: only one number; BY_STAGE: a line for each stage, where %s stands for its
 * IPU, its number and its layers; STAGE_IPUS: the IPU of each stage; TOTAL_IPUS: the number of IPUs of all replicas; MEMORY_BY_IPU: the memory share of
 * each IPU of a replica. */
enum fill { AS_WRITTEN, AS_COUNT, AS_NUMBER, BY_STAGE, STAGE_IPUS, TOTAL_IPUS, MEMORY_BY_IPU };

/* A line belongs into the Python program, into the configuration file of the published program that the source names, or on a command line. */
enum option_place { IN_CODE, IN_SETTINGS, ON_COMMAND_LINE, N_OPTION_PLACES };

/* Pipelines are configured in a place of their own. */
enum option_when { ANY_SPLIT, PIPELINED, NOT_PIPELINED };

struct name_row {
    const char *framework;              /* the beginning of the recipe's framework; "": any framework */
    const char *key, *value;            /* value: the one that the row is for; NULL if it is for any value */
    enum fill fill;
    enum option_place place;
    enum option_when when;
    const char *text, *source;
};
extern const struct name_row name_rows[];
extern const size_t n_name_rows;

/* The first lines of a snippet for the framework, and the release whose sources have all names of its code. */
struct snippet_start { const char *framework, *release, *source, *lines[4]; };
extern const struct snippet_start snippet_starts[];
extern const size_t n_snippet_starts;

#endif
