/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.h - finds the folders of logs in a tree of MLPerf results.
 *
 * A log is a regular file named result_*.txt. Nothing else is opened, no symbolic link is followed, and whatever is passed over for that
 * reason is said. Names come in order; the memory needed is that of the folders on the way down.
 */
#ifndef TREE_H
#define TREE_H
#include "system-model/base/base.h"

struct tree_visit {
    void (*folder)(void *user, const char *dir, char *const *logs, size_t n, struct arena *a);  /* a: freed after the call */
    void (*notice)(void *user, const char *path, const char *text);
    void *user;
    struct watch watch;                 /* told of each folder that is looked through */
};

/* False when dir cannot be read. *n_folders: how many were visited. */
bool tree_walk(size_t *n_folders, const char *dir, const struct tree_visit *v, struct err *err);
#endif
