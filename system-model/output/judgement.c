/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judgement.c - judgements for CI systems, and the failures that are expected.
 *
 * TAP version 13 has a plan, results, and the directives SKIP and TODO (an expected failure). JUnit: the elements and
 * attributes that both the Ant schema and Jenkins accept. No clock is read: the timestamp is SOURCE_DATE_EPOCH, as in
 * reproducible builds.
 */
#include "system-model/output/output.h"
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <time.h>

void judgements_add(struct judgements *set, struct judgement item, struct arena *a)
{
    LIST_ADD(set, a, item);
}

size_t judgements_count(const struct judgements *set, enum judged judged)
{
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        n += set->items[i].judged == judged;
    return n;
}

bool judgements_pass(const struct judgements *set)
{
    return judgements_count(set, JUDGED_FAIL) == 0;
}

/* ---- expected failures -------------------------------------------------------------------------- */

static bool expect_one(struct judgements *set, const char *pattern, const char *reason)
{
    bool found = false;
    for (size_t i = 0; i < set->n; i++) {
        struct judgement *j = &set->items[i];
        if (fnmatch(pattern, j->name, 0) != 0 || j->reason)
            continue;
        found = true;
        if (j->judged != JUDGED_FAIL && j->judged != JUDGED_PASS)
            continue;
        j->reason = reason;
        j->judged = j->judged == JUDGED_FAIL ? JUDGED_EXPECTED : JUDGED_UNEXPECTED_PASS;
    }
    return found;
}

bool judgements_expect(struct judgements *set, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t id, reason;
    if (!csv_load(&t, path, a, err) || !csv_column(&id, &t, "id", err) || !csv_column(&reason, &t, "reason", err))
        return false;
    for (size_t i = 0; i < t.n_rows; i++) {
        char **c = t.rows[i].cells;
        if (!*c[reason])
            return fail(err, "%s:%u: reason: is empty; say why %.80s is expected to fail", path, t.rows[i].line, c[id]);
        if (!expect_one(set, c[id], c[reason]))
            return fail(err, "%s:%u: id: nothing that was judged is named '%.80s'; take the line out", path, t.rows[i].line, c[id]);
    }
    return true;
}

static const char *message_of(const struct judgement *j) { return j->message ? j->message : ""; }

/* ---- TAP ------------------------------------------------------------------------------------------ */

/* Keeps the text on one line, without the # that would begin a directive. */
static void write_tap_text(FILE *f, const char *text)
{
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) || *text == '#' ? ' ' : *text, f);
}

static void write_tap(FILE *f, const struct judgement *j, size_t number)
{
    bool failed = j->judged == JUDGED_FAIL || j->judged == JUDGED_EXPECTED;
    fprintf(f, "%s %zu - ", failed ? "not ok" : "ok", number);
    write_tap_text(f, j->name);
    fputs(*message_of(j) ? ": " : "", f);
    write_tap_text(f, message_of(j));
    fputs(j->judged == JUDGED_SKIP ? " # SKIP not judged" : "", f);
    fputs(j->reason ? " # TODO " : "", f);
    write_tap_text(f, j->reason ? j->reason : "");
    fputc('\n', f);
}

/* ---- JUnit ---------------------------------------------------------------------------------------- */

static void write_case(FILE *f, const struct judgement *j, struct arena *a)
{
    const char *message = xml_text(message_of(j), a), *element = j->judged == JUDGED_FAIL ? "failure" : "skipped";
    fprintf(f, "  <testcase classname=\"%s\" name=\"%s\" time=\"0\"", xml_text(j->group && *j->group ? j->group : "podbench", a), xml_text(j->name, a));
    if (j->judged == JUDGED_PASS || j->judged == JUDGED_UNEXPECTED_PASS)
        fputs("/>\n", f);
    else
        fprintf(f, "><%s%s message=\"%s\">%s</%s></testcase>\n", element, j->judged == JUDGED_FAIL ? " type=\"podbench\"" : "",
                j->reason ? xml_text(j->reason, a) : message, message, element);
}

static void write_suite(FILE *f, const struct judgements *set)
{
    size_t skipped = judgements_count(set, JUDGED_SKIP) + judgements_count(set, JUDGED_EXPECTED);
    struct arena a = {0};
    uint64_t seconds;
    char at[32];
    struct tm tm;
    source_date(&seconds, 0, NULL);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%S", gmtime_r(&(time_t){ (time_t)seconds }, &tm));
    fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"0\" "
            "hostname=\"localhost\" timestamp=\"%s\">\n  <properties/>\n", xml_text(set->suite, &a), set->n, judgements_count(set, JUDGED_FAIL), skipped, at);
    for (size_t i = 0; i < set->n; i++)
        write_case(f, &set->items[i], &a);
    fprintf(f, "  <system-out/>\n  <system-err/>\n</testsuite>\n");
    arena_free(&a);
}

