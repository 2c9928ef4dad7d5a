/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * package.c - the verdict of the package checker, part by part.
 *
 * Source: mlcommons/logging package_checker, seed_checker, rcp_checker and system_desc_checker of each edition. Parts are the number of logs,
 * the number of refused logs, the system description, and, if that says division "closed", seeds and reference convergence.
 */
#include <gsl/gsl_sort.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/mlperf/mlperf_internal.h"

const char *const package_part_names[N_PACKAGE_PARTS] = { "files", "complying logs", "seeds", "reference convergence", "system description" };
const char *const part_state_names[4] = { "not tested", "pass", "fail", "bypassed" };

static void set_part(struct package *p, enum package_part part, bool passed, const char *text)
{
    p->f->parts[part] = (struct part_verdict){ passed ? PART_PASSED : PART_FAILED, text };
}

static void set_untested(struct package *p, enum package_part part, const char *why)
{
    p->f->parts[part] = (struct part_verdict){ PART_UNTESTED, why };
}

/* ---- files and compliance ------------------------------------------------------------------------- */

static void judge_files(struct package *p)
{
    const struct round_terms *t = p->f->rules->terms;
    bool weak = text_is(p->f->metric, "weak");
    const char *text = arena_printf(p->a, "%zu logs, want %s%u", p->f->n, weak ? "at least " : "", t->runs);
    if (weak)
        set_part(p, PACKAGE_FILES, p->f->n >= t->runs, text);
    else if (p->f->n != t->runs && !p->f->edition->exact_count)
        set_untested(p, PACKAGE_FILES, arena_printf(p->a, "%s; %s only prints it", text, p->f->edition->ruleset));
    else
        set_part(p, PACKAGE_FILES, p->f->n == t->runs, text);
}

/* The key that is the first error in most refused logs, such as ", most often for opt_name (3 logs)"; "" if no log is refused. */
static const char *commonest_key(const struct package *p)
{
    const char *key = NULL;
    size_t most = 0;
    const struct run_entry *runs = p->f->runs, *end = runs + p->f->n;
    for (const struct run_entry *r = runs; r < end; r++) {
        size_t n = 0;
        for (const struct run_entry *other = runs; other < end && r->refused_key; other++)
            n += text_is(other->refused_key, r->refused_key);
        if (n > most)
            most = n, key = r->refused_key;
    }
    return key ? arena_printf(p->a, ", most often for %s (%zu log%s)", key, most, plural(most)) : "";
}

static void judge_compliance(struct package *p)
{
    size_t refused = 0, by_power = 0, may = p->f->rules->terms->may_fail;
    const char *power = "";
    for (size_t i = 0; i < p->f->n; i++) {
        const struct run_entry *r = &p->f->runs[i];
        refused += !r->compliant || r->power_problem;
        if (r->power_problem && by_power++ == 0)
            power = r->power_problem;
    }
    if (by_power)
        power = arena_printf(p->a, "; %zu for %s power logs: %s", by_power, by_power == 1 ? "its" : "their", power);
    set_part(p, PACKAGE_COMPLIANCE, refused <= may, arena_printf(p->a, "%zu of %zu logs refused, at most %zu may be%s%s", refused, p->f->n, may, commonest_key(p), power));
}

/* ---- system description --------------------------------------------------------------------------------- */

static const char *missing_fields(const struct package *p, const json_t *doc)
{
    const struct name_list *fields = &p->j->system_fields[p->f->edition - p->j->rounds.editions];
    const char **names = ARENA_ROOM(p->a, const char *, fields->n);
    size_t n = 0;
    for (size_t i = 0; i < fields->n; i++)
        if (!json_object_get(doc, fields->names[i]))
            names[n++] = fields->names[i];
    return n ? arena_printf(p->a, "%zu of %zu fields missing: %s", n, fields->n, names_list(names, n, p->a)) : NULL;
}

