/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint_print.c - lint's answer as a document; see mlperf.h.
 *
 * CSV and the judging formats have a row for each log (its compliance). For each folder they have a row for each part of the package's
 * verdict, and one for the package. JSON lists the folders, all messages and the counts.
 */
#include "results/mlperf/mlperf_internal.h"

#include <jansson.h>

static const char *pass_or_fail(bool passed)
{
    return passed ? "pass" : "fail";
}

static uint64_t count_passed(const struct folder *f)
{
    uint64_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->runs[i].compliant;
    return n;
}

/* The keys with messages of this severity, each once, such as "opt_name; eval_accuracy". */
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

/* True if a note is shown. Warnings about a package are shown with failures, since the official tools would end with an exception or misjudge
 * it. */
static bool shows_note(const struct lint *l, const struct log_message *m)
{
    return shows(l, m->severity == SEVERITY_REVIEW);
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
                j->benchmark ? j->benchmark : "no benchmark", ruleset_text(j->edition, l->d.arena));
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
    for (size_t i = 0; i < f->n_notes; i++)
        if (shows_note(l, &f->notes[i]))
            fprintf(l->out, "%s: %s: %s\n", dir, severity_names[f->notes[i].severity], f->notes[i].text);
    if (shows(l, f->passed))
        fprintf(l->out, "%s: %s: %s %s: %llu of %zu logs pass (%s)\n", dir, pass_or_fail(f->passed), f->division, f->benchmark,
                (unsigned long long)count_passed(f), f->n, *f->remark ? f->remark : f->edition->round);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

struct message_line { const char *severity, *path, *key, *text; uint64_t line; };
#define C(member) { COLUMN(struct message_line, member) }
static const struct table_column message_columns[] = { C(severity), C(path), C(line), C(key), C(text) };
#undef C

static void json_message(struct lint *l, const char *path, const struct log_message *m, bool shown)
{
    const struct table t = TABLE(message_columns, struct message_line);
    if (shown)
        json_array_append_new(l->messages, table_row_json(&t, &(struct message_line){ severity_names[m->severity], path, m->key, m->text, m->line }));
}

static void json_log(struct lint *l, const char *path, const struct compliance *c)
{
    for (size_t i = 0; i < c->n_messages; i++)
        json_message(l, path, &c->messages[i], shows_message(l, &c->messages[i]));
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
    for (size_t i = 0; i < f->n_notes; i++)
        json_message(l, utf8_text(f->dir, a), &f->notes[i], shows_note(l, &f->notes[i]));
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
    json_array_append_new(l->folders, o);
}

#define C(member, name) { COLUMN_AS(struct lint_counts, member, name) }
static const struct table_column count_columns[] = {
    C(folders, "folders"), C(folders_passed, "folders_passed"), C(logs, "logs"), C(logs_passed, "logs_passed"), C(errors, "errors"),
    C(warnings, "warnings"), C(reviews, "reviews"), C(skipped, "not_read"),
};
#undef C

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

/* `rcp` has the numbers of the reference test, NULL for other checks. `group` is the judgement's group, whose message says why it fails. */
static void add_lint_row(struct lint *l, struct lint_row line, const struct rcp_verdict *rcp, const char *group, enum judged judged, const char *message)
{
    struct arena *a = l->d.arena;
    if (!shows(l, judged != JUDGED_FAIL) && !text_is(line.check, "note"))
        return;
    line.submission_mean = rcp ? rcp->submission_mean : (double)NAN, line.batch_size = rcp ? rcp->batch : (double)NAN;
    line.rcp_mean = rcp ? rcp->limit.mean : (double)NAN, line.rcp_stdev = rcp ? rcp->limit.sd : (double)NAN;
    line.max_speedup = rcp ? rcp->limit.max_speedup : (double)NAN, line.min_mean = rcp ? rcp->limit.least_mean : (double)NAN;
    line.factor = rcp ? rcp->scaling : (double)NAN;
    const char *why = message && *message ? message : judged == JUDGED_FAIL ? "fails" : "";
    if (l->format == FORMAT_CSV)
        table_write_csv_row(l->out, &lint_table, &line);
    else
        judgements_add(&l->d.judged, (struct judgement){ .group = arena_strdup(a, group), .name = arena_printf(a, "%s: %s%s", line.path, line.check, line.ruleset && strchr(line.ruleset, ' ') ? strchr(line.ruleset, ' ') : ""),
                       .file = arena_strdup(a, line.path), .line = 1, .judged = judged, .message = arena_strdup(a, why) }, a);
}

static void rows_of_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j, struct arena *a)
{
    const char *refused = keys_of(&j->compliance, SEVERITY_ERROR, a);
    bool passed = j->compliance.passed;
    struct lint_row line = {
        .round = f ? f->round : j->edition->round, .division = f ? f->division : j->division, .submitter = f ? f->submitter : j->run.org,
        .system = f ? f->system : j->run.platform, .benchmark = f ? f->benchmark : j->benchmark, .file = path_name(path), .check = "compliance",
        .ruleset = ruleset_text(j->edition, a), .verdict = pass_or_fail(passed), .refused = refused,
        .warnings = keys_of(&j->compliance, SEVERITY_WARNING, a), .path = path };
    add_lint_row(l, line, NULL, f ? utf8_text(f->dir, a) : path, passed ? JUDGED_PASS : JUDGED_FAIL, refused);
}

