/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit_print.c - the largest sizes that fit, as text (the answer first), as JSON, and all tried sizes as CSV.
 */
#include "results/simulate/memory_record.h"
#include "results/study/fit.h"
#include "results/study/framework_options.h"

#include <ctype.h>
#include <jansson.h>

enum { LAYERS_SHOWN = 8 };

static const char *const axis_names[N_FIT_AXES] = {
    [FIT_MICRO_BATCH] = "micro-batch", [FIT_SEQUENCE_LENGTH] = "sequence length", [FIT_IPUS] = "IPUs of a replica", [FIT_ROWS] = "table, in rows",
};

/* ---- the sizes that were tried -------------------------------------------------------------------- */

/* A row of CSV. The bytes are the last members, as their columns are the last. */
struct size_row {
    const char *key;
    uint64_t size;
    double fits_probability, fits_probability_counted, throughput_samples_per_s, global_batch;
    const char *fits, *fits_published, *refused;
    uint32_t ipu;
    bool is_fullest;
    uint64_t total_bytes, limit_bytes, bytes[N_MEMORY_CATEGORIES];
};

/* The name of a category's column: "optimizer state" becomes optimizer_state_bytes. */
static const char *category_column(enum memory_category k, struct arena *a)
{
    char *name = arena_printf(a, "%s_bytes", memory_category_names[k]);
    for (char *p = name; *p; p++)
        *p = *p == ' ' ? '_' : *p;
    return name;
}

#define C(member, ...) { COLUMN(struct size_row, member), __VA_ARGS__ }
static const struct table_column size_columns[] = {
    C(key), C(size), C(fits), C(fits_probability), C(fits_probability_counted), C(fits_published), C(refused), C(throughput_samples_per_s), C(global_batch), C(ipu), C(is_fullest),
    C(total_bytes), C(limit_bytes),
};
#undef C

static struct table sizes_table(struct arena *a)
{
    enum { N_FIXED_COLUMNS = sizeof size_columns / sizeof *size_columns };
    struct table_column *columns = ARENA_ARRAY(a, struct table_column, N_FIXED_COLUMNS + N_MEMORY_CATEGORIES);
    memcpy(columns, size_columns, sizeof size_columns);
    for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
        columns[N_FIXED_COLUMNS + k] = (struct table_column){ .name = category_column((enum memory_category)k, a), .type = CELL_U64,
                                                      .offset = offsetof(struct size_row, bytes) + (size_t)k * sizeof(uint64_t) };
    return (struct table){ .name = "sizes", .columns = columns, .n_columns = N_FIXED_COLUMNS + N_MEMORY_CATEGORIES, .row_bytes = sizeof(struct size_row),
                           .formats = IN_CSV | IN_JSON };
}

/* Adds one row for each IPU of a replica, or a single row if the size cannot be simulated. */
static void fit_add_size_rows(struct table *t, const struct fit_answer *x, const struct fit_axis *axis, const struct fit_size *size,
                              struct arena *a)
{
    struct size_row row = { .key = fit_axis_keys[axis->kind], .size = size->size, .limit_bytes = x->tile_memory_bytes, .refused = size->refused,
                            .fits_probability = NAN, .fits_probability_counted = NAN, .throughput_samples_per_s = NAN, .global_batch = NAN };
    if (size->refused) {
        table_add(t, &row, a);
        return;
    }
    row.fits = size->fits ? "yes" : "no";
    row.fits_probability = size->fits_probability;
    row.fits_probability_counted = size->fits_probability_counted;
    row.fits_published = size->fits_published;
    row.throughput_samples_per_s = size->throughput_samples_per_s;
    row.global_batch = size->global_batch;
    for (uint32_t i = 0; i < size->n_ipus; i++) {
        row.ipu = i;
        row.is_fullest = i == size->worst_ipu;
        row.total_bytes = size->memory[i].total_bytes;
        memcpy(row.bytes, size->memory[i].bytes, sizeof row.bytes);
        table_add(t, &row, a);
    }
}

static void fit_add_sizes(struct document *d, const struct fit_answer *x)
{
    struct table *t = document_table(d, sizes_table(d->arena));
    for (int k = 0; k < N_FIT_AXES; k++)
        for (size_t i = 0; i < x->axes[k].n; i++)
            fit_add_size_rows(t, x, &x->axes[k], &x->axes[k].sizes[i], d->arena);
}

/* Bytes as text, such as "88.7 kB". */
static const char *bytes_text(uint64_t bytes, struct arena *a)
{
    return quantity_kept((double)bytes, "B", 3, a);
}

/* ---- the limits --------------------------------------------------------------------------------------- */

