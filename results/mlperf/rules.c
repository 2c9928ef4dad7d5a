/*
 * rules.c - loads the rules table and holds the checks that its rows name.
 *
 * Sources: mlcommons/logging, mlp_compliance 1.0.0, 1.1.0-rc4 and 2.0.0-rc4, as the source column of each row says. Numbers compare as
 * Python compares them: a string is never a number, true is 1.
 */
#include "results/mlperf/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const rule_severity_names[N_RULE_SEVERITIES + 1] = { "error", "warning", "review", NULL };
static const char *const known_rulesets[] = { "1.0.0", "1.1.0", "2.0.0" };

/* ---- arguments: words between bars ------------------------------------------------------------- */

static const char *word_of(const char *list, size_t index, size_t *length)
{
    for (; index > 0; index--) {
        list = strchr(list, '|');
        if (!list)
            return NULL;
        list++;
    }
    *length = strcspn(list, "|");
    return list;
}

static bool number_of(const char *list, size_t index, double *out)
{
    char copy[40];
    size_t n;
    const char *word = word_of(list, index, &n);
    if (!word || n >= sizeof copy)
        return false;
    snprintf(copy, sizeof copy, "%.*s", (int)n, word);
    if (text_is(copy, "Infinity")) {
        *out = HUGE_VAL;
        return true;
    }
    return parse_f64(copy, out);
}

/* ---- checks ---------------------------------------------------------------------------------------- */

#define CHECK(name) static bool name(const struct rule *r, const struct mllog_line *l, const struct rule_context *c)
#define UNUSED(x) ((void)(x))

CHECK(any)
{
    UNUSED(r), UNUSED(l), UNUSED(c);
    return true;
}

CHECK(nonempty)
{
    UNUSED(r), UNUSED(c);
    return !json_is_string(l->value) || json_string_length(l->value) > 0;
}

CHECK(in_list)
{
    UNUSED(c);
    const char *text = json_string_value(l->value), *word;
    size_t n;
    for (size_t i = 0; text && (word = word_of(r->argument, i, &n)); i++)
        if (strlen(text) == n && !strncmp(text, word, n))
            return true;
    return false;
}

CHECK(positive)
{
    UNUSED(r), UNUSED(c);
    double x;
    return mllog_number(l->value, &x) && x > 0;
}

CHECK(integer)
{
    UNUSED(r), UNUSED(c);
    double x;
    return mllog_number(l->value, &x) && isfinite(x) && x == floor(x);
}

CHECK(equal)
{
    UNUSED(c);
    double x, want;
    for (size_t i = 0; mllog_number(l->value, &x) && number_of(r->argument, i, &want); i++)
        if (x == want)
            return true;
    return false;
}

static bool is_whole(double x)
{
    return isfinite(x) && fabs(x - round(x)) < 1e-5;
}

CHECK(multiple)
{
    UNUSED(c);
    double x, unit;
    return mllog_number(l->value, &x) && number_of(r->argument, 0, &unit) && is_whole(x / unit);
}

CHECK(power2)
{
    UNUSED(c);
    double x, unit;
    return mllog_number(l->value, &x) && number_of(r->argument, 0, &unit) && x > 0 && is_whole(log2(x / unit));
}

CHECK(has_metadata)
{
    UNUSED(c);
    return json_object_get(l->metadata, r->argument) != NULL;
}

CHECK(metadata_positive)
{
    UNUSED(c);
    double x;
    return mllog_number(json_object_get(l->metadata, r->argument), &x) && x > 0;
}

CHECK(after)
{
    UNUSED(l);
    return c->seen(c->state, r->argument);
}

CHECK(before)
{
    UNUSED(l);
    return !c->seen(c->state, r->argument);
}

/* "30", or "closed:30|open:240" by the division logged so far: none yet leaves no time at all. */
CHECK(init_within)
{
    double minutes = 0;
    size_t n;
    const char *word;
    if (!strchr(r->argument, ':')) {
        number_of(r->argument, 0, &minutes);
    } else {
        for (size_t i = 0; c->division && (word = word_of(r->argument, i, &n)); i++)
            if (!strncmp(word, c->division, strlen(c->division)) && word[strlen(c->division)] == ':')
                minutes = strtod(word + strlen(c->division) + 1, NULL);
    }
    return l->time_ms - c->init_start_ms < minutes * 60e3;
}

