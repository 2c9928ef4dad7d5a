/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework_names.h - the names that frameworks use for the keys of recipes; framework_names.c has the table.
 */
#ifndef FRAMEWORK_NAMES_H
#define FRAMEWORK_NAMES_H
#include <stddef.h>

/* How a value is written. AS_COUNT takes only whole numbers above 0, AS_NUMBER only a single number. BY_STAGE writes a line for each stage,
 * with %s for its IPU, number and layers. STAGE_IPUS lists the IPU of each stage, TOTAL_IPUS counts those of all replicas, MEMORY_BY_IPU lists
 * the memory share of each IPU. TWO_AXES writes both numbers of a value such as 8x8, GLOBAL_BATCH the samples of a step. */
enum fill { AS_WRITTEN, AS_COUNT, AS_NUMBER, BY_STAGE, STAGE_IPUS, TOTAL_IPUS, MEMORY_BY_IPU, TWO_AXES, GLOBAL_BATCH };

/* The place of a line: the Python program, the configuration file of the published program that the source names, or a command line. */
enum option_place { IN_CODE, IN_SETTINGS, ON_COMMAND_LINE, N_OPTION_PLACES };

/* The splits to which a row applies; pipelines are configured in a place of their own. */
enum option_when { ANY_SPLIT, PIPELINED, NOT_PIPELINED };

struct name_row {
    const char *framework;              /* the beginning of the framework's name; "" for all frameworks */
    const char *key, *value;            /* value: the value to which the row applies; NULL for all values */
    enum fill fill;
    enum option_place place;
    enum option_when when;
    const char *text, *source;
};
extern const struct name_row name_rows[];
extern const size_t n_name_rows;

/* The first lines of a framework's snippet, and the release whose sources have all names in its code. */
struct snippet_start { const char *framework, *release, *source, *lines[4]; };
extern const struct snippet_start snippet_starts[];
extern const size_t n_snippet_starts;

#endif
