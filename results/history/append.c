/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * append.c - appends lines to a shared file.
 *
 * Writers take turns by flock. A killed writer leaves a prefix of its one write: whole lines, which stay, and perhaps a
 * part of a line, which readers skip and the next writer removes.
 */
#include "results/history/history.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Accepts the header as a spreadsheet may have saved it, and a part of it that a killed writer left. */
static bool begins_with_header(const char *text, const char *header)
{
    const char *at = text + byte_order_mark(text);
    size_t n = strlen(header) - 1, have = strlen(at);
    return strncmp(at, header, min_u64(n, have)) == 0 && (have <= n || at[n] == '\n' || at[n] == '\r');
}

static bool append_locked(int fd, const char *path, const char *header, const char *lines, struct arena *a, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return fail(err, "%s: is not a regular file", path);
    char *text = arena_alloc(a, (size_t)st.st_size + 1), *newline;
    if (pread(fd, text, (size_t)st.st_size, 0) != st.st_size)
        return fail(err, "%s: %s", path, strerror(errno));
    if (!begins_with_header(text, header))
        return fail(err, "%s:1: is another table; want the header %.*s", path, (int)strlen(header) - 1, header);
    newline = memrchr(text, '\n', (size_t)st.st_size);
    off_t end = newline ? newline + 1 - text : 0;
    if (end < st.st_size && ftruncate(fd, end) != 0)
        return fail(err, "%s: %s", path, strerror(errno));
    const char *added = arena_printf(a, "%s%s", end == 0 ? header : "", lines);
    if (write(fd, added, strlen(added)) == (ssize_t)strlen(added) && fsync(fd) == 0)
        return true;
    fail(err, "%s: cannot be written completely: %s", path, strerror(errno));
    return ftruncate(fd, end) != 0 ? fail(err, "%s: cannot be written, and the unfinished line cannot be removed: %s", path, strerror(errno)) : false;
}

bool append_lines(const char *path, const char *header, const char *lines, struct err *err)
{
    struct arena a = {0};
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd == -1)
        return fail(err, "%s: %s", path, strerror(errno));
    int locked;
    while ((locked = flock(fd, LOCK_EX)) != 0 && errno == EINTR)
        ;
    bool good = locked == 0 ? append_locked(fd, path, header, lines, &a, err) : fail(err, "%s: %s", path, strerror(errno));
    close(fd);
    arena_free(&a);
    return good;
}
