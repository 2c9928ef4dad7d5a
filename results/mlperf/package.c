/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * package.c - the verdict of the package checker, part by part.
 *
 * Source: mlcommons/logging package_checker, seed_checker, rcp_checker and system_desc_checker of each edition: the number of logs, how many
 * of them are refused, the system description, and, where that says division "closed", seeds and reference convergence.
 */
#include "results/mlperf/package.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const package_part_names[N_PACKAGE_PARTS] = { "files", "complying logs", "seeds", "reference convergence", "system description" };
const char *const part_state_names[4] = { "not tested", "pass", "fail", "bypassed" };
enum { LARGEST_JSON = 1 << 20 };

static void set(struct package *p, enum package_part part, bool passed, const char *text)
{
    p->f->parts[part] = (struct part_verdict){ passed ? PART_PASSED : PART_FAILED, text };
}

static void untested(struct package *p, enum package_part part, const char *why)
{
    p->f->parts[part] = (struct part_verdict){ PART_UNTESTED, why };
}

/* ---- files and compliance ------------------------------------------------------------------------- */

static void judge_files(struct package *p)
{
    const struct round_terms *t = p->f->rules->terms;
    const char *text = arena_printf(p->a, "%zu logs, want %u", p->f->n, t->runs);
    if (p->f->n != t->runs && !p->f->edition->exact_count)
        untested(p, PACKAGE_FILES, arena_printf(p->a, "%s; %s only prints it", text, p->f->edition->ruleset));
    else
        set(p, PACKAGE_FILES, p->f->n == t->runs, text);
}

static void judge_compliance(struct package *p)
{
    size_t refused = 0, may = p->f->rules->terms->may_fail;
    for (size_t i = 0; i < p->f->n; i++)
        refused += !p->f->runs[i].compliant;
    set(p, PACKAGE_COMPLIANCE, refused <= may, arena_printf(p->a, "%zu of %zu logs refused, at most %zu may be", refused, p->f->n, may));
}

/* ---- system description --------------------------------------------------------------------------------- */

json_t *load_small_json(const char *path)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd == -1)
        return NULL;
    json_t *doc = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size <= LARGEST_JSON ? json_loadfd(fd, 0, NULL) : NULL;
    close(fd);
    return doc;
}

/* .../ORG/results/SYSTEM/BENCHMARK has .../ORG/systems/SYSTEM.json; else SYSTEM/SYSTEM.json. */
static const char *description_path(const struct package *p)
{
    const char *system = p->f->system, *dir = p->f->dir;
    const char *ends[] = { arena_printf(p->a, "/results/%s/%s", system, p->f->benchmark), arena_printf(p->a, "/%s", p->f->benchmark) };
    size_t n = strlen(dir), cut = strlen(ends[0]);
    if (n >= cut && text_is(dir + n - cut, ends[0]))
        return arena_printf(p->a, "%.*s/systems/%s.json", (int)(n - cut), dir, system);
    cut = strlen(ends[1]);
    if (n >= cut && text_is(dir + n - cut, ends[1]))
        return arena_printf(p->a, "%.*s/%s.json", (int)(n - cut), dir, system);
    return arena_printf(p->a, "%s/%s.json", dir, system);
}

static const char *missing_fields(const struct package *p, const json_t *doc)
{
    const char **names = ARENA_ROOM(p->a, const char *, p->j->system_fields.n);
    size_t n = 0;
    for (size_t i = 0; i < p->j->system_fields.n; i++)
        if (!json_object_get(doc, p->j->system_fields.names[i]))
            names[n++] = p->j->system_fields.names[i];
    return n ? arena_printf(p->a, "%zu of %zu fields missing: %s", n, p->j->system_fields.n, names_list(names, n, p->a)) : NULL;
}

static bool status_known(const char *statuses, const char *status)
{
    size_t n = status ? strlen(status) : 0;
    for (const char *at = statuses; at && n; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (!strncmp(at, status, n) && (at[n] == 0 || at[n] == '|'))
            return true;
    return false;
}

static void judge_description(struct package *p)
{
    const char *path = description_path(p), *name = strrchr(path, '/') + 1;
    if (!p->f->edition->system_description) {
        untested(p, PACKAGE_DESCRIPTION, arena_printf(p->a, "not asked for by %s", p->f->edition->ruleset));
        return;
    }
    json_t *doc = load_small_json(path);
    const char *division = json_string_value(json_object_get(doc, "division")), *status = json_string_value(json_object_get(doc, "status"));
    const char *missing = doc ? missing_fields(p, doc) : NULL, *wanted = p->f->edition->statuses;
    p->description_division = division ? arena_strdup(p->a, division) : NULL;
    if (!doc)
        set(p, PACKAGE_DESCRIPTION, false, arena_printf(p->a, "%s is missing or is not JSON", name));
    else if (missing)
        set(p, PACKAGE_DESCRIPTION, false, arena_printf(p->a, "%s: %s", name, missing));
    else if (wanted && !status_known(wanted, status))
        set(p, PACKAGE_DESCRIPTION, false, arena_printf(p->a, "%s: status is '%.60s', want one of %s", name, status ? status : "", wanted));
    else
        set(p, PACKAGE_DESCRIPTION, true, name);
    json_decref(doc);
}

/* ---- package_checker_params: one option a line, without a line end as the official code compares them ------- */

static bool line_is(const char *text, const char *option)
{
    size_t n = strlen(text), m = strlen(option);
    return n >= m && text_is(text + n - m, option) && (n == m || text[n - m - 1] == '\n');
}

static void take_parameters(struct package *p, const char *dir)
{
    char *text;
    struct stat s;
    const char *path = arena_printf(p->a, "%s/package_checker_params", dir);
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || !read_text_file(&text, NULL, path, 4096, p->a, NULL))
        return;
    p->rcp_bypass = p->rcp_bypass || line_is(text, "rcp-bypass");
    p->seed_bypass = p->seed_bypass || line_is(text, "seed-checker-bypass");
}

