/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * link_rows.c - rows of links.csv: an exchange from the cells of its row, and its time on the machine that it names.
 */
#include "results/published/parts.h"

enum { MOST_IPUS = 64, ANY_LINK = (1 << N_EXCHANGE_KINDS) - 1 };
static const char *const column_names[] = { "same", "other", NULL };
#define CELL(member, text, ...) { FIELD_AS(struct link_case, member, text, __VA_ARGS__), ANY_LINK, 0 }
const struct part_field link_fields[] = {
    { { .name = "link", .type = FIELD_CHOICE, .offset = offsetof(struct link_case, request.kind), .choices = exchange_kind_names }, ANY_LINK, ANY_LINK },
    { FIELD_OF(struct link_case, machine, .help = "sheet"), ANY_LINK, ANY_LINK },
    CELL(request.from, "from", .max = 1e6, .help = "IPU that sends, or gathers"), CELL(request.to, "to", .max = 1e6, .help = "the other IPU; default: from"),
    CELL(request.n_ipus, "ipus", .min = 1, .max = MOST_IPUS, .help = "2: from and to; more: the first so many"),
    CELL(request.n_tiles, "tiles", .min = 1, .max = 1e6, .help = "tiles of each IPU"), CELL(request.both_ways, "both", .help = "both directions at once"),
    CELL(request.bytes, "bytes", .min = 1, .max = 1e9, .help = "size of a message"),
    CELL(request.n_operands, "operands", .min = 1, .max = 1e6, .help = "floats on each tile, for reduce"),
    CELL(request.boards_apart, "apart", .max = 1000, .help = "boards between the two IPUs, for hop"),
    CELL(column, "column", .choices = column_names, .help = "column of the other IPU, for hop"),
};
const size_t n_link_fields = N_FIELDS(link_fields);
#undef CELL

bool link_case_read(struct link_case *out, const struct csv_table *t, const struct csv_row *row, struct err *err)
{
    *out = (struct link_case){ .request = { .n_ipus = 1, .n_tiles = 1, .n_operands = 1, .bytes = sizeof(float) } };
    if (!part_read(out, link_fields, n_link_fields, t, row, err))
        return false;
    if (!*csv_cell(t, row, "to"))
        out->request.to = out->request.from;
    out->request.other_column = out->column == 1;
    return true;
}

struct link_machine { const char *name; struct machine machine; struct topology topology; struct message_costs costs; struct link_machine *next; };

/* The machine of this name, which is loaded once. NULL if it cannot be loaded. */
static const struct link_machine *bench_machine(struct link_bench *b, const char *name, struct err *err)
{
    for (struct link_machine *m = b->machines; m; m = m->next)
        if (text_is(m->name, name))
            return m;
    struct link_machine *m = ARENA_ARRAY(b->arena, struct link_machine, 1);
    if (!machine_load(&m->machine, name, b->specs_dir, b->arena, err) || !topology_build(&m->topology, &m->machine, NULL, b->arena, err)
        || !message_costs_load(&m->costs, b->costs_dir, &m->machine, b->arena, err))
        return NULL;
    m->name = name;
    m->next = b->machines;
    return b->machines = m;
}

bool link_row_predict(double *value, const struct link_case *c, const char *metric, struct link_bench *bench, struct err *err)
{
    struct exchange_cost cost;
    const struct link_machine *m = bench_machine(bench, c->machine, err);
    if (!m || !exchange_run(&cost, &m->topology, &m->costs, &c->request, bench->arena, err))
        return false;
    assert(cost.time_s > 0);
    if (text_is(metric, "latency_us"))
        *value = cost.time_s * 1e6;
    else if (text_is(metric, "aggregate_gb_per_s"))
        *value = cost.bytes / cost.time_s / 1e9;
    else
        return fail(err, "unknown metric '%.40s'; known: latency_us, aggregate_gb_per_s", metric);
    return true;
}