/* Names the empty fields that identify the system, for reviewers; "" if there are none. Other fields are empty in most descriptions. */
static const char *empty_fields(const struct package *p, const json_t *doc)
{
    static const char *const naming[] = { "submitter", "system_name", "number_of_nodes", "host_processor_model_name", "accelerators_per_node",
                                          "accelerator_model_name", "framework", "operating_system" };
    const char *names[sizeof naming / sizeof *naming];
    size_t n = 0;
    for (size_t i = 0; i < sizeof naming / sizeof *naming; i++)
        if (text_is(json_string_value(json_object_get(doc, naming[i])), ""))
            names[n++] = naming[i];
    return n ? arena_printf(p->a, "; for review: empty: %s", names_list(names, n, p->a)) : "";
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
    const char *path = folder_description_path(p->f, p->a), *name = strrchr(path, '/') + 1;
    if (!p->f->edition->system_description) {
        set_untested(p, PACKAGE_DESCRIPTION, arena_printf(p->a, "not asked for by %s", p->f->edition->ruleset));
        return;
    }
    json_t *doc = load_small_json(path);
    const char *division = json_string_value(json_object_get(doc, "division")), *status = json_string_value(json_object_get(doc, "status"));
    const char *missing = doc ? missing_fields(p, doc) : NULL, *wanted = p->f->edition->statuses;
    p->description_division = division ? arena_strdup(p->a, division) : NULL;
    if (!doc)
        set_part(p, PACKAGE_DESCRIPTION, false, arena_printf(p->a, "%s is missing or is not JSON", name));
    else if (missing)
        set_part(p, PACKAGE_DESCRIPTION, false, arena_printf(p->a, "%s: %s", name, missing));
    else if (!text_is(wanted, "any") && !status_known(wanted, status))
        set_part(p, PACKAGE_DESCRIPTION, false, arena_printf(p->a, "%s: status is '%.60s', want one of %s", name, status ? status : "", wanted));
    else
        set_part(p, PACKAGE_DESCRIPTION, true, arena_printf(p->a, "%s%s", name, empty_fields(p, doc)));
    json_decref(doc);
}

/* ---- package_checker_params: one option a line, without a line end as the official code compares them ------- */

static bool line_is(const char *text, const char *option)
{
    size_t n = strlen(text), m = strlen(option);
    return n >= m && text_is(text + n - m, option) && (n == m || text[n - m - 1] == '\n');
}

/* The text of package_checker_params in a folder; NULL if there is no such file. */
static char *parameters_in(const struct package *p, const char *dir)
{
    char *text;
    struct stat s;
    const char *path = arena_printf(p->a, "%s/package_checker_params", dir);
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && read_text_file(&text, NULL, path, 4096, p->a, NULL) ? text : NULL;
}

static void read_parameters(struct package *p, const char *dir)
{
    const char *text = parameters_in(p, dir);
    if (!text)
        return;
    p->rcp_bypass = p->rcp_bypass || line_is(text, "rcp-bypass");
    p->seed_bypass = p->seed_bypass || line_is(text, "seed-checker-bypass");
    if (strstr(text, "bypass\n"))
        package_note(p, SEVERITY_WARNING, arena_printf(p->a, "package_checker_params in %s: an option that a line end follows is not read by the official checker",
                                                       dir == p->f->dir ? "the benchmark's folder" : "the system's folder"));
}

/* Reads ORG/package_checker_params. The submission script makes an option of each line, but loses a last line without a line end. */
static void read_package_parameters(struct package *p)
{
    const char *results = folder_results_path(p->f, p->a);
    char *text = results ? parameters_in(p, arena_printf(p->a, "%s/..", results)) : NULL, *rest = text, *line;
    while ((line = strsep(&rest, "\n")))
        if (rest) {
            p->rcp_bypass = p->rcp_bypass || text_is(line, "rcp-bypass");
            p->seed_bypass = p->seed_bypass || text_is(line, "seed-checker-bypass");
            p->train_samples = p->train_samples || text_is(line, "rcp-bert-train-samples");
        } else if (*line) {
            package_note(p, SEVERITY_WARNING, arena_printf(p->a, "package_checker_params of the submitter: the last line, '%.60s', does not end with a newline, so it is not read "
                                                           "by the submission script", line));
        }
}

static void read_parameter_files(struct package *p)
{
    if (p->f->edition->parameter_files >= PARAMETERS_PACKAGE)
        read_package_parameters(p);
    if (p->f->edition->parameter_files == PARAMETERS_ALL) {
        read_parameters(p, p->f->dir);
        read_parameters(p, arena_printf(p->a, "%s/..%s", p->f->dir, *p->f->metric ? "/.." : ""));
    }
}

/* ---- seeds ------------------------------------------------------------------------------------------------------ */

static const char *repeated_seed(struct package *p)
{
    SORT_BY(p->seeds, p->n_seeds, RISING(struct seed_seen, hash), RISING(struct seed_seen, log), RISING(struct seed_seen, line));
    for (size_t i = 1; i < p->n_seeds; i++) {
        const struct seed_seen *a = &p->seeds[i - 1], *b = &p->seeds[i];
        if (a->hash == b->hash && a->log == b->log)
            return arena_printf(p->a, "%s has one seed twice (line %" PRIu64 " and line %" PRIu64 ")", p->f->runs[a->log].file, a->line, b->line);
        if (a->hash == b->hash)
            return arena_printf(p->a, "%s and %s have one seed (line %" PRIu64 " and line %" PRIu64 ")", p->f->runs[a->log].file, p->f->runs[b->log].file,
                                a->line, b->line);
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
            return arena_printf(p->a, "%s has a seed that is not a whole number, or has no file and lineno in its metadata", r->file);
        if (!r->has_seed && any)
            return arena_printf(p->a, "%s has no seed", r->file);
        any = any || r->has_seed;
    }
    return repeated_seed(p);
}

