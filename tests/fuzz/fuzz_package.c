/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_package.c - a simulated submission, written as MLPerf logs, judged as a package; then one of its logs edited by any bytes.
 *
 * Bytes: recipe, seed, runs, how far the logs' names are turned; then edits of a line each: which log, which line, what. Laws: every log
 * that says success complies and the others fail as they say; the score is the one drawn; names turned around change neither score
 * nor verdict; an edit spoils no other log than its own, and a score is that of logs that comply.
 *
 * What is drawn and how it is judged depends on the first four bytes alone, so packages are kept, with their verdicts: an execution
 * edits logs, judges them, and puts them back.
 */
#include "tests/fuzz/box.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/small.h"
#include "harness/harness.h"
#include "results/mlperf/mlperf.h"
#include "results/submission/submission_logs.h"

#include <math.h>

enum { N_SEEDS = 8, MOST_LOGS = 32, MOST_RUNS = 8, N_TURNS = 3, MOST_EDITS = 6, EDIT_BYTES = 4, MOST_LOG_BYTES = 1 << 20 };

static const struct { const char *recipe, *benchmark; } recipes[] = {
    { "mlperf-v2.0-closed-bow-pod16-bert-large", "bert" }, { "mlperf-v2.0-closed-bow-pod16-resnet50", "resnet" } };
enum { N_RECIPES = sizeof recipes / sizeof *recipes };

/* A package as it was written, and as it is judged with its logs' names turned. */
struct package {
    bool made;
    const char *dir;
    char **logs, **texts;
    size_t n;                           /* logs; 0: such a submission is refused */
    struct drawn_runs drawn;
    struct folder judged;
};

static struct session session;          /* packages live in its arena */
static struct judge judge;

/* False: such a submission is refused. */
static bool draw(struct package *p, size_t recipe, struct submission_request *q)
{
    struct simulation sim;
    struct result r;
    struct err err = { "" };
    LAW(simulator_run(&session.simulator, &sim, &r, recipes[recipe].recipe, NULL, 0, &err));
    bool good = submission_draw(&p->drawn, &sim, &r, q, &session, &err);
    LAW(good || *err.msg);
    simulation_free(&sim);
    p->dir = arena_printf(&session.arena, "%s/" SIMULATED_ORG "/results/%s-simulated/%s", q->mllog, recipes[recipe].recipe,
                          recipes[recipe].benchmark);
    return good && list_folder(&p->logs, &p->n, p->dir, "", &session.arena, &err) && p->n;
}

static void nobody(void *user, const struct folder *f, const char *path, const struct log_judgement *j)
{
    (void)user, (void)f, (void)path, (void)j;
}

static void judge_logs(struct folder *f, const struct package *p, struct arena *a)
{
    folder_judge(f, &judge, p->dir, p->logs, p->n, nobody, NULL, a);
}

static const char *log_path(const struct package *p, size_t i, struct arena *a)
{
    return arena_printf(a, "%s/%s", p->dir, p->logs[i]);
}

static size_t compliant(const struct folder *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->runs[i].compliant;
    return n;
}

static void check_written(const struct folder *f, const struct package *p)
{
    size_t converged = 0;
    LAW(!f->problem && f->n == p->n && p->n == p->drawn.n);
    for (size_t i = 0; i < p->drawn.n; i++)
        converged += p->drawn.runs[i].converged;
    LAW(compliant(f) == converged);
    bool drawn = isfinite(p->drawn.score_minutes), judged = isfinite(f->score_minutes);
    LAW(!drawn || !judged || fabs(f->olympic_minutes / p->drawn.score_minutes - 1) < 1e-4);
    LAW(judged == !f->why_no_score);
}

