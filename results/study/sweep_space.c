/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep_space.c - axes from lists, ranges and tables of values, and configurations by number.
 */
#include "results/study/sweep.h"

#include "workloads/recipe/recipe.h"

enum { MOST_VALUES = 10000000 };
static const uint64_t most_configurations = UINT64_C(1000000000000000);     /* integers of 15 digits are exact in all readers of CSV and JSON */

void space_start(struct space *s, const char *const *recipes, size_t n_recipes)
{
    *s = (struct space){ .recipes = recipes, .n_recipes = n_recipes, .n = n_recipes };
}

/* ---- values of one key --------------------------------------------------------------------------- */

struct values { const char **items; size_t n, cap; bool rise; };         /* rise: the values come from a range */

static void add_value(struct values *v, const char *text, size_t n, struct arena *a)
{
    LIST_ADD(v, a, memcpy(arena_alloc(a, n + 1), text, n));
}

static bool add_list(struct values *v, const char *list, const char *text, struct arena *a, struct err *err)
{
    const char *separator = strchr(list, ';') ? ";" : ",";
    for (const char *at = list; ; ) {
        size_t n = strcspn(at, separator);
        if (n == 0 && (at[n] || v->n == 0))
            return fail(err, "--over %.100s: an empty value; take a key away with --set SECTION.KEY=", text);
        if (n)
            add_value(v, at, n, a);
        if (!at[n])
            return true;
        at += n + 1;
    }
}

/* Adds a number as text: without a point if it is whole, otherwise with as few digits as preserve it. */
static void add_number(struct values *v, double x, struct arena *a)
{
    char text[40];
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    if (fabs(x) < 1e15 && x == floor(x))
        n = snprintf(text, sizeof text, "%.0f", x);
    add_value(v, text, (size_t)n, a);
}

static bool parse_part(double *out, const char *text, size_t n, struct arena *a)
{
    return parse_f64(memcpy(arena_alloc(a, n + 1), text, n), out);
}

/* Rounds to twelve digits, so that 0.1 + 2 x 0.1 is 0.3. */
static double rounded(double x, struct arena *a)
{
    double y = x;
    parse_f64(arena_printf(a, "%.12g", x), &y);
    return y;
}

/* Adds the values of FROM..TO, FROM..TO+STEP or FROM..TO*FACTOR. *is_range is false if the text is no range. */
static bool add_range(struct values *v, bool *is_range, const char *list, const char *text, struct arena *a, struct err *err)
{
    const char *dots = strstr(list, ".."), *by = dots ? dots + 2 + strcspn(dots + 2, "+*") : NULL;
    double from, to, step = 1;
    *is_range = dots && parse_part(&from, list, (size_t)(dots - list), a) && parse_part(&to, dots + 2, (size_t)(by - dots - 2), a);
    if (!*is_range)
        return true;
    bool factor = *by == '*';
    if (*by && !parse_f64(by + 1, &step))
        return fail(err, "--over %.100s: '%.40s' is not a step; want +STEP or *FACTOR, as in 16..256*2", text, by);
    if (to < from || step <= 0 || (factor && (step <= 1 || from <= 0)))
        return fail(err, "--over %.100s: no steps lead from %g up to %g; want FROM..TO, FROM..TO+STEP or FROM..TO*FACTOR, rising", text, from, to);
    if ((factor ? log(to / from) / log(step) : (to - from) / step) >= MOST_VALUES)
        return fail(err, "--over %.100s: more than %d values", text, MOST_VALUES);
    double slack = 1e-9 * (factor ? to : step), x = from;
    for (uint64_t i = 0; x <= to + slack; x = factor ? x * step : from + (double)++i * step)
        add_number(v, rounded(x, a), a);
    return true;
}

/* Refuses ranges such as 1-8 and lists such as [1,2], and says how they are written here. */
static bool check_notation(const char *list, const char *text, struct arena *a, struct err *err)
{
    size_t n = strspn(list, "0123456789"), n_last = n && list[n] == '-' ? strspn(list + n + 1, "0123456789") : 0;
    if (n_last && !list[n + 1 + n_last])
        return fail(err, "--over %.100s: a range is written with two dots: %.*s..%.40s", text, (int)n, list, list + n + 1);
    if (*list && strchr("[({", *list))
        return fail(err, "--over %.100s: a list is written without brackets: %.80s", text, arena_printf(a, "%.*s", (int)strcspn(list + 1, "])}"), list + 1));
    return true;
}

static bool read_values(const char **key, struct values *v, const char *text, struct arena *a, struct err *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || text[strcspn(text, ".=")] != '.' || strchr(text, '\n'))
        return fail(err, "--over %.100s: want SECTION.KEY=VALUES, as in %s", text,
                    recipe_setting_example(text, "parallel.replicas=1,2,4 or parallel.micro_batch=1..16", a));
    if (!check_notation(equals + 1, text, a, err))
        return false;
    *v = (struct values){0};
    *key = arena_printf(a, "%.*s", (int)(equals - text), text);
    return add_range(v, &v->rise, equals + 1, text, a, err) && (v->rise || add_list(v, equals + 1, text, a, err));
}

/* ---- axes ------------------------------------------------------------------------------------------ */

static struct axis *add_axis(struct space *s, size_t n_keys, size_t n, struct arena *a)
{
    s->axes = arena_grow(a, s->axes, s->n_axes, &s->cap_axes, sizeof *s->axes);
    struct axis *x = &s->axes[s->n_axes++];
    *x = (struct axis){ ARENA_ARRAY(a, const char *, n_keys), n_keys, ARENA_ARRAY(a, const char *, n * n_keys), n };
    s->n_keys += n_keys;
    return x;
}

