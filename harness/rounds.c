/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rounds.c - podbench rounds: published MLPerf results of any rounds as one table, or as a page.
 *
 * Rows are cached in $XDG_CACHE_HOME/podbench/rounds, or ~/.cache/podbench/rounds.
 */
#include "harness/harness.h"
#include "results/mlperf/mlperf.h"
#include "results/rounds/round_results.h"

#include <unistd.h>

static const char *cache_folder(struct arena *a)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *path = base && *base == '/' ? arena_printf(a, "%s/podbench/rounds", base)
                     : home && *home == '/' ? arena_printf(a, "%s/.cache/podbench/rounds", home) : NULL;
    return path && make_folders(path, NULL) && access(path, W_OK) == 0 ? path : NULL;
}

bool results_from_folders(struct round_results *out, struct rounds_counts *counts, const char *const *dirs, size_t n, const struct options *o,
                          struct session *s, struct err *err)
{
    struct progress progress;
    struct rounds_request q = { .data_dir = s->paths.data_dir, .cache_dir = cache_folder(&s->arena), .notice = logs_on_notice,
                                .watch = { progress_report, &progress } };
    const char **paths = ARENA_ARRAY(&s->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        if (!(paths[i] = logs_folder(dirs[i], s, err)))
            return false;
    q.program_hash = rounds_program_hash(s->paths.data_dir, &s->arena);
    progress_start(&progress, s->log, "folders of logs");
    return count_threads(&q.n_threads, o, err) && rounds_read(out, counts, paths, n, &q, &s->arena, err);
}

static int save_rounds_page(const struct round_results *r, const struct options *o, struct session *s, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, o->out, err)
        || !new_file_end(&file, rounds_page_write(file.f, r, o->out, s->plots_dir, s->paths.data_dir, &s->arena, err), err))
        return EXIT_BAD_INPUT;
    fprintf(s->log, "podbench: %s\n", o->out);
    return EXIT_DONE;
}

int command_rounds(const struct options *o, struct session *s, struct err *err)
{
    struct round_results results;
    struct rounds_counts counts;
    if (!files_are_distinct(o->arguments, o->arguments, o->n_arguments, err)
        || !results_from_folders(&results, &counts, o->arguments, o->n_arguments, o, s, err))
        return EXIT_BAD_INPUT;
    if (o->out)
        return save_rounds_page(&results, o, s, err);
    round_results_write(s->out, o->format, &results);
    return EXIT_DONE;
}
