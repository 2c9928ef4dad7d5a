/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judgement_print.c - judgements for CI systems.
 *
 * TAP version 13's plan, results, and directives SKIP and TODO (an expected failure). JUnit: the elements and attributes that both the Ant
 * schema and Jenkins' take: properties, testcase with skipped or failure, system-out, system-err. No clock is read: the timestamp is
 * SOURCE_DATE_EPOCH's, as reproducible builds have it.
 */
#include "system-model/output/judgement.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

static const char *message_of(const struct judgement *j)
{
    return j->message ? j->message : "";
}

/* ---- TAP ------------------------------------------------------------------------------------------ */

/* One line, and no # that would begin a directive. */
static void write_line(FILE *f, const char *text)
{
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) || *text == '#' ? ' ' : *text, f);
}

void judgements_print_tap(FILE *f, const struct judgements *set)
{
    fprintf(f, "1..%zu\n", set->n);
    for (size_t i = 0; i < set->n; i++) {
        const struct judgement *j = &set->items[i];
        bool failed = j->judged == JUDGED_FAIL || j->judged == JUDGED_EXPECTED;
        fprintf(f, "%s %zu - ", failed ? "not ok" : "ok", i + 1);
        write_line(f, j->name);
        fputs(": ", f);
        write_line(f, message_of(j));
        if (j->judged == JUDGED_SKIP)
            fputs(" # SKIP not judged", f);
        if (j->reason) {
            fputs(" # TODO ", f);
            write_line(f, j->reason);
        }
        fputc('\n', f);
    }
}

/* ---- JUnit ---------------------------------------------------------------------------------------- */

static void write_attribute(FILE *f, const char *name, const char *text)
{
    fprintf(f, " %s=\"", name);
    write_xml_text(f, text);
    fputc('"', f);
}

static void write_timestamp(FILE *f)
{
    uint64_t seconds;
    char out[32];
    struct tm tm;
    source_date(&seconds, 0, NULL);
    time_t t = (time_t)seconds;
    strftime(out, sizeof out, "%Y-%m-%dT%H:%M:%S", gmtime_r(&t, &tm));
    write_attribute(f, "timestamp", out);
}

static void write_case(FILE *f, const struct judgement *j)
{
    fprintf(f, "  <testcase");
    write_attribute(f, "classname", j->group && *j->group ? j->group : "podbench");
    write_attribute(f, "name", j->name);
    fprintf(f, " time=\"0\"");
    if (j->judged == JUDGED_PASS || j->judged == JUDGED_UNEXPECTED_PASS) {
        fprintf(f, "/>\n");
        return;
    }
    fprintf(f, j->judged == JUDGED_FAIL ? "><failure type=\"podbench\"" : "><skipped");
    write_attribute(f, "message", j->reason ? j->reason : message_of(j));
    fprintf(f, ">");
    write_xml_text(f, message_of(j));
    fprintf(f, j->judged == JUDGED_FAIL ? "</failure></testcase>\n" : "</skipped></testcase>\n");
}

void judgements_print_junit(FILE *f, const struct judgements *set)
{
    size_t skipped = judgements_count(set, JUDGED_SKIP) + judgements_count(set, JUDGED_EXPECTED);
    fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite");
    write_attribute(f, "name", set->suite);
    fprintf(f, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"0\" hostname=\"localhost\"", set->n,
            judgements_count(set, JUDGED_FAIL), skipped);
    write_timestamp(f);
    fprintf(f, ">\n  <properties/>\n");
    for (size_t i = 0; i < set->n; i++)
        write_case(f, &set->items[i]);
    fprintf(f, "  <system-out/>\n  <system-err/>\n</testsuite>\n");
}

/* ---- Markdown --------------------------------------------------------------------------------------- */

static void write_cell(FILE *f, const char *text)
{
    for (; *text; text++)
        if (*text == '|')
            fputs("\\|", f);
        else
            fputc(iscntrl((unsigned char)*text) ? ' ' : *text, f);
}

void judgement_print_row(FILE *f, const struct judgement *j)
{
    fputs("| ", f);
    write_cell(f, j->name);
    fputs(" | ", f);
    write_cell(f, message_of(j));
    if (j->reason)
        fputs("; ", f);
    write_cell(f, j->reason ? j->reason : "");
    fputs(" |\n", f);
}

static void write_table(FILE *f, const struct judgements *set, enum judged judged, const char *title)
{
    enum { MOST = 50 };                 /* a comment has to be read; the rest is counted */
    size_t n = judgements_count(set, judged), shown = 0;
    if (!n)
        return;
    fprintf(f, "\n**%s: %zu**\n\n| what | found |\n|---|---|\n", title, n);
    for (size_t i = 0; i < set->n && shown < MOST; i++) {
        const struct judgement *j = &set->items[i];
        if (j->judged != judged)
            continue;
        shown++;
        judgement_print_row(f, j);
    }
    if (n > shown)
        fprintf(f, "\nand %zu more\n", n - shown);
}

void judgements_print_markdown(FILE *f, const struct judgements *set)
{
    size_t skipped = judgements_count(set, JUDGED_SKIP);
    fprintf(f, "### %s: %s\n\n%zu judged, %zu passed, %zu failed, %zu failed as expected", set->suite,
            judgements_pass(set) ? "passed" : "FAILED", set->n - skipped,
            judgements_count(set, JUDGED_PASS) + judgements_count(set, JUDGED_UNEXPECTED_PASS), judgements_count(set, JUDGED_FAIL),
            judgements_count(set, JUDGED_EXPECTED));
    fprintf(f, skipped ? "; %zu not judged\n" : "\n", skipped);
    write_table(f, set, JUDGED_FAIL, "Failed");
    write_table(f, set, JUDGED_UNEXPECTED_PASS, "Passed, though expected to fail: take it off the list");
    write_table(f, set, JUDGED_EXPECTED, "Failed as expected");
}

/* ---- annotations -------------------------------------------------------------------------------------- */

static void write_command_text(FILE *f, const char *text, bool property)
{
    for (; *text; text++)
        if (*text == '%' || *text == '\n' || *text == '\r' || (property && (*text == ':' || *text == ',')))
            fprintf(f, "%%%02X", (unsigned)(unsigned char)*text);
        else
            fputc(*text, f);
}

void judgement_print_annotation(FILE *f, const struct judgement *j)
{
    static const char *const kinds[N_JUDGED] = { [JUDGED_FAIL] = "error", [JUDGED_EXPECTED] = "notice",
                                                 [JUDGED_UNEXPECTED_PASS] = "warning" };
    if (!kinds[j->judged])
        return;
    fprintf(f, "::%s ", kinds[j->judged]);
    if (j->file) {
        fputs("file=", f);
        write_command_text(f, j->file, true);
        fprintf(f, ",line=%" PRIu32 ",", j->line ? j->line : 1);
    }
    fputs("title=", f);
    write_command_text(f, j->name, true);
    fputs("::", f);
    write_command_text(f, message_of(j), false);
    if (j->reason)
        fputs(j->judged == JUDGED_EXPECTED ? "; expected: " : "; was expected to fail: ", f);
    write_command_text(f, j->reason ? j->reason : "", false);
    fputc('\n', f);
}

void judgements_print_annotations(FILE *f, const struct judgements *set)
{
    for (size_t i = 0; i < set->n; i++)
        judgement_print_annotation(f, &set->items[i]);
}
