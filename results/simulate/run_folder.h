/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_folder.h - a run on disk: tables, and a manifest that lists them with their hashes.
 *
 * Tables are written under temporary names, then renamed, the manifest last, all under a lock on the folder. A program
 * that is killed leaves the old run, the new one, or, between two renames, a folder without a manifest, which is no run.
 */
#ifndef RUN_FOLDER_H
#define RUN_FOLDER_H
#include "system-model/base/base.h"

struct json_t;

/* One table of a run: its file's name, and what writes it. */
struct run_table { const char *name; void (*write)(FILE *f, const void *what); const void *what; };

/* Writes the tables and manifest.json, to which "files" (name: hash) is added. schema: a text that is equal for equal
 * columns of the tables. manifest stays the caller's. */
bool run_folder_write(const char *folder, const struct run_table *tables, size_t n, const char *schema, struct json_t *manifest,
                      struct err *err);

/* Copies the files to another folder. record, unless NULL, is written after the tables and before the manifest, so that
 * no run is there without it. The caller has checked `from`. */
struct run_record { bool (*write)(void *what, struct err *err); void *what; };
bool run_folder_copy(const char *to, const char *from, const struct run_record *record, struct err *err);

/* Loads a regular JSON file, for the caller to free. NULL if it is missing or broken; why->line is 0 or less if it cannot
 * be read at all. */
struct json_error_t;
struct json_t *manifest_load(const char *path, struct json_error_t *why);

/* Checks that every file is the one in the manifest and, unless schema is NULL, that the tables have the columns of this
 * version. The message says what to do. */
bool run_folder_check(const char *folder, const char *schema, struct err *err);

#endif
