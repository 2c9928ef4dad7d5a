/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * box.h - a folder in memory with a little of everything that commands read: some recipes, the published rows about them, rules. What a
 * target runs there can neither read nor write the source by accident: recipes and tables are copies.
 */
#ifndef BOX_H
#define BOX_H
#include "system-model/base/base.h"

struct box {
    char source[4096];                  /* the source tree: where sheets are read */
    char folder[64];                    /* FOLDER/recipes, published, convergence, bin; FOLDER/work is the box's own */
    int source_fd;
};

/* Made once; later calls return the same. */
const struct box *box_open(void);
/* An empty FOLDER/work becomes the current folder; box_leave removes it and goes back. */
void box_enter(void);
void box_leave(void);
/* Relative, not upwards, of plain characters: nothing else is written. */
bool box_may_write(const char *path);
/* False for a name that may not be written. */
bool box_write(const char *path, const char *text, size_t n);

#endif
