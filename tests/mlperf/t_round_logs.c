/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_round_logs.c - each rule of v6.0 and v6.1 against a log that keeps it and logs that break it; round_logs.txt has
 * the lines, and says how it is read. */
#include "tests/check.h"
#include "results/mlperf/mlperf.h"
#include "results/mlperf/rules.h"

#include <unistd.h>

enum { MOST_VALUES = 20, MOST_LINES = 80, MOST_CASES = 40 };
struct made_line { int section; const char *how, *key, *good[MOST_VALUES], *bad[MOST_VALUES]; size_t n_good, n_bad; };
struct made_log {
    const char *division, *benchmark, *ruleset;
    struct made_line lines[MOST_LINES];
    char *cases[MOST_CASES];            /* lines that begin with <, - or = */
    size_t n, n_cases;
};

static char path[64];
static struct judge judge;
static int n_logs, n_wrong;

/* ---- the file -------------------------------------------------------------------------------------------------- */

/* Cuts text at each separator; returns the number of parts. */
static size_t cut(const char **parts, char *text, const char *separator)
{
    size_t n = 0;
    for (char *next; text; text = next) {
        if ((next = strstr(text, separator)))
            *next = 0, next += strlen(separator);
        parts[n++] = text;
    }
    return n;
}

static void read_made_line(struct made_line *l, char *text)
{
    const char *values[MOST_VALUES] = { NULL };
    l->how = strsep(&text, " "), l->key = strsep(&text, " ");
    size_t n = cut(values, text, " | ");
    l->n_good = cut(l->good, (char *)values[0], " / ");
    for (l->n_bad = 0; l->n_bad + 1 < n; l->n_bad++)
        l->bad[l->n_bad] = values[l->n_bad + 1];
}

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at++)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

static bool is_of(const struct made_log *log, char *header)
{
    char *division = strsep(&header, " "), *benchmark = strsep(&header, " ");
    return (text_is(division, "any") || text_is(division, log->division)) && (text_is(benchmark, "any") || text_is(benchmark, log->benchmark))
        && has_word(header, log->ruleset);
}

/* A line replaces those of its key in earlier sections. */
static void add_made_line(struct made_log *log, struct made_line l)
{
    size_t n = 0;
    for (size_t i = 0; i < log->n; i++)
        if (!text_is(log->lines[i].key, l.key) || log->lines[i].section == l.section)
            log->lines[n++] = log->lines[i];
    log->lines[n] = l;
    log->n = n + 1;
}

static void read_made_log(struct made_log *log, const char *division, const char *benchmark, const char *ruleset, const char *text, struct arena *a)
{
    char *lines = arena_strdup(a, text), *line;
    bool mine = false;
    int section = 0;
    *log = (struct made_log){ division, benchmark, ruleset, .n = 0 };
    while ((line = strsep(&lines, "\n"))) {
        struct made_line l = { 0 };
        if (*line == '[') {
            line[strlen(line) - 1] = 0;
            mine = is_of(log, line + 1), section++;
        } else if (mine && strchr("<-=", *line) && *line) {
            log->cases[log->n_cases++] = line;
        } else if (mine && *line && *line != '#') {
            l.section = section;
            read_made_line(&l, line);
            add_made_line(log, l);
        }
    }
}

/* ---- a log, and what is refused in it ----------------------------------------------------------------------- */

static const char *substituted(const struct made_log *log, const char *value, struct arena *a)
{
    const bool open = text_is(log->division, "open");       /* 240 minutes from the first init_start, or 30 */
    const char *const words[][2] = { { "$D", log->division }, { "$B", log->benchmark }, { "$IN", open ? "14400999" : "1800999" },
                                     { "$LATE", open ? "14401000" : "1801000" } };
    for (size_t i = 0; i < 4; i++) {
        const char *at = strstr(value, words[i][0]);
        if (at)
            value = arena_printf(a, "%.*s%s%s", (int)(at - value), value, words[i][1], at + strlen(words[i][0]));
    }
    return value;
}

