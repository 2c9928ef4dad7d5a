/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint.c - judges files and trees, and counts the verdicts; see mlperf.h.
 */
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/mlperf/mlperf_internal.h"

void lint_begin(struct lint *l, enum output_format format, struct judge *j, lint_notice *notice, struct arena *a)
{
    *l = (struct lint){ .format = format, .judge = j, .notice = notice, .folders = json_array(), .messages = json_array(),
                        .d = { .arena = a, .judged.suite = "podbench lint" } };
    l->out = document_stream(&l->d, IN_TEXT | IN_CSV);
    lint_print_head(l);
}

static void count_log(struct lint *l, const struct log_judgement *j)
{
    const struct compliance *c = &j->compliance;
    l->counts.logs++;
    l->counts.logs_passed += c->passed;
    l->counts.errors += c->n_errors;
    l->counts.warnings += c->n_warnings;
    l->counts.reviews += c->n_messages - c->n_errors - c->n_warnings;
}

static void lint_folder_log(void *user, const struct folder *f, const char *path, const struct log_judgement *j)
{
    struct lint *l = user;
    struct arena a = {0};
    count_log(l, j);
    lint_print_log(l, f, path, j, &a);
    arena_free(&a);
}

static void say_remark(struct lint *l, const char *path, const char *check, const struct log_message *m)
{
    l->counts.errors += m->severity == SEVERITY_ERROR;
    l->counts.warnings += m->severity == SEVERITY_WARNING;
    l->counts.reviews += m->severity == SEVERITY_REVIEW;
    l->failed = l->failed || m->severity == SEVERITY_ERROR;
    lint_print_remark(l, path, check, m);
}

/* Adds the repository checker's complaints about a submitter's folder, if the whole folder is judged. */
static void check_repository(struct lint *l, const char *org, struct arena *a)
{
    struct log_message messages[MOST_REPOSITORY_MESSAGES];
    size_t n_top = strlen(l->top), n = 0;
    if (strncmp(org, l->top, n_top) == 0 && (org[n_top] == 0 || org[n_top] == '/'))
        n = repository_check(messages, org, a);
    for (size_t i = 0; i < n; i++)
        say_remark(l, org, "repository", &messages[i]);
}

/* Remarks on each ORG/systems/SYSTEM.json without results. For results without a description, the verdict on their folder says so. */
static void compare_systems(struct lint *l, const char *results, const char *org, struct arena *a)
{
    char **names;
    size_t n;
    const char *systems = arena_printf(a, "%s/systems", org);
    if (access(systems, R_OK) != 0 || !list_folder(&names, &n, systems, ".json", a, NULL))
        return;
    for (size_t i = 0; i < n; i++)
        if (access(arena_printf(a, "%s/%s", results, names[i]), F_OK) != 0)
            say_remark(l, arena_printf(a, "%s/%s.json", systems, names[i]), "systems",
                       &(struct log_message){ SEVERITY_REVIEW, 0, "", "describes a system without results" });
}

/* Adds remarks on a submitter, once, before the verdict on the first folder of its logs. */
static void lint_submitter(struct lint *l, const struct folder *f, struct arena *a)
{
    const char *results = folder_results_path(f, a);
    if (!results || text_is(l->org, results))
        return;
    l->org = arena_strdup(l->d.arena, results);
    const char *org = arena_printf(a, "%.*s", (int)(strlen(results) - strlen("/results")), results);
    compare_systems(l, results, org, a);
    if (f->edition && f->edition->repository)
        check_repository(l, org, a);
}

static void lint_folder(void *user, const char *dir, char *const *logs, size_t n, struct arena *a)
{
    struct lint *l = user;
    struct folder f;
    folder_judge(&f, l->judge, dir, logs, n, lint_folder_log, l, a);
    lint_submitter(l, &f, a);
    l->counts.folders++;
    l->counts.folders_passed += f.passed;
    l->failed = l->failed || !f.passed;
    l->provisional = l->provisional ? l->provisional : edition_provisional(f.edition);
    for (size_t i = 0; i < f.n_notes; i++)
        l->counts.warnings += f.notes[i].severity == SEVERITY_WARNING, l->counts.reviews += f.notes[i].severity == SEVERITY_REVIEW;
    lint_print_folder(l, &f, a);
}

/* Reports a skipped file. It fails nothing by itself; if it was a log, the package fails by its number of logs. */
static void lint_skipped(void *user, const char *path, const char *text)
{
    struct lint *l = user;
    l->notice(path, text);
}

/* Judges a log that was given by name by its rules alone. */
static bool lint_log(struct lint *l, const char *path, struct err *err)
{
    struct arena a = {0};
    struct log_judgement j;
    struct folder_names names;
    struct err why;
    const char *slash = strrchr(path, '/'), *foreign = foreign_log(slash ? slash + 1 : path);
    if (foreign)
        return fail(err, "%s: belongs to %s, want a log of MLPerf Training or HPC", path, foreign);
    folder_names_from(&names, l->judge, arena_printf(&a, "%.*s", slash ? (int)(slash - path) : 0, path), NULL, &a);
    const char *round = l->judge->options->ruleset ? l->judge->options->ruleset : names.round;
    const struct edition *e = edition_find(&l->judge->rounds, round);
    const char *remark = e && *names.round && !text_is(names.round, e->round) ? folder_remark(names.round, e, &a) : "";
    if (*remark)
        l->notice(path, remark);
    bool good = e || !*round ? log_judge(&j, l->judge, path, true, e, *names.benchmark ? names.benchmark : NULL, &a, &why)
                             : edition_unknown(&l->judge->rounds, round, &why);
    if (good) {
        count_log(l, &j);
        l->provisional = l->provisional ? l->provisional : edition_provisional(j.edition);
        l->failed = l->failed || !j.compliance.passed;
        lint_print_log(l, NULL, path, &j, &a);
    } else {
        fail(err, "%s%s%.380s", strncmp(why.msg, path, strlen(path)) ? path : "", strncmp(why.msg, path, strlen(path)) ? ": " : "", why.msg);
    }
    arena_free(&a);
    return good;
}

bool lint_path(struct lint *l, const char *path, struct err *err)
{
    struct stat s;
    size_t n_folders;
    struct tree_visit visit = { lint_folder, lint_skipped, l, &l->counts.skipped, l->judge->options->watch };
    if (stat(path, &s) != 0)
        return fail(err, "%s: no such file or folder", path);
    if (!S_ISDIR(s.st_mode))
        return lint_log(l, path, err);
    struct arena a = {0};
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    l->top = arena_printf(&a, "%.*s", (int)n, path);
    bool good = tree_walk(&n_folders, l->top, &visit, err);
    arena_free(&a);
    return good;
}

void lint_end(struct lint *l, FILE *out)
{
    lint_print_foot(l);
    if (l->counts.logs || l->counts.folders)
        document_write(out, l->format, &l->d);
    else
        document_drop(&l->d);
}
