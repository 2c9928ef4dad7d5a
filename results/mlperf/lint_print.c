/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint_print.c - lint's answer as text, CSV, JSON, JUnit and TAP; see mlperf.h.
 *
 * CSV and TAP have a row for each log (its compliance) and, for each folder, one for each part of the package's verdict and one for the
 * package. JUnit has a suite for each folder. JSON lists the folders, then all messages, then the counts.
 */
#include "results/mlperf/mlperf_internal.h"

#include "system-model/output/output.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *pass_or_fail(bool passed)
{
    return passed ? "pass" : "fail";
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* "opt_name; eval_accuracy" - each key of this severity once. */
static const char *keys_of(const struct compliance *c, enum severity severity, struct arena *a)
{
    const char *keys = "";
    for (size_t i = 0; i < c->n_messages; i++) {
        const struct log_message *m = &c->messages[i];
        const char *key = *m->key ? m->key : m->text;
        bool said = m->severity != severity;
        for (size_t k = 0; k < i && !said; k++)
            said = c->messages[k].severity == severity && text_is(*c->messages[k].key ? c->messages[k].key : c->messages[k].text, key);
        if (!said)
            keys = arena_printf(a, "%s%s%s", keys, *keys ? "; " : "", key);
    }
    return keys;
}

/* ---- text ------------------------------------------------------------------------------------------ */

static void print_messages(FILE *f, const char *path, const struct compliance *c)
{
    for (size_t i = 0; i < c->n_messages; i++) {
        const struct log_message *m = &c->messages[i];
        fprintf(f, "%s:", path);
        if (m->line)
            fprintf(f, "%llu:", (unsigned long long)m->line);
        fprintf(f, " %s: %s%s%s\n", severity_names[m->severity], m->key, *m->key ? ": " : "", m->text);
    }
}

static void text_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j)
{
    print_messages(l->out, path, &j->compliance);
    if (!f)
        fprintf(l->out, "%s: %s: %s %s by the rules of %s\n", path, pass_or_fail(j->compliance.passed), j->division ? j->division : "no division",
                j->benchmark ? j->benchmark : "no benchmark", j->edition->ruleset);
}

static void text_runs(FILE *out, const struct folder *f)
{
    fprintf(out, "  %-24s %-7s %-9s %12s %16s %6s %8s\n", "log", "verdict", "converged", "minutes", "converged at", "errors", "warnings");
    for (size_t i = 0; i < f->n; i++) {
        const struct run_entry *r = &f->runs[i];
        char minutes[32] = "-", point[32] = "-";
        if (!r->problem)
            snprintf(minutes, sizeof minutes, "%.4f", r->minutes);
        if (isfinite(r->point))
            snprintf(point, sizeof point, "%.10g", r->point);
        fprintf(out, "  %-24s %-7s %-9s %12s %16s %6llu %8llu\n", r->file, pass_or_fail(r->compliant), r->converged ? "yes" : "no", minutes,
                point, (unsigned long long)r->n_errors, (unsigned long long)r->n_warnings);
    }
}

static size_t count_passed(const struct folder *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->runs[i].compliant;
    return n;
}

static void text_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    const char *dir = utf8_text(f->dir, a);
    if (f->problem) {
        fprintf(l->out, "%s: fail: %s\n", dir, f->problem);
        return;
    }
    text_runs(l->out, f);
    for (int i = 0; i < N_PACKAGE_PARTS; i++)
        fprintf(l->out, "%s: %s: %s: %s\n", dir, package_part_names[i], part_state_names[f->parts[i].state], f->parts[i].text);
    fprintf(l->out, "%s: %s: %s %s: %zu of %zu logs pass (%s)\n", dir, pass_or_fail(f->passed), f->division, f->benchmark, count_passed(f), f->n,
            f->edition->round);
}

static void text_foot(const struct lint *l)
{
    const struct lint_counts *c = &l->counts;
    fprintf(l->out, "%llu of %llu folders pass, %llu of %llu logs pass; %llu error%s, %llu warning%s, %llu for review, %llu not read\n",
            (unsigned long long)c->folders_passed, (unsigned long long)c->folders, (unsigned long long)c->logs_passed,
            (unsigned long long)c->logs, (unsigned long long)c->errors, plural(c->errors), (unsigned long long)c->warnings,
            plural(c->warnings), (unsigned long long)c->reviews, (unsigned long long)c->skipped);
}

/* ---- CSV --------------------------------------------------------------------------------------------- */

enum { N_NUMBERS = 7 };
static const char *const csv_columns[] = { "round", "division", "submitter", "system", "benchmark", "file", "check", "ruleset", "verdict",
    "refused", "warnings", "detail", "submission_mean", "batch_size", "rcp_mean", "rcp_stdev", "max_speedup", "min_mean", "factor", "path" };
