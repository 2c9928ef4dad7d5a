/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * published.c - tables of published figures: what was measured, who published it, and which recipe should reproduce it.
 *
 * The columns are id,recipe,configuration,metric,value,unit,tolerance,role,source,quote,note. A recipe "A:B" is the ratio of two recipes:
 * throughput of A over that of B (speedup_x), or time of B over that of A (time_to_train_speedup_x). A recipe "none:..." says why no recipe
 * describes the row. A table of kernels or of links has the columns of parts.h instead of a recipe. Rows of one configuration count as one
 * measurement; without a cell of its own, a row has its recipe as configuration. The role says whether a figure may shape a constant
 * (calibrate), is only compared (validate), or is shown for context (peers, quotes, figures that no recipe describes). Units of known metrics
 * are fixed, so that no figure is off by a factor of a thousand.
 */
#include "results/published/parts.h"
#include "results/published/published.h"
#include "results/simulate/result.h"
#include <sys/stat.h>

const char *const role_names[N_FIGURE_ROLES + 1] = { "calibrate", "validate", "context", NULL };
const char *const figure_kind_names[N_FIGURE_KINDS] = { "runs", "kernels", "links", "evaluations", "memory", "derived", "power" };

#define F(member, ...) FIELD_OF(struct figure, member, __VA_ARGS__)
static const struct field figure_fields[] = {
    F(id, .required = true), F(metric, .required = true), F(value, .max = 1e100, .required = true), F(unit, .required = true), F(tolerance, .max = 1),
    { .name = "role", .type = FIELD_CHOICE, .offset = offsetof(struct figure, role), .choices = role_names, .required = true },
    F(source, .required = true), F(quote), F(note),
    F(recipe), F(configuration),
};
#undef F

enum { N_NEEDED_COLUMNS = N_FIELDS(figure_fields) - 2 };       /* the last two columns are optional: recipe, which parts lack, and configuration */

#define OF_RUN(unit_name, faster, per_unit, member) unit_name, faster, per_unit, offsetof(struct result, member)
static const struct published_metric published_metrics[] = {
    { "throughput_samples_per_s", OF_RUN("samples/s", +1, 1, throughput_samples_per_s) },
    { "time_to_train_min", OF_RUN("min", -1, 1 / 60.0, time_to_train_s) }, { "latency_s", OF_RUN("s", -1, 1, latency_s) },
    { "samples_to_converge", OF_RUN("samples", -1, 1, samples_to_converge) }, { "step_time_s", OF_RUN("s", -1, 1, step_time_s) },
    { "throughput_tokens_per_s", OF_RUN("tokens/s", +1, 1, throughput_tokens_per_s) }, { "token_latency_s", OF_RUN("s", -1, 1, token_latency_s) },
    { "first_token_s", OF_RUN("s", -1, 1, first_token_s) },
    /* measured in a loop on the device */
    { "device_time_s", OF_RUN("s", -1, 1, device_time_s) }, { "device_cycles", OF_RUN("cycles", -1, 1, loop_cycles) },
    { "codelet_cycles", OF_RUN("cycles", -1, 1, codelet_cycles) },
    { "evaluation_time_s", OF_RUN("s", -1, 1, evaluation_time_s) }, { "time_to_train_s", OF_RUN("s", -1, 1, time_to_train_s) },
    { "ipu_power_w", OF_RUN("W", -1, 1, ipu_power_w) }, { "mfu", OF_RUN("share", +1, 1, mfu) }, { "hfu", OF_RUN("share", +1, 1, hfu) },
    { "speedup_x", "x", +1, 0, 0 }, { "time_to_train_speedup_x", "x", +1, 0, 0 },                                     /* ratios of two runs */
    { "fits", "yes=1", +1, 0, 0 }, { "entities", "entities", +1, 0, 0 },                                                                                    /* memory */
    { "tflop_per_s", NULL, +1, 0, 0 }, { "peak_share", NULL, +1, 0, 0 }, { "time_s", NULL, -1, 0, 0 }, { "cycles", NULL, -1, 0, 0 }, { "energy_above_idle_j", "J", -1, 0, 0 }, /* kernels */
    { "nonzero_tflop_per_s", NULL, +1, 0, 0 }, { "speed_over_dense_x", "ratio", +1, 0, 0 },                           /* metrics of sparse products */
    { "aggregate_gb_per_s", NULL, +1, 0, 0 }, { "latency_us", NULL, -1, 0, 0 },                                       /* links */
    { "loop_s_per_micro_batch", "s", -1, 0, 0 }, { "update_s", "s", -1, 0, 0 }, { "forward_s_per_micro_batch", "s", -1, 0, 0 },  /* derived */
    { "call_s", "s", -1, 0, 0 }, { "step_increase_s", "s", -1, 0, 0 }, { "batch_s_per_sample", "s", -1, 0, 0 }, { "batch_fixed_s", "s", -1, 0, 0 },
};
#undef OF_RUN
enum { N_PUBLISHED_METRICS = sizeof published_metrics / sizeof *published_metrics };

