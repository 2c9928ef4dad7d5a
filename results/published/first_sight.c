/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * first_sight.c - what was predicted for each published row when it was first simulated; see published.h.
 */
#include "results/published/published.h"
#include "workloads/recipe/recipe.h"

#define F(member, ...) FIELD_OF(struct sight, member, __VA_ARGS__)
static const struct field sight_fields[] = { F(id, .required = true), F(seen, .required = true), F(recipe, .required = true), F(version, .required = true),
    F(predicted, FIELD_ANY, .required = true), F(low, FIELD_ANY), F(high, FIELD_ANY), F(open_low, FIELD_ANY), F(open_high, FIELD_ANY) };
#undef F

static const char *const seen_names[] = { "first", "again", NULL };

const char first_sight_name[] = "first-sight";
const char first_sight_header[] = "id,seen,recipe,version,predicted,low,high,open_low,open_high\n";

static int by_id_and_kind(const void *x, const void *y)
{
    const struct sight *a = x, *b = y;
    int order = strcmp(a->id, b->id);
    return order ? order : strcmp(b->seen, a->seen);
}

/* Numbers the batches: consecutive lines "first" of one version form a batch. */
static void number_batches(struct first_sight *all)
{
    const char *version = "";
    size_t batch = 0;
    for (size_t i = 0; i < all->n; i++) {
        struct sight *s = &all->items[i];
        batch += text_is(s->seen, "first") && !text_is(s->version, version);
        version = text_is(s->seen, "first") ? s->version : version;
        s->batch = batch;
    }
}

bool first_sight_load(struct first_sight *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct first_sight){ 0 };
    if (!LIST_LOAD(out, &t, path, sight_fields, a, err))
        return false;
    for (size_t i = 0; i < out->n; i++)
        if (!text_is(out->items[i].seen, seen_names[0]) && !text_is(out->items[i].seen, seen_names[1]))
            return fail(err, "%s:%u: seen: '%.40s' is not one of: first, again", path, t.rows[i].line, out->items[i].seen);
    number_batches(out);
    sort_items(out->items, out->n, sizeof *out->items, by_id_and_kind);
    for (size_t i = 1; i < out->n; i++)
        if (by_id_and_kind(&out->items[i - 1], &out->items[i]) == 0)
            return fail(err, "%s: %s has two lines '%s'; want one", path, out->items[i].id, out->items[i].seen);
    return true;
}

const struct sight *first_sight_find(const struct first_sight *all, const char *id, bool by_later_program)
{
    struct sight key = { .id = id, .seen = "again" };
    const struct sight *found = by_later_program && all->n ? bsearch(&key, all->items, all->n, sizeof key, by_id_and_kind) : NULL;
    key.seen = "first";
    return found || !all->n ? found : bsearch(&key, all->items, all->n, sizeof key, by_id_and_kind);
}

/* Writes an interval as two cells, which are empty if there is no interval. */
static void write_pair(FILE *f, double low, double high)
{
    if (high > 0)
        fprintf(f, ",%.10g,%.10g", low, high);
    else
        fputs(",,", f);
}

void first_sight_write(FILE *f, const struct sight *s)
{
    fprintf(f, "%s,%s,%s,%s,%.10g", s->id, s->seen, s->recipe, s->version, s->predicted);
    write_pair(f, s->low, s->high);
    write_pair(f, s->open_low, s->open_high);
    fputc('\n', f);
}

/* Appends the hash of one recipe to `text`, separated by +. */
static bool add_recipe_hash(const char **text, const struct figure *f, const char *name, size_t n, const char *recipes_dir, struct arena *a, struct err *err)
{
    struct recipe r;
    const char *hash, *recipe = path_beside(f->path, arena_printf(a, "%.*s", (int)n, name), a);
    if (!recipe_load(&r, recipe, recipes_dir, NULL, 0, a, err) || !recipe_hash(&hash, &r, NULL, a, err))
        return false;
    *text = arena_printf(a, "%s%s%s", *text, **text ? "+" : "", hash);
    return true;
}

bool figure_recipe_hash(const char **out, const struct figure *f, const char *recipes_dir, struct arena *a, struct err *err)
{
    *out = "";
    if (f->kernel || f->link) {
        *out = arena_printf(a, "%016" PRIx64, hash_bytes(f->recipe, strlen(f->recipe) + 1, 0));
        return true;
    }
    for (const char *at = f->recipe; *at;) {
        size_t n = strcspn(at, ":+");
        if (!add_recipe_hash(out, f, at, n, recipes_dir, a, err))
            return false;
        at += n + (at[n] != 0);
    }
    return true;
}
