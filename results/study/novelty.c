/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * novelty.c - errors of first predictions, by how new the run was; see novelty.h.
 *
 * A row was known if an earlier version had it in first-sight.csv. Rows first seen by one version were seen together and do not know each
 * other. Properties are those of today's recipe. ONNX files whose names differ only in a number at the end are of one family, since one model
 * is often exported at several sizes.
 */
#include "results/study/novelty.h"
#include <ctype.h>

const char *const novelty_names[N_NOVELTIES] = { "nothing known yet", "program and machine known", "family known", "new family", "new framework or host" };

/* One row, its properties, and when it was first seen: `batch` is the place of its version in the table. */
struct candidate {
    struct first_seen row;
    const char *family;
    bool in_call, is_shared;            /* in_call: the host prepares input within the call; is_shared: one process feeds several replicas */
    struct properties at;
    size_t batch;
};
struct candidates_seen { struct candidate *items; size_t n, cap; };

/* "graphs/yolov4-p5-416.onnx" -> "yolov4-p5" */
static const char *file_family(const char *path, struct arena *a)
{
    const char *name = path_name(path);
    size_t n = strcspn(name, ".");
    size_t end = n;
    while (end && isdigit((unsigned char)name[end - 1]))
        end--;
    return arena_printf(a, "%.*s", (int)(end && end < n && name[end - 1] == '-' ? end - 1 : n), name);
}

static void describe_candidate(struct candidate *c, const struct simulation *sim, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    c->at = properties_of(sim, a);
    c->family = recipe_workload(r)->traits & IS_FILE ? file_family(r->workload, a) : c->at.name[BY_FAMILY];
    c->in_call = sim->plan.request.program.host_data == HOST_DATA_IN_CALL;
    c->is_shared = r->replicas > r->instances;
}

static bool is_seen_before(const struct candidates_seen *all, const struct figure *f)
{
    for (size_t i = 0; i < all->n; i++)
        if (text_is(all->items[i].row.figure->configuration, f->configuration))
            return true;
    return false;
}

static bool add_seen_candidate(struct candidates_seen *all, const struct figure *f, const struct first_sight *seen, struct simulator *s, struct arena *a, struct err *err)
{
    const struct sight *then = first_sight_find(seen, f->id, false), *again = first_sight_find(seen, f->id, true);
    struct simulation sim;
    struct result r;
    if (!text_is(f->metric, "throughput_samples_per_s") || !*f->recipe || !then || is_seen_before(all, f))
        return true;
    const char *recipe = path_beside(f->path, f->recipe, a);
    if (recipe_is_missing(recipe, s->paths->recipes_dir, a))
        return true;
    if (!simulator_run(s, &sim, &r, recipe, NULL, 0, err))
        return false;
    struct candidate c = { .row = { .figure = f, .error_then = fabs(then->predicted / f->value - 1), .error_again = fabs(again->predicted / f->value - 1),
                                    .error_now = fabs(r.throughput_samples_per_s / f->value - 1),
                                    .ratio_then = then->predicted / f->value, .ratio_now = r.throughput_samples_per_s / f->value }, .batch = then->batch };
    describe_candidate(&c, &sim, a);
    simulation_free(&sim);
    LIST_ADD(all, a, c);
    return true;
}

static bool same_name(const struct candidate *x, const struct candidate *y, enum program_name p)
{
    return property_names_equal(&x->at, &y->at, p);
}

static enum novelty novelty_of(const struct candidate *c, const struct candidates_seen *all)
{
    bool any = false, around = false, family = false, program = false;
    for (const struct candidate *o = all->items; o < all->items + all->n; o++) {
        if (o->batch >= c->batch)
            continue;
        bool same_family = text_is(o->family, c->family) && same_name(o, c, BY_MODE), same_framework = same_name(o, c, BY_FRAMEWORK);
        any = true;
        around |= same_framework && same_name(o, c, BY_MODE) && o->in_call == c->in_call && (o->is_shared || !c->is_shared);
        family |= same_family;
        program |= same_family && same_framework && same_name(o, c, BY_WORKLOAD) && same_name(o, c, BY_CHIP);
    }
    if (!any)
        return NOVELTY_ALL;
    if (!around)
        return NOVELTY_NEW_AROUND;
    return !family ? NOVELTY_NEW_FAMILY : program ? NOVELTY_KNOWN : NOVELTY_FAMILY_KNOWN;
}