/* The metric of all numbers of bytes in a category of memory. */
static const struct published_metric memory_metric = { "bytes", "B", -1, 0, 0 };

static bool is_memory_metric(const char *name)
{
    size_t n = strlen(name);
    return text_is(name, "fits") || (n > 6 && text_is(name + n - 6, "_bytes"));
}

const struct published_metric *published_metric(const char *name)
{
    for (size_t i = 0; i < N_PUBLISHED_METRICS; i++)
        if (text_is(published_metrics[i].name, name))
            return &published_metrics[i];
    return is_memory_metric(name) ? &memory_metric : NULL;
}

const char *published_run_metrics(struct arena *a)
{
    const char *names[N_PUBLISHED_METRICS];
    size_t n = 0;
    for (size_t i = 0; i < N_PUBLISHED_METRICS; i++)
        if (published_metrics[i].per_unit > 0)
            names[n++] = published_metrics[i].name;
    return names_list(names, n, a);
}

int metric_faster(const char *metric)
{
    const struct published_metric *m = published_metric(metric);
    return m ? m->faster : 0;
}

static bool check_unit(const struct figure *f, struct err *err)
{
    const struct published_metric *m = published_metric(f->metric);
    if (m && m->unit && !text_is(m->unit, f->unit))
        return fail(err, "%s:%u: unit: '%.40s', want '%s' for %s", f->path, f->line, f->unit, m->unit, f->metric);
    return true;
}

/* Finds the first word "owner/name" in the text's first n characters and returns its name, or NULL. */
static const char *repository_in(const char *text, size_t n, size_t *length)
{
    static const char ends[] = " ;,:@()";
    for (size_t i = 0; i < n; i += strspn(text + i, ends)) {
        size_t word = strcspn(text + i, ends);
        const char *slash = memchr(text + i, '/', word);
        if (slash && slash > text + i) {
            *length = strcspn(slash + 1, "/ ;,:@()");
            return slash + 1;
        }
        i += word;
    }
    return NULL;
}

const char *figure_origin(const struct figure *f, struct arena *a)
{
    static const char marker[] = "github ";
    const char *source = f->source, *open = strchr(source, '('), *marked = strstr(source, marker), *name = NULL;
    size_t head = strcspn(source, ";:,(@"), length = 0;
    bool in_brackets = marked && open && open < marked && !memchr(open, ')', (size_t)(marked - open));
    if (marked && !in_brackets)
        name = repository_in(marked + sizeof marker - 1, strlen(marked + sizeof marker - 1), &length);
    if (!name)
        name = repository_in(source, head, &length);
    if (name)
        return arena_printf(a, "%.*s", (int)length, name);
    while (head > 0 && source[head - 1] == ' ')
        head--;
    return arena_printf(a, "%.*s", (int)head, source);
}

bool figure_is_ratio(const struct figure *f)
{
    return text_is(f->metric, "speedup_x") || text_is(f->metric, "time_to_train_speedup_x");
}

enum figure_kind figure_kind(const struct figure *f)
{
    if (f->n_parents)
        return FIGURE_DERIVED;
    if (is_memory_metric(f->metric))
        return FIGURE_OF_MEMORY;
    if (text_is(f->metric, "ipu_power_w") || text_is(f->metric, "energy_above_idle_j"))
        return FIGURE_OF_POWER;
    if (f->kernel || f->link)
        return f->kernel ? FIGURE_OF_KERNEL : FIGURE_OF_LINK;
    return text_is(f->metric, "evaluation_time_s") ? FIGURE_OF_EVALUATION : FIGURE_OF_RUN;
}

static const char none[] = "none:", needs[] = "needs ";