static void set_values(struct axis *x, size_t k, const char *key, const struct values *v, struct arena *a)
{
    x->keys[k] = key;
    for (size_t i = 0; i < v->n; i++)
        x->settings[i * x->n_keys + k] = *v->items[i] ? arena_printf(a, "%s=%s", key, v->items[i]) : "";
}

/* A text that is equal for values of equal meaning: the number 7 is also written 07 or 7.0, but the releases 2.1 and 2.10 differ. */
static const char *meaning(const char *key, const char *setting, struct arena *a)
{
    double x;
    const struct field *field = recipe_field(key);
    const char *value = *setting ? setting + strlen(key) + 1 : "";
    return !(field && field->type == FIELD_TEXT) && parse_f64(value, &x) && fabs(x) < 0x1p53 ? arena_printf(a, "%.17g", x) : value;
}

/* The first step of the axis that repeats an earlier one, or the number of steps if none does. */
static size_t first_again(size_t *earlier, const struct axis *x, struct arena *a)
{
    const char **steps = ARENA_ARRAY(a, const char *, x->n);
    for (size_t i = 0; i < x->n; i++) {
        steps[i] = "";
        for (size_t k = 0; k < x->n_keys; k++)
            steps[i] = arena_printf(a, "%s%s\n", steps[i], meaning(x->keys[k], x->settings[i * x->n_keys + k], a));
    }
    return first_repeated(earlier, steps, x->n);
}

/* One step of an axis as text, such as "a.b=1 c.d=2". */
static const char *step_text(const struct axis *x, size_t i, struct arena *a)
{
    const char *text = "";
    for (size_t k = 0; k < x->n_keys; k++)
        text = arena_printf(a, "%s%s%s", text, k ? " " : "", x->settings[i * x->n_keys + k]);
    return text;
}

static bool check_steps_differ(const struct axis *x, const char *option, struct arena *a, struct err *err)
{
    size_t earlier, again = first_again(&earlier, x, a);
    if (again == x->n)
        return true;
    const char *before = step_text(x, earlier, a), *text = step_text(x, again, a);
    if (text_is(before, text))
        return fail(err, "%s: %.150s is named twice; name it once", option, text);
    return fail(err, "%s: %.150s and %.150s are the same; name it once", option, before, text);
}

bool space_over(struct space *s, const char *text, struct arena *a, struct err *err)
{
    const char *key;
    struct values v;
    if (!read_values(&key, &v, text, a, err))
        return false;
    struct axis *x = add_axis(s, 1, v.n, a);
    set_values(x, 0, key, &v, a);
    return v.rise || check_steps_differ(x, "--over", a, err);
}

bool space_zip(struct space *s, const char *const *texts, size_t n, struct arena *a, struct err *err)
{
    struct values *v = ARENA_ARRAY(a, struct values, n);
    const char **keys = ARENA_ARRAY(a, const char *, n);
    for (size_t k = 0; k < n; k++) {
        if (!read_values(&keys[k], &v[k], texts[k], a, err))
            return false;
        if (v[k].n != v[0].n)
            return fail(err, "--zip: %s has %zu values, %s has %zu; want the same number for all keys", keys[0], v[0].n, keys[k], v[k].n);
    }
    struct axis *x = add_axis(s, n, v[0].n, a);
    for (size_t k = 0; k < n; k++)
        set_values(x, k, keys[k], &v[k], a);
    return check_steps_differ(x, "--zip", a, err);
}

bool space_from(struct space *s, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    if (!csv_load(&t, path, a, err))
        return false;
    if (!t.n_rows)
        return fail(err, "%s: has no row of settings", path);
    struct axis *x = add_axis(s, t.n_columns, t.n_rows, a);
    for (size_t k = 0; k < t.n_columns; k++) {
        struct values v = { .items = ARENA_ARRAY(a, const char *, t.n_rows), .n = t.n_rows };
        if (!strchr(t.columns[k], '.'))
            return fail(err, "%s:1: column '%.60s' is not a key; want SECTION.KEY, as in parallel.replicas", path, t.columns[k]);
        for (size_t i = 0; i < t.n_rows; i++) {
            v.items[i] = t.rows[i].cells[k];
            if (strpbrk(v.items[i], "\r\n"))
                return fail(err, "%s:%u: %s: the value has several lines; want one", path, t.rows[i].line, t.columns[k]);
        }
        set_values(x, k, t.columns[k], &v, a);
    }
    size_t earlier, again = first_again(&earlier, x, a);
    return again == x->n || fail(err, "%s:%u: every value is the same as in line %u; keep one of the two lines", path, t.rows[again].line, t.rows[earlier].line);
}

bool space_close(struct space *s, struct err *err)
{
    for (size_t i = 0; i < s->n_axes; i++) {
        const struct axis *x = &s->axes[i];
        for (size_t k = 0; k < x->n_keys; k++)
            for (size_t j = 0; j <= i; j++)
                for (size_t l = 0; l < (j < i ? s->axes[j].n_keys : k); l++)
                    if (text_is(x->keys[k], s->axes[j].keys[l]))
                        return fail(err, "%s is swept twice; name it once, or put its values in parallel with --zip", x->keys[k]);
        if (s->n > most_configurations / x->n)
            return fail(err, "more than %" PRIu64 " configurations; sweep fewer keys or values", most_configurations);
        s->n *= x->n;
    }
    return true;
}

const char *space_configuration(const char **settings, const struct space *s, uint64_t number)
{
    size_t at = s->n_keys;
    for (size_t i = s->n_axes; i-- > 0; ) {
        const struct axis *x = &s->axes[i];
        const char *const *values = x->settings + number % x->n * x->n_keys;
        number /= x->n;
        at -= x->n_keys;
        memcpy(settings + at, values, x->n_keys * sizeof *settings);
    }
    return s->recipes[number];
}
