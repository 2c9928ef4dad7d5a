/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_package.c - a simulated submission, written as MLPerf logs, judged as a package; then one of its logs edited by any bytes.
 *
 * Bytes: recipe, seed, runs, how far the logs' names are turned; then edits of a line each: which log, which line, what. Laws: every log
 * that says success complies and the others fail as they say; the score is the one drawn; names turned around change neither score
 * nor verdict; an edit spoils no other log than its own, and a score is that of logs that comply.
 */
#include "tests/fuzz/box.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/small.h"
#include "harness/submission.h"
#include "results/mlperf/folder.h"
#include "results/mlperf/mllog_write.h"

#include <math.h>

enum { MOST_RUNS = 12, MOST_EDITS = 6, EDIT_BYTES = 4, MOST_LOG_BYTES = 1 << 20 };

static const struct { const char *recipe, *benchmark; } recipes[] = {
    { "mlperf-v2.0-closed-bow-pod16-bert-large", "bert" }, { "mlperf-v2.0-closed-bow-pod16-resnet50", "resnet" } };

struct package_test { struct session s; const char *dir; struct judge *judge; char **logs; size_t n; struct run_distribution drawn; };

static bool draw(struct package_test *t, const uint8_t *data)
{
    struct simulation sim;
    struct result r;
    struct err err = { "" };
    const char *recipe = recipes[data[0] % 2].recipe;
    struct submission_request q = { .runs = data[2] % MOST_RUNS, .seed = data[1], .mllog = "out" };
    LAW(simulator_run(&t->s.simulator, &sim, &r, recipe, NULL, 0, &err));
    bool good = submission_draw(&t->drawn, &sim, &r, &q, &t->s, &err);
    LAW(good || *err.msg);
    simulation_free(&sim);
    t->dir = arena_printf(&t->s.arena, "out/" SIMULATED_ORG "/results/%s-simulated/%s", recipe, recipes[data[0] % 2].benchmark);
    return good && list_folder(&t->logs, &t->n, t->dir, "", &t->s.arena, &err);
}

static void nobody(void *user, const struct folder *f, const char *path, const struct log_judgement *j)
{
    (void)user, (void)f, (void)path, (void)j;
}

static void judge_logs(struct folder *f, struct package_test *t)
{
    folder_judge(f, t->judge, t->dir, t->logs, t->n, nobody, NULL, &t->s.arena);
}

static size_t compliant(const struct folder *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->runs[i].compliant;
    return n;
}

static void check_written(const struct folder *f, const struct package_test *t)
{
    size_t converged = 0;
    LAW(!f->problem && f->n == t->n && t->n == t->drawn.n);
    for (size_t i = 0; i < t->drawn.n; i++)
        converged += t->drawn.runs[i].converged;
    LAW(compliant(f) == converged);
    bool drawn = isfinite(t->drawn.score_minutes), judged = isfinite(f->score_minutes);
    LAW(!drawn || !judged || fabs(f->olympic_minutes / t->drawn.score_minutes - 1) < 1e-4);
    LAW(judged == !f->why_no_score);
}

/* Log i gets the name of log i + by. */
static void turn(const struct package_test *t, size_t by, struct arena *a)
{
    for (size_t i = 0; i < t->n; i++)
        LAW(rename(arena_printf(a, "%s/%s", t->dir, t->logs[i]), arena_printf(a, "%s/turned_%zu", t->dir, i)) == 0);
    for (size_t i = 0; i < t->n; i++)
        LAW(rename(arena_printf(a, "%s/turned_%zu", t->dir, i), arena_printf(a, "%s/%s", t->dir, t->logs[(i + by) % t->n])) == 0);
}

static void check_turned(const struct folder *turned, const struct folder *f)
{
    LAW(turned->passed == f->passed && compliant(turned) == compliant(f));
    LAW(isnan(f->score_minutes) ? isnan(turned->score_minutes) : fabs(turned->score_minutes / f->score_minutes - 1) < 1e-12);
    for (int i = 0; i < N_PACKAGE_PARTS; i++)
        LAW(turned->parts[i].state == f->parts[i].state);
}

