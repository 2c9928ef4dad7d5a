/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_check.c - how good the predictions of what fits are: verdicts by the strength of their evidence, bytes by category,
 * published edges.
 */
#include "results/published/check.h"
#include "workloads/recipe/recipe.h"

#include <jansson.h>

/* ---- verdicts --------------------------------------------------------------------------------------------- */

static bool is_verdict(const struct figure *f)
{
    return text_is(f->metric, "fits");
}

static bool is_weak_evidence(const struct check_row *row)
{
    return figure_kind(row->figure) == FIGURE_OF_RUN && !figure_is_ratio(row->figure);
}

static bool is_counted(const char **counted, size_t *n, const char *configuration)
{
    if (find_text(counted, *n, sizeof *counted, 0, configuration))
        return true;
    counted[(*n)++] = configuration;
    return false;
}

/* True if the row is evidence of this kind, once for each configuration. N_COUNTS_AS stands for published runs that state no memory. */
static bool is_evidence(const struct check_row *row, enum counts_as counts_as, const char **counted, size_t *n)
{
    bool wanted = counts_as == N_COUNTS_AS ? is_weak_evidence(row) : is_verdict(row->figure) && row->counts_as == counts_as;
    return wanted && row->has_simulated && !is_counted(counted, n, row->figure->configuration);
}

static bool is_too_large(const struct check_row *row) { return is_verdict(row->figure) && !(row->figure->value > 0); }

static struct memory_verdicts count_verdicts(const struct check *c, enum counts_as counts_as, struct arena *a)
{
    struct memory_verdicts v = { .evidence = counts_as == N_COUNTS_AS ? "runs" : counts_as_names[counts_as] };
    const char **counted = ARENA_ROOM(a, const char *, c->n);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        bool too_large = is_too_large(row);
        if (!is_evidence(row, counts_as, counted, &n))
            continue;
        v.n_ran += !too_large;
        v.n_ran_fits += !too_large && row->fits;
        v.n_too_large += too_large;
        v.n_too_large_found += too_large && !row->fits;
        v.ran_fits_with_less_memory += !too_large && row->fits_with_less_memory;
        v.too_large_found_with_less_memory += too_large && !row->fits_with_less_memory;
    }
    if (counts_as == N_COUNTS_AS)
        v.ran_fits_with_less_memory = v.too_large_found_with_less_memory = NAN;
    return v;
}

static const enum counts_as groups[] = { N_COUNTS_AS, COUNTS_AS_CALIBRATE, COUNTS_AS_VALIDATE, COUNTS_AS_CONTEXT, COUNTS_AS_REPEAT };

struct memory_verdicts *memory_verdicts(size_t *n, const struct check *c, struct arena *a)
{
    struct memory_verdicts *all = ARENA_ROOM(a, struct memory_verdicts, sizeof groups / sizeof *groups);
    *n = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        all[*n] = count_verdicts(c, groups[i], a);
        *n += all[*n].n_ran || all[*n].n_too_large;
    }
    return all;
}

/* ---- chances ---------------------------------------------------------------------------------------------- */

void chance_bins_add(struct chance_bin bins[N_CHANCE_BINS], double from, double chance, bool is_true, const char *configuration)
{
    struct chance_bin *b = &bins[min_u64((uint64_t)(fmax(0, (chance - from) / (1 - from)) * N_CHANCE_BINS), N_CHANCE_BINS - 1)];
    b->n++;
    b->n_true += is_true;
    b->expected += chance;
    if (!is_true && chance > b->surest)
        b->surest = chance, b->surest_wrong = configuration;
}

size_t chance_bins_end(struct chance_bin *out, const struct chance_bin bins[N_CHANCE_BINS], double from, const char *evidence)
{
    size_t n = 0;
    for (size_t k = 0; k < N_CHANCE_BINS; k++) {
        out[n] = bins[k];
        out[n].evidence = evidence;
        out[n].from = from + (1 - from) * (double)k / N_CHANCE_BINS, out[n].to = from + (1 - from) * (double)(k + 1) / N_CHANCE_BINS;
        out[n].surest = bins[k].surest > 0 ? bins[k].surest : NAN;
        n += bins[k].n > 0;
    }
    return n;
}

