/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.c - text files read whole, files and folders that appear whole or not at all.
 */
#include "system-model/base/base.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *open_regular(size_t *n_bytes, const char *path, struct err *err)
{
    struct stat st;
    FILE *f = NULL;
    if (stat(path, &st) != 0)
        fail(err, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        fail(err, "%s: is not a regular file", path);
    else if (!(f = fopen(path, "rbe")))
        fail(err, "%s: %s", path, strerror(errno));
    else if (n_bytes)
        *n_bytes = (size_t)st.st_size;
    return f;
}

bool read_text_file(char **out, size_t *n_bytes, const char *path, size_t max_bytes, struct arena *a, struct err *err)
{
    size_t size = 0;
    FILE *f = open_regular(&size, path, err);
    if (!f)
        return false;
    if (size > max_bytes) {
        fclose(f);
        return fail(err, "%s: %zu bytes, more than the %zu that such a file may have", path, size, max_bytes);
    }
    char *text = arena_alloc(a, size + 1);
    size_t n = fread(text, 1, size, f);
    bool broken = ferror(f) || n != size;
    fclose(f);
    if (broken)
        return fail(err, "%s: could not be read whole", path);
    if (memchr(text, 0, n))
        return fail(err, "%s: is binary (a zero byte at offset %zu), want text", path, strlen(text));
    *out = (char *)utf8_text(text, a);
    if (n_bytes)
        *n_bytes = strlen(*out);
    return true;
}

/* Bytes are compared as they are, so that a text beyond ASCII may be missed in a file of Latin-1. */
bool file_has_text(const char *path, const char *text)
{
    struct stat st;
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p > 127)
            return true;
    if (is_device(path))
        return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = fstat(fd, &st) == 0 ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    bool has = bytes == MAP_FAILED || memmem(bytes, (size_t)st.st_size, text, strlen(text));
    if (bytes != MAP_FAILED)
        munmap(bytes, (size_t)st.st_size);
    close(fd);                          /* neither this nor what is above takes a file that was not opened */
    return has;
}

FILE *text_stream(char **text, size_t *n_bytes)
{
    FILE *f = open_memstream(text, n_bytes);
    if (!f)
        out_of_memory(sizeof *f);
    return f;
}

bool make_folders(const char *path, struct err *err)
{
    char part[4096];
    struct stat st;
    if (!*path)
        return fail(err, "an empty folder name; name a folder to write to");
    if (strlen(path) >= sizeof part)
        return fail(err, "%.100s...: path is too long", path);
    strcpy(part, path);
    for (char *p = part + 1; ; p++) {
        char c = *p;
        if (c != '/' && c)
            continue;
        *p = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return fail(err, "%s: cannot be made: %s", part, strerror(errno));
        *p = c;
        if (!c)
            return (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) || fail(err, "%s: is there, and is no folder", path);
    }
}

static char *joined(const char *path, const char *suffix)
{
    size_t n = strlen(path) + strlen(suffix) + 1;
    char *text = malloc(n);
    if (!text)
        out_of_memory(n);
    snprintf(text, n, "%s%s", path, suffix);
    return text;
}

