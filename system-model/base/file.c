/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.c - text files read whole; files and folders that appear whole or not at all.
 *
 * A new file or folder is written as PATH.podbench-TOKEN.new and renamed when it is complete. A folder replaces another by an exchange of the
 * two names. If the file system cannot do that (NFS), the old one is renamed to PATH.podbench-TOKEN.old first.
 *
 * The token is random: process ids would not do, since containers that share a folder have equal ones. A killed program leaves such files and
 * folders behind. Nothing reads or removes them.
 */
#include "system-model/base/base.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
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
    char *text = arena_room(a, size + 1, 1);
    size_t n = fread(text, 1, size, f);
    text[n] = '\0';
    bool broken = ferror(f) || n != size;
    fclose(f);
    if (broken)
        return fail(err, "%s: could only be read in part", path);
    if (memchr(text, 0, n))
        return fail(err, "%s: is binary (a zero byte at offset %zu), want text", path, strlen(text));
    *out = (char *)utf8_text(text, a);
    if (n_bytes)
        *n_bytes = strlen(*out);
    return true;
}

/* Bytes are compared. In a file of Latin-1 a text beyond ASCII has other bytes, so such a text always counts as found. */
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
    close(fd);                          /* if open() failed, fstat() and close() fail too */
    return has;
}

/* Refuses "", and "-", which other programs take for standard output. */
static bool check_folder_name(const char *path, struct err *err)
{
    if (!*path)
        return fail(err, "an empty folder name; name a folder to write to");
    return *path != '-' || (path[1] && path[1] != '/') || fail(err, "-: want the name of a folder; ./- for one of this name");
}