/* Splits "none:REASON", leaving the recipe empty. Rows of parts need neither a recipe nor a reason. */
static bool read_reason(struct figure *f, struct err *err)
{
    if (f->kernel || f->link || (*f->recipe && strncmp(f->recipe, none, strlen(none)) != 0))
        return true;
    const char *reason = *f->recipe ? f->recipe + strlen(none) : "";
    f->without = reason;
    f->recipe = "";
    if (TEXT_IS_ONE_OF(reason, "peer", "not stated", "no run"))
        return true;
    bool is_need = strncmp(reason, needs, strlen(needs)) == 0 && reason[strlen(needs)];
    return is_need || fail(err, "%s:%u: recipe: '%.80s' is no recipe; want the id of a recipe, or one of these reasons: none:needs A CAPABILITY, none:not stated (the configuration), "
                         "none:peer (another vendor's), none:no run (a property)", f->path, f->line, f->without);
}

/* Checks the form of the recipe cell: "A:B" for ratios, one id for other metrics, or empty. */
static bool check_recipe(const struct figure *f, struct err *err)
{
    const char *colon = strchr(f->recipe, ':');
    if (f->kernel || f->link)
        return true;
    if (strncmp(f->recipe, "kernel:", 7) == 0 || strncmp(f->recipe, "link:", 5) == 0)
        return fail(err, "%s:%u: recipe: '%.80s': state a kernel or a link in columns, as kernels.csv and links.csv do", f->path, f->line, f->recipe);
    if (*f->recipe && figure_is_ratio(f) && (!colon || colon == f->recipe || !colon[1] || strchr(colon + 1, ':')))
        return fail(err, "%s:%u: recipe: '%.80s', want two ids, A:B, for %s", f->path, f->line, f->recipe, f->metric);
    if (colon && !figure_is_ratio(f))
        return fail(err, "%s:%u: recipe: '%.80s' are two ids, want one for %s", f->path, f->line, f->recipe, f->metric);
    return true;
}

enum role role_named(const char *text)
{
    int i = 0;
    while (i < N_FIGURE_ROLES && !text_is(role_names[i], text))
        i++;
    return (enum role)i;
}

/* Checks the value, which must be large enough that ratios cannot overflow, and the tolerance, which only context rows may omit. */
static bool check_numbers(const struct figure *f, struct err *err)
{
    static const double least = 1e-100;
    bool does_not_fit = text_is(f->metric, "fits") && f->value == 0;
    if (f->value < least && !does_not_fit)
        return fail(err, "%s:%u: value: %.10g is outside %g to %g", f->path, f->line, f->value, least, 1 / least);
    if (!(f->tolerance > 0) && (f->role != FIGURE_CONTEXT || f->tolerance == 0))
        return fail(err, "%s:%u: tolerance: want a share above 0 and up to 1, as in 0.1 for 10 %%", f->path, f->line);
    return true;
}

/* Refuses an id that appears twice, in one table or in two. */
static bool check_figure_ids(const struct figures *all, struct arena *a, struct err *err)
{
    size_t earlier, again = first_repeated(&earlier, TEXTS_OF(all->items, all->n, struct figure, id, a), all->n);
    if (again == all->n)
        return true;
    const struct figure *f = &all->items[again], *before = &all->items[earlier];
    return fail(err, "%s:%u: id: '%.80s' is already in %s:%u", f->path, f->line, f->id, before->path, before->line);
}

static int by_recipe(const void *x, const void *y)
{
    const struct figure *a = *(const struct figure *const *)x, *b = *(const struct figure *const *)y;
    int order = strcmp(a->recipe, b->recipe);
    return order ? order : (a > b) - (a < b);
}

/* Refuses rows of one recipe with different configurations; a row with an empty cell would count separately. */
static bool check_configurations(const struct figures *all, struct arena *a, struct err *err)
{
    const struct figure **sorted = ARENA_ARRAY(a, const struct figure *, all->n);
    for (size_t i = 0; i < all->n; i++)
        sorted[i] = &all->items[i];
    sort_items(sorted, all->n, sizeof *sorted, by_recipe);
    for (size_t i = 1; i < all->n; i++) {
        const struct figure *before = sorted[i - 1], *f = sorted[i];
        if (*f->recipe && text_is(f->recipe, before->recipe) && !text_is(f->configuration, before->configuration))
            return fail(err, "%s:%u: configuration: %.80s, but %s:%u has %.80s for the same recipe", f->path, f->line, f->configuration,
                        before->path, before->line, before->configuration);
    }
    return true;
}