static bool is_fewest(const struct fit_axis *axis)
{
    return axis->kind == FIT_IPUS;
}

static void fit_add_own(struct document *d, const struct fit_answer *x)
{
    const struct fit_axis *axis = &x->axes[FIT_MICRO_BATCH];
    const struct fit_size *own = fit_tried(axis, axis->own);
    uint64_t tokens = x->axes[FIT_SEQUENCE_LENGTH].own, width = x->axes[FIT_IPUS].own;
    uint64_t tile = x->tile_memory_bytes, total = own->memory[own->worst_ipu].total_bytes;
    const char *chance = memory_chance_text(own->fits_published, own->fits_probability_counted, own->memory_distance, d->arena);
    const char *verdict = !own->fits ? "NO" : own->fits_probability >= FITS_SURELY ? "yes" : "barely";
    const char *length = tokens ? arena_printf(d->arena, ", sequence length %" PRIu64, tokens) : "";
    document_line(d, "%s: %s, %s on %s: micro-batch %" PRIu64 "%s, %" PRIu64 " IPU%s a replica", x->recipe, x->workload,
                  x->training ? "training" : "inference", x->system, axis->own, length, width, plural(width));
    if (!own->shortfall_bytes)
        document_line(d, "fits: %s (%s), %s of %s free on the fullest tile (IPU %u)", verdict, chance, bytes_text(tile - total, d->arena),
                      bytes_text(tile, d->arena), own->worst_ipu);
    else
        document_line(d, "fits: %s (%s), %s too many for the %s of the fullest tile (IPU %u)", verdict, chance, bytes_text(own->shortfall_bytes, d->arena),
                      bytes_text(tile, d->arena), own->worst_ipu);
}

static const char *next_text(const struct fit_axis *axis, struct arena *a)
{
    const struct fit_size *next = fit_tried(axis, axis->next);
    if (!next)
        return is_fewest(axis) ? "" : "; none that was tried is too large";
    if (next->refused)
        return arena_printf(a, "; %" PRIu64 " is refused: %s", next->size, next->refused);
    return arena_printf(a, "; %" PRIu64 " takes %s too many on IPU %u", next->size, bytes_text(next->shortfall_bytes, a), next->worst_ipu);
}

static void add_limit(struct document *d, const struct fit_axis *axis)
{
    const char *what = arena_printf(d->arena, "%s %s", is_fewest(axis) ? "fewest" : "largest", axis_names[axis->kind]);
    const struct fit_size *best = fit_tried(axis, axis->best);
    const char *surely = axis->best_surely ? arena_printf(d->arena, "%" PRIu64, axis->best_surely) : "none";
    if (!best)
        document_line(d, "%s: none fits%s", what, next_text(axis, d->arena));
    else
        document_line(d, "%s: %" PRIu64 " (%s), with 90 %% certainty %s%s", what, axis->best, likely_text(best->fits_probability, d->arena), surely,
                      next_text(axis, d->arena));
    if (axis->fits_again)
        document_line(d, "  %" PRIu64 " fits again: memory does not only grow with the %s", axis->fits_again, axis_names[axis->kind]);
}

static json_t *count_or_null(uint64_t n)
{
    return n ? json_integer((json_int_t)n) : json_null();
}

static json_t *limits_json(const struct fit_answer *x)
{
    json_t *all = json_array();
    for (int k = 0; k < N_FIT_AXES; k++) {
        const struct fit_axis *axis = &x->axes[k];
        const struct fit_size *next = fit_tried(axis, axis->next);
        if (axis->step)
            json_array_append_new(all, json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "key", fit_axis_keys[k],
                "wanted", is_fewest(axis) ? "fewest" : "most", "own", (json_int_t)axis->own, "fits", count_or_null(axis->best),
                "fits_surely", count_or_null(axis->best_surely), "next", count_or_null(axis->next), "next_shortfall_bytes", next && !next->refused ? json_integer((json_int_t)next->shortfall_bytes) : json_null(),
                "fits_again", count_or_null(axis->fits_again)));
    }
    return all;
}

/* ---- what fills the tile ---------------------------------------------------------------------------------- */

#define BYTES .digits = 3, .unit = "B"
struct category_row { const char *name; uint64_t bytes; double share; const char *next; int64_t change_bytes; };

#define C(member, ...) { COLUMN(struct category_row, member), __VA_ARGS__ }
static const struct table_column category_columns[] = { C(name, .heading = "category"), C(bytes, .heading = "memory", BYTES),
    C(share, .heading = "share", .format = "%.1f %%", .scale = 100), C(next, .heading = "at the next", .aligns_right = true, .formats = IN_TEXT),
    C(change_bytes, .heading = "change", .formats = IN_JSON) };