enum { N_COLUMNS = sizeof csv_columns / sizeof *csv_columns };

struct csv_line { const char *round, *division, *submitter, *system, *benchmark, *file, *check, *ruleset, *verdict, *refused, *warnings,
                  *detail; const struct rcp_verdict *rcp; const char *path; };

static void csv_row(FILE *out, const struct csv_line *c)
{
    const char *const texts[] = { c->round, c->division, c->submitter, c->system, c->benchmark, c->file, c->check, c->ruleset, c->verdict,
                                  c->refused, c->warnings, c->detail };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        csv_write_cell(out, text_of(texts[i]), false);
    const struct rcp_verdict *v = c->rcp;
    double numbers[N_NUMBERS] = { 0 };
    if (v)
        memcpy(numbers, (double[]){ v->submission_mean, v->batch, v->limit.mean, v->limit.sd, v->limit.max_speedup, v->limit.least_mean,
                                    v->scaling }, sizeof numbers);
    for (int i = 0; i < N_NUMBERS; i++) {
        char room[40] = "";
        if (v && isfinite(numbers[i]))
            snprintf(room, sizeof room, "%.15g", numbers[i]);
        csv_write_cell(out, room, false);
    }
    csv_write_cell(out, c->path, true);
}

static struct csv_line csv_of(const struct folder *f)
{
    if (!f)
        return (struct csv_line){ 0 };
    return (struct csv_line){ .round = f->round, .division = f->division, .submitter = f->submitter, .system = f->system,
                              .benchmark = f->benchmark, .ruleset = f->edition ? f->edition->ruleset : "" };
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void csv_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j, struct arena *a)
{
    struct csv_line c = csv_of(f);
    if (!f)
        c.round = j->edition->round, c.division = j->division, c.submitter = j->run.org, c.system = j->run.platform, c.benchmark = j->benchmark;
    c.file = last_part(path), c.check = "compliance", c.ruleset = j->edition->ruleset, c.verdict = pass_or_fail(j->compliance.passed);
    c.refused = keys_of(&j->compliance, SEVERITY_ERROR, a);
    c.warnings = keys_of(&j->compliance, SEVERITY_WARNING, a);
    c.path = path;
    csv_row(l->out, &c);
}

static void csv_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    struct csv_line c = csv_of(f);
    c.path = utf8_text(f->dir, a);
    for (int i = 0; i < N_PACKAGE_PARTS && !f->problem; i++) {
        c.check = package_part_names[i], c.verdict = part_state_names[f->parts[i].state], c.detail = f->parts[i].text;
        c.rcp = i == PACKAGE_CONVERGENCE && f->has_rcp ? &f->rcp : NULL;
        csv_row(l->out, &c);
    }
    c.check = "package", c.verdict = pass_or_fail(f->passed), c.detail = text_of(f->problem), c.rcp = NULL;
    csv_row(l->out, &c);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void put_json(FILE *f, json_t *o, bool first)
{
    fputs(first ? "\n" : ",\n", f);
    json_dumpf(o, f, JSON_REAL_PRECISION(15));
    json_decref(o);
}

static json_t *number_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *text_json(const char *text, struct arena *a)
{
    return json_string(utf8_text(text_of(text), a));
}

static void json_log(struct lint *l, const char *path, const struct compliance *c, struct arena *a)
{
    for (size_t i = 0; i < c->n_messages; i++) {
        const struct log_message *m = &c->messages[i];
        put_json(l->messages, json_pack("{s:s, s:o, s:I, s:o, s:o}", "severity", severity_names[m->severity], "path", text_json(path, a),
                                        "line", (json_int_t)m->line, "key", text_json(m->key, a), "text", text_json(m->text, a)),
                 !l->any_message);
        l->any_message = true;
    }
}

static json_t *rcp_json(const struct folder *f, struct arena *a)
{
    const struct rcp_verdict *v = &f->rcp;
    return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "pass", (int)v->passed, "counts",
                     (int)(f->parts[PACKAGE_CONVERGENCE].state == PART_PASSED || f->parts[PACKAGE_CONVERGENCE].state == PART_FAILED),
                     "submission_mean", number_or_null(v->submission_mean), "reference_mean", number_or_null(v->limit.mean),
                     "reference_sd", number_or_null(v->limit.sd), "max_speedup", number_or_null(v->limit.max_speedup),
                     "least_mean", number_or_null(v->limit.least_mean), "scaling", number_or_null(v->scaling), "text", text_json(v->text, a));
}