bool first_seen_build(struct first_seen_rows *out, const struct figures *figures, const struct first_sight *seen, struct simulator *simulator, struct arena *a,
                      struct err *err)
{
    struct candidates_seen all = { 0 };
    *out = (struct first_seen_rows){ 0 };
    for (size_t i = 0; i < figures->n; i++)
        if (!add_seen_candidate(&all, &figures->items[i], seen, simulator, a, err))
            return false;
    for (size_t i = 0; i < all.n; i++) {
        all.items[i].row.novelty = novelty_of(&all.items[i], &all);
        LIST_ADD(out, a, all.items[i].row);
    }
    return true;
}

/* ---- by kind ------------------------------------------------------------------------------------------------ */

static void describe_errors(double *median, double *mean, double *max, double *x, size_t n, struct arena *scratch)
{
    *mean = statistics_mean(x, n);
    *max = 0;
    for (size_t i = 0; i < n; i++)
        *max = fmax(*max, x[i]);
    *median = statistics_median(x, n, scratch);
}

/* The errors of one kind of novelty; N_NOVELTIES stands for all rows. */
static struct first_seen_group group_of(const struct first_seen_rows *rows, int kind, struct arena *scratch)
{
    struct first_seen_group g = { .kind = kind < N_NOVELTIES ? novelty_names[kind] : "all" };
    double *then = ARENA_ROOM(scratch, double, rows->n), *again = ARENA_ROOM(scratch, double, rows->n), *now = ARENA_ROOM(scratch, double, rows->n);
    for (size_t i = 0; i < rows->n; i++) {
        const struct first_seen *r = &rows->items[i];
        if (kind < N_NOVELTIES && (int)r->novelty != kind)
            continue;
        then[g.n] = r->error_then;
        again[g.n] = r->error_again;
        now[g.n++] = r->error_now;
    }
    if (g.n) {
        describe_errors(&g.then_median, &g.then_mean, &g.then_max, then, g.n, scratch);
        describe_errors(&g.again_median, &g.again_mean, &g.again_max, again, g.n, scratch);
        describe_errors(&g.now_median, &g.now_mean, &g.now_max, now, g.n, scratch);
    }
    return g;
}

size_t first_seen_groups(struct first_seen_group out[N_NOVELTIES + 1], const struct first_seen_rows *rows, struct arena *scratch)
{
    size_t n = 0;
    for (int kind = 0; kind <= N_NOVELTIES; kind++) {
        out[n] = group_of(rows, kind, scratch);
        n += out[n].n > 0;
    }
    return n;
}

#define PER_CENT(member, column, text) { COLUMN_AS(struct first_seen_group, member, column), .heading = text, .format = "%.1f", .scale = 100 }
static const struct table_column group_columns[] = {
    { COLUMN(struct first_seen_group, kind), .heading = "when first seen" }, { COLUMN_AS(struct first_seen_group, n, "configurations"), .heading = "conf" },
    PER_CENT(then_median, "first_median_abs_error", "first median %"), PER_CENT(then_mean, "first_mean_abs_error", "mean %"), PER_CENT(then_max, "first_max_abs_error", "max %"),
    PER_CENT(again_median, "first_recipe_median_abs_error", "first recipe median %"), PER_CENT(again_mean, "first_recipe_mean_abs_error", "mean %"),
    PER_CENT(again_max, "first_recipe_max_abs_error", "max %"), PER_CENT(now_median, "today_median_abs_error", "today median %"),
    PER_CENT(now_mean, "today_mean_abs_error", "mean %"), PER_CENT(now_max, "today_max_abs_error", "max %"),
};
#undef PER_CENT

struct table first_seen_table(const struct first_seen_group *groups, size_t n)
{
    struct table t = TABLE_OF(group_columns, groups, n);
    t.name = "first_sight";
    return t;
}
