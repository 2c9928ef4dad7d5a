/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint_log.h - the text of a simulated log, changes to it, and what lint says of it.
 */
#ifndef LINT_LOG_H
#define LINT_LOG_H
#include "tests/mlperf/judged.h"
#include "tests/golden_text.h"
#include "tests/mlperf/conforming.h"

static char *log_text(const struct submission_description *s, const struct drawn_run *run)
{
    struct arena a = { 0 };
    struct err err = { "" };
    char *text;
    bool written;
    PRINTED(text, written = submission_write_log(f, s, run, 0, &a, &err));
    if (!written)
        print_error("%s\n", err.msg);
    assert_true(written);
    arena_free(&a);
    return text;
}

/* Replaces the first occurrence of what; by NULL removes the whole line. */
static char *edited(const char *text, const char *what, const char *by)
{
    const char *at = strstr(text, what);
    assert_non_null(at);
    char *out = malloc(strlen(text) + (by ? strlen(by) : 0) + 1);
    const char *end = at + strlen(what);
    if (!by) {
        while (at > text && at[-1] != '\n')
            at--;
        end = strchr(end, '\n') + 1;
        by = "";
    }
    sprintf(out, "%.*s%s%s", (int)(at - text), text, by, end);
    return out;
}

/* The output of lint for one log with this text. */
static char *lint_of(const char *text, const char *ruleset, bool *passed)
{
    struct err err;
    const char *path = temp_file(text, strlen(text), ".txt");
    char *printed = lint_text(path, ruleset, FORMAT_TEXT, passed, &err);
    unlink(path);
    assert_string_equal(err.msg, "");
    return printed;
}

static void expect(const char *text, const char *ruleset, const char *want, bool passes)
{
    bool passed;
    char *printed = lint_of(text, ruleset, &passed);
    if (!strstr(printed, want) || passed != passes)
        print_error("want '%s' and %s in:\n%s", want, passes ? "pass" : "fail", printed);
    assert_non_null(strstr(printed, want));
    assert_true(passed == passes);
    free(printed);
}
#endif