bool make_folders(const char *path, struct err *err)
{
    char part[4096];
    struct stat st;
    if (!check_folder_name(path, err))
        return false;
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

static char *path_with_suffix(const char *path, const char *suffix)
{
    char *text;
    if (asprintf(&text, "%s%s", path, suffix) < 0)
        out_of_memory(strlen(path));
    return text;
}

/* Makes the folders of a path that are missing, one after the other. */
bool made_folders_make(struct made_folders *out, const char *path, struct arena *a, struct err *err)
{
    char *part = arena_strdup(a, path);
    size_t n = strlen(path);
    *out = (struct made_folders){ .path = arena_strdup(a, path), .n_there = n };
    while (n > 0 && access(part, F_OK) != 0) {
        while (n > 0 && part[n - 1] == '/')
            n--;
        while (n > 0 && part[n - 1] != '/')
            n--;
        part[n] = 0;
    }
    out->n_there = n;
    return make_folders(path, err);
}

void made_folders_drop(const struct made_folders *m)
{
    char *part = path_with_suffix(m->path, "");
    for (size_t n = strlen(part); n > m->n_there && rmdir(part) == 0; part[n] = 0)
        while (--n > m->n_there && part[n] != '/')
            ;
    free(part);
}

bool files_are_distinct(const char *const *names, const char *const *paths, size_t n, struct err *err)
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

bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

bool is_device(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

char *file_behind_link(const char *path, struct err *err)
{
    struct stat st;
    bool is_link = !is_device(path) && lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    char *real = is_link ? realpath(path, NULL) : path_with_suffix(path, "");
    if (!real)
        fail(err, "%s: cannot be written: it is a link to nothing", path);
    return real;
}

/* ---- unfinished files and folders --------------------------------------------------------- */

static const char MARK[] = ".podbench-";
enum { TOKEN = 8 };                     /* hexadecimal digits of the random part of a name */

/* True for ".podbench-1f2e3d4c" followed by ".new" or ".old". */
static bool is_suffix(const char *suffix)
{
    size_t n = strlen(MARK);
    if (strncmp(suffix, MARK, n) != 0 || strspn(suffix + n, "0123456789abcdef") != TOKEN)
        return false;
    return text_is(suffix + n + TOKEN, ".new") || text_is(suffix + n + TOKEN, ".old");
}

bool is_unfinished(const char *name)
{
    const char *mark = strstr(name, MARK);
    for (; mark; mark = strstr(mark + 1, MARK))
        if (mark > name && is_suffix(mark))
            return true;
    return false;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

/* Removes a file, or a folder with all that is in it. Links are removed, not what they point to. */
static void remove_tree(const char *path)
{
    enum { MOST_OPEN_FOLDERS = 8 };
    nftw(path, remove_entry, MOST_OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* A name that nobody can foresee, so that no other process writes under it. */
static char *own_name(const char *path, const char *kind)
{
    uint32_t token = 0;
    char suffix[32];
    if (getrandom(&token, sizeof token, 0) != sizeof token)
        token = (uint32_t)getpid();
    snprintf(suffix, sizeof suffix, "%s%0*" PRIx32 ".%s", MARK, TOKEN, token, kind);
    return path_with_suffix(path, suffix);
}

/* Creates a file under its temporary name. A link of that name is not followed. mkostemp() would make a file that only its owner may read. */
static FILE *open_own(struct new_file *out)
{
    int fd;
    do {
        free(out->temp_path);
        out->temp_path = own_name(out->path, "new");
        fd = open(out->temp_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd == -1 && errno == EEXIST);
    return fd == -1 ? NULL : fdopen(fd, "wb");
}

/* Opens a device or pipe. Without O_NONBLOCK it would wait for the reader of a pipe; a pipe that nobody reads is refused. */
static FILE *open_device(const char *path)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return fd != -1 && fcntl(fd, F_SETFL, 0) == 0 ? fdopen(fd, "wb") : NULL;
}

bool new_file_open(struct new_file *out, const char *path, struct err *err)
{
    if (!*path)
        return fail(err, "an empty file name; name a file to write");
    if (text_is(path, "-"))
        return fail(err, "-: want the name of a file; ./- for one of this name");
    *out = (struct new_file){ .path = file_behind_link(path, err) };
    if (!out->path)
        return false;
    path = out->path;
    bool device = is_device(path);
    out->temp_path = device ? path_with_suffix(path, "") : NULL;
    out->f = device ? open_device(path) : open_own(out);
    if (out->f)
        return true;
    fail(err, "%s: cannot be written: %s", path, device && errno == ENXIO ? "no one reads from it; start its reader first" : strerror(errno));
    free(out->path);
    free(out->temp_path);
    *out = (struct new_file){0};
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
        fail(err, "%s: cannot be written completely: %s", file->path, write_cause());
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

bool new_file_end(struct new_file *file, bool good, struct err *err)
{
    if (!good)
        new_file_drop(file);
    return good && new_file_save(file, err);
}

bool write_text_file(const char *path, const char *text, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    fputs(text, file.f);
    return new_file_save(&file, err);
}

static bool make_parent(const char *path, struct err *err)
{
    struct arena scratch = {0};
    const char *slash = strrchr(path, '/');
    bool good = !slash || slash == path || make_folders(arena_printf(&scratch, "%.*s", (int)(slash - path), path), err);
    arena_free(&scratch);
    return good;
}

static bool new_folder_begin(struct new_folder *out, struct err *err)
{
    if (!make_parent(out->path, err))
        return false;
    int made;
    do {
        free(out->temp_path);
        out->temp_path = own_name(out->path, "new");
        made = mkdir(out->temp_path, 0777);
    } while (made != 0 && errno == EEXIST);
    return made == 0 || fail(err, "%s: cannot be made: %s", out->path, strerror(errno));
}

bool new_folder_open(struct new_folder *out, const char *path, struct err *err)
{
    struct stat st;
    *out = (struct new_folder){ .path = path_with_suffix(path, "") };
    for (size_t n = strlen(path); n > 1 && out->path[n - 1] == '/'; n--)
        out->path[n - 1] = 0;
    bool good = check_folder_name(path, err);
    if (good && lstat(out->path, &st) == 0)
        good = fail(err, "%s: is there already, and is not replaced; name a folder that is not there yet", path);
    good = good && new_folder_begin(out, err);
    if (!good)
        new_folder_drop(out);
    return good;
}

bool new_folder_replace(struct new_folder *out, const char *path, struct err *err)
{
    struct stat st;
    char *behind = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
    *out = (struct new_folder){ .path = behind ? behind : path_with_suffix(path, ""), .replaces = true };
    bool good = new_folder_begin(out, err);
    if (!good)
        new_folder_drop(out);
    return good;
}

/* Replaces a folder on a file system that cannot exchange two names. */
static bool replace_in_steps(const char *temp_path, const char *path)
{
    char *old = own_name(path, "old");
    bool is_aside = rename(path, old) == 0, good = is_aside && rename(temp_path, path) == 0;
    int cause = errno;
    if (good)
        remove_tree(old);
    else if (is_aside)
        rename(old, path);
    free(old);
    errno = cause;
    return good;
}

static bool put_in_place(const struct new_folder *f)
{
    bool good = rename(f->temp_path, f->path) == 0;
    if (good || !f->replaces || (errno != ENOTEMPTY && errno != EEXIST))
        return good;
    return renameat2(AT_FDCWD, f->temp_path, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0 || replace_in_steps(f->temp_path, f->path);
}

bool new_folder_save(struct new_folder *folder, struct err *err)
{
    bool good = put_in_place(folder) || fail(err, "%s: cannot be written completely: %s", folder->path, strerror(errno));
    new_folder_drop(folder);            /* after an exchange temp_path is the folder that was replaced */
    return good;
}

void new_folder_drop(struct new_folder *folder)
{
    if (folder->temp_path)
        remove_tree(folder->temp_path);
    free(folder->path);
    free(folder->temp_path);
    *folder = (struct new_folder){0};
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_beside(const char *file, const char *path, struct arena *a)
{
    const char *beside = arena_printf(a, "%.*s%s", (int)(path_name(file) - file), file, path);
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
    sort_items(found, n_found, sizeof *found, compare_texts);
    for (size_t i = 0; i < n_found; i++)
        if (!check_printable(found[i], err))
            return fail_at(err, path);
    *names = found;
    *n = n_found;
    return true;
}
