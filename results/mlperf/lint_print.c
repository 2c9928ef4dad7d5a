/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint_print.c - lint's answer in every format; see mlperf.h.
 *
 * CSV and the judging formats have a row for each log (its compliance) and, for each folder, one for each part of the package's verdict and
 * one for the package. JSON lists the folders, then all messages, then the counts.
 */
#include "results/mlperf/mlperf_internal.h"

#include <jansson.h>

static const char *pass_or_fail(bool passed)
{
    return passed ? "pass" : "fail";
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static uint64_t count_passed(const struct folder *f)
{
    uint64_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->runs[i].compliant;
    return n;
}

/* "opt_name; eval_accuracy": each key of this severity once. */
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

/* ---- the runs of a folder ------------------------------------------------------------------------------- */

struct run_line { const char *file, *verdict; bool pass, converged; double minutes, convergence_point; uint64_t errors, warnings; };
#define C(member, text, ...) { COLUMN(struct run_line, member), .heading = text, __VA_ARGS__ }
static const struct table_column run_columns[] = {
    C(file, "log"), C(pass, NULL), C(verdict, "verdict", .formats = IN_TEXT), C(converged, "converged"), C(minutes, "minutes", .format = "%.4f"),
    C(convergence_point, "converged at", .format = "%.10g"), C(errors, "errors"), C(warnings, "warnings"),
};
#undef C

static struct table runs_table(const struct folder *f, struct arena *a)
{
    struct table t = TABLE(run_columns, struct run_line, .indent = "  ");
    for (size_t i = 0; i < f->n && !f->problem; i++) {
        const struct run_entry *r = &f->runs[i];
        table_add(&t, &(struct run_line){ r->file, pass_or_fail(r->compliant), r->compliant, r->converged, r->problem ? (double)NAN : r->minutes,
                                          r->point, r->n_errors, r->n_warnings }, a);
    }
    return t;
}

/* ---- what --only-failures leaves out ---------------------------------------------------------------------- */

static bool shows(const struct lint *l, bool passed)
{
    return !passed || !l->judge->options->only_failures;
}

static bool shows_message(const struct lint *l, const struct log_message *m)
{
    return shows(l, m->severity != SEVERITY_ERROR);
}

static bool shows_part(const struct lint *l, const struct folder *f, int part)
{
    return shows(l, f->parts[part].state != PART_FAILED);
}

/* ---- text ------------------------------------------------------------------------------------------ */

static void text_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j)
{
    for (size_t i = 0; i < j->compliance.n_messages; i++) {
        const struct log_message *m = &j->compliance.messages[i];
        if (!shows_message(l, m))
            continue;
        fprintf(l->out, "%s:", path);
        if (m->line)
            fprintf(l->out, "%llu:", (unsigned long long)m->line);
        fprintf(l->out, " %s: %s%s%s\n", severity_names[m->severity], m->key, *m->key ? ": " : "", m->text);
    }
    if (!f && shows(l, j->compliance.passed))
        fprintf(l->out, "%s: %s: %s %s by the rules of %s\n", path, pass_or_fail(j->compliance.passed), j->division ? j->division : "no division",
                j->benchmark ? j->benchmark : "no benchmark", j->edition->ruleset);
}

static void text_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    const char *dir = utf8_text(f->dir, a);
    if (f->problem) {
        fprintf(l->out, "%s: fail: %s\n", dir, f->problem);
        return;
    }
    struct table runs = runs_table(f, a);
    if (shows(l, true))
        table_write(l->out, FORMAT_TEXT, &runs);
    for (int i = 0; i < N_PACKAGE_PARTS; i++)
        if (shows_part(l, f, i))
            fprintf(l->out, "%s: %s: %s: %s\n", dir, package_part_names[i], part_state_names[f->parts[i].state], f->parts[i].text);
    if (shows(l, f->passed))
        fprintf(l->out, "%s: %s: %s %s: %llu of %zu logs pass (%s)\n", dir, pass_or_fail(f->passed), f->division, f->benchmark,
                (unsigned long long)count_passed(f), f->n, *f->remark ? f->remark : f->edition->round);
}