struct chance_bin *memory_chances(size_t *n, const struct check *c, bool for_verdicts, struct arena *a)
{
    enum { N_GROUPS = sizeof groups / sizeof *groups };
    struct chance_bin *all = ARENA_ROOM(a, struct chance_bin, N_GROUPS * N_CHANCE_BINS);
    double from = for_verdicts ? 0.5 : 0;
    *n = 0;
    for (size_t g = 0; g < N_GROUPS; g++) {
        struct chance_bin bins[N_CHANCE_BINS] = { { 0 } };
        const char **counted = ARENA_ROOM(a, const char *, c->n);
        size_t n_counted = 0;
        for (const struct check_row *row = c->rows; row < c->rows + c->n && !(for_verdicts && groups[g] == N_COUNTS_AS); row++)
            if (is_evidence(row, groups[g], counted, &n_counted))
                chance_bins_add(bins, from, for_verdicts && !row->fits ? 1 - row->fits_probability : row->fits_probability,
                                (for_verdicts && !row->fits) == is_too_large(row), row->figure->configuration);
        *n += chance_bins_end(&all[*n], bins, from, groups[g] == N_COUNTS_AS ? "runs" : counts_as_names[groups[g]]);
    }
    return all;
}

/* ---- bytes -------------------------------------------------------------------------------------------------- */

static void add_bytes_error(struct memory_bytes *b, double *errors, const struct check_row *row)
{
    double error = fabs(row->error);
    errors[b->n_predicted++] = error;
    b->n_within_10 += error <= 0.1;
    b->n_within_30 += error <= 0.3;
    if (error >= b->max) {
        b->max = error;
        b->worst = row->figure->id;
    }
}

static bool is_of_bytes(const struct check_row *row, const char *metric, enum counts_as counts_as)
{
    return figure_kind(row->figure) == FIGURE_OF_MEMORY && !is_verdict(row->figure) && row->counts_as == counts_as &&
           text_is(row->figure->metric, metric);
}

static struct memory_bytes bytes_of_metric(const struct check *c, const char *metric, enum counts_as counts_as, struct arena *a)
{
    struct memory_bytes b = { .metric = metric, .counts_as = counts_as_names[counts_as], .median = NAN, .mean = NAN, .max = 0 };
    double *errors = ARENA_ROOM(a, double, c->n);
    for (size_t i = 0; i < c->n; i++) {
        if (!is_of_bytes(&c->rows[i], metric, counts_as))
            continue;
        b.n_rows++;
        if (c->rows[i].has_simulated)
            add_bytes_error(&b, errors, &c->rows[i]);
    }
    if (b.n_predicted) {
        b.median = statistics_median(errors, b.n_predicted, a);
        b.mean = statistics_mean(errors, b.n_predicted);
    } else {
        b.max = NAN;
    }
    return b;
}

struct memory_bytes *memory_bytes_errors(size_t *n, const struct check *c, struct arena *a)
{
    struct memory_bytes *all = ARENA_ROOM(a, struct memory_bytes, c->n);
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        bool is_new = figure_kind(row->figure) == FIGURE_OF_MEMORY && !is_verdict(row->figure);
        for (size_t k = 0; is_new && k < *n; k++)
            is_new = !text_is(all[k].metric, row->figure->metric) || !text_is(all[k].counts_as, counts_as_names[row->counts_as]);
        if (is_new)
            all[(*n)++] = bytes_of_metric(c, row->figure->metric, row->counts_as, a);
    }
    return all;
}

/* ---- edges ---------------------------------------------------------------------------------------------------- */

struct edge_row { const struct check_row *row; struct recipe recipe; };

static bool names_the_batch(const struct ini_entry *e)
{
    return text_is(e->key, "micro_batch") || (text_is(e->section, "recipe") && (text_is(e->key, "id") || text_is(e->key, "source")));
}

/* True if y has the same value as x in all keys of x but the batch, id and source. */
static bool entries_agree(const struct recipe *x, const struct recipe *y)
{
    for (size_t i = 0; i < x->n_entries; i++) {
        const struct ini_entry *e = &x->entries[i], *same = NULL;
        for (size_t k = 0; k < y->n_entries && !same; k++)
            if (text_is(y->entries[k].section, e->section) && text_is(y->entries[k].key, e->key))
                same = &y->entries[k];
        if (!names_the_batch(e) && !(same && text_is(same->value, e->value)))
            return false;
    }
    return true;
}

