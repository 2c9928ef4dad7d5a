/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff_print.c - a difference as text and as JSON: the causes with their sum, then the parts of the breakdown with theirs.
 */
#include "results/study/diff.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static double per_cent(int64_t change, int64_t of)
{
    return of ? 100 * (double)change / (double)of : 0;
}

/* ---- causes --------------------------------------------------------------------------------------- */

struct cause_row {
    double step_time_s; int64_t step_time_ps; double sample_time_s; int64_t sample_time_fs;
    const char *cause; json_t *set, *alone, *interaction;
    const char *alone_text, *interaction_text;
};
static const struct table_column cause_columns[] = {
#define C(member, ...) { COLUMN(struct cause_row, member), __VA_ARGS__ }
#define TEXT(member, shown) { COLUMN_AS(struct cause_row, member, NULL), .heading = shown, .aligns_right = true }
    C(step_time_s, .heading = "per step", .format = "%+.6g s"), C(step_time_ps),
    C(sample_time_s, .heading = "per sample", .format = "%+.6g us", .scale = 1e6), C(sample_time_fs), TEXT(alone_text, "alone, on A"),
    TEXT(interaction_text, "interaction"), C(cause, .heading = ""), C(set), C(alone), C(interaction),
#undef TEXT
#undef C
};

static bool changes_nothing(const struct diff_cause *c)
{
    return !c->change.step_ps && !c->change.sample_fs && !c->alone.step_ps && !c->alone.sample_fs;
}

static struct cause_row times_row(const char *cause, struct diff_times t)
{
    return (struct cause_row){ 1e-12 * (double)t.step_ps, t.step_ps, 1e-15 * (double)t.sample_fs, t.sample_fs, .cause = cause, .alone_text = "",
                               .interaction_text = "" };
}

static json_t *times_json(struct diff_times t)
{
    struct cause_row row = times_row("", t);
    return json_pack("{s:f, s:I, s:f, s:I}", "step_time_s", row.step_time_s, "step_time_ps", (json_int_t)t.step_ps, "sample_time_s",
                     row.sample_time_s, "sample_time_fs", (json_int_t)t.sample_fs);
}

static void add_cause(struct table *t, const struct diff_cause *c, struct arena *a)
{
    struct cause_row row = times_row(c->what, c->change);
    struct diff_times rest = { c->change.step_ps - c->alone.step_ps, c->change.sample_fs - c->alone.sample_fs };
    row.alone_text = c->possible_alone ? arena_printf(a, "%+.6g s", 1e-12 * (double)c->alone.step_ps) : "not possible";
    if (c->possible_alone && rest.step_ps)
        row.interaction_text = arena_printf(a, "%+.6g s", 1e-12 * (double)rest.step_ps);
    row.set = json_words(c->sets, c->n_sets);
    row.alone = c->possible_alone ? times_json(c->alone) : NULL;
    row.interaction = c->possible_alone ? times_json(rest) : NULL;
    table_add(t, &row, a);
}

static struct table *add_causes_table(struct document *d, unsigned format)
{
    struct table *t = document_table(d, TABLE(cause_columns, struct cause_row));
    t->name = "causes";
    t->indent = "  ";
    t->formats = format;
    return t;
}

static void add_causes_text(struct document *d, const struct diff *diff)
{
    const char *idle = NULL;
    document_line(d, "causes, applied to A one after the other: recipe keys, then sheet values");
    struct table *t = add_causes_table(d, IN_TEXT);
    for (size_t i = 0; i < diff->n; i++)
        if (changes_nothing(&diff->causes[i]))
            idle = arena_printf(d->arena, "%s%s%s", idle ? idle : "", idle ? ", " : "", diff->causes[i].what);
        else
            add_cause(t, &diff->causes[i], d->arena);
    if (diff->rest.step_ps || diff->rest.sample_fs)
        add_cause(t, &(struct diff_cause){ .what = "not stated by any key or value", .change = diff->rest, .possible_alone = true, .alone = diff->rest },
                  d->arena);
    struct cause_row sum = times_row("sum", diff->whole);
    table_add(t, &sum, d->arena);
    if (idle)
        document_line(d, "  no effect on the step: %s", idle);
}

/* ---- both sides --------------------------------------------------------------------------------------- */

static const struct table_column side_columns[] = {
#define C(member) { COLUMN(struct result, member) }
    C(id), C(system), C(step_time_s), C(throughput_samples_per_s), C(fits),
#undef C
};

