/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tensors.h - the names of the weights that a conformant log lists once each (results/rules/tensors.csv).
 *
 * The table holds patterns: {a,b} stands for each word of the list, {1..3} for each number of the range.
 */
#ifndef TENSORS_H
#define TENSORS_H
#include "system-model/base/base.h"

struct name_list { char **names; size_t n, cap; };

/* All lists of the table, each sorted. */
struct tensor_lists { const char **names; struct name_list *lists; size_t n; };
bool tensor_lists_load(struct tensor_lists *out, const char *rules_dir, struct arena *a, struct err *err);
const struct name_list *tensor_list_find(const struct tensor_lists *t, const char *name);       /* NULL: none */
/* Appends every name that the pattern stands for, the first brace varying slowest. */
bool expand_pattern(struct name_list *out, const char *pattern, struct arena *a, struct err *err);
void name_list_add(struct name_list *l, const char *name, struct arena *a);
bool name_list_has(const struct name_list *l, const char *name);
#endif