static json_t *run_json(const struct run_entry *r, struct arena *a)
{
    return json_pack("{s:o, s:b, s:b, s:o, s:o, s:I, s:I}", "file", text_json(r->file, a), "pass", (int)r->compliant, "converged",
                     (int)r->converged, "minutes", r->problem ? json_null() : number_or_null(r->minutes), "convergence_point",
                     number_or_null(r->point), "errors", (json_int_t)r->n_errors, "warnings", (json_int_t)r->n_warnings);
}

/* An object whose last member is a list of any length, written item by item. */
static void put_json_with_runs(FILE *out, json_t *o, const struct folder *f, bool first, struct arena *a)
{
    char *text = json_dumps(o, JSON_REAL_PRECISION(15));
    fprintf(out, "%s%.*s, \"runs\": [", first ? "\n" : ",\n", (int)strlen(text) - 1, text);
    free(text);
    json_decref(o);
    for (size_t i = 0; i < f->n && !f->problem; i++)
        put_json(out, run_json(&f->runs[i], a), i == 0);
    fputs("]}", out);
}

static void json_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    json_t *parts = json_object();
    for (int i = 0; i < N_PACKAGE_PARTS && !f->problem; i++)
        json_object_set_new(parts, package_part_names[i], json_pack("{s:s, s:o}", "verdict", part_state_names[f->parts[i].state], "text",
                                                            text_json(f->parts[i].text, a)));
    json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:o, s:o}", "folder", text_json(f->dir, a), "round",
                          text_json(f->round, a), "submitter", text_json(f->submitter, a), "system", text_json(f->system, a), "benchmark",
                          text_json(f->benchmark, a), "division", text_json(f->division, a), "logs", (json_int_t)f->n, "logs_passed",
                          (json_int_t)(f->problem ? 0 : count_passed(f)), "pass", (int)f->passed, "problem",
                          f->problem ? text_json(f->problem, a) : json_null(), "checks", parts);
    if (f->has_rcp)
        json_object_set_new(o, "reference_convergence", rcp_json(f, a));
    put_json_with_runs(l->out, o, f, l->counts.folders == 1, a);
}

static void json_foot(struct lint *l)
{
    const struct lint_counts *c = &l->counts;
    fputs("\n],\n\"messages\": [", l->out);
    rewind(l->messages);
    for (int ch; (ch = getc(l->messages)) != EOF; )
        putc(ch, l->out);
    fputs("\n],\n\"counts\": ", l->out);
    json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "folders", (json_int_t)c->folders, "folders_passed",
                          (json_int_t)c->folders_passed, "logs", (json_int_t)c->logs, "logs_passed", (json_int_t)c->logs_passed, "errors",
                          (json_int_t)c->errors, "warnings", (json_int_t)c->warnings, "reviews", (json_int_t)c->reviews, "not_read",
                          (json_int_t)c->skipped);
    json_dumpf(o, l->out, 0);
    json_decref(o);
    fprintf(l->out, ",\n\"pass\": %s}\n", l->failed ? "false" : "true");
}

/* ---- JUnit ------------------------------------------------------------------------------------------------ */

static void xml_attribute(FILE *f, const char *name, const char *text)
{
    fprintf(f, " %s=\"", name);
    write_xml_text(f, text);
    fputc('"', f);
}

static void junit_case(FILE *f, const char *suite, const char *name, bool passed, const char *message)
{
    fputs("<testcase", f);
    xml_attribute(f, "classname", suite);
    xml_attribute(f, "name", name);
    if (passed) {
        fputs("/>\n", f);
        return;
    }
    fputs("><failure", f);
    xml_attribute(f, "message", message);
    fputs("/></testcase>\n", f);
}

static void junit_suite(struct lint *l, const char *name, uint64_t tests, uint64_t failures)
{
    fputs("<testsuite", l->out);
    xml_attribute(l->out, "name", name);
    fprintf(l->out, " tests=\"%llu\" failures=\"%llu\">\n", (unsigned long long)tests, (unsigned long long)failures);
    rewind(l->cases);
    for (int c; (c = getc(l->cases)) != EOF; )
        putc(c, l->out);
    fputs("</testsuite>\n", l->out);
    FILE *fresh = tmpfile();
    if (fresh)
        fclose(l->cases), l->cases = fresh;
}

static void junit_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j, struct arena *a)
{
    const char *suite = f ? utf8_text(f->dir, a) : utf8_text(path, a);
    junit_case(l->cases, suite, utf8_text(last_part(path), a), j->compliance.passed, keys_of(&j->compliance, SEVERITY_ERROR, a));
    if (!f)
        junit_suite(l, suite, 1, !j->compliance.passed);
}

