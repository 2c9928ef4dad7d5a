/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * logs.c - options and paths of the commands that read MLPerf logs; see logs.h.
 */
#include "harness/harness.h"
#include "results/mlperf/mlperf.h"

#include <limits.h>
#include <sys/stat.h>

struct judge_options logs_options(const struct options *o, const struct session *s, struct progress *p)
{
    progress_start(p, s->log, "logs");
    return (struct judge_options){ .ruleset = o->ruleset, .data_dir = s->paths.data_dir, .train_samples = o->train_samples, .rcp_bypass = o->rcp_bypass,
                                   .seed_bypass = o->seed_bypass, .only_failures = o->only_failures, .watch = { progress_report, p } };
}

const char *logs_path(const char *path, struct session *s, struct err *err)
{
    struct stat st;
    char real[PATH_MAX];
    if (stat(path, &st) != 0) {
        fail(err, "%s: no such file or folder", path);
        return NULL;
    }
    if (!S_ISDIR(st.st_mode) || !realpath(path, real))
        return path;
    return check_printable(real, err) ? arena_strdup(&s->arena, real) : NULL;
}

const char *logs_folder(const char *path, struct session *s, struct err *err)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (!exists || !S_ISDIR(st.st_mode)) {
        fail(err, "%s: %s, want a folder that holds result_N.txt files somewhere below%s", path, exists ? "is a file" : "no such folder",
             exists ? "; podbench lint judges a single log" : "");
        return NULL;
    }
    return logs_path(path, s, err);
}

void logs_notice(const char *path, const char *text)
{
    fprintf(stderr, "podbench: %s: %s\n", path, text);
}

void logs_on_notice(void *user, const char *path, const char *text)
{
    (void)user;
    logs_notice(path, text);
}