static void add_side(struct document *d, const char *name, const char *letter, const struct result *r)
{
    struct table *t = document_table(d, TABLE_OF(side_columns, r, 1));
    t->name = name;
    t->is_object = true;
    t->formats = IN_JSON;
    document_line(d, "%s %s: %.6g s per step, %.6g samples/s, %s", letter, r->id, r->step_time_s, r->throughput_samples_per_s,
                  r->fits ? "fits" : "does not fit");
}

void diff_document(struct document *d, const struct diff *diff)
{
    struct diff_times a = { llround(diff->a.step_time_s * 1e12), llround(1e15 / diff->a.throughput_samples_per_s) };
    add_side(d, "a", "A", &diff->a);
    add_side(d, "b", "B", &diff->b);
    document_line(d, "B against A: %+.4g %% time per step, %+.4g %% time per sample\n", per_cent(diff->whole.step_ps, a.step_ps),
                  per_cent(diff->whole.sample_fs, a.sample_fs));
    add_causes_text(d, diff);
    document_gap(d);
    diff_parts_document(d, &diff->a, &diff->b);
    struct table *causes = add_causes_table(d, IN_JSON);
    for (size_t i = 0; i < diff->n; i++)
        add_cause(causes, &diff->causes[i], d->arena);
    document_member(d, "difference", times_json(diff->whole));
    document_member(d, "rest", times_json(diff->rest));
    document_member(d, "order", json_string("keys of the recipe as podbench list keys has them, then sheet values, outermost sheet first"));
    document_member(d, "parts", diff_parts_json(&diff->a, &diff->b));
}

/* ---- parts ------------------------------------------------------------------------------------ */

void diff_print_parts_line(FILE *f, const struct result *a, const struct result *b)
{
    enum { SHOWN = 3 };
    struct diff_parts d = diff_parts(a, b);
    enum part parts[N_PARTS];
    double sizes[N_PARTS];
    int64_t rest = d.whole_ps, of = llround(a->step_time_s * 1e12);
    for (int k = 0; k < N_PARTS; k++)
        sizes[k] = (double)d.part_ps[k];
    parts_by_size(parts, sizes);
    fprintf(f, "%s: step %+.3g %%", b->id, per_cent(d.whole_ps, of));
    for (int k = 0; k < SHOWN && d.part_ps[parts[k]]; k++) {
        fprintf(f, "%s%s %+.3g", k ? ", " : ": ", part_names[parts[k]], per_cent(d.part_ps[parts[k]], of));
        rest -= d.part_ps[parts[k]];
    }
    fprintf(f, rest ? ", others %+.3g\n" : "\n", per_cent(rest, of));
}

struct part_row { double change_s; const char *part, *from_to; };
static const struct table_column part_columns[] = {
#define C(member, ...) { COLUMN(struct part_row, member), .heading = "", __VA_ARGS__ }
    C(change_s, .format = "%+.6g s"), C(part), C(from_to),
#undef C
};

static void add_part_row(struct table *t, int64_t change_ps, const char *part, const char *from_to, struct arena *a)
{
    struct part_row row = { 1e-12 * (double)change_ps, part, from_to };
    table_add(t, &row, a);
}

void diff_parts_document(struct document *d, const struct result *a, const struct result *b)
{
    struct diff_parts p = diff_parts(a, b);
    document_line(d, "%s: what the step is spent on, mean of the IPUs", b->id);
    struct table *t = document_table(d, TABLE(part_columns, struct part_row));
    t->indent = "  ";
    t->formats = IN_TEXT;
    for (int k = 0; k < N_PARTS; k++)
        if (p.part_ps[k])
            add_part_row(t, p.part_ps[k], part_names[k], arena_printf(d->arena, "%.6g -> %.6g s", a->breakdown_s[k], b->breakdown_s[k]), d->arena);
    if (p.rounding_ps)
        add_part_row(t, p.rounding_ps, "rounding", "", d->arena);
    add_part_row(t, p.whole_ps, "sum", arena_printf(d->arena, "%.6g -> %.6g s", a->step_time_s, b->step_time_s), d->arena);
}

json_t *diff_parts_json(const struct result *a, const struct result *b)
{
    struct diff_parts d = diff_parts(a, b);
    json_t *o = json_object();
    for (int k = 0; k < N_PARTS; k++)
        json_object_set_new(o, part_names[k], json_real(1e-12 * (double)d.part_ps[k]));
    json_object_set_new(o, "rounding", json_real(1e-12 * (double)d.rounding_ps));
    return o;
}