static void text_end(const struct lint *l)
{
    const struct lint_counts *c = &l->counts;
    fprintf(l->out, "%llu of %llu folders pass, %llu of %llu logs pass; %llu error%s, %llu warning%s, %llu for review, %llu not read\n",
            (unsigned long long)c->folders_passed, (unsigned long long)c->folders, (unsigned long long)c->logs_passed,
            (unsigned long long)c->logs, (unsigned long long)c->errors, plural(c->errors), (unsigned long long)c->warnings,
            plural(c->warnings), (unsigned long long)c->reviews, (unsigned long long)c->skipped);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

struct message_line { const char *severity, *path, *key, *text; uint64_t line; };
#define C(member) { COLUMN(struct message_line, member) }
static const struct table_column message_columns[] = { C(severity), C(path), C(line), C(key), C(text) };
#undef C

static void json_log(struct lint *l, const char *path, const struct compliance *c)
{
    const struct table t = TABLE(message_columns, struct message_line);
    for (size_t i = 0; i < c->n_messages; i++) {
        const struct log_message *m = &c->messages[i];
        if (!shows_message(l, m))
            continue;
        const struct message_line line = { severity_names[m->severity], path, m->key, m->text, m->line };
        write_json_item(l->messages, table_row_json(&t, &line), !l->any_message);
        l->any_message = true;
    }
}

struct rcp_line { bool pass, counts; double submission_mean, reference_mean, reference_sd, max_speedup, least_mean, scaling; const char *text; };
#define C(member) { COLUMN(struct rcp_line, member) }
static const struct table_column rcp_columns[] = {
    C(pass), C(counts), C(submission_mean), C(reference_mean), C(reference_sd), C(max_speedup), C(least_mean), C(scaling), C(text),
};
#undef C

static json_t *rcp_json(const struct folder *f)
{
    const struct table t = TABLE(rcp_columns, struct rcp_line);
    const struct rcp_verdict *v = &f->rcp;
    enum part_state state = f->parts[PACKAGE_CONVERGENCE].state;
    return table_row_json(&t, &(struct rcp_line){ v->passed, state == PART_PASSED || state == PART_FAILED, v->submission_mean, v->limit.mean,
                                                  v->limit.sd, v->limit.max_speedup, v->limit.least_mean, v->scaling, v->text });
}

struct folder_line { const char *folder, *round, *submitter, *system, *benchmark, *division, *problem, *note; uint64_t logs, logs_passed; bool pass;
                     json_t *checks; };
#define C(member) { COLUMN(struct folder_line, member) }
static const struct table_column folder_columns[] = {
    C(folder), C(round), C(submitter), C(system), C(benchmark), C(division), C(logs), C(logs_passed), C(pass), C(problem), C(note), C(checks),
};
#undef C

static void json_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    const struct table t = TABLE(folder_columns, struct folder_line);
    if (!shows(l, f->passed))
        return;
    json_t *checks = json_object();
    for (int i = 0; i < N_PACKAGE_PARTS && !f->problem; i++)
        json_object_set_new(checks, package_part_names[i], json_pack("{s:s, s:s}", "verdict", part_state_names[f->parts[i].state], "text",
                                                                     utf8_text(f->parts[i].text, a)));
    json_t *o = table_row_json(&t, &(struct folder_line){ f->dir, f->round, f->submitter, f->system, f->benchmark, f->division, f->problem, *f->remark ? f->remark : NULL, f->n,
                                                          f->problem ? 0 : count_passed(f), f->passed, checks });
    if (f->has_rcp)
        json_object_set_new(o, "reference_convergence", rcp_json(f));
    struct table runs = runs_table(f, a);
    json_object_set_new(o, "runs", table_json(&runs));
    write_json_item(l->out, o, !l->any_folder);
    l->any_folder = true;
}

#define C(member, name) { COLUMN_AS(struct lint_counts, member, name) }
static const struct table_column count_columns[] = {
    C(folders, "folders"), C(folders_passed, "folders_passed"), C(logs, "logs"), C(logs_passed, "logs_passed"), C(errors, "errors"),
    C(warnings, "warnings"), C(reviews, "reviews"), C(skipped, "not_read"),
};
#undef C

