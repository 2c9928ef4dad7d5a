/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * append.c - appends lines to a shared file.
 *
 * A file that does not exist is first written completely under another name and then linked to its own, so that a killed writer leaves either
 * nothing or all. Later writers take turns by flock. A killed writer leaves a prefix of its single write: complete lines, which stay, and
 * perhaps a part of a line, which the next writer removes. A last row that has all its cells stays, as an editor may have left out its newline.
 */
#include "results/history/history.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if the text begins with the header. It may have a byte order mark and CRLF, as spreadsheets write, or be cut short by a killed writer. */
static bool begins_with_header(const char *text, const char *header)
{
    const char *at = text + byte_order_mark(text);
    size_t n = strlen(header) - 1, have = strlen(at);
    return strncmp(at, header, min_u64(n, have)) == 0 && (have <= n || at[n] == '\n' || at[n] == '\r');
}

/* Writes the whole text. If the disk is full, write() takes a part, and only the next call reports the error. */
static bool write_all(int fd, const char *text)
{
    for (size_t left = strlen(text); left; ) {
        ssize_t n = write(fd, text, left);
        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) == 0;
}

/* Returns how many bytes are kept: all if they are a table whose last row has all cells, else those before the unfinished line. */
static off_t whole_bytes(const char *text, size_t n, const char *path, struct arena *a)
{
    struct csv_table t;
    const char *newline = memrchr(text, '\n', n);
    return (off_t)(newline && csv_read_text(&t, path, text, n, a, NULL) ? n : newline ? (size_t)(newline + 1 - text) : 0);
}

static bool append_locked(int fd, const char *path, const char *header, const char *lines, struct arena *a, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return fail(err, "%s: is not a regular file", path);
    char *text = arena_alloc(a, (size_t)st.st_size + 1);
    if (pread(fd, text, (size_t)st.st_size, 0) != st.st_size)
        return fail(err, "%s: could only be read in part", path);
    if (!begins_with_header(text, header))
        return fail(err, "%s:1: is another table; want the header %.*s", path, (int)strlen(header) - 1, header);
    off_t end = whole_bytes(text, (size_t)st.st_size, path, a);
    if (end < st.st_size && ftruncate(fd, end) != 0)
        return fail(err, "%s: %s", path, strerror(errno));
    if (write_all(fd, arena_printf(a, "%s%s", end == 0 ? header : text[end - 1] != '\n' ? "\n" : "", lines)))
        return true;
    fail(err, "%s: cannot be written completely: %s", path, strerror(errno));
    return ftruncate(fd, end) != 0 ? fail(err, "%s: cannot be written, and the unfinished line cannot be removed: %s", path, strerror(errno)) : false;
}

static bool append_to(int fd, const char *path, const char *header, const char *lines, struct err *err)
{
    struct arena a = {0};
    int locked;
    while ((locked = flock(fd, LOCK_EX)) != 0 && errno == EINTR)
        ;
    bool good = locked == 0 ? append_locked(fd, path, header, lines, &a, err) : fail(err, "%s: %s", path, strerror(errno));
    close(fd);
    arena_free(&a);
    return good;
}

enum first_write { WRITTEN, IS_THERE, NO_LINKS, FAILED };

/* Creates the file. Returns WRITTEN, IS_THERE if another writer was first, or NO_LINKS if the file system has no links. */
static enum first_write write_first(const char *path, const char *header, const char *lines, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return FAILED;
    enum first_write done = FAILED;
    if (fputs(header, file.f) == EOF || fputs(lines, file.f) == EOF || fflush(file.f) != 0 || fsync(fileno(file.f)) != 0)
        fail(err, "%s: cannot be written completely: %s", path, strerror(errno));
    else if (link(file.temp_path, file.path) == 0)
        done = WRITTEN;
    else
        done = errno == EEXIST ? IS_THERE : NO_LINKS;
    new_file_drop(&file);
    return done;
}

bool append_lines(const char *path, const char *header, const char *lines, struct err *err)
{
    enum { FLAGS = O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK };
    int fd = open(path, FLAGS);
    if (fd == -1 && errno == ENOENT) {
        enum first_write done = write_first(path, header, lines, err);
        if (done == WRITTEN || done == FAILED)
            return done == WRITTEN;
        fd = open(path, FLAGS | O_CREAT, 0666);
    }
    return fd != -1 ? append_to(fd, path, header, lines, err) : fail(err, "%s: %s", path, strerror(errno));
}
