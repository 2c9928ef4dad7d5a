/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff_print.c - a difference as text and as JSON: the causes with their sum, then the parts of the breakdown with theirs.
 */
#include "results/study/diff.h"

#include <jansson.h>

static double per_cent(int64_t change, int64_t of)
{
    return of ? 100 * (double)change / (double)of : 0;
}

/* ---- causes --------------------------------------------------------------------------------------- */

/* The unit of a column of times: the longer time has up to three digits before the point. One unit makes sizes comparable. */
struct time_scale { const char *unit; double by; };

static struct time_scale time_scale_of(double longest_s)
{
    return longest_s < 1e-3 ? (struct time_scale){ "us", 1e6 } : longest_s < 1 ? (struct time_scale){ "ms", 1e3 } : (struct time_scale){ "s", 1 };
}

static const char *time_change_text(double seconds, struct time_scale scale, struct arena *a)
{
    return arena_printf(a, "%+.3f %s", seconds * scale.by, scale.unit);
}

static bool shows_as_nothing(double seconds, struct time_scale scale)
{
    return fabs(seconds * scale.by) < 0.0005;
}

struct diff_scales { struct time_scale step, sample; };

static struct diff_scales scales_of(const struct diff *d)
{
    return (struct diff_scales){ time_scale_of(fmax(d->a.step_time_s, d->b.step_time_s)),
                                 time_scale_of(1 / fmin(d->a.throughput_samples_per_s, d->b.throughput_samples_per_s)) };
}

struct cause_row {
    double step_time_s; int64_t step_time_ps; double sample_time_s; int64_t sample_time_fs;
    const char *cause; json_t *set, *alone, *interaction;
    const char *step_text, *sample_text, *alone_text, *interaction_text, *order_text;
};
#define C(member) { COLUMN(struct cause_row, member) }
#define SHOWN(member, shown) { COLUMN_AS(struct cause_row, member, NULL), .heading = shown, .aligns_right = true }
static const struct table_column cause_columns[] = {
    C(step_time_s), C(step_time_ps), C(sample_time_s), C(sample_time_fs), C(cause), C(set), C(alone), C(interaction),
};
static const struct table_column cause_text_columns[] = {
    SHOWN(step_text, "per step"), SHOWN(sample_text, "per sample"), SHOWN(alone_text, "alone, on A"), SHOWN(interaction_text, "interaction"),
    SHOWN(order_text, "order"), { COLUMN_AS(struct cause_row, cause, NULL), .heading = "" },
};
#undef SHOWN
#undef C

static bool changes_nothing(const struct diff_cause *c)
{
    return !c->change.step_ps && !c->change.sample_fs && !c->alone.step_ps && !c->alone.sample_fs;
}

static struct cause_row times_row(const char *cause, struct diff_times t)
{
    return (struct cause_row){ 1e-12 * (double)t.step_ps, t.step_ps, 1e-15 * (double)t.sample_fs, t.sample_fs, .cause = cause };
}

static json_t *times_json(struct diff_times t)
{
    struct cause_row row = times_row("", t);
    return json_pack("{s:f, s:I, s:f, s:I}", "step_time_s", row.step_time_s, "step_time_ps", (json_int_t)t.step_ps, "sample_time_s",
                     row.sample_time_s, "sample_time_fs", (json_int_t)t.sample_fs);
}

static struct diff_times interaction_of(const struct diff_cause *c)
{
    return (struct diff_times){ c->change.step_ps - c->alone.step_ps, c->change.sample_fs - c->alone.sample_fs };
}

static void add_cause(struct table *t, const struct diff_cause *c, struct arena *a)
{
    struct cause_row row = times_row(c->what, c->change);
    row.set = json_words(c->sets, c->n_sets);
    row.alone = c->possible_alone ? times_json(c->alone) : NULL;
    row.interaction = c->possible_alone ? times_json(interaction_of(c)) : NULL;
    table_add(t, &row, a);
}

/* An `order` of 0 marks a row that is no change, such as the sum. */
static void add_cause_text(struct table *t, const struct diff_cause *c, size_t order, struct diff_scales scales, struct arena *a)
{
    struct cause_row row = times_row(c->what, c->change);
    int64_t rest_ps = interaction_of(c).step_ps;
    row.step_text = time_change_text(row.step_time_s, scales.step, a);
    row.sample_text = time_change_text(row.sample_time_s, scales.sample, a);
    row.alone_text = !order ? "" : c->possible_alone ? time_change_text(1e-12 * (double)c->alone.step_ps, scales.step, a) : "not possible";
    row.interaction_text = order && c->possible_alone && rest_ps ? time_change_text(1e-12 * (double)rest_ps, scales.step, a) : "";
    row.order_text = order ? arena_printf(a, "%zu", order) : "";
    table_add(t, &row, a);
}

/* Sorts changes by the size of their effect on a sample, largest first. */
static int compare_cause_sizes(const void *a, const void *b)
{
    const struct diff_cause *x = *(const struct diff_cause *const *)a, *y = *(const struct diff_cause *const *)b;
    int64_t of_x = llabs(x->change.sample_fs), of_y = llabs(y->change.sample_fs);
    return of_x != of_y ? (of_x < of_y ? 1 : -1) : x < y ? -1 : x > y;
}