/* True if the ids differ only in numbers. Other differences show that programs differ in something that no key expresses. */
static bool ids_agree(const char *x, const char *y)
{
    static const char digits[] = "0123456789";
    for (;; x++, y++) {
        x += strspn(x, digits);
        y += strspn(y, digits);
        if (*x != *y || !*x)
            return *x == *y;
    }
}

static bool are_one_family(const struct recipe *x, const struct recipe *y)
{
    return ids_agree(x->id, y->id) && entries_agree(x, y) && entries_agree(y, x);
}

static bool load_edge_rows(struct edge_row **out, size_t *n, const struct check *c, struct simulator *s, struct arena *a, struct err *err)
{
    struct edge_row *rows = ARENA_ROOM(a, struct edge_row, c->n);
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        if (!is_verdict(row->figure) || !row->has_simulated || row->figure->kernel)
            continue;
        rows[*n] = (struct edge_row){ .row = row };
        if (!recipe_load(&rows[*n].recipe, path_beside(row->figure->path, row->figure->recipe, a), s->paths->recipes_dir, NULL, 0, a, err))
            return false;
        (*n)++;
    }
    *out = rows;
    return true;
}

/* with_less_memory: a run that fits with a smaller share for temporaries counts as fitting. */
static bool fits_with(bool *fits, const char *recipe, uint64_t micro_batch, bool with_less_memory, struct simulator *s, struct arena *a, struct err *err)
{
    const char *set = arena_printf(a, "parallel.micro_batch=%llu", (unsigned long long)micro_batch);
    struct simulation sim;
    struct result r;
    bool good = simulator_run(s, &sim, &r, recipe, &set, 1, err);
    *fits = good && (r.fits || (with_less_memory && r.smaller_available_memory));
    simulation_free(&sim);
    return good;
}

/* The factor by which a prediction misses the edge; 1 if it lies between the batch that fits and the one that does not. */
static double edge_factor(const struct memory_edge *e, uint64_t predicted)
{
    if (predicted < e->fits)
        return predicted ? (double)e->fits / (double)predicted : INFINITY;
    return predicted < e->too_large ? 1 : (double)predicted / (double)(e->too_large - 1);
}

/* Finds the largest micro-batch that is predicted to fit by doubling and bisection; 0 if none does. */
static bool find_limit(struct memory_limit *out, const struct memory_edge *e, bool with_less_memory, struct simulator *s, struct arena *a, struct err *err)
{
    enum { MOST_MICRO_BATCH = 65536 };
    uint64_t low = 0, high = 1;
    bool fits = true;
    while (fits && high <= MOST_MICRO_BATCH) {
        if (!fits_with(&fits, e->recipe, high, with_less_memory, s, a, err))
            return false;
        if (fits) {
            low = high;
            high *= 2;
        }
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (!fits_with(&fits, e->recipe, middle, with_less_memory, s, a, err))
            return false;
        *(fits ? &low : &high) = middle;
    }
    *out = (struct memory_limit){ low, edge_factor(e, low) };
    return true;
}

/* The edge between the batches of one family of recipes, that of rows[first]. False if all its batches fit or none does. */
static bool edge_of_family(struct memory_edge *e, bool *done, const struct edge_row *rows, size_t n, size_t first)
{
    *e = (struct memory_edge){ .too_large = UINT64_MAX, .counts_as = counts_as_names[rows[first].row->counts_as] };
    for (size_t i = first; i < n; i++) {
        if (done[i] || !are_one_family(&rows[i].recipe, &rows[first].recipe))
            continue;
        uint64_t batch = rows[i].recipe.model.micro_batch;
        done[i] = true;
        if (rows[i].row->figure->value > 0 && batch >= e->fits) {
            e->fits = batch;
            e->recipe = rows[i].row->figure->recipe;
        } else if (!(rows[i].row->figure->value > 0)) {
            e->too_large = min_u64(e->too_large, batch);
        }
    }
    return e->fits && e->too_large != UINT64_MAX;
}

