/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * logs.h - what the commands that read MLPerf logs share: options and paths.
 */
#ifndef LOGS_H
#define LOGS_H
#include "harness/harness.h"
#include "results/mlperf/mlperf.h"

struct judge_options logs_options(const struct options *o, const struct session *s, struct progress *p);    /* p: begun here */
/* A file as named, or a folder's real path (its names tell round and system). NULL with a message. */
const char *logs_path(const char *path, struct session *s, struct err *err);
const char *logs_folder(const char *path, struct session *s, struct err *err);
void logs_notice(const char *path, const char *text);   /* on stderr */
#endif
