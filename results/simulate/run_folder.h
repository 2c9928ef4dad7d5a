/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_folder.h - a run on disk: tables, and a manifest that lists them with their hashes.
 *
 * Tables are written under temporary names and then renamed, the manifest last, under a lock on the folder. A program that is killed leaves
 * the old run, the new run, or, between two renames, a folder without a manifest, which is no run.
 */
#ifndef RUN_FOLDER_H
#define RUN_FOLDER_H
#include "system-model/base/base.h"

struct json_t;

/* One table of a run: the name of its file, and the function that writes it. */
struct run_table { const char *name; void (*write)(FILE *f, const void *what); const void *what; };

/* Writes the tables and manifest.json, to which the hashes of the tables are added as "files". `schema` is a text that is equal for equal
 * columns. The manifest remains the caller's. */
bool run_folder_write(const char *folder, const struct run_table *tables, size_t n, const char *schema, struct json_t *manifest,
                      struct err *err);

/* Copies a run, whose files the caller has checked, to another folder. `record`, unless NULL, is written before the manifest, so that the new
 * run never exists without it. */
struct run_record { bool (*write)(void *what, struct err *err); void *what; };
bool run_folder_copy(const char *to, const char *from, const struct run_record *record, struct err *err);

/* Locks the folder and returns its descriptor, -1 on failure. Closing the descriptor, or the end of the process, releases the lock. */
int lock_folder(const char *folder);

/* Loads a JSON file, which the caller frees. NULL if the file is missing or broken; why->line is 0 or less if it cannot be read at all. */
struct json_error_t;
struct json_t *manifest_load(const char *path, struct json_error_t *why);

/* Checks that all files match the manifest's hashes and, unless `schema` is NULL, that the tables have this version's columns. */
bool run_folder_check(const char *folder, const char *schema, struct err *err);

#endif