static void rows_of_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    static const enum judged judged[] = { [PART_UNTESTED] = JUDGED_SKIP, [PART_PASSED] = JUDGED_PASS, [PART_FAILED] = JUDGED_FAIL,
                                          [PART_BYPASSED] = JUDGED_SKIP };
    struct lint_row line = { .round = f->round, .division = f->division, .submitter = f->submitter, .system = f->system, .benchmark = f->benchmark,
                               .ruleset = f->edition ? ruleset_text(f->edition, a) : NULL, .path = utf8_text(f->dir, a) };
    for (int i = 0; i < N_PACKAGE_PARTS && !f->problem; i++) {
        const struct part_verdict *part = &f->parts[i];
        line.check = package_part_names[i], line.verdict = part_state_names[part->state], line.detail = part->text;
        add_lint_row(l, line, i == PACKAGE_CONVERGENCE && f->has_rcp ? &f->rcp : NULL, line.path, judged[part->state], part->text);
    }
    for (size_t i = 0; i < f->n_notes; i++)
        if (shows_note(l, &f->notes[i])) {
            line.check = "note", line.verdict = severity_names[f->notes[i].severity], line.detail = f->notes[i].text;
            add_lint_row(l, line, NULL, line.path, JUDGED_SKIP, line.detail);
        }
    line.check = "package", line.verdict = pass_or_fail(f->passed), line.detail = f->problem ? f->problem : f->remark;
    add_lint_row(l, line, NULL, line.path, f->passed ? JUDGED_PASS : JUDGED_FAIL, line.detail);
}

/* ---- any format -------------------------------------------------------------------------------------------------- */

void lint_print_head(struct lint *l)
{
    if (l->format == FORMAT_CSV)
        table_write_csv_row(l->out, &lint_table, NULL);
    document_member(&l->d, "groups", l->folders);
    document_member(&l->d, "messages", l->messages);
}

void lint_print_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j, struct arena *a)
{
    path = utf8_text(path, a);
    switch (l->format) {
    case FORMAT_TEXT: text_log(l, f, path, j); break;
    case FORMAT_JSON: json_log(l, path, &j->compliance); break;
    case FORMAT_CSV: case FORMAT_TAP: case FORMAT_JUNIT: case FORMAT_MARKDOWN: case FORMAT_ANNOTATIONS: rows_of_log(l, f, path, j, a); break;
    case FORMAT_DOT: case N_OUTPUT_FORMATS: assert(false);
    }
}

void lint_print_remark(struct lint *l, const char *path, const char *check, const struct log_message *m)
{
    bool shown = shows(l, m->severity == SEVERITY_REVIEW);
    if (l->format == FORMAT_TEXT && shown)
        fprintf(l->out, "%s: %s: %s\n", path, severity_names[m->severity], m->text);
    else if (l->format == FORMAT_JSON)
        json_message(l, path, m, shown);
    else if (l->format != FORMAT_TEXT)
        add_lint_row(l, (struct lint_row){ .check = check, .verdict = severity_names[m->severity], .detail = m->text, .path = path }, NULL, check,
                     m->severity == SEVERITY_ERROR ? JUDGED_FAIL : JUDGED_SKIP, m->text);
}

void lint_print_folder(struct lint *l, const struct folder *f, struct arena *a)
{
    switch (l->format) {
    case FORMAT_TEXT: text_folder(l, f, a); break;
    case FORMAT_JSON: json_folder(l, f, a); break;
    case FORMAT_CSV: case FORMAT_TAP: case FORMAT_JUNIT: case FORMAT_MARKDOWN: case FORMAT_ANNOTATIONS: rows_of_folder(l, f, a); break;
    case FORMAT_DOT: case N_OUTPUT_FORMATS: assert(false);
    }
}

void lint_print_foot(struct lint *l)
{
    const struct lint_counts *c = &l->counts;
    const struct table counts = TABLE(count_columns, struct lint_counts);
    document_line_for(&l->d, IN_TEXT, "%" PRIu64 " of %" PRIu64 " folders pass, %" PRIu64 " of %" PRIu64 " logs pass; %" PRIu64 " error%s, %" PRIu64
                      " warning%s, %" PRIu64 " for review, %" PRIu64 " not read", c->folders_passed, c->folders, c->logs_passed, c->logs, c->errors,
                      plural(c->errors), c->warnings, plural(c->warnings), c->reviews, c->skipped);
    document_member(&l->d, "counts", table_row_json(&counts, c));
    if (l->provisional)
        document_member(&l->d, "provisional", json_pack("s+", "rules of ", l->provisional));
    document_member(&l->d, "pass", json_boolean(!l->failed));
}
