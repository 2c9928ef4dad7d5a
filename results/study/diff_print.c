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

static bool changes_nothing(const struct diff_cause *c)
{
    return !c->change.step_ps && !c->change.sample_fs && !c->alone.step_ps && !c->alone.sample_fs;
}

static void print_times(FILE *f, struct diff_times t)
{
    fprintf(f, "%+14.6g s %+14.6g us", 1e-12 * (double)t.step_ps, 1e-9 * (double)t.sample_fs);
}

static void print_cause(FILE *f, const struct diff_cause *c)
{
    fputs("  ", f);
    print_times(f, c->change);
    if (!c->possible_alone)
        fprintf(f, "  %14s  ", "not possible");
    else
        fprintf(f, "  %+12.6g s  ", 1e-12 * (double)c->alone.step_ps);
    if (c->possible_alone && c->alone.step_ps != c->change.step_ps)
        fprintf(f, "%+12.6g s", 1e-12 * (double)(c->change.step_ps - c->alone.step_ps));
    else
        fprintf(f, "%14s", "");
    fprintf(f, "  %s\n", c->what);
}

static void print_idle(FILE *f, const struct diff *d)
{
    bool any = false;
    for (size_t i = 0; i < d->n; i++)
        if (changes_nothing(&d->causes[i])) {
            fprintf(f, "%s%s", any ? ", " : "  no effect on the step: ", d->causes[i].what);
            any = true;
        }
    fputs(any ? "\n" : "", f);
}

static void print_causes(FILE *f, const struct diff *d)
{
    fprintf(f, "causes, applied to A one after the other: recipe keys, then sheet values\n"
               "  %16s %17s  %14s  %14s\n", "per step", "per sample", "alone, on A", "interaction");
    for (size_t i = 0; i < d->n; i++)
        if (!changes_nothing(&d->causes[i]))
            print_cause(f, &d->causes[i]);
    if (d->rest.step_ps || d->rest.sample_fs)
        print_cause(f, &(struct diff_cause){ .what = "not stated by any key or value", .change = d->rest, .possible_alone = true, .alone = d->rest });
    fputs("  ", f);
    print_times(f, d->whole);
    fprintf(f, "  sum\n");
    print_idle(f, d);
}

void diff_print(FILE *f, const struct diff *d)
{
    struct diff_times a = { llround(d->a.step_time_s * 1e12), llround(1e15 / d->a.throughput_samples_per_s) };
    fprintf(f, "A %s: %.6g s per step, %.6g samples/s, %s\n", d->a.id, d->a.step_time_s, d->a.throughput_samples_per_s,
            d->a.fits ? "fits" : "does not fit");
    fprintf(f, "B %s: %.6g s per step, %.6g samples/s, %s\n", d->b.id, d->b.step_time_s, d->b.throughput_samples_per_s,
            d->b.fits ? "fits" : "does not fit");
    fprintf(f, "B against A: %+.4g %% time per step, %+.4g %% time per sample\n\n", per_cent(d->whole.step_ps, a.step_ps), per_cent(d->whole.sample_fs, a.sample_fs));
    print_causes(f, d);
    fputc('\n', f);
    diff_print_parts(f, &d->a, &d->b);
}

static json_t *times_json(struct diff_times t)
{
    return json_pack("{s:f, s:I, s:f, s:I}", "step_time_s", 1e-12 * (double)t.step_ps, "step_time_ps", (json_int_t)t.step_ps,
                     "sample_time_s", 1e-15 * (double)t.sample_fs, "sample_time_fs", (json_int_t)t.sample_fs);
}

static json_t *cause_json(const struct diff_cause *c)
{
    json_t *o = times_json(c->change), *sets = json_array();
    for (size_t i = 0; i < c->n_sets; i++)
        json_array_append_new(sets, json_string(c->sets[i]));
    json_object_set_new(o, "cause", json_string(c->what));
    json_object_set_new(o, "set", sets);
    json_object_set_new(o, "alone", c->possible_alone ? times_json(c->alone) : json_null());
    json_object_set_new(o, "interaction", c->possible_alone ? times_json((struct diff_times){ c->change.step_ps - c->alone.step_ps,
                                                                 c->change.sample_fs - c->alone.sample_fs }) : json_null());
    return o;
}

static json_t *side_json(const struct result *r)
{
    return json_pack("{s:s, s:s, s:f, s:f, s:b}", "id", r->id, "system", r->system, "step_time_s", r->step_time_s,
                     "throughput_samples_per_s", r->throughput_samples_per_s, "fits", r->fits);
}

json_t *diff_json(const struct diff *d)
{
    json_t *o = json_object(), *causes = json_array();
    for (size_t i = 0; i < d->n; i++)
        json_array_append_new(causes, cause_json(&d->causes[i]));
    json_object_set_new(o, "a", side_json(&d->a));
    json_object_set_new(o, "b", side_json(&d->b));
    json_object_set_new(o, "difference", times_json(d->whole));
    json_object_set_new(o, "order", json_string("keys of the recipe as podbench list keys has them, then sheet values, outermost sheet first"));
    json_object_set_new(o, "causes", causes);
    json_object_set_new(o, "rest", times_json(d->rest));
    json_object_set_new(o, "parts", diff_parts_json(&d->a, &d->b));
    return o;
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

void diff_print_parts(FILE *f, const struct result *a, const struct result *b)
{
    struct diff_parts d = diff_parts(a, b);
    fprintf(f, "%s: what the step is spent on, mean of the IPUs\n", b->id);
    for (int k = 0; k < N_PARTS; k++)
        if (d.part_ps[k])
            fprintf(f, "  %+14.6g s  %-12s %.6g -> %.6g s\n", 1e-12 * (double)d.part_ps[k], part_names[k], a->breakdown_s[k], b->breakdown_s[k]);
    if (d.rounding_ps)
        fprintf(f, "  %+14.6g s  %-12s\n", 1e-12 * (double)d.rounding_ps, "rounding");
    fprintf(f, "  %+14.6g s  %-12s %.6g -> %.6g s\n", 1e-12 * (double)d.whole_ps, "sum", a->step_time_s, b->step_time_s);
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