static void json_end(struct lint *l)
{
    const struct table counts = TABLE(count_columns, struct lint_counts);
    fputs("\n],\n\"messages\": [", l->out);
    rewind(l->messages);
    for (int ch; (ch = getc(l->messages)) != EOF; )
        putc(ch, l->out);
    fputs("\n],\n\"counts\": ", l->out);
    json_t *o = table_row_json(&counts, &l->counts);
    json_dumpf(o, l->out, 0);
    json_decref(o);
    fprintf(l->out, ",\n\"pass\": %s}\n", l->failed ? "false" : "true");
}

/* ---- CSV and the judging formats: a check is a row, or a judgement ----------------------------------------------- */

struct lint_row { const char *round, *division, *submitter, *system, *benchmark, *file, *check, *ruleset, *verdict, *refused, *warnings, *detail;
                    double submission_mean, batch_size, rcp_mean, rcp_stdev, max_speedup, min_mean, factor; const char *path; };
#define C(member) { COLUMN(struct lint_row, member), .csv_digits = 15 }
static const struct table_column lint_columns[] = {
    C(round), C(division), C(submitter), C(system), C(benchmark), C(file), C(check), C(ruleset), C(verdict), C(refused), C(warnings), C(detail),
    C(submission_mean), C(batch_size), C(rcp_mean), C(rcp_stdev), C(max_speedup), C(min_mean), C(factor), C(path),
};
#undef C
static const struct table lint_table = TABLE(lint_columns, struct lint_row);

static bool is_judging(const struct lint *l)
{
    return FORMAT_BIT(l->format) & JUDGING_FORMATS;
}

/* rcp: the reference test's numbers; NULL if it is another check. group: of a judgement, whose message says why it fails. */
static void write_lint_row(struct lint *l, struct lint_row line, const struct rcp_verdict *rcp, const char *group, enum judged judged, const char *message)
{
    struct arena *a = &l->found_arena;
    if (!shows(l, judged != JUDGED_FAIL))
        return;
    line.submission_mean = rcp ? rcp->submission_mean : (double)NAN, line.batch_size = rcp ? rcp->batch : (double)NAN;
    line.rcp_mean = rcp ? rcp->limit.mean : (double)NAN, line.rcp_stdev = rcp ? rcp->limit.sd : (double)NAN;
    line.max_speedup = rcp ? rcp->limit.max_speedup : (double)NAN, line.min_mean = rcp ? rcp->limit.least_mean : (double)NAN;
    line.factor = rcp ? rcp->scaling : (double)NAN;
    const char *why = message && *message ? message : judged == JUDGED_FAIL ? "fails" : "";
    if (is_judging(l))
        judgements_add(&l->found, (struct judgement){ .group = arena_strdup(a, group), .name = arena_printf(a, "%s: %s", line.path, line.check),
                       .file = arena_strdup(a, line.path), .line = 1, .judged = judged, .message = arena_strdup(a, why) }, a);
    else
        table_write_row(l->out, FORMAT_CSV, &lint_table, &line);
}

/* The judgements of a folder, or of a log given by name, are a suite. */
static void end_lint_rows(struct lint *l, const char *suite)
{
    if (!is_judging(l))
        return;
    l->found.suite = suite;
    judgement_stream_add(&l->judged, &l->found);
    l->found = (struct judgements){0};
    arena_reset(&l->found_arena);
}

static void rows_of_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j, struct arena *a)
{
    const char *refused = keys_of(&j->compliance, SEVERITY_ERROR, a);
    bool passed = j->compliance.passed;
    struct lint_row line = {
        .round = f ? f->round : j->edition->round, .division = f ? f->division : j->division, .submitter = f ? f->submitter : j->run.org,
        .system = f ? f->system : j->run.platform, .benchmark = f ? f->benchmark : j->benchmark, .file = last_part(path), .check = "compliance",
        .ruleset = j->edition->ruleset, .verdict = pass_or_fail(passed), .refused = refused,
        .warnings = keys_of(&j->compliance, SEVERITY_WARNING, a), .path = path };
    write_lint_row(l, line, NULL, f ? utf8_text(f->dir, a) : path, passed ? JUDGED_PASS : JUDGED_FAIL, refused);
    if (!f)
        end_lint_rows(l, path);
}