/* ---- seeds ------------------------------------------------------------------------------------------------------ */

static int by_hash(const void *x, const void *y)
{
    const struct seed_seen *a = x, *b = y;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->log != b->log ? (int)a->log - (int)b->log : (int)a->line - (int)b->line;
}

static const char *repeated_seed(struct package *p)
{
    sort_items(p->seeds, p->n_seeds, sizeof *p->seeds, by_hash);
    for (size_t i = 1; i < p->n_seeds; i++) {
        const struct seed_seen *a = &p->seeds[i - 1], *b = &p->seeds[i];
        if (a->hash == b->hash && a->log != b->log)
            return arena_printf(p->a, "%s and %s have one seed (line %llu and line %llu)", p->f->runs[a->log].file, p->f->runs[b->log].file,
                                (unsigned long long)a->line, (unsigned long long)b->line);
    }
    return NULL;
}

static const char *seed_problem(struct package *p)
{
    bool any = p->f->edition->seeds == SEEDS_ALWAYS;
    for (size_t i = 0; i < p->f->n; i++) {
        const struct run_entry *r = &p->f->runs[i];
        if (r->bad_lines)
            return arena_printf(p->a, "%s has lines that cannot be read", r->file);
        if (r->bad_seed)
            return arena_printf(p->a, "%s has a seed that is not a whole number", r->file);
        if (!r->has_seed && any)
            return arena_printf(p->a, "%s has no seed", r->file);
        any = any || r->has_seed;
    }
    return repeated_seed(p);
}

static void judge_seeds(struct package *p)
{
    if (p->f->edition->seeds == SEEDS_FREE) {
        untested(p, PACKAGE_SEEDS, arena_printf(p->a, "not tested by %s", p->f->edition->ruleset));
        return;
    }
    const char *problem = seed_problem(p);
    set(p, PACKAGE_SEEDS, !problem, problem ? problem : p->n_seeds ? "each run has its own" : "no run logs one");
    if (problem && p->seed_bypass)
        p->f->parts[PACKAGE_SEEDS].state = PART_BYPASSED;
}

/* ---- reference convergence ---------------------------------------------------------------------------------------- */

static const char *convergence_problem(struct package *p)
{
    const struct folder *f = p->f;
    if (isnan(f->batch))
        return "no log has a global_batch_size";
    if (p->batch_differs && f->edition->one_batch)
        return "the logs have different values of global_batch_size: the official checker stops";
    for (const struct run_entry *r = f->runs, *end = f->runs + f->n; r < end; r++)
        if (r->converged && isnan(r->point))
            return arena_printf(p->a, "%s converged, yet has no convergence point", r->file);
    return NULL;
}

static void judge_convergence(struct package *p)
{
    struct folder *f = p->f;
    if (!f->rules->has_reference) {
        untested(p, PACKAGE_CONVERGENCE, arena_printf(p->a, "%s has no reference points in %s", f->benchmark, f->edition->round));
        return;
    }
    double *points = ARENA_ARRAY(p->a, double, f->n);
    for (size_t i = 0; i < f->n; i++)
        points[i] = f->runs[i].converged ? f->runs[i].point : HUGE_VAL;
    struct err why;
    const char *problem = convergence_problem(p);
    f->has_rcp = !problem && rcp_test(&f->rcp, &f->rules->reference, f->batch, points, f->n, p->a, &why);
    set(p, PACKAGE_CONVERGENCE, f->has_rcp && f->rcp.passed, problem ? problem : f->has_rcp ? f->rcp.text : arena_strdup(p->a, why.msg));
    if (p->rcp_bypass && f->parts[PACKAGE_CONVERGENCE].state == PART_FAILED)
        f->parts[PACKAGE_CONVERGENCE].state = PART_BYPASSED;
}

/* ---- the whole -------------------------------------------------------------------------------------------------------- */

/* Seeds and convergence count in the closed division alone, as the system description spells it. */
static void leave_out_open(struct package *p)
{
    const char *division = p->description_division ? p->description_division : p->f->division;
    if (text_is(division, "closed"))
        return;
    const char *why = arena_printf(p->a, "division '%.30s': not tested", division);
    untested(p, PACKAGE_SEEDS, why);
    untested(p, PACKAGE_CONVERGENCE, p->f->has_rcp ? arena_printf(p->a, "%s (it would %s: %s)", why, p->f->rcp.passed ? "pass" : "fail",
                                                               p->f->rcp.text) : why);
}

void package_judge(struct package *p)
{
    struct folder *f = p->f;
    p->rcp_bypass = p->j->options->rcp_bypass;
    p->seed_bypass = p->j->options->seed_bypass;
    if (f->edition->parameter_files) {
        take_parameters(p, f->dir);
        take_parameters(p, arena_printf(p->a, "%s/..", f->dir));
    }
    judge_files(p);
    judge_compliance(p);
    judge_description(p);
    judge_seeds(p);
    judge_convergence(p);
    leave_out_open(p);
    f->passed = true;
    for (int i = 0; i < N_PACKAGE_PARTS; i++)
        f->passed = f->passed && f->parts[i].state != PART_FAILED;
}