static void junit_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    const char *suite = utf8_text(f->dir, a);
    uint64_t tests = f->problem ? 0 : f->n, failures = f->problem ? 0 : f->n - count_passed(f);
    for (int i = 0; i < N_PACKAGE_PARTS && !f->problem; i++)
        if (f->parts[i].state == PART_PASSED || f->parts[i].state == PART_FAILED) {
            junit_case(l->cases, suite, package_part_names[i], f->parts[i].state == PART_PASSED, f->parts[i].text);
            tests++, failures += f->parts[i].state == PART_FAILED;
        }
    junit_case(l->cases, suite, "package", f->passed, f->problem ? f->problem : "a part of it fails");
    junit_suite(l, suite, tests + 1, failures + !f->passed);
}

/* ---- TAP, Markdown, annotations: a line for each judgement, of the last two only what fails ----------------------- */

static void line_case(struct lint *l, bool passed, const char *path, const char *check, const char *detail, struct arena *a)
{
    ++l->n_cases;
    if (l->format == LINT_TAP) {
        fprintf(l->out, "%s %llu - %s: %s%s%s\n", passed ? "ok" : "not ok", (unsigned long long)l->n_cases, path, check, *detail ? ": " : "",
                detail);
        return;
    }
    struct judgement found = { .name = arena_printf(a, "%s: %s", path, check), .message = *detail ? detail : "fails", .file = path, .line = 1,
                               .judged = passed ? JUDGED_PASS : JUDGED_FAIL };
    struct judgement_stream stream = { .f = l->out, .format = l->format == LINT_ANNOTATIONS ? FORMAT_ANNOTATIONS : FORMAT_MARKDOWN };
    judgement_stream_add(&stream, &(struct judgements){ .items = &found, .n = 1 });
}

static void line_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    const char *dir = utf8_text(f->dir, a);
    for (int i = 0; i < N_PACKAGE_PARTS && !f->problem; i++) {
        bool tested = f->parts[i].state == PART_PASSED || f->parts[i].state == PART_FAILED;
        line_case(l, f->parts[i].state != PART_FAILED, dir, package_part_names[i],
                  tested ? f->parts[i].text : arena_printf(a, "%s # SKIP %s", f->parts[i].text, part_state_names[f->parts[i].state]), a);
    }
    line_case(l, f->passed, dir, "package", text_of(f->problem), a);
}

static void markdown_foot(struct lint *l)
{
    fprintf(l->out, "\n**podbench lint: %s**, %llu of %llu logs and %llu of %llu packages pass\n", l->failed ? "FAILED" : "passed",
            (unsigned long long)l->counts.logs_passed, (unsigned long long)l->counts.logs, (unsigned long long)l->counts.folders_passed,
            (unsigned long long)l->counts.folders);
}

/* ---- any format -------------------------------------------------------------------------------------------------- */

void lint_print_head(struct lint *l)
{
    if (l->format == LINT_CSV)
        for (size_t i = 0; i < N_COLUMNS; i++)
            csv_write_cell(l->out, csv_columns[i], i + 1 == N_COLUMNS);
    else if (l->format == LINT_JSON)
        fputs("{\"groups\": [", l->out);
    else if (l->format == LINT_MARKDOWN)
        fputs("| what fails | why |\n|---|---|\n", l->out);
    else if (l->format == LINT_JUNIT)
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"podbench lint\">\n", l->out);
}

void lint_print_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j, struct arena *a)
{
    path = utf8_text(path, a);
    switch (l->format) {
    case LINT_TEXT: text_log(l, f, path, j); break;
    case LINT_CSV: csv_log(l, f, path, j, a); break;
    case LINT_JSON: json_log(l, path, &j->compliance, a); break;
    case LINT_JUNIT: junit_log(l, f, path, j, a); break;
    case LINT_TAP: case LINT_MARKDOWN: case LINT_ANNOTATIONS:
        line_case(l, j->compliance.passed, path, "compliance", keys_of(&j->compliance, SEVERITY_ERROR, a), a);
        break;
    }
}

void lint_print_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    switch (l->format) {
    case LINT_TEXT: text_folder(l, f, a); break;
    case LINT_CSV: csv_folder(l, f, a); break;
    case LINT_JSON: json_folder(l, f, a); break;
    case LINT_JUNIT: junit_folder(l, f, a); break;
    case LINT_TAP: case LINT_MARKDOWN: case LINT_ANNOTATIONS: line_folder(l, f, a); break;
    }
}

void lint_print_foot(struct lint *l)
{
    switch (l->format) {
    case LINT_TEXT: text_foot(l); break;
    case LINT_CSV: break;
    case LINT_JSON: json_foot(l); break;
    case LINT_JUNIT: fputs("</testsuites>\n", l->out); break;
    case LINT_ANNOTATIONS: break;
    case LINT_MARKDOWN: markdown_foot(l); break;
    case LINT_TAP: fprintf(l->out, "1..%llu\n", (unsigned long long)l->n_cases); break;
    }
}