#undef C

/* Adds a table of the fullest tile at the largest micro-batch that fits, and how each category changes on the fullest tile of the next one. */
static void add_categories(struct document *d, const struct fit_answer *x)
{
    const struct fit_axis *axis = &x->axes[FIT_MICRO_BATCH];
    const struct fit_size *here = fit_tried(axis, x->point), *next = fit_tried(axis, axis->best ? axis->next : 0);
    const struct tile_memory *m = &here->memory[here->worst_ipu];
    struct table *t = document_table(d, TABLE(category_columns, struct category_row, .name = "categories", .indent = "  ", .formats = IN_TEXT | IN_JSON));
    t->title = arena_printf(d->arena, "micro-batch %" PRIu64 ", IPU %u: %s on the fullest tile", here->size, here->worst_ipu, bytes_text(m->total_bytes, d->arena));
    for (int k = 0; k < N_MEMORY_CATEGORIES; k++) {
        int64_t change = next && !next->refused ? (int64_t)next->memory[next->worst_ipu].bytes[k] - (int64_t)m->bytes[k] : 0;
        struct category_row row = { memory_category_names[k], m->bytes[k], (double)m->bytes[k] / (double)m->total_bytes, NULL, change };
        row.next = next && !next->refused ? quantity_change_kept((double)change, "B", 3, d->arena) : "";
        if (row.bytes || change)
            table_add(t, &row, d->arena);
    }
}

struct next_need { const struct fit_size *size; enum memory_category grows_most; int64_t growth_bytes; };

static bool find_need(struct next_need *out, const struct fit_answer *x)
{
    const struct fit_axis *axis = &x->axes[FIT_MICRO_BATCH];
    const struct fit_size *here = fit_tried(axis, x->point), *next = fit_tried(axis, axis->best ? axis->next : 0);
    *out = (struct next_need){ .size = next };
    if (!next || next->refused)
        return false;
    for (int k = 0; k < N_MEMORY_CATEGORIES; k++) {
        int64_t growth = (int64_t)next->memory[next->worst_ipu].bytes[k] - (int64_t)here->memory[here->worst_ipu].bytes[k];
        if (growth > out->growth_bytes)
            out->grows_most = (enum memory_category)k, out->growth_bytes = growth;
    }
    return true;
}

static void add_need(struct document *d, const struct fit_answer *x)
{
    struct next_need need;
    if (!find_need(&need, x)) {
        document_member(d, "next", json_null());
        return;
    }
    const char *category = memory_category_names[need.grows_most];
    document_line(d, "  micro-batch %" PRIu64 " needs %s more than there are; what grows most is %s, by %s",
                  need.size->size, bytes_text(need.size->shortfall_bytes, d->arena), category, bytes_text((uint64_t)need.growth_bytes, d->arena));
    document_member(d, "next", json_pack("{s:I, s:I, s:s, s:I}", "micro_batch", (json_int_t)need.size->size,
                                         "shortfall_bytes", (json_int_t)need.size->shortfall_bytes,
                                         "grows_most", category, "growth_bytes", (json_int_t)need.growth_bytes));
}

#define C(member, title, ...) { COLUMN(struct fit_layer, member), .heading = title, __VA_ARGS__ }
static const struct table_column layer_columns[] = { C(name, "layer"), C(held_bytes, "weights and state", BYTES), C(stash_bytes, "stash", BYTES),
                                               C(work_bytes, "at work", BYTES) };
#undef C

static void add_layers(struct document *d, const struct fit_answer *x)
{
    size_t n = min_u64(x->n_layers, LAYERS_SHOWN);
    const char *title = arena_printf(d->arena, "its layers, memory on a tile: %zu of %zu, those that need most; they are at work in turn", n, x->n_layers);
    document_table(d, TABLE_OF(layer_columns, x->layers, n, .formats = IN_TEXT, .indent = "  ", .title = title));
    document_table(d, TABLE_OF(layer_columns, x->layers, x->n_layers, .name = "layers", .formats = IN_JSON));
}

/* ---- what helps ---------------------------------------------------------------------------------------------- */

/* The relative change of the time per sample, at the same size without the change of the recipe; -0.05 is 5 % less. */
static double time_cost(const struct fit_answer *x, const struct remedy *r)
{
    return x->target_throughput_samples_per_s / r->throughput_samples_per_s - 1;
}