static void judge_seeds(struct package *p)
{
    if (p->f->edition->seeds == SEEDS_FREE) {
        set_untested(p, PACKAGE_SEEDS, arena_printf(p->a, "not tested by %s", p->f->edition->ruleset));
        return;
    }
    const char *problem = seed_problem(p);
    set_part(p, PACKAGE_SEEDS, !problem, problem ? problem : p->n_seeds ? "each run has its own" : "no run logs one");
    if (problem && p->seed_bypass)
        p->f->parts[PACKAGE_SEEDS].state = PART_BYPASSED;
}

/* ---- the reference-convergence test ---------------------------------------------------------------------
 *
 * One-sided t-test at 5 % of the submission's olympic mean m against the reference's mean mu and spread sd:
 *     m >= mu - t(0.95, nr + ns - 2) * sd * sqrt(1/nr + 1/ns)
 * nr is the number of reference runs that remain after dropping, or twice the required runs if mu is interpolated; ns is the required runs - 2
 * for every benchmark. rcp_limit_at() finds mu: from the record of the same batch, else from the line between two records. A batch below all
 * records takes that of the smallest batch; above all records the test fails. Some benchmarks lower the limit by an allowance. In editions that
 * scale, the score of a submission that passes and is faster than mu is multiplied by mu / m.
 * Sources: mlcommons/training_policies, appendix on reference convergence points; mlcommons/logging rcp_checker 1.0.0 to 5.0.0.
 */

static const double failed_run = 1e9;   /* the time that the official checker gives a failed run */