static void write_made_line(FILE *f, const struct made_log *log, const char *key, const char *value, struct arena *a)
{
    char *rest = arena_strdup(a, substituted(log, value, a));
    const char *time = *rest == '@' ? strsep(&rest, " ") + 1 : "1000", *metadata = *rest == '{' ? strsep(&rest, " ") : "{}";
    fprintf(f, ":::MLLOG {\"key\": \"%s\", \"value\": %s, \"time_ms\": %s, \"event_type\": \"\", \"namespace\": \"\", \"metadata\": %s}\n", key, rest,
            time, metadata);
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The refused keys in order, each once, with a blank between; warned: the keys of warnings. */
static const char *keys_of(const struct compliance *c, enum severity severity, struct arena *a)
{
    const char **keys = ARENA_ROOM(a, const char *, c->n_messages + 1), *text = "";
    size_t n = 0;
    for (size_t i = 0; i < c->n_messages; i++)
        if (c->messages[i].severity == severity)
            keys[n++] = c->messages[i].key;
    sort_items(keys, n, sizeof *keys, by_text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !text_is(keys[i], keys[i - 1]))
            text = arena_printf(a, "%s%s%s", text, *text ? " " : "", keys[i]);
    return text;
}

struct found_keys { const char *refused, *warned; };
static struct found_keys judge_made(const struct made_log *log, const struct made_line *lines, size_t n, struct arena *a)
{
    struct log_judgement j;
    struct err err = { "" };
    FILE *f = fopen(path, "w");
    for (size_t i = 0; i < n; i++)
        write_made_line(f, log, lines[i].key, lines[i].good[0], a);
    fclose(f);
    n_logs++;
    if (!log_judge(&j, &judge, path, false, edition_find(&judge.rounds, log->ruleset), log->benchmark, a, &err))
        return (struct found_keys){ err.msg, "" };
    return (struct found_keys){ keys_of(&j.compliance, SEVERITY_ERROR, a), keys_of(&j.compliance, SEVERITY_WARNING, a) };
}

static void expect(const struct made_log *log, const char *what, const char *found, const char *want)
{
    if (text_is(found, want))
        return;
    print_error("%s %s %s, %s: '%s', want '%s'\n", log->ruleset, log->division, log->benchmark, what, found, want);
    n_wrong++;
}

/* ---- what is tried --------------------------------------------------------------------------------------------- */

static void try_values(const struct made_log *log, size_t at, struct arena *a)
{
    struct made_line lines[MOST_LINES];
    const struct made_line *l = &log->lines[at];
    memcpy(lines, log->lines, sizeof lines);
    for (size_t i = 0; i < l->n_good + l->n_bad; i++) {
        const char *value = lines[at].good[0] = i < l->n_good ? l->good[i] : l->bad[i - l->n_good];
        const char *refused = judge_made(log, lines, log->n, a).refused, *what = arena_printf(a, "%s %s", l->key, value);
        if (i < l->n_good || !strchr(l->how, '~'))
            expect(log, what, refused, i < l->n_good ? "" : l->key);
        else
            expect(log, what, has_word(refused, l->key) ? l->key : refused, l->key);
    }
}

static size_t without(struct made_line *out, const struct made_log *log, const char *keys)
{
    size_t n = 0;
    for (size_t i = 0; i < log->n; i++)
        if (!has_word(keys, log->lines[i].key))
            out[n++] = log->lines[i];
    return n;
}

/* The key missing, and one line of it more. */
static void try_numbers(const struct made_log *log, size_t at, struct arena *a)
{
    struct made_line lines[MOST_LINES];
    const struct made_line *l = &log->lines[at];
    const char *what = arena_printf(a, "%s missing", l->key), *refused = judge_made(log, lines, without(lines, log, l->key), a).refused;
    bool wanted = *l->how == '1' || *l->how == '+';
    if (wanted)
        expect(log, what, has_word(refused, l->key) ? l->key : refused, l->key);
    else
        expect(log, what, refused, "");
    memcpy(lines, log->lines, sizeof lines);
    for (size_t i = log->n; i > at; i--)
        lines[i] = lines[i - 1];
    struct found_keys found = judge_made(log, lines, log->n + 1, a);
    expect(log, arena_printf(a, "%s twice", l->key), found.warned, *l->how == '1' ? l->key : "");
}

static void try_case(const struct made_log *log, const char *given, struct arena *a)
{
    struct made_line lines[MOST_LINES];
    char *text = arena_strdup(a, given + 2), *want = strstr(text, " :");
    size_t n = log->n;
    *want = 0, want += want[2] ? 3 : 2;
    if (*given == '-')
        n = without(lines, log, text);
    else if (*given == '<') {
        const char *moved = strsep(&text, " ");
        n = 0;
        for (int pass = 0; pass < 3; pass++)
            for (size_t i = 0, behind = 0; i < log->n; i++) {
                behind |= text_is(log->lines[i].key, text);
                if (text_is(log->lines[i].key, moved) ? pass == 1 : (behind ? 2 : 0) == pass)
                    lines[n++] = log->lines[i];
            }
    } else {
        const char *parts[MOST_VALUES];
        size_t n_parts = cut(parts, text, " , ");
        n = 0;
        for (size_t i = 0; i < log->n; i++) {
            bool again = n > 0 && text_is(log->lines[i].key, lines[n - 1].key), replaced = false;
            struct made_line l = log->lines[i];
            for (size_t k = 0; k < n_parts; k++)
                if (strncmp(parts[k], l.key, strlen(l.key)) == 0 && parts[k][strlen(l.key)] == ' ')
                    l.good[0] = parts[k] + strlen(l.key) + 1, replaced = true;
            if (!(again && replaced))
                lines[n++] = l;
        }
    }
    expect(log, given, judge_made(log, lines, n, a).refused, want);
}

/* Every rule that is used has a line. */
static void expect_all_rules(const struct made_log *log, struct arena *a)
{
    const struct rule_book *book;
    const char *const names[] = { "common", arena_printf(a, "%s_common", log->division), arena_printf(a, "%s_%s", log->division, log->benchmark) };
    assert_true(rules_of(&book, &judge.library, edition_find(&judge.rounds, log->ruleset), NULL));
    for (size_t k = 0; k < 3; k++) {
        const struct rule_layer *layer = rule_layer_find(book, names[k]);
        for (size_t r = 0; layer && r < layer->n_rules; r++) {
            bool found = !*layer->rules[r]->key;
            for (size_t i = 0; i < log->n && !found; i++)
                found = text_is(log->lines[i].key, layer->rules[r]->key);
            if (!found)
                expect(log, "rules without a line", layer->rules[r]->key, "");
        }
    }
}

static void try_log(const char *division, const char *benchmark, const char *ruleset, const char *text)
{
    struct arena a = { 0 };
    struct made_log log;
    read_made_log(&log, division, benchmark, ruleset, text, &a);
    struct found_keys base = judge_made(&log, log.lines, log.n, &a);
    expect(&log, "as it is", base.refused, ""), expect(&log, "warnings", base.warned, "");
    expect_all_rules(&log, &a);
    for (size_t i = 0; i < log.n; i++)
        try_values(&log, i, &a), try_numbers(&log, i, &a);
    for (size_t i = 0; i < log.n_cases; i++)
        try_case(&log, log.cases[i], &a);
    arena_free(&a);
}

static void test_every_rule(void **state)
{
    static const struct { const char *ruleset, *benchmarks[8]; } rounds[] = {
        { "6.0.0", { "deepseekv3_671b", "dlrm_dcnv2", "flux1", "gpt_oss_20b", "llama2_70b_lora", "llama31_405b", "llama31_8b" } },
        { "6.1.0", { "deepseekv3_671b", "dlrmv4", "flux1", "gpt_oss_20b", "llama2_70b_lora", "llama31_8b", "qwen35_397b_grpo" } },
    };
    struct arena a = { 0 };
    struct err err = { "" };
    struct judge_options options = { .data_dir = "workloads/convergence" };
    char *text;
    (void)state;
    snprintf(path, sizeof path, "/tmp/podbench-test-round-logs-%ld.txt", (long)getpid());
    assert_true(judge_load(&judge, &options, &a, &err));
    assert_true(read_text_file(&text, NULL, "tests/mlperf/round_logs.txt", 1 << 20, &a, &err));
    for (size_t r = 0; r < 2; r++)
        for (const char *const *b = rounds[r].benchmarks; *b; b++)
            for (int open = 0; open < 2; open++)
                try_log(open ? "open" : "closed", *b, rounds[r].ruleset, text);
    unlink(path);
    assert_true(n_logs > 5000);
    assert_int_equal(n_wrong, 0);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_rule) };
TAP_MAIN(tests)
