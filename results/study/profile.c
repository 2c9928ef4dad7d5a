/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * profile.c - compares a measured profile with the prediction.
 *
 * The table has a row for each kind of program, compute set and IPU, as harness/project/profile.py sums them from Poplar's profile.pop. Users
 * may also write rows by hand with podbench's names of parts. Kinds are Poplar's program types (libpva's pva.Program.Type). The group of a
 * compute set follows from words in its name, which PopLibs gives: "Convolve" ends the name of every product. Time in Sync programs is
 * waiting, for other IPUs or for the sync itself; it is compared with the sum of the prediction's sync and bubble.
 */
#include "results/study/profile.h"
#include <ctype.h>
#include <jansson.h>

static const char *const profile_group_names[N_PROFILE_GROUPS] = {
    [IN_PRODUCTS] = "products", [IN_NORMS] = "norms", [IN_SOFTMAX] = "softmax", [IN_REARRANGEMENT] = "rearrangement", [IN_VECTOR_WORK] = "other vector work",
    [IN_EXCHANGE] = "exchange", [IN_WAITING] = "waiting", [IN_LINKS] = "between IPUs", [IN_HOST] = "host and streaming",
};

static enum profile_group profile_group_of(enum part part)
{
    switch (part) {
    case PART_MATMUL: case PART_CONV: case PART_LSTM: return IN_PRODUCTS;
    case PART_NORM: return IN_NORMS;
    case PART_SOFTMAX: return IN_SOFTMAX;
    case PART_REARRANGE: return IN_REARRANGEMENT;
    case PART_ELEMENTWISE: case PART_EMBEDDING: case PART_POOLING: case PART_LOSS: case PART_ACCUMULATE: case PART_OPTIMIZER: return IN_VECTOR_WORK;
    case PART_EXCHANGE: return IN_EXCHANGE;
    case PART_SYNC: case PART_BUBBLE: return IN_WAITING;
    case PART_STAGE_COPY: case PART_ALL_REDUCE: case PART_ACTIVATIONS: return IN_LINKS;
    case PART_STREAMING: case PART_HOST: return IN_HOST;
    case N_PARTS: break;
    }
    return N_PROFILE_GROUPS;
}

/* ---- reading --------------------------------------------------------------------------------------------- */

static const struct { const char *kind; enum profile_group group; } program_kinds[] = {
    { "DoExchange", IN_EXCHANGE }, { "GlobalExchange", IN_LINKS }, { "Sync", IN_WAITING },
    { "StreamCopyBegin", IN_HOST }, { "StreamCopyMid", IN_HOST }, { "StreamCopyEnd", IN_HOST },
};

/* Words in names of compute sets; the first match counts. A softmax contains copies, and a product's name may contain a norm, so order
 * matters. */
static const struct { const char *word; enum profile_group group; } compute_words[] = {
    { "convolve", IN_PRODUCTS }, { "softmax", IN_SOFTMAX }, { "transpose", IN_REARRANGEMENT }, { "rearrange", IN_REARRANGEMENT }, { "copy", IN_REARRANGEMENT },
    { "layernorm", IN_NORMS }, { "batchnorm", IN_NORMS }, { "groupnorm", IN_NORMS }, { "norm", IN_NORMS },
};

static bool holds_in_lower_case(const char *name, const char *word)
{
    size_t n = strlen(word);
    for (; *name; name++) {
        size_t k = 0;
        while (k < n && tolower((unsigned char)name[k]) == word[k])
            k++;
        if (k == n)
            return true;
    }
    return false;
}

static enum profile_group group_of_compute_set(const char *name)
{
    for (size_t i = 0; i < sizeof compute_words / sizeof *compute_words; i++)
        if (holds_in_lower_case(name, compute_words[i].word))
            return compute_words[i].group;
    return IN_VECTOR_WORK;
}

/* The group of a row's kind; N_PROFILE_GROUPS if the kind is unknown. */
static enum profile_group group_of_row(const char *kind, const char *name)
{
    if (text_is(kind, "OnTileExecute"))
        return group_of_compute_set(name);
    for (size_t i = 0; i < sizeof program_kinds / sizeof *program_kinds; i++)
        if (text_is(program_kinds[i].kind, kind))
            return program_kinds[i].group;
    for (int i = 0; i < N_PARTS; i++)
        if (text_is(part_names[i], kind))
            return profile_group_of((enum part)i);
    for (int i = 0; i < N_PROFILE_GROUPS; i++)
        if (text_is(profile_group_names[i], kind))
            return (enum profile_group)i;
    return N_PROFILE_GROUPS;
}

enum profile_column { PROFILE_KIND, PROFILE_NAME, PROFILE_IPU, PROFILE_VALUE, PROFILE_UNIT, N_PROFILE_COLUMNS };
static const char *const column_names[N_PROFILE_COLUMNS] = { "kind", "name", "ipu", "value", "unit" };

static bool add_memory(struct profile *out, const char *const *cells, double bytes, uint64_t ipu, const char *place, struct err *err)
{
    if (!text_is(cells[PROFILE_UNIT], "B"))
        return fail(err, "%s: unit: '%.20s' is not B, the unit of memory", place, cells[PROFILE_UNIT]);
    if (bytes > out->memory_bytes) {
        out->memory_bytes = bytes;
        out->memory_ipu = (uint32_t)ipu;
    }
    return true;
}

static bool add_row(struct profile *out, const char *const *cells, double clock_hz, const char *place, struct err *err)
{
    double value;
    uint64_t ipu = 0;
    const char *kind = cells[PROFILE_KIND], *unit = cells[PROFILE_UNIT];
    bool has_ipu = *cells[PROFILE_IPU] != 0;
    if (!parse_f64(cells[PROFILE_VALUE], &value) || value < 0)
        return fail(err, "%s: value: '%.40s' is not a number from 0 up", place, cells[PROFILE_VALUE]);
    if (has_ipu && (!parse_u64(cells[PROFILE_IPU], &ipu) || ipu >= UINT32_MAX))
        return fail(err, "%s: ipu: '%.40s' is not the number of an IPU", place, cells[PROFILE_IPU]);
    if (text_is(kind, "steps"))
        return (out->steps = (uint64_t)value) > 0 || fail(err, "%s: value: a profile has at least 1 step", place);
    if (text_is(kind, "memory"))
        return add_memory(out, cells, value, ipu, place, err);
    enum profile_group group = group_of_row(kind, cells[PROFILE_NAME]);
    if (group == N_PROFILE_GROUPS)
        return fail(err, "%s: kind: '%.60s' is not known; want a type of Poplar's programs (OnTileExecute, DoExchange, GlobalExchange, Sync, StreamCopyMid), a part "
                    "that podbench explain prints (matmul, exchange), steps or memory", place, kind);
    if (!text_is(unit, "cycles") && !text_is(unit, "s"))
        return fail(err, "%s: unit: '%.20s' is neither cycles nor s", place, unit);
    out->seconds[group] += text_is(unit, "s") ? value : value / clock_hz;
    out->has_group[group] = true;
    out->n_ipus = has_ipu ? max_u32(out->n_ipus, (uint32_t)ipu + 1) : out->n_ipus;
    return true;
}

bool profile_load(struct profile *out, const char *path, double clock_hz, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t at[N_PROFILE_COLUMNS];
    *out = (struct profile){ .path = path };
    if (!csv_load(&t, path, a, err))
        return false;
    for (int i = 0; i < N_PROFILE_COLUMNS; i++) {
        for (at[i] = 0; at[i] < t.n_columns && !text_is(t.columns[at[i]], column_names[i]); at[i]++)
            ;
        if (at[i] == t.n_columns)
            return fail(err, "%s:1: no column '%s'; want kind,name,ipu,value,unit (docs/profiles.md)", path, column_names[i]);
    }
    for (size_t k = 0; k < t.n_rows; k++) {
        const char *cells[N_PROFILE_COLUMNS];
        for (int i = 0; i < N_PROFILE_COLUMNS; i++)
            cells[i] = t.rows[k].cells[at[i]];
        if (!add_row(out, cells, clock_hz, arena_printf(a, "%s:%u", path, t.rows[k].line), err))
            return false;
    }
    for (int g = 0; g < N_PROFILE_GROUPS && out->n_ipus; g++)
        out->seconds[g] /= out->n_ipus;
    return t.n_rows > 0 || fail(err, "%s: has no row of a profile", path);
}

bool profile_check(const struct profile *p, const struct simulation *sim, struct err *err)
{
    const struct plan_request *q = &sim->plan.request;
    uint32_t width = q->ipus_per_replica, all = q->n_replicas * width;
    return !p->n_ipus || p->n_ipus == width || p->n_ipus == all
        || fail(err, "%s: has %u IPUs; want those of a replica (%u) or of all replicas (%u) of the recipe", p->path, p->n_ipus, width, all);
}

/* ---- printing -------------------------------------------------------------------------------------------- */

struct profile_line { const char *group; double measured_s, predicted_s, difference_s; };
#define C(member, title, ...) { COLUMN(struct profile_line, member), .heading = title, __VA_ARGS__ }
static const struct table_column profile_columns[] = {
    C(group, "where"), C(measured_s, "measured", .digits = 3, .unit = "s"), C(predicted_s, "predicted", .digits = 3, .unit = "s"),
    C(difference_s, "predicted less measured", .digits = 3, .unit = "s", .shows_sign = true),
};
#undef C

static struct profile_line line_of_group(const struct profile *p, enum profile_group g, uint64_t steps, const struct result *r)
{
    struct profile_line line = { .group = profile_group_names[g], .measured_s = p->has_group[g] ? p->seconds[g] / (double)steps : (double)NAN };
    for (int i = 0; i < N_PARTS; i++)
        line.predicted_s += profile_group_of((enum part)i) == g ? r->breakdown_s[i] : 0;
    line.difference_s = line.predicted_s - line.measured_s;
    return line;
}

static void add_profile_memory(struct document *d, const struct profile *p, const struct result *r)
{
    double predicted = (double)r->memory_peak_bytes_per_tile;
    if (p->memory_bytes > 0)
        document_line(d, "fullest tile: measured %s (IPU %u), predicted %s (%+.1f %%)", quantity_kept(p->memory_bytes, "B", 3, d->arena), p->memory_ipu,
                      quantity_kept(predicted, "B", 3, d->arena), 100 * (predicted / p->memory_bytes - 1));
}

void profile_document(struct document *d, const struct profile *p, const struct simulation *sim, const struct result *r)
{
    uint64_t steps = p->steps ? p->steps : sim->recipe.steps_per_call > 1 ? (uint64_t)sim->recipe.steps_per_call : 1;
    struct profile_line lines[N_PROFILE_GROUPS], whole = { .group = "step" };
    const struct profile_line *most = NULL;
    for (int g = 0; g < N_PROFILE_GROUPS; g++) {
        lines[g] = line_of_group(p, (enum profile_group)g, steps, r);
        whole.measured_s += p->has_group[g] ? lines[g].measured_s : 0;
        whole.predicted_s += lines[g].predicted_s;
        if (isfinite(lines[g].difference_s) && (!most || fabs(lines[g].difference_s) > fabs(most->difference_s)))
            most = &lines[g];
    }
    whole.difference_s = whole.predicted_s - whole.measured_s;
    document_gap(d);
    struct table *t = document_table(d, TABLE(profile_columns, struct profile_line, .name = "profile", .formats = IN_TEXT | IN_JSON));
    t->title = arena_printf(d->arena, "%s beside the prediction, mean of the IPUs, of one step%s", p->path, p->steps ? ""
                            : arena_printf(d->arena, "; the file is taken as one call of %" PRIu64 " step%s", steps, plural(steps)));
    for (int g = 0; g < N_PROFILE_GROUPS; g++)
        if (p->has_group[g] || lines[g].predicted_s > 0)
            table_add(t, &lines[g], d->arena);
    table_add(t, &whole, d->arena);
    if (most)
        document_line(d, "what differs most: %s, predicted %s %s", most->group, quantity_kept(fabs(most->difference_s), "s", 3, d->arena),
                      most->difference_s < 0 ? "too short" : "too long");
    add_profile_memory(d, p, r);
}