static void rows_of_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    static const enum judged judged[] = { [PART_UNTESTED] = JUDGED_SKIP, [PART_PASSED] = JUDGED_PASS, [PART_FAILED] = JUDGED_FAIL,
                                          [PART_BYPASSED] = JUDGED_SKIP };
    struct lint_row line = { .round = f->round, .division = f->division, .submitter = f->submitter, .system = f->system, .benchmark = f->benchmark,
                               .ruleset = f->edition ? f->edition->ruleset : NULL, .path = utf8_text(f->dir, a) };
    for (int i = 0; i < N_PACKAGE_PARTS && !f->problem; i++) {
        const struct part_verdict *part = &f->parts[i];
        line.check = package_part_names[i], line.verdict = part_state_names[part->state], line.detail = part->text;
        write_lint_row(l, line, i == PACKAGE_CONVERGENCE && f->has_rcp ? &f->rcp : NULL, line.path, judged[part->state], part->text);
    }
    line.check = "package", line.verdict = pass_or_fail(f->passed), line.detail = f->problem ? f->problem : f->remark;
    write_lint_row(l, line, NULL, line.path, f->passed ? JUDGED_PASS : JUDGED_FAIL, line.detail);
    end_lint_rows(l, line.path);
}

/* ---- any format -------------------------------------------------------------------------------------------------- */

void lint_print_head(struct lint *l)
{
    if (l->format == FORMAT_CSV)
        table_write_row(l->out, FORMAT_CSV, &lint_table, NULL);
    else if (l->format == FORMAT_JSON)
        fputs("{\"groups\": [", l->out);
    else if (is_judging(l))
        judgement_stream_begin(&l->judged, "podbench lint");
}

void lint_print_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j, struct arena *a)
{
    path = utf8_text(path, a);
    switch (l->format) {
    case FORMAT_TEXT: text_log(l, f, path, j); break;
    case FORMAT_JSON: json_log(l, path, &j->compliance); break;
    default:          rows_of_log(l, f, path, j, a);
    }
}

void lint_print_remark(struct lint *l, const char *path, const char *text)
{
    struct compliance remark = { .passed = true, .messages = &(struct log_message){ SEVERITY_REVIEW, 0, "", text }, .n_messages = 1 };
    if (l->format == FORMAT_TEXT && shows(l, true)) {
        fprintf(l->out, "%s: %s: %s\n", path, severity_names[SEVERITY_REVIEW], text);
    } else if (l->format == FORMAT_JSON) {
        json_log(l, path, &remark);
    } else if (l->format != FORMAT_TEXT) {
        write_lint_row(l, (struct lint_row){ .check = "systems", .verdict = severity_names[SEVERITY_REVIEW], .detail = text, .path = path }, NULL, "systems",
                    JUDGED_SKIP, text);
    }
}

void lint_print_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    switch (l->format) {
    case FORMAT_TEXT: text_folder(l, f, a); break;
    case FORMAT_JSON: json_folder(l, f, a); break;
    default:          rows_of_folder(l, f, a);
    }
}

void lint_print_foot(struct lint *l)
{
    const struct lint_counts *c = &l->counts;
    if (l->format == FORMAT_TEXT)
        text_end(l);
    else if (l->format == FORMAT_JSON)
        json_end(l);
    else if (is_judging(l))
        judgement_stream_end(&l->judged);
    if (l->format == FORMAT_MARKDOWN)
        fprintf(l->out, "\n**podbench lint: %s**, %llu of %llu logs and %llu of %llu packages pass\n", l->failed ? "FAILED" : "passed",
                (unsigned long long)c->logs_passed, (unsigned long long)c->logs, (unsigned long long)c->folders_passed, (unsigned long long)c->folders);
}