static bool is_small(const struct diff_cause *c, struct diff_scales s)
{
    return shows_as_nothing(1e-12 * (double)c->change.step_ps, s.step) && shows_as_nothing(1e-15 * (double)c->change.sample_fs, s.sample)
        && shows_as_nothing(1e-12 * (double)c->alone.step_ps, s.step);
}

static void name_cause(const char **names, const struct diff_cause *c, struct arena *a)
{
    *names = arena_printf(a, "%s%s%s", *names ? *names : "", *names ? ", " : "", c->what);
}

static void add_causes_text(struct document *d, const struct diff *diff)
{
    const char *idle = NULL, *small = NULL;
    struct diff_scales scales = scales_of(diff);
    const struct diff_cause **by_size = ARENA_ROOM(d->arena, const struct diff_cause *, diff->n);
    document_line(d, "causes, the largest first; order is that in which they are applied to A");
    struct table *t = document_table(d, TABLE(cause_text_columns, struct cause_row, .indent = "  ", .formats = IN_TEXT));
    for (size_t i = 0; i < diff->n; i++)
        by_size[i] = &diff->causes[i];
    qsort(by_size, diff->n, sizeof *by_size, compare_cause_sizes);
    for (size_t i = 0; i < diff->n; i++)
        if (changes_nothing(by_size[i]))
            name_cause(&idle, by_size[i], d->arena);
        else if (is_small(by_size[i], scales))
            name_cause(&small, by_size[i], d->arena);
        else
            add_cause_text(t, by_size[i], 1 + (size_t)(by_size[i] - diff->causes), scales, d->arena);
    if (diff->rest.step_ps || diff->rest.sample_fs)
        add_cause_text(t, &(struct diff_cause){ .what = "not stated by any key or value", .change = diff->rest }, 0, scales, d->arena);
    add_cause_text(t, &(struct diff_cause){ .what = "sum", .change = diff->whole }, 0, scales, d->arena);
    if (small)
        document_line(d, "  too small to show: %s", small);
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
    document_table(d, TABLE_OF(side_columns, r, 1, .name = name, .is_object = true, .formats = IN_JSON));
    document_line(d, "%s %s: %s per step, %.6g samples/s, %s", letter, r->id, quantity_kept(r->step_time_s, "s", 6, d->arena), r->throughput_samples_per_s,
                  r->fits ? "fits" : "does not fit");
}

void diff_document(struct document *d, const struct diff *diff)
{
    struct diff_times a = { llround(diff->a.step_time_s * 1e12), llround(1e15 / diff->a.throughput_samples_per_s) };
    add_side(d, "a", "A", &diff->a);
    add_side(d, "b", "B", &diff->b);
    document_line(d, "B against A: %+.2f %% time per step, %+.2f %% time per sample\n", per_cent(diff->whole.step_ps, a.step_ps),
                  per_cent(diff->whole.sample_fs, a.sample_fs));
    add_causes_text(d, diff);
    document_gap(d);
    diff_parts_document(d, &diff->a, &diff->b);
    struct table *causes = document_table(d, TABLE(cause_columns, struct cause_row, .name = "causes", .formats = IN_JSON));
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

struct part_row { const char *change, *part, *from, *to; };
static const struct table_column part_columns[] = {
#define C(member, ...) { COLUMN(struct part_row, member), .heading = "", __VA_ARGS__ }
    C(change, .aligns_right = true), C(part), C(from, .aligns_right = true), C(to, .aligns_right = true),
#undef C
};

static void add_part_row(struct table *t, int64_t change_ps, const char *part, const double *from_s, const double *to_s, struct time_scale scale, struct arena *a)
{
    struct part_row row = { time_change_text(1e-12 * (double)change_ps, scale, a), part, "", "" };
    if (from_s) {
        row.from = arena_printf(a, "%.3f ->", *from_s * scale.by);
        row.to = arena_printf(a, "%.3f %s", *to_s * scale.by, scale.unit);
    }
    table_add(t, &row, a);
}

void diff_parts_document(struct document *d, const struct result *a, const struct result *b)
{
    struct diff_parts p = diff_parts(a, b);
    struct time_scale scale = time_scale_of(fmax(a->step_time_s, b->step_time_s));
    enum part parts[N_PARTS];
    double sizes[N_PARTS];
    document_line(d, "%s: what the step is spent on, mean of the IPUs; the largest change first", b->id);
    struct table *t = document_table(d, TABLE(part_columns, struct part_row, .indent = "  ", .formats = IN_TEXT));
    for (int k = 0; k < N_PARTS; k++)
        sizes[k] = fabs((double)p.part_ps[k]);
    parts_by_size(parts, sizes);
    for (int i = 0, k; i < N_PARTS && p.part_ps[k = parts[i]]; i++)
        add_part_row(t, p.part_ps[k], part_names[k], &a->breakdown_s[k], &b->breakdown_s[k], scale, d->arena);
    if (p.rounding_ps && !shows_as_nothing(1e-12 * (double)p.rounding_ps, scale))
        add_part_row(t, p.rounding_ps, "rounding", NULL, NULL, scale, d->arena);
    add_part_row(t, p.whole_ps, "sum", &a->step_time_s, &b->step_time_s, scale, d->arena);
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