/* ---- Markdown --------------------------------------------------------------------------------------- */

static void write_judgement_row(FILE *f, const struct judgement *j)
{
    fputs("| ", f);
    write_markdown_text(f, j->name);
    fputs(" | ", f);
    write_markdown_text(f, message_of(j));
    fputs(j->reason ? "; " : "", f);
    write_markdown_text(f, j->reason ? j->reason : "");
    fputs(" |\n", f);
}

static void write_markdown_table(FILE *f, const struct judgements *set, enum judged judged, const char *title)
{
    enum { MOST_MARKDOWN_ROWS = 50 };                 /* keeps the comment on a pull request short: further rows are only counted */
    size_t n = judgements_count(set, judged), shown = 0;
    if (!n)
        return;
    fprintf(f, "\n**%s: %zu**\n\n| what | found |\n|---|---|\n", title, n);
    for (size_t i = 0; i < set->n && shown < MOST_MARKDOWN_ROWS; i++)
        if (set->items[i].judged == judged) {
            shown++;
            write_judgement_row(f, &set->items[i]);
        }
    if (n > shown)
        fprintf(f, "\nand %zu more\n", n - shown);
}

static void write_markdown_summary(FILE *f, const struct judgements *set)
{
    size_t skipped = judgements_count(set, JUDGED_SKIP);
    fprintf(f, "### %s: %s\n\n%zu judged, %zu passed, %zu failed, %zu failed as expected", set->suite,
            judgements_pass(set) ? "passed" : "FAILED", set->n - skipped,
            judgements_count(set, JUDGED_PASS) + judgements_count(set, JUDGED_UNEXPECTED_PASS), judgements_count(set, JUDGED_FAIL),
            judgements_count(set, JUDGED_EXPECTED));
    fprintf(f, skipped ? "; %zu not judged\n" : "\n", skipped);
    write_markdown_table(f, set, JUDGED_FAIL, "Failed");
    write_markdown_table(f, set, JUDGED_UNEXPECTED_PASS, "Passed, though expected to fail: take it off the list");
    write_markdown_table(f, set, JUDGED_EXPECTED, "Failed as expected");
}

/* ---- annotations -------------------------------------------------------------------------------------- */

static void write_annotation_text(FILE *f, const char *text, bool is_property)
{
    for (; *text; text++)
        if (*text == '%' || *text == '\n' || *text == '\r' || (is_property && (*text == ':' || *text == ',')))
            fprintf(f, "%%%02X", (unsigned)(unsigned char)*text);
        else
            fputc(*text, f);
}

/* ::error file=F,line=N,title=T::message; nothing for a pass or a skip. */
static void write_annotation(FILE *f, const struct judgement *j)
{
    static const char *const kinds[N_JUDGED] = { [JUDGED_FAIL] = "error", [JUDGED_EXPECTED] = "notice",
                                                 [JUDGED_UNEXPECTED_PASS] = "warning" };
    if (!kinds[j->judged])
        return;
    fprintf(f, "::%s ", kinds[j->judged]);
    if (j->file) {
        fputs("file=", f);
        write_annotation_text(f, j->file, true);
        fprintf(f, ",line=%" PRIu32 ",", j->line ? j->line : 1);
    }
    fputs("title=", f);
    write_annotation_text(f, j->name, true);
    fputs("::", f);
    write_annotation_text(f, message_of(j), false);
    if (j->reason)
        fputs(j->judged == JUDGED_EXPECTED ? "; expected: " : "; was expected to fail: ", f);
    write_annotation_text(f, j->reason ? j->reason : "", false);
    fputc('\n', f);
}

/* ---- reports ------------------------------------------------------------------------------------------- */

bool judgements_write(FILE *f, enum output_format format, const struct judgements *set)
{
    if (format == FORMAT_MARKDOWN)
        write_markdown_summary(f, set);
    if (format == FORMAT_JUNIT)
        write_suite(f, set);
    if (format == FORMAT_TAP)
        fprintf(f, "1..%zu\n", set->n);
    for (size_t i = 0; i < set->n && format == FORMAT_TAP; i++)
        write_tap(f, &set->items[i], i + 1);
    for (size_t i = 0; i < set->n && format == FORMAT_ANNOTATIONS; i++)
        write_annotation(f, &set->items[i]);
    return FORMAT_BIT(format) & JUDGING_FORMATS;
}