CHECK(from_below)
{
    UNUSED(c);
    double x, low, high;
    return mllog_number(l->value, &x) && number_of(r->argument, 0, &low) && number_of(r->argument, 1, &high) && x >= low && x < high;
}

CHECK(above_to)
{
    UNUSED(c);
    double x, low, high;
    return mllog_number(l->value, &x) && number_of(r->argument, 0, &low) && number_of(r->argument, 1, &high) && x > low && x <= high;
}

CHECK(below)
{
    UNUSED(c);
    double x, high;
    return mllog_number(l->value, &x) && number_of(r->argument, 0, &high) && x < high;
}

static const struct rule_check checks[] = {
    { "any",               "anything",                                              false, any },
    { "nonempty",          "a value that is not empty",                             false, nonempty },
    { "in",                "one of {}",                                             false, in_list },
    { "positive",          "a number above 0",                                      false, positive },
    { "integer",           "a whole number",                                        false, integer },
    { "equal",             "{}",                                                    false, equal },
    { "multiple",          "a whole multiple of {}",                                false, multiple },
    { "power2",            "{} times a power of 2",                                 false, power2 },
    { "has_metadata",      "'{}' in its metadata",                                  false, has_metadata },
    { "metadata_positive", "'{}' above 0 in its metadata",                          false, metadata_positive },
    { "after",             "it after {}",                                           false, after },
    { "before",            "it before {}",                                          false, before },
    { "init_within",       "it less than {} minutes after the first init_start (submission_division logged before it)", false, init_within },
    { "once_in",           "at least one value from {1} up, below {2}", true, from_below },
    { "once_above",        "at least one value above {1}, up to {2}", true, above_to },
    { "once_below",        "at least one value below {1}",                           true,  below },
    { "tensors",           "each tensor of {} exactly once",                        false, any },
};
enum { N_CHECKS = sizeof checks / sizeof *checks };

bool rule_is_tensors(const struct rule *r)
{
    return text_is(r->check->name, "tensors");
}

/* "{}" stands for the argument, "{1}" and "{2}" for its words. */
const char *rule_want(const struct rule *r, struct arena *a)
{
    const char *text = "", *rest = r->check->want, *hole;
    for (; (hole = strchr(rest, '{')); rest = strchr(hole, '}') + 1) {
        size_t n = strlen(r->argument);
        const char *word = hole[1] == '}' ? r->argument : word_of(r->argument, (size_t)(hole[1] - '1'), &n);
        text = arena_printf(a, "%s%.*s%.*s", text, (int)(hole - rest), rest, word ? (int)n : 0, word ? word : "");
    }
    return arena_printf(a, "%s%s", text, rest);
}

/* ---- loading ------------------------------------------------------------------------------------------- */

enum { RULESETS, DIVISION, BENCHMARK, OPTIMIZER, KEY, OCCURS, CHECK_NAME, ARGUMENT, SEVERITY, SOURCE, N_CELLS };
static const char *const columns[N_CELLS] = { "rulesets", "division", "benchmark", "optimizer", "key", "occurs", "check", "argument",
                                              "severity", "source" };

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == 0 || at[n] == ' '))
            return true;
    return false;
}

static bool holds(const char *cell, const char *logged)
{
    return text_is(cell, "any") || text_is(cell, logged);
}

static bool take_occurs(struct rule *r, const char *cell)
{
    if (!*cell)
        r->occurs = OCCURS_ANY;
    else if (text_is(cell, "1"))
        r->occurs = OCCURS_ONCE;
    else if (!strncmp(cell, "1+", 2) && (cell[2] == 0 || cell[2] == '|'))
        r->occurs = OCCURS_AT_LEAST_ONCE, r->instead = cell[2] ? cell + 3 : NULL;
    else
        return false;
    return true;
}