/* Adds the settings in the form of --set, and on a line of their own as options of the framework. */
static void add_settings(struct document *d, const struct fit_answer *x, const char *what, const char *const *sets, size_t n)
{
    const char *text = "", *options = "";
    for (size_t k = 0; k < n; k++) {
        struct framework_option o;
        text = arena_printf(d->arena, "%s --set %s", text, sets[k]);
        if (framework_option_of(&o, x->framework, sets[k], d->arena))
            options = arena_printf(d->arena, "%s%s%s", options, *options ? "; " : "", o.option);
    }
    document_line(d, "%s:%s", what, text);
    if (*options)
        document_line(d, "  %9s    %s: %s", "", x->framework, options);
}

static void add_remedy_lines(struct document *d, const struct fit_answer *x)
{
    const char *not_enough = "";
    for (size_t i = 0; i < x->n_remedies; i++) {
        const struct remedy *r = &x->remedies[i];
        if (r->fits)
            add_settings(d, x, arena_printf(d->arena, "  %+7.1f %%  %s (%s)", 100 * time_cost(x, r), r->what, likely_text(r->fits_probability, d->arena)),
                         r->sets, r->n_sets);
        else
            not_enough = arena_printf(d->arena, "%s%s %s (%s too many)", not_enough, *not_enough ? "," : "", r->what,
                                      bytes_text(r->shortfall_bytes_per_tile, d->arena));
    }
    if (*not_enough)
        document_line(d, "  not enough:%s", not_enough);
}

static json_t *options_json(const struct fit_answer *x, const char *const *sets, size_t n, struct arena *a)
{
    json_t *all = json_array();
    for (size_t k = 0; k < n; k++) {
        struct framework_option o = { 0 };
        framework_option_of(&o, x->framework, sets[k], a);
        json_array_append_new(all, json_pack("{s:s, s:s?, s:s?, s:s?}", "set", sets[k], "option", o.option, "place", o.place, "source", o.source));
    }
    return all;
}

static json_t *remedies_with_options(const struct fit_answer *x, struct arena *a)
{
    json_t *all = remedies_json(x->remedies, x->n_remedies);
    for (size_t i = 0; i < x->n_remedies; i++) {
        json_t *one = json_array_get(all, i);
        json_object_set_new(one, "time_cost", json_real(time_cost(x, &x->remedies[i])));
        json_object_set_new(one, "framework_options", options_json(x, x->remedies[i].sets, x->remedies[i].n_sets, a));
    }
    return all;
}

static void add_remedies(struct document *d, const struct fit_answer *x)
{
    document_member(d, "target", x->target ? json_pack("{s:I, s:b, s:o}", "micro_batch", (json_int_t)x->target, "fits", x->target_fits,
                    "framework_options", options_json(x, x->target_sets, x->n_target_sets, d->arena)) : json_null());
    document_member(d, "changes", remedies_with_options(x, d->arena));
    if (!x->target) {
        document_line(d, "--size N lists the changes that make micro-batch N fit");
        return;
    }
    const char *what = arena_printf(d->arena, "micro-batch %" PRIu64 " %s as configured", x->target, x->target_fits ? "fits" : "does not fit");
    if (x->n_target_sets)
        add_settings(d, x, what, x->target_sets, x->n_target_sets);
    else
        document_line(d, "%s", what);
    if (!x->target_fits)
        document_line(d, "%s", x->n_remedies && x->remedies[0].fits
                      ? "changes that make it fit, with what they add to the time of a sample, cheapest first:" : "no change that was tried makes it fit");
    add_remedy_lines(d, x);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void add_members(struct document *d, const struct fit_answer *x)
{
    const struct fit_size *own = fit_tried(&x->axes[FIT_MICRO_BATCH], x->axes[FIT_MICRO_BATCH].own);
    document_member(d, "id", json_string(x->recipe));
    document_member(d, "fits", json_boolean(own->fits));
    document_member(d, "fits_probability", json_real(own->fits_probability));
    document_member(d, "fits_probability_counted", json_real(own->fits_probability_counted));
    document_member(d, "fits_published", own->fits_published ? json_string(own->fits_published) : json_null());
    document_member(d, "memory_distance", json_real(own->memory_distance));
    document_member(d, "tile_memory_bytes", json_integer((json_int_t)x->tile_memory_bytes));
    document_member(d, "limits", limits_json(x));
    document_member(d, "micro_batch", json_integer((json_int_t)x->point));
}

void fit_write(FILE *f, enum output_format format, const struct fit_answer *x, struct arena *a)
{
    struct document d = { .arena = a };
    add_members(&d, x);
    fit_add_own(&d, x);
    for (int k = 0; k < N_FIT_AXES; k++)
        if (x->axes[k].step)
            add_limit(&d, &x->axes[k]);
    add_categories(&d, x);
    add_need(&d, x);
    add_layers(&d, x);
    add_remedies(&d, x);
    fit_add_sizes(&d, x);
    document_write(f, format, &d);
}