static double submission_mean(const double *points, size_t n, size_t dropped, struct arena *a)
{
    double *sorted = ARENA_ARRAY(a, double, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = isfinite(points[i]) ? points[i] : failed_run;
    return olympic_mean(sorted, n, dropped);
}

/* The reference points from which the limit was taken, in words. */
static const char *limit_source(const struct rcp_verdict *v, const struct rcp_table *t, struct arena *a)
{
    switch (v->limit.match) {
    case RCP_EXACT: return "reference points of this batch";
    case RCP_INTERPOLATED: return "line between the reference points of the next batches";
    case RCP_SMALLER_BATCH: return arena_printf(a, "reference points of the smallest batch, %.10g", t->points[0].batch);
    case RCP_MISSING: break;
    }
    return "";
}

/* How many of the counted runs, fastest first, would have to take as long as the reference for the submission to pass. */
static size_t runs_short(const struct rcp_verdict *v, const double *points, size_t n, size_t dropped, struct arena *a)
{
    double *sorted = ARENA_ROOM(a, double, n), sum = 0, least = v->limit.mean / v->limit.max_speedup * (double)(n - 2 * dropped);
    size_t k = 0;
    memcpy(sorted, points, n * sizeof *sorted);
    gsl_sort(sorted, 1, n);
    for (size_t i = dropped; i < n - dropped; i++)
        sum += isfinite(sorted[i]) ? sorted[i] : failed_run;
    for (; dropped + k < n - dropped && sum < least; k++)
        sum += fmax(0, v->limit.mean - sorted[dropped + k]);
    return k;
}

/* The verdict in words. `n` is the number of runs that count, n_short is runs_short(). */
static const char *verdict_text(const struct rcp_verdict *v, const struct rcp_table *t, size_t n, size_t n_short, struct arena *a)
{
    if (v->limit.match == RCP_MISSING)
        return arena_printf(a, "no reference points at batch %.10g (largest %.10g), 'Missing RCP': reference points must be supplied", v->batch,
                            t->points[t->n - 1].batch);
    double least = v->limit.mean / v->limit.max_speedup, margin = fabs(v->submission_mean - least);
    const char *remedy = v->passed ? "" : n_short == 1 ? ": it would pass if the fastest of them took the reference's mean"
                       : arena_printf(a, ": it would pass if the %zu fastest of them took the reference's mean", n_short);
    return arena_printf(a, "mean %.10g %s to converge, at least %.10g passes: %.6g %s (%.3g %%), or %.6g in all over the %zu run%s that count%s%s "
                        "(%s: mean %.6g, largest speed-up %.5f)%s", v->submission_mean, t->points[0].unit, least, margin,
                        v->passed ? "more than needed" : "too few", 100 * margin / least, margin * (double)n, n, plural(n), n == 1 ? "s" : "", remedy,
                        limit_source(v, t, a), v->limit.mean, v->limit.max_speedup,
                        !v->passed && v->limit.match == RCP_SMALLER_BATCH ? ", 'Missing RCP': reference points must be supplied" : "");
}

static size_t count_failed(const double *points, size_t n)
{
    size_t n_failed = 0;
    for (size_t i = 0; i < n; i++)
        n_failed += !isfinite(points[i]);
    return n_failed;
}

bool rcp_test(struct rcp_verdict *out, const struct rcp_table *t, double batch, const double *points, size_t n, struct arena *a,
              struct err *err)
{
    *out = (struct rcp_verdict){ .batch = batch, .scaling = 1 };
    size_t n_failed = count_failed(points, n), dropped = t->terms.dropped;
    if (n <= 2 * dropped)
        return fail(err, "%s: %zu runs, the reference-convergence test wants %u", t->benchmark, n, t->terms.runs);
    out->submission_mean = submission_mean(points, n, dropped, a);
    rcp_limit_at(&out->limit, t, batch);
    out->passed = out->limit.match != RCP_MISSING && n_failed <= dropped && out->submission_mean >= out->limit.mean / out->limit.max_speedup;
    if (out->passed)
        out->scaling = rcp_scaling(t->edition, &out->limit, out->submission_mean);
    return true;
}

const char *rcp_verdict_text(const struct rcp_verdict *v, const struct rcp_table *t, const double *points, size_t n, struct arena *a)
{
    size_t n_failed = count_failed(points, n), dropped = t->terms.dropped;
    if (n_failed > dropped)
        return arena_printf(a, "%zu runs did not converge, at most %zu may", n_failed, dropped);
    return verdict_text(v, t, n - 2 * dropped, v->limit.match == RCP_MISSING ? 0 : runs_short(v, points, n, dropped, a), a);
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
            return arena_printf(p->a, "%s converged, yet no %s line has %s, the convergence point", r->file, f->rules->terms->point_of, f->rules->terms->point);
    return NULL;
}

static void judge_convergence(struct package *p)
{
    struct folder *f = p->f;
    if (!f->rules->has_reference) {
        set_untested(p, PACKAGE_CONVERGENCE, arena_printf(p->a, "%s has no reference points in %s", f->benchmark, f->edition->round));
        return;
    }
    double *points = ARENA_ARRAY(p->a, double, f->n);
    for (size_t i = 0; i < f->n; i++)
        if (p->train_samples && f->rules->terms->train_samples && !isnan(f->runs[i].last_train_samples))
            f->runs[i].point = f->runs[i].last_train_samples;
    for (size_t i = 0; i < f->n; i++)
        points[i] = f->runs[i].converged ? f->runs[i].point : HUGE_VAL;
    struct err why;
    const char *problem = convergence_problem(p);
    f->has_rcp = !problem && rcp_test(&f->rcp, &f->rules->reference, f->batch, points, f->n, p->a, &why);
    if (f->has_rcp)
        f->rcp.text = rcp_verdict_text(&f->rcp, &f->rules->reference, points, f->n, p->a);
    set_part(p, PACKAGE_CONVERGENCE, f->has_rcp && f->rcp.passed, problem ? problem : f->has_rcp ? f->rcp.text : arena_strdup(p->a, why.msg));
    struct part_verdict *part = &f->parts[PACKAGE_CONVERGENCE];
    if (p->rcp_bypass && part->state == PART_FAILED && f->edition->bypass)
        part->state = PART_BYPASSED;
    else if (p->rcp_bypass && part->state == PART_FAILED)
        part->text = arena_printf(p->a, "%s; from %s on, a bypass is not accepted", part->text, f->edition->round);
}

/* ---- the whole -------------------------------------------------------------------------------------------------------- */

/* Marks seeds and convergence as untested unless the system description says division "closed". */
static void leave_out_open_division(struct package *p)
{
    const char *division = p->description_division ? p->description_division : p->f->division;
    if (text_is(division, "closed"))
        return;
    const char *why = arena_printf(p->a, "division '%.30s': not tested", division);
    set_untested(p, PACKAGE_SEEDS, why);
    set_untested(p, PACKAGE_CONVERGENCE, p->f->has_rcp ? arena_printf(p->a, "%s (it would %s: %s)", why, p->f->rcp.passed ? "pass" : "fail",
                                                               p->f->rcp.text) : why);
}

void package_judge(struct package *p)
{
    struct folder *f = p->f;
    p->rcp_bypass = p->j->options->rcp_bypass;
    p->seed_bypass = p->j->options->seed_bypass;
    read_parameter_files(p);
    judge_files(p);
    power_judge(p);
    judge_compliance(p);
    judge_description(p);
    judge_seeds(p);
    judge_convergence(p);
    leave_out_open_division(p);
    f->passed = true;
    for (int i = 0; i < N_PACKAGE_PARTS; i++)
        f->passed = f->passed && f->parts[i].state != PART_FAILED;
}
