/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_folder.c - writes and reads the folder of a run; see run_folder.h.
 *
 * All files are first written completely under temporary names. Then the old manifest is removed and the files are renamed, the new manifest
 * last. A program that is killed in between leaves a folder without a manifest, which readers refuse.
 */
#include "results/simulate/run_folder.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/file.h>
#include <unistd.h>

#define MANIFEST "manifest.json"

static const char *hash_table_text(uint64_t hash, struct arena *a)
{
    return arena_printf(a, "xxh3:%016" PRIx64, hash);
}

static bool file_hash(const char **out, const char *path, struct arena *a, struct err *err)
{
    char *text;
    size_t n;
    if (!read_text_file(&text, &n, path, LARGEST_FILE_BYTES, a, err))
        return false;
    *out = hash_table_text(hash_bytes(text, n, 0), a);
    return true;
}

json_t *manifest_load(const char *path, json_error_t *why)
{
    FILE *f = open_regular(NULL, path, NULL);
    json_t *m = f ? json_loadf(f, JSON_REJECT_DUPLICATES, why) : NULL;
    if (f)
        fclose(f);
    return m;
}

int lock_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd != -1 && flock(fd, LOCK_EX) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool has_hash(const char *path, const char *hash, struct arena *a)
{
    const char *found;
    return file_hash(&found, path, a, NULL) && text_is(found, hash);
}

/* ---- checking ------------------------------------------------------------------------------------ */

/* False, with the reason in `err`, if the file exists but cannot be read. A missing file is reported elsewhere. */
static bool can_read(const char *path, struct err *err)
{
    FILE *f = access(path, F_OK) == 0 ? open_regular(NULL, path, err) : NULL;
    bool good = f || access(path, F_OK) != 0;
    if (f)
        fclose(f);
    return good;
}

static bool check_files(const char *folder, json_t *files, struct arena *a, struct err *err)
{
    const char *name;
    json_t *hash;
    json_object_foreach(files, name, hash) {
        const char *path = arena_printf(a, "%s/%s", folder, name);
        if (!can_read(path, err))
            return false;
        if (!has_hash(path, json_string_value(hash), a))
            return fail(err, "%s/%s: is not the file that %s lists: the run is incomplete or was edited; simulate again with "
                             "'podbench bench --out %s', or name the table itself", folder, name, MANIFEST, folder);
    }
    return true;
}

static bool check_manifest(const char *folder, const char *schema, json_t *m, struct arena *a, struct err *err)
{
    const char *version = json_string_value(json_object_get(m, "podbench"));
    const char *own = json_string_value(json_object_get(m, "schema"));
    json_t *files = json_object_get(m, "files");
    if (json_object_size(files) == 0 || !own)
        return fail(err, "%s/%s: lists no files with their hashes: another version wrote the run; simulate again with "
                         "'podbench bench --out %s'", folder, MANIFEST, folder);
    if (schema && !text_is(own, hash_table_text(hash_bytes(schema, strlen(schema), 0), a)))
        return fail(err, "%s: podbench %s wrote this run with other columns; simulate again with 'podbench bench --out %s'", folder,
                    version ? version : "of another version", folder);
    return check_files(folder, files, a, err);
}

bool run_folder_check(const char *folder, const char *schema, struct err *err)
{
    struct arena scratch = {0};
    int lock = lock_folder(folder);
    if (lock == -1)
        return fail(err, "%s: %s", folder, errno == ENOENT ? "no such run folder" : strerror(errno));
    const char *path = arena_printf(&scratch, "%s/%s", folder, MANIFEST);
    json_error_t why = { .text = "cannot be read" };
    json_t *m = manifest_load(path, &why);
    bool good = !m && !can_read(path, err) ? false
              : m ? check_manifest(folder, schema, m, &scratch, err)
                  : fail(err, "%s: %s: the run is incomplete; simulate again with 'podbench bench --out %s'", path, why.text, folder);
    json_decref(m);
    close(lock);
    arena_free(&scratch);
    return good;
}

/* ---- writing --------------------------------------------------------------------------------------- */

