/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * append.h - lines at the end of a file that many programs may write at once, and that a kill leaves whole.
 */
#ifndef APPEND_H
#define APPEND_H
#include "system-model/base/base.h"

/* Appends whole lines, under a lock, in one write that is on disk when it returns. A file that is not there begins with header; one
 * that begins otherwise is refused. A line that
 * a killed writer left half is cut off first: it was never reported as written. */
bool append_lines(const char *path, const char *header, const char *lines, struct err *err);

#endif
