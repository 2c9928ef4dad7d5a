/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * logs.h - options and paths of the commands that read MLPerf logs.
 */
#ifndef LOGS_H
#define LOGS_H
#include "harness/harness.h"
#include "results/mlperf/mlperf.h"

struct judge_options logs_options(const struct options *o, const struct session *s, struct progress *p);    /* starts p */
/* The file as named, or the real path of a folder, whose names say the round and system. NULL with a message when it
 * is not there. */
const char *logs_path(const char *path, struct session *s, struct err *err);
const char *logs_folder(const char *path, struct session *s, struct err *err);
void logs_notice(const char *path, const char *text);                       /* prints to stderr */
void logs_on_notice(void *user, const char *path, const char *text);        /* the same, for tree_visit */
#endif