bool memory_edges(struct memory_edge **out, size_t *n, const struct check *c, struct simulator *s, struct arena *a, struct err *err)
{
    struct edge_row *rows;
    size_t n_rows;
    *n = 0;
    if (!load_edge_rows(&rows, &n_rows, c, s, a, err))
        return false;
    struct memory_edge *edges = ARENA_ROOM(a, struct memory_edge, n_rows);
    bool *done = ARENA_ARRAY(a, bool, n_rows);
    for (size_t i = 0; i < n_rows; i++) {
        struct memory_edge *e = &edges[*n];
        if (done[i] || !edge_of_family(e, done, rows, n_rows, i))
            continue;
        if (!find_limit(&e->as_configured, e, false, s, a, err) || !find_limit(&e->with_less_memory, e, true, s, a, err))
            return false;
        (*n)++;
    }
    *out = edges;
    return true;
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static const struct table_column verdict_columns[] = {
    { COLUMN(struct memory_verdicts, evidence), .heading = "evidence" }, { COLUMN_AS(struct memory_verdicts, n_ran, "ran"), .heading = "ran" },
    { COLUMN_AS(struct memory_verdicts, n_ran_fits, "ran_predicted_to_fit"), .heading = "predicted to fit" },
    { COLUMN_AS(struct memory_verdicts, n_too_large, "too_large"), .heading = "too large" },
    { COLUMN_AS(struct memory_verdicts, n_too_large_found, "too_large_predicted"), .heading = "predicted not to fit" },
    { COLUMN_AS(struct memory_verdicts, ran_fits_with_less_memory, "ran_predicted_to_fit_with_less_memory"), .heading = "less memory: to fit" },
    { COLUMN_AS(struct memory_verdicts, too_large_found_with_less_memory, "too_large_predicted_with_less_memory"), .heading = "not to fit" },
};
#define PER_CENT .format = "%.1f", .scale = 100
static const struct table_column bytes_columns[] = {
    { COLUMN(struct memory_bytes, metric), .heading = "bytes" }, { COLUMN_AS(struct memory_bytes, counts_as, "role"), .heading = "role" },
    { COLUMN_AS(struct memory_bytes, n_rows, "rows"), .heading = "rows" },
    { COLUMN_AS(struct memory_bytes, n_predicted, "predicted"), .heading = "predicted" },
    { COLUMN_AS(struct memory_bytes, n_within_10, "within_10_per_cent"), .heading = "within 10 %" },
    { COLUMN_AS(struct memory_bytes, n_within_30, "within_30_per_cent"), .heading = "within 30 %" },
    { COLUMN_AS(struct memory_bytes, median, "median_abs_error"), .heading = "median %", PER_CENT },
    { COLUMN_AS(struct memory_bytes, mean, "mean_abs_error"), .heading = "mean %", PER_CENT },
    { COLUMN_AS(struct memory_bytes, max, "max_abs_error"), .heading = "max %", PER_CENT },
    { COLUMN(struct memory_bytes, worst), .heading = "worst row" },
};
#undef PER_CENT
static const struct table_column edge_columns[] = {
    { COLUMN(struct memory_edge, recipe), .heading = "largest batch" }, { COLUMN_AS(struct memory_edge, counts_as, "role"), .heading = "role" },
    { COLUMN(struct memory_edge, fits), .heading = "fits" }, { COLUMN(struct memory_edge, too_large), .heading = "too large" },
    { COLUMN_AS(struct memory_edge, as_configured.predicted, "predicted"), .heading = "predicted" },
    { COLUMN_AS(struct memory_edge, as_configured.factor, "factor"), .heading = "factor", .format = "%.2f" },
    { COLUMN_AS(struct memory_edge, with_less_memory.predicted, "predicted_with_less_memory"), .heading = "less memory" },
    { COLUMN_AS(struct memory_edge, with_less_memory.factor, "factor_with_less_memory"), .heading = "factor", .format = "%.2f" },
};

static const struct table_column chance_columns[] = {
    { COLUMN(struct chance_bin, evidence), .heading = "evidence" },
    { COLUMN_AS(struct chance_bin, from, "chance_from"), .heading = "chance %", .format = "%.0f", .scale = 100 },
    { COLUMN_AS(struct chance_bin, to, "chance_to"), .heading = "to %", .format = "%.0f", .scale = 100 },
    { COLUMN_AS(struct chance_bin, n, "configurations"), .heading = "configurations" },
    { COLUMN_AS(struct chance_bin, expected, "expected_to_fit"), .heading = "expected to fit", .format = "%.1f" },
    { COLUMN_AS(struct chance_bin, n_true, "ran"), .heading = "ran" },
};

struct table memory_chances_table(const struct chance_bin *chances, size_t n)
{
    return TABLE_OF(chance_columns, chances, n);
}

static const struct table_column sureness_columns[] = {
    { COLUMN(struct chance_bin, evidence), .heading = "evidence" },
    { COLUMN_AS(struct chance_bin, from, "sure_from"), .heading = "sure %", .format = "%.0f", .scale = 100 },
    { COLUMN_AS(struct chance_bin, to, "sure_to"), .heading = "to %", .format = "%.0f", .scale = 100 },
    { COLUMN_AS(struct chance_bin, n, "verdicts"), .heading = "verdicts" },
    { COLUMN_AS(struct chance_bin, expected, "expected_right"), .heading = "expected right", .format = "%.1f" },
    { COLUMN_AS(struct chance_bin, n_true, "right"), .heading = "right" },
    { COLUMN_AS(struct chance_bin, surest_wrong, "surest_wrong"), .heading = "surest wrong" },
    { COLUMN_AS(struct chance_bin, surest, "surest_wrong_chance"), .heading = "%", .format = "%.0f", .scale = 100 },
};

struct memory_tables { struct table verdicts, edges, chances, sureness, bytes; };

static struct memory_tables memory_tables(const struct check *c, const struct memory_edge *edges, size_t n_edges, struct arena *a)
{
    size_t n_verdicts, n_bytes, n_chances, n_sureness;
    const struct memory_verdicts *verdicts = memory_verdicts(&n_verdicts, c, a);
    const struct chance_bin *chances = memory_chances(&n_chances, c, false, a), *sureness = memory_chances(&n_sureness, c, true, a);
    const struct memory_bytes *bytes = memory_bytes_errors(&n_bytes, c, a);
    return (struct memory_tables){ TABLE_OF(verdict_columns, verdicts, n_verdicts), TABLE_OF(edge_columns, edges, n_edges),
        TABLE_OF(chance_columns, chances, n_chances), TABLE_OF(sureness_columns, sureness, n_sureness), TABLE_OF(bytes_columns, bytes, n_bytes) };
}

static void add_memory_table(struct document *d, const char *title, struct table t)
{
    t.formats = IN_TEXT;
    t.title = title;
    if (!t.n)
        return;
    document_gap(d);
    document_table(d, t);
}

void memory_document(struct document *d, const struct check *c, const struct memory_edge *edges, size_t n_edges)
{
    struct memory_tables t = memory_tables(c, edges, n_edges, d->arena);
    struct memory_bytes *bytes = t.bytes.rows;
    add_memory_table(d, "memory, by evidence: a run that fits is weak evidence, a configuration that was too large is strong; less memory: if a smaller share\nof memory for temporaries counts, too",
                     t.verdicts);
    add_memory_table(d, "memory, largest micro-batches of which the next published size was too large; factor: how far outside that edge", t.edges);
    add_memory_table(d, "memory, by the chance to fit that is predicted", t.chances);
    add_memory_table(d, "memory, by how sure a verdict is of itself, and how often it is right", t.sureness);
    size_t n_without = 0, n_predicted = 0;
    for (size_t i = 0; i < t.bytes.n; i++) {
        n_without += bytes[i].n_predicted ? 0 : bytes[i].n_rows;
        if (bytes[i].n_predicted)
            bytes[n_predicted++] = bytes[i];
    }
    t.bytes.n = n_predicted;
    add_memory_table(d, "memory, published bytes of one IPU; the plan knows only the fullest tile, and totals are that times the tiles", t.bytes);
    if (n_without)
        document_line(d, "and %zu rows of categories that no plan has, or of programs that no recipe describes", n_without);
}

json_t *memory_judgement_json(const struct check *c, const struct memory_edge *edges, size_t n_edges, struct arena *a)
{
    const struct memory_tables t = memory_tables(c, edges, n_edges, a);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "verdicts", table_json(&t.verdicts), "edges", table_json(&t.edges), "chances", table_json(&t.chances),
                     "bytes", table_json(&t.bytes), "sureness", table_json(&t.sureness));
}
