/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * link_rows.c - rows of links.csv: turns "link:EXPERIMENT;key=value;..." into an exchange that the network room prices.
 */
#include "results/published/check.h"
#include "system-model/network/exchange.h"

struct link_row { const char *machine_name; struct exchange_request request; int column; };

enum { MOST_IPUS = 64 };
static const char *const column_names[] = { "same", "other", NULL };
#define R(member) offsetof(struct link_row, request.member)
static const struct field row_fields[] = {
    { .name = "machine", .type = FIELD_TEXT, .offset = offsetof(struct link_row, machine_name), .required = true, .help = "sheet" },
    { "from", "", FIELD_U32, R(from), 0, 1e6, NULL, false, "IPU that sends, or gathers" },
    { "to", "", FIELD_U32, R(to), 0, 1e6, NULL, false, "the other IPU; default: from" },
    { "ipus", "", FIELD_U32, R(n_ipus), 1, MOST_IPUS, NULL, false, "2: from and to; more: the first so many" },
    { "tiles", "", FIELD_U32, R(n_tiles), 1, 1e6, NULL, false, "tiles of each IPU" },
    { "bytes", "", FIELD_F64, R(bytes), 1, 1e9, NULL, false, "size of a message" },
    { "operands", "", FIELD_U32, R(n_operands), 1, 1e6, NULL, false, "floats on each tile, for reduce" },
    { .name = "both", .unit = "", .type = FIELD_BOOL, .offset = R(both_ways), .help = "both directions at once" },
    { "apart", "", FIELD_U32, R(boards_apart), 0, 1000, NULL, false, "boards between the two IPUs, for hop" },
    { .name = "column", .unit = "", .type = FIELD_CHOICE, .offset = offsetof(struct link_row, column), .choices = column_names,
      .help = "column of the other IPU, for hop" },
};
#undef R
enum { N_ROW_FIELDS = sizeof row_fields / sizeof *row_fields };

static bool set_key(struct link_row *row, char *part, const char *recipe, struct arena *a, struct err *err)
{
    char *value = strchr(part, '=');
    if (!value)
        return fail(err, "%.200s: '%.60s' is not key=value", recipe, part);
    *value++ = 0;
    const struct field *f = field_find(row_fields, N_ROW_FIELDS, part);
    if (!f) {
        const char *names[N_ROW_FIELDS];
        for (size_t i = 0; i < N_ROW_FIELDS; i++)
            names[i] = row_fields[i].name;
        return fail(err, "%.200s: %.60s: unknown key; known: %s", recipe, part, names_list(names, N_ROW_FIELDS, a));
    }
    return field_set(row, f, value, arena_printf(a, "%.200s: %s", recipe, part), err);
}

static bool parse_keys(struct link_row *row, char *keys, const char *recipe, struct arena *a, struct err *err)
{
    bool has_to = false;
    while (keys) {
        char *part = strsep(&keys, ";");
        has_to = has_to || strncmp(part, "to=", 3) == 0;
        if (!set_key(row, part, recipe, a, err))
            return false;
    }
    if (!row->machine_name)
        return fail(err, "%.200s: machine: missing", recipe);
    if (!has_to)
        row->request.to = row->request.from;
    row->request.other_column = row->column == 1;
    return true;
}

static bool parse_row(struct link_row *row, const char *recipe, struct arena *a, struct err *err)
{
    static const char prefix[] = "link:";
    if (strncmp(recipe, prefix, sizeof prefix - 1) != 0)
        return fail(err, "%.200s: a link case begins with %s", recipe, prefix);
    char *keys = arena_strdup(a, recipe + sizeof prefix - 1);
    const char *experiment = strsep(&keys, ";");
    int kind = 0;
    while (kind < N_EXCHANGE_KINDS && !text_is(exchange_kind_names[kind], experiment))
        kind++;
    if (kind == N_EXCHANGE_KINDS)
        return fail(err, "%.200s: unknown experiment '%.40s'; known: %s", recipe, experiment, names_list(exchange_kind_names, N_EXCHANGE_KINDS, a));
    *row = (struct link_row){ .request = { .kind = (enum exchange_kind)kind, .n_ipus = 1, .n_tiles = 1, .n_operands = 1, .bytes = sizeof(float) } };
    return parse_keys(row, keys, recipe, a, err);
}

bool link_row_predict(double *value, const char *recipe, const char *metric, const char *specs_dir, struct arena *a, struct err *err)
{
    struct link_row row;
    struct machine machine;
    struct topology topology;
    struct exchange_cost cost;
    if (!parse_row(&row, recipe, a, err) || !machine_load(&machine, row.machine_name, specs_dir, a, err)
        || !topology_build(&topology, &machine, NULL, a, err))
        return false;
    if (!exchange_run(&cost, &topology, &row.request, a, err))
        return fail_at(err, arena_printf(a, "%.200s", recipe));
    assert(cost.time_s > 0);
    if (text_is(metric, "latency_us"))
        *value = cost.time_s * 1e6;
    else if (text_is(metric, "aggregate_gb_per_s"))
        *value = cost.bytes / cost.time_s / 1e9;
    else
        return fail(err, "%.200s: unknown metric '%.40s'; known: latency_us, aggregate_gb_per_s", recipe, metric);
    return true;
}