/* Log i gets the name of log i + by. */
static void turn(const struct package *p, size_t by, struct arena *a)
{
    for (size_t i = 0; i < p->n; i++)
        LAW(rename(log_path(p, i, a), arena_printf(a, "%s/turned_%zu", p->dir, i)) == 0);
    for (size_t i = 0; i < p->n; i++)
        LAW(rename(arena_printf(a, "%s/turned_%zu", p->dir, i), log_path(p, (i + by) % p->n, a)) == 0);
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
    char *text, *held, *line, *next, kept;
    size_t n, n_lines = 0;
    LAW(read_text_file(&text, &n, path, MOST_LOG_BYTES, a, NULL));
    held = arena_alloc(a, n + 1);
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

static void keep_texts(struct package *p, struct arena *a)
{
    size_t n;
    p->texts = ARENA_ARRAY(a, char *, p->n);
    for (size_t i = 0; i < p->n; i++)
        LAW(read_text_file(&p->texts[i], &n, log_path(p, i, a), MOST_LOG_BYTES, a, NULL));
}

static void make_package(struct package *p, size_t recipe, struct submission_request *q, size_t by)
{
    struct arena *a = &session.arena;
    struct folder turned;
    *p = (struct package){ .made = true };
    if (!draw(p, recipe, q)) {
        p->n = 0;
        return;
    }
    judge_logs(&p->judged, p, a);
    check_written(&p->judged, p);
    if (by % p->n) {
        turn(p, by % p->n, a);
        judge_logs(&turned, p, a);
        check_turned(&turned, &p->judged);
        p->judged = turned;
    }
    keep_texts(p, a);
}

static const struct package *package_of(const uint8_t *data)
{
    static struct package packages[N_RECIPES][N_SEEDS][MOST_RUNS][N_TURNS];
    size_t recipe = data[0] % N_RECIPES, seed = data[1] % N_SEEDS, runs = data[2] % MOST_RUNS, by = data[3] % N_TURNS;
    struct package *p = &packages[recipe][seed][runs][by];
    if (!p->made) {
        const char *out = arena_printf(&session.arena, "%s/drawn-%zu-%zu-%zu-%zu", box_open()->folder, recipe, seed, runs, by);
        make_package(p, recipe, &(struct submission_request){ .runs = runs, .seed = seed, .mllog = out }, by);
    }
    return p;
}

static void put_back(const struct package *p, size_t i, struct arena *a)
{
    FILE *f = fopen(log_path(p, i, a), "w");
    LAW(f && fputs(p->texts[i], f) >= 0 && fclose(f) == 0);
}

static void check_edited(const struct folder *edited, const struct folder *f, const bool *touched)
{
    LAW(isfinite(edited->score_minutes) == !edited->why_no_score);
    if (edited->problem || edited->n != f->n || edited->edition != f->edition)
        return;                         /* the first logs decide by which rules all are judged */
    for (size_t i = 0; i < f->n; i++)
        LAW(touched[i] || edited->runs[i].compliant == f->runs[i].compliant);
    LAW(!edited->passed || 2 * compliant(edited) > edited->n);
}

static void edit_and_judge(const struct package *p, const uint8_t *data, size_t n, struct arena *a)
{
    bool touched[MOST_LOGS] = {0};
    struct folder edited;
    for (size_t i = 0; i + EDIT_BYTES <= n && i < MOST_EDITS * EDIT_BYTES; i += EDIT_BYTES) {
        size_t log = data[i] % p->n;
        touched[log] = true;
        edit_log(log_path(p, log, a), data + i, a);
    }
    judge_logs(&edited, p, a);
    check_edited(&edited, &p->judged, touched);
    for (size_t i = 0; i < p->n; i++)
        if (touched[i])
            put_back(p, i, a);
}

static void open_once(void)
{
    static struct judge_options options;
    struct err err = { "" };
    session.out = stdout, session.log = stderr;
    LAW(session_open(&session, box_open()->source, "--root", &err));
    session.paths.data_dir = arena_printf(&session.arena, "%s/convergence", box_open()->folder);
    options = (struct judge_options){ .data_dir = session.paths.data_dir };
    LAW(judge_load(&judge, &options, &session.arena, &err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    if (n < 4)
        return 0;
    if (!judge.a)
        open_once();
    const struct package *p = package_of(data);
    if (p->n)
        edit_and_judge(p, data + 4, n - 4, &a);
    arena_free(&a);
    return 0;
}