bool files_stand_once(const char *const *names, const char *const *paths, size_t n, struct err *err)
{
    struct arena scratch = {0};
    const char **files = ARENA_ROOM(&scratch, const char *, n);
    struct stat st;
    size_t earlier;
    for (size_t i = 0; i < n; i++)
        files[i] = stat(paths[i], &st) == 0 ? arena_printf(&scratch, "%ju %ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino) : names[i];
    size_t again = first_repeated(&earlier, files, n);
    arena_free(&scratch);
    if (again == n)
        return true;
    if (text_is(names[again], names[earlier]))
        return fail(err, "%s is named twice; name it once", names[again]);
    return fail(err, "%s and %s are the same; name it once", names[earlier], names[again]);
}

bool is_device(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

char *behind_link(const char *path, struct err *err)
{
    struct stat st;
    bool is_link = !is_device(path) && lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    char *real = is_link ? realpath(path, NULL) : joined(path, "");
    if (!real)
        fail(err, "%s: cannot be written: it is a link to nothing", path);
    return real;
}

/* Of ".PID.new"; 0: the text is none. */
static long writer_of(const char *suffix)
{
    long pid;
    int end = 0;
    return sscanf(suffix, ".%ld.new%n", &pid, &end) == 1 && end && !suffix[end] && pid > 0 ? pid : 0;
}

bool is_unfinished(const char *name)
{
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
        if (dot > name && writer_of(dot))
            return true;
    return false;
}

bool is_leftover(const char *name, const char *of)
{
    size_t n = strlen(of);
    long pid = strncmp(name, of, n) == 0 ? writer_of(name + n) : 0;
    return pid && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

/* A file, or a folder with all that is in it; what a link stands for stays. */
static void remove_whole(const char *path)
{
    enum { MOST_OPEN_FOLDERS = 8 };
    nftw(path, remove_entry, MOST_OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* Of a folder that was replaced in steps: the old one, while it lies in the new one. */
#define REPLACED "replaced"

/* The new one, killed before it took the name, is whole: it takes it now. */
static bool takes_the_name(const char *leftover, const char *suffix, const char *path, struct arena *a)
{
    return access(arena_printf(a, "%s/" REPLACED "%s", leftover, suffix), F_OK) == 0 && access(path, F_OK) != 0 && rename(leftover, path) == 0;
}

/* What killed programs left under names of their own, PATH.PID.new, is removed, but for what was about to become PATH. */
static void remove_leftovers(const char *path)
{
    struct arena scratch = {0};
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? arena_printf(&scratch, "%.*s", (int)(slash - path) + 1, path) : ".";
    const char *file = slash ? slash + 1 : path;
    char **names;
    size_t n;
    if (list_folder(&names, &n, folder, ".new", &scratch, NULL))
        for (size_t i = 0; i < n; i++) {
            const char *name = arena_printf(&scratch, "%s.new", names[i]), *leftover = arena_printf(&scratch, "%s/%s", folder, name);
            if (is_leftover(name, file) && !takes_the_name(leftover, name + strlen(file), path, &scratch))
                remove_whole(leftover);
        }
    arena_free(&scratch);
}

/* The name that nobody else writes under. */
static char *own_name(const char *path)
{
    char suffix[32];
    snprintf(suffix, sizeof suffix, ".%ld.new", (long)getpid());
    return joined(path, suffix);
}

/* A pipe is read from by someone already, or refused. */
static FILE *open_device(const char *path)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return fd != -1 && fcntl(fd, F_SETFL, 0) == 0 ? fdopen(fd, "wb") : NULL;
}

bool new_file_open(struct new_file *out, const char *path, struct err *err)
{
    if (!*path)
        return fail(err, "an empty file name; name a file to write");
    out->path = behind_link(path, err);
    if (!out->path)
        return false;
    path = out->path;
    remove_leftovers(path);
    bool device = is_device(path);
    out->temp_path = device ? joined(path, "") : own_name(path);
    out->f = device ? open_device(path) : fopen(out->temp_path, "wb");
    if (out->f)
        return true;
    fail(err, "%s: cannot be written: %s", path, device && errno == ENXIO ? "no one reads from it; start its reader first" : strerror(errno));
    free(out->path);
    free(out->temp_path);
    return false;
}

static void new_file_forget(struct new_file *file)
{
    free(file->path);
    free(file->temp_path);
    *file = (struct new_file){0};
}

const char *write_cause(void)
{
    return errno ? strerror(errno) : "a part of it was refused";
}

bool new_file_save(struct new_file *file, struct err *err)
{
    bool good = !ferror(file->f);
    errno = 0;
    good = fclose(file->f) == 0 && good;
    bool renames = !text_is(file->temp_path, file->path);
    good = good && (!renames || rename(file->temp_path, file->path) == 0);
    if (!good)
        fail(err, "%s: could not be written whole: %s", file->path, write_cause());
    if (!good && renames)
        unlink(file->temp_path);
    new_file_forget(file);
    return good;
}

void new_file_drop(struct new_file *file)
{
    if (!file->f)
        return;
    fclose(file->f);
    if (!text_is(file->temp_path, file->path))
        unlink(file->temp_path);
    new_file_forget(file);
}

static bool make_parent(const char *path, struct err *err)
{
    struct arena scratch = {0};
    const char *slash = strrchr(path, '/');
    bool good = !slash || slash == path || make_folders(arena_printf(&scratch, "%.*s", (int)(slash - path), path), err);
    arena_free(&scratch);
    return good;
}

void folder_settle(const char *path)
{
    char *replaced = joined(path, "/" REPLACED);
    remove_leftovers(path);
    remove_leftovers(replaced);
    free(replaced);
}

static bool folder_begin(struct new_folder *out, struct err *err)
{
    if (!make_parent(out->path, err))
        return false;
    folder_settle(out->path);
    out->temp_path = own_name(out->path);
    return mkdir(out->temp_path, 0777) == 0 || fail(err, "%s: cannot be made: %s", out->path, strerror(errno));
}

bool new_folder_open(struct new_folder *out, const char *path, struct err *err)
{
    struct stat st;
    *out = (struct new_folder){ .path = joined(path, "") };
    for (size_t n = strlen(path); n > 1 && out->path[n - 1] == '/'; n--)
        out->path[n - 1] = 0;
    bool good = *path || fail(err, "an empty folder name; name a folder to write to");
    good = good && (lstat(out->path, &st) != 0 || fail(err, "%s: is there already, and is not replaced; name a folder that is not there yet", path))
                && folder_begin(out, err);
    if (!good)
        new_folder_drop(out);
    return good;
}

bool new_folder_replace(struct new_folder *out, const char *path, struct err *err)
{
    struct stat st;
    char *behind = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
    *out = (struct new_folder){ .path = behind ? behind : joined(path, ""), .replaces = true };
    bool good = folder_begin(out, err);
    if (!good)
        new_folder_drop(out);
    return good;
}

/* Where two names cannot be exchanged (NFS): the old folder goes into the new one, which then takes its name. In between none has it; whoever
 * is killed there has left the new one, whole, for folder_settle() to bring in. */
static bool exchange_in_steps(const char *temp_path, const char *path)
{
    char *inner = joined(temp_path, "/" REPLACED), *outer = joined(path, "/" REPLACED), *aside = own_name(inner), *old = own_name(outer);
    bool is_aside = rename(path, aside) == 0, good = is_aside && rename(temp_path, path) == 0;
    if (good)
        remove_whole(old);
    else if (is_aside)
        rename(aside, path);
    free(inner);
    free(outer);
    free(aside);
    free(old);
    return good;
}

static bool take_place(const char *temp_path, const char *path, bool replaces)
{
    bool taken = rename(temp_path, path) == 0;
    if (taken || !replaces || (errno != ENOTEMPTY && errno != EEXIST))
        return taken;
    return renameat2(AT_FDCWD, temp_path, AT_FDCWD, path, RENAME_EXCHANGE) == 0 || exchange_in_steps(temp_path, path);
}

bool new_folder_save(struct new_folder *folder, struct err *err)
{
    bool good = take_place(folder->temp_path, folder->path, folder->replaces) || fail(err, "%s: could not be written whole: %s", folder->path, strerror(errno));
    new_folder_drop(folder);            /* what was replaced has the other name now */
    return good;
}

/* The old one, which could neither be replaced nor put back. */
static bool holds_replaced(const char *temp_path)
{
    char *inner = joined(temp_path, "/" REPLACED), *aside = own_name(inner);
    bool holds = access(aside, F_OK) == 0;
    free(inner);
    free(aside);
    return holds;
}

void new_folder_drop(struct new_folder *folder)
{
    if (folder->temp_path && !holds_replaced(folder->temp_path))
        remove_whole(folder->temp_path);
    free(folder->path);
    free(folder->temp_path);
    *folder = (struct new_folder){0};
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *path_beside(const char *file, const char *path, struct arena *a)
{
    const char *slash = strrchr(file, '/');
    const char *beside = arena_printf(a, "%.*s%s", slash ? (int)(slash - file) + 1 : 0, file, path);
    struct stat st;
    return *path != '/' && stat(beside, &st) == 0 && S_ISREG(st.st_mode) ? beside : path;
}

bool list_folder(char ***names, size_t *n, const char *path, const char *suffix, struct arena *a, struct err *err)
{
    DIR *d = opendir(path);
    if (!d)
        return fail(err, "%s: %s", path, strerror(errno));
    size_t cap = 0, n_found = 0, end = strlen(suffix);
    char **found = NULL;
    for (struct dirent *e; (e = readdir(d)); ) {
        size_t length = strlen(e->d_name);
        if (e->d_name[0] == '.' || length <= end || !text_is(e->d_name + length - end, suffix))
            continue;
        found = arena_grow(a, found, n_found, &cap, sizeof *found);
        found[n_found] = arena_strdup(a, e->d_name);
        found[n_found++][length - end] = 0;
    }
    closedir(d);
    sort_items(found, n_found, sizeof *found, compare_names);
    for (size_t i = 0; i < n_found; i++)
        if (!check_printable(found[i], err))
            return fail_at(err, path);
    *names = found;
    *n = n_found;
    return true;
}