/* Reads a kernel or a link from its cells; the row's recipe then names the part. */
static bool read_part(struct figure *f, const struct csv_table *t, const struct csv_row *row, struct arena *a, struct err *err)
{
    if (part_is_in(kernel_fields, t, row)) {
        struct kernel_case *c = ARENA_ARRAY(a, struct kernel_case, 1);
        f->kernel = c;
        f->recipe = part_text("kernel", kernel_fields, n_kernel_fields, t, row, a);
        return kernel_case_read(c, t, row, err);
    }
    if (part_is_in(link_fields, t, row)) {
        struct link_case *c = ARENA_ARRAY(a, struct link_case, 1);
        f->link = c;
        f->recipe = part_text("link", link_fields, n_link_fields, t, row, a);
        return link_case_read(c, t, row, err);
    }
    return true;
}

static bool read_figure(struct figures *out, const struct csv_table *t, const struct csv_row *row, struct arena *a, struct err *err)
{
    struct figure f = { .path = t->path, .line = row->line };
    if (!fields_from_row(&f, figure_fields, N_FIELDS(figure_fields), t, row, err) || !read_part(&f, t, row, a, err) || !check_numbers(&f, err)
        || !check_unit(&f, err) || !read_reason(&f, err) || !check_recipe(&f, err))
        return false;
    f.configuration = *f.configuration ? f.configuration : f.recipe;
    f.tolerance = isnan(f.tolerance) ? 0 : f.tolerance;
    LIST_ADD(out, a, f);
    return true;
}

static bool is_part_column(const char *name, const struct part_field *fields, size_t n)
{
    return FIND_TEXT(fields, n, struct part_field, field.name, name);
}

/* Requires a column for recipes, kernels or links, and refuses columns that nothing reads. */
static bool check_columns(const struct csv_table *t, struct err *err)
{
    size_t at;
    bool has_kernels = csv_column(&at, t, kernel_fields->field.name, NULL), has_links = csv_column(&at, t, link_fields->field.name, NULL);
    if (!has_kernels && !has_links && !csv_column(&at, t, "recipe", err))
        return false;
    for (size_t i = 0; i < t->n_columns; i++)
        if (!field_find(figure_fields, N_FIELDS(figure_fields), t->columns[i]) && !(has_kernels && is_part_column(t->columns[i], kernel_fields, n_kernel_fields))
            && !(has_links && is_part_column(t->columns[i], link_fields, n_link_fields)))
            return fail(err, "%s:1: %.60s: not a column of published figures; known: id,recipe,metric,value,unit,tolerance,role,source,quote,note, "
                        "configuration where rows repeat one, and those of kernels and links", t->path, t->columns[i]);
    return true;
}

/* Skips a table whose text lacks the recipe's name; the name "" matches every table. */
static bool load_table(struct figures *out, const char *path, const char *recipe, struct arena *a, struct err *err)
{
    struct csv_table t;
    if (*recipe && !file_has_text(path, recipe))
        return true;
    if (!fields_load(&t, path, figure_fields, N_NEEDED_COLUMNS, a, err) || !check_columns(&t, err))
        return false;
    for (size_t i = 0; i < t.n_rows; i++)
        if (!read_figure(out, &t, &t.rows[i], a, err))
            return false;
    return true;
}

bool published_load(struct figures *out, const char *path, struct arena *a, struct err *err)
{
    return published_load_naming(out, path, "", a, err);
}

bool published_load_naming(struct figures *out, const char *path, const char *recipe, struct arena *a, struct err *err)
{
    struct stat st;
    char **names;
    size_t n;
    *out = (struct figures){ 0 };
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return load_table(out, path, recipe, a, err) && check_figure_ids(out, a, err) && check_configurations(out, a, err);
    if (!list_folder(&names, &n, path, ".csv", a, err))
        return false;
    if (n == 0)
        return fail(err, "%s: has no .csv table", path);
    for (size_t i = 0; i < n; i++)
        if (!text_is(names[i], first_sight_name) && !load_table(out, arena_printf(a, "%s/%s.csv", path, names[i]), recipe, a, err))
            return false;
    return check_figure_ids(out, a, err) && check_configurations(out, a, err);
}