static bool take_rule(struct rule *r, char *const *cells, const char *where, struct err *err)
{
    *r = (struct rule){ .key = cells[KEY], .argument = cells[ARGUMENT], .source = cells[SOURCE] };
    if (!take_occurs(r, cells[OCCURS]))
        return fail(err, "%s: occurs: '%s', want nothing, 1, 1+ or 1+|OTHER_KEY", where, cells[OCCURS]);
    for (size_t i = 0; i < N_CHECKS && !r->check; i++)
        if (text_is(checks[i].name, cells[CHECK_NAME]))
            r->check = &checks[i];
    if (!r->check)
        return fail(err, "%s: check: '%s' is unknown", where, cells[CHECK_NAME]);
    while (r->severity < N_RULE_SEVERITIES && !text_is(rule_severity_names[r->severity], cells[SEVERITY]))
        r->severity++;
    if (r->severity == N_RULE_SEVERITIES)
        return fail(err, "%s: severity: '%s', want error, warning or review", where, cells[SEVERITY]);
    return *r->source || fail(err, "%s: source is empty", where);
}

static int depth_of(char *const *cells)
{
    return !text_is(cells[DIVISION], "any") + !text_is(cells[BENCHMARK], "any") + !text_is(cells[OPTIMIZER], "any");
}

struct selection { const char *ruleset, *division, *benchmark, *optimizer; };

static bool selected(const struct selection *s, char *const *cells)
{
    return has_word(cells[RULESETS], s->ruleset) && holds(cells[DIVISION], s->division)
        && holds(cells[BENCHMARK], s->benchmark) && holds(cells[OPTIMIZER], s->optimizer);
}

/* Whether a deeper selected row speaks of the same key. */
static bool overridden(const struct selection *s, char **const *rows, size_t n, size_t i)
{
    for (size_t j = 0; j < n; j++)
        if (text_is(rows[j][KEY], rows[i][KEY]) && depth_of(rows[j]) > depth_of(rows[i]) && selected(s, rows[j]))
            return true;
    return false;
}

static const char *layer_name(const struct selection *s, char *const *cells, struct arena *a)
{
    const char *const parts[] = { cells[DIVISION], cells[BENCHMARK], cells[OPTIMIZER] };
    const char *name = depth_of(cells) ? s->ruleset : arena_printf(a, "%s common", s->ruleset);
    for (size_t i = 0; i < 3; i++)
        if (!text_is(parts[i], "any"))
            name = arena_printf(a, "%s %s", name, parts[i]);
    return name;
}

static bool add_rule(struct rule_set *set, const struct selection *s, char *const *cells, const char *where, const char *rules_dir,
                     struct arena *a, struct err *err)
{
    set->items = arena_grow(a, set->items, set->n, &set->cap, sizeof *set->items);
    struct rule *r = &set->items[set->n++];
    if (!take_rule(r, cells, where, err))
        return false;
    r->layer = layer_name(s, cells, a);
    if (!rule_is_tensors(r))
        return true;
    if (!tensor_names(&r->tensors, r->argument, rules_dir, a, err))
        return false;
    name_list_sort(&r->tensors);
    return true;
}

static bool known_ruleset(const char *ruleset, struct err *err)
{
    for (size_t i = 0; i < sizeof known_rulesets / sizeof *known_rulesets; i++)
        if (text_is(ruleset, known_rulesets[i]))
            return true;
    return fail(err, "ruleset '%s' is unknown; known: 1.0.0, 1.1.0, 2.0.0", ruleset);
}

bool rules_load(struct rule_set *out, const char *ruleset, const char *division, const char *benchmark, const char *optimizer,
                const char *rules_dir, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t at[N_CELLS];
    struct selection s = { ruleset, division, benchmark, optimizer };
    *out = (struct rule_set){ .ruleset = ruleset };
    if (!known_ruleset(ruleset, err) || !csv_load(&t, arena_printf(a, "%s/rules.csv", rules_dir), a, err))
        return false;
    for (int c = 0; c < N_CELLS; c++)
        if (!csv_column(&at[c], &t, columns[c], err))
            return false;
    char ***rows = ARENA_ARRAY(a, char **, t.n_rows);
    for (size_t i = 0; i < t.n_rows; i++) {
        rows[i] = ARENA_ARRAY(a, char *, N_CELLS);
        for (int c = 0; c < N_CELLS; c++)
            rows[i][c] = t.rows[i].cells[at[c]];
    }
    for (size_t i = 0; i < t.n_rows; i++) {
        const char *where = arena_printf(a, "%s:%u", t.path, t.rows[i].line);
        if (selected(&s, rows[i]) && !overridden(&s, rows, t.n_rows, i) && !add_rule(out, &s, rows[i], where, rules_dir, a, err))
            return false;
    }
    return true;
}