/* One line of a log: dropped, doubled, moved behind the next, cut, or a byte of it changed. */
static void edit_line(FILE *out, char *line, char *held, const uint8_t *edit)
{
    size_t n = strlen(line);
    switch (edit[2] % 5) {
    case 0: return;
    case 1: fputs(line, out); break;
    case 2: strcpy(held, line); return;
    case 3: line[edit[3] % n] = '\0'; break;
    default: line[(size_t)edit[3] * 3 % n] = (char)(' ' + edit[3] / 5 * 2);
    }
    fputs(line, out);
}

static void edit_log(const char *path, const uint8_t *edit, struct arena *a)
{
    char *text, *held = arena_alloc(a, MOST_LOG_BYTES), *line, *next, kept;
    size_t n, n_lines = 0;
    LAW(read_text_file(&text, &n, path, MOST_LOG_BYTES, a, NULL));
    for (size_t i = 0; i < n; i++)
        n_lines += text[i] == '\n';
    FILE *out = fopen(path, "w");
    LAW(out && n_lines);
    for (line = text, n = 0; *line; *(line = next) = kept, n++) {
        next = strchr(line, '\n') ? strchr(line, '\n') + 1 : line + strlen(line);
        kept = *next;
        *next = '\0';
        if (n == edit[1] % n_lines) {
            edit_line(out, line, held, edit);
        } else {
            fputs(line, out);
            fputs(held, out);
            *held = '\0';
        }
    }
    fclose(out);
}

static void check_edits(struct package_test *t, const struct folder *f, const uint8_t *data, size_t n, struct arena *a)
{
    bool touched[MOST_RUNS + 16] = {0};
    struct folder edited;
    for (size_t i = 0; i + EDIT_BYTES <= n && i < MOST_EDITS * EDIT_BYTES; i += EDIT_BYTES) {
        size_t log = data[i] % t->n;
        touched[log] = true;
        edit_log(arena_printf(a, "%s/%s", t->dir, t->logs[log]), data + i, a);
    }
    judge_logs(&edited, t);
    LAW(isfinite(edited.score_minutes) == !edited.why_no_score);
    if (edited.problem || edited.n != f->n || edited.edition != f->edition)
        return;                         /* what the first logs say decides by which rules all are judged */
    for (size_t i = 0; i < f->n; i++)
        LAW(touched[i] || edited.runs[i].compliant == f->runs[i].compliant);
    LAW(!edited.passed || 2 * compliant(&edited) > edited.n);
}

static void test(struct package_test *t, const uint8_t *data, size_t n)
{
    struct folder f, turned;
    struct arena *a = &t->s.arena;
    if (!draw(t, data) || !t->n)
        return;
    judge_logs(&f, t);
    check_written(&f, t);
    if (data[3] % t->n) {
        turn(t, data[3] % t->n, a);
        judge_logs(&turned, t);
        check_turned(&turned, &f);
    }
    judge_logs(&f, t);
    check_edits(t, &f, data + 4, n - 4, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct plan_cache plans;
    static struct judge judge;
    static struct arena kept;
    static struct judge_options options;
    struct err err = { "" };
    if (n < 4)
        return 0;
    struct package_test t = { .judge = &judge };
    LAW(session_open(&t.s, box_open()->source, &err));
    if (!judge.a) {
        options = (struct judge_options){ .rules_dir = arena_strdup(&kept, t.s.rules_dir), .data_dir = arena_strdup(&kept, t.s.paths.data_dir) };
        LAW(judge_load(&judge, &options, &kept, &err));
    }
    t.s.simulator.plans = &plans;
    box_enter();
    test(&t, data, n);
    box_leave();
    session_close(&t.s);
    return 0;
}