/* Writes a table under a temporary name. Its hash is added to `files`, unless that is NULL. */
static bool write_run_table(struct new_file *out, const char *folder, const struct run_table *t, json_t *files, struct arena *a,
                        struct err *err)
{
    const char *hash;
    if (!new_file_open(out, arena_printf(a, "%s/%s", folder, t->name), err))
        return false;
    errno = 0;
    t->write(out->f, t->what);
    fflush(out->f);
    if (ferror(out->f))
        return fail(err, "%s: cannot be written completely: %s", out->path, write_cause());
    if (!file_hash(&hash, out->temp_path, a, err))
        return false;
    if (files)
        json_object_set_new(files, t->name, json_string(hash));
    return true;
}

static void write_manifest(FILE *f, const void *manifest)
{
    json_dumpf(manifest, f, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    fputc('\n', f);
}

/* Renames the complete new files. The old manifest is removed first, so that old and new tables never count as one run. */
static bool rename_all(struct new_file *files, size_t n, const char *folder, struct err *err)
{
    int lock = lock_folder(folder);
    bool good = lock != -1 || fail(err, "%s: cannot be locked", folder);
    if (good && unlink(files[n - 1].path) != 0 && errno != ENOENT)
        good = fail(err, "%s: cannot be replaced: %s", files[n - 1].path, strerror(errno));
    for (size_t i = 0; good && i < n; i++)
        good = new_file_save(&files[i], err);
    if (lock != -1)
        close(lock);
    return good;
}

/* Writes the tables, of which the last is the manifest; `listed` receives the hashes of the others. */
static bool write_run_files(const char *folder, const struct run_table *tables, size_t n, json_t *listed, const struct run_record *record,
                      struct err *err)
{
    struct arena scratch = {0};
    struct new_file *files = ARENA_ARRAY(&scratch, struct new_file, n);
    struct made_folders made;
    bool good = made_folders_make(&made, folder, &scratch, err);
    for (size_t i = 0; good && i + 1 < n; i++)
        good = write_run_table(&files[i], folder, &tables[i], listed, &scratch, err);
    /* the record comes before the manifest, since a manifest even under its temporary name makes the folder a run */
    good = good && (!record || record->write(record->what, err))
        && write_run_table(&files[n - 1], folder, &tables[n - 1], NULL, &scratch, err) && rename_all(files, n, folder, err);
    for (size_t i = 0; i < n; i++)
        new_file_drop(&files[i]);
    if (!good)
        made_folders_drop(&made);
    arena_free(&scratch);
    return good;
}

bool run_folder_write(const char *folder, const struct run_table *tables, size_t n, const char *schema, json_t *manifest,
                      struct err *err)
{
    struct arena scratch = {0};
    struct run_table *all = ARENA_ARRAY(&scratch, struct run_table, n + 1);
    json_t *listed = json_object();
    for (size_t i = 0; i < n; i++)
        all[i] = tables[i];
    all[n] = (struct run_table){ MANIFEST, write_manifest, manifest };
    json_object_set_new(manifest, "schema", json_string(hash_table_text(hash_bytes(schema, strlen(schema), 0), &scratch)));
    json_object_set(manifest, "files", listed);
    bool good = write_run_files(folder, all, n + 1, listed, NULL, err);
    json_decref(listed);
    arena_free(&scratch);
    return good;
}

static void write_run_text(FILE *f, const void *text)
{
    fputs(text, f);
}

bool run_folder_copy(const char *to, const char *from, const struct run_record *record, struct err *err)
{
    struct arena scratch = {0};
    json_t *m = manifest_load(arena_printf(&scratch, "%s/%s", from, MANIFEST), NULL), *files = json_object_get(m, "files"), *hash;
    struct run_table *all = ARENA_ARRAY(&scratch, struct run_table, json_object_size(files) + 1);
    bool good = json_is_object(files) || fail(err, "%s: is not the folder of a run", from);
    const char *name;
    char *text;
    size_t n = 0;
    json_object_foreach(files, name, hash) {
        good = good && read_text_file(&text, NULL, arena_printf(&scratch, "%s/%s", from, name), LARGEST_FILE_BYTES, &scratch, err);
        all[n++] = (struct run_table){ name, write_run_text, text };
    }
    good = good && read_text_file(&text, NULL, arena_printf(&scratch, "%s/%s", from, MANIFEST), LARGEST_FILE_BYTES, &scratch, err);
    all[n++] = (struct run_table){ MANIFEST, write_run_text, text };
    good = good && write_run_files(to, all, n, NULL, record, err);
    json_decref(m);
    arena_free(&scratch);
    return good;
}
