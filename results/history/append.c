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

/* The offset after the last whole line; -1 if the file cannot be read. */
static off_t end_of_lines(int fd, off_t size)
{
    char c;
    while (size > 0) {
        if (pread(fd, &c, 1, size - 1) != 1)
            return -1;
        if (c == '\n')
            break;
        size--;
    }
    return size;
}

static bool append_all(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, text, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        text += done;
        n -= (size_t)done;
    }
    return true;
}

/* Accepts the header as a spreadsheet may have saved it, and a part of it that a killed writer left. */
static bool begins_with_header(int fd, const char *header)
{
    char text[512];
    ssize_t n_read = pread(fd, text, sizeof text - 1, 0);
    text[n_read > 0 ? n_read : 0] = '\0';
    const char *at = text + byte_order_mark(text);
    size_t n = strlen(header) - 1, have = strlen(at);
    return strncmp(at, header, min_u64(n, have)) == 0 && (have <= n || at[n] == '\n' || at[n] == '\r');
}

static bool append_locked(int fd, const char *path, const char *header, const char *lines, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return fail(err, "%s: is not a regular file", path);
    if (!begins_with_header(fd, header))
        return fail(err, "%s:1: is another table; want the header %.*s", path, (int)strlen(header) - 1, header);
    off_t end = end_of_lines(fd, st.st_size);
    if (end < 0 || (end < st.st_size && ftruncate(fd, end) != 0))
        return fail(err, "%s: %s", path, strerror(errno));
    struct arena a = {0};
    const char *text = arena_printf(&a, "%s%s", end == 0 ? header : "", lines);
    bool good = append_all(fd, text, strlen(text)) && fsync(fd) == 0;
    if (!good) {
        fail(err, "%s: cannot be written completely: %s", path, strerror(errno));
        if (ftruncate(fd, end) != 0)
            fail(err, "%s: cannot be written, and the unfinished line cannot be removed: %s", path, strerror(errno));
    }
    arena_free(&a);
    return good;
}

bool append_lines(const char *path, const char *header, const char *lines, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd == -1)
        return fail(err, "%s: %s", path, strerror(errno));
    int locked;
    while ((locked = flock(fd, LOCK_EX)) != 0 && errno == EINTR)
        ;
    bool good = locked == 0 ? append_locked(fd, path, header, lines, err) : fail(err, "%s: %s", path, strerror(errno));
    close(fd);
    return good;
}
