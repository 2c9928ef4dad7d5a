/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machine.c - podbench machine: a spec sheet with its sources, the values derived from it, and its links.
 */
#include "harness/harness.h"
#include "system-model/network/topology.h"
#include <jansson.h>

#define C(member) { COLUMN(struct sheet_line, member) }
const struct table_column sheet_columns[N_SHEET_COLUMNS] = { C(sheet), C(key), C(value), C(unit), C(source), C(note) };
#undef C

void sheet_line_add(struct table *t, const struct sheet *sheet, const struct sheet_row *row, struct arena *a)
{
    table_add(t, &(struct sheet_line){ sheet->name, row->key, row->value, row->unit, row->source, row->note }, a);
}

static struct table machine_rows(const struct machine *m, struct arena *a)
{
    struct table t = TABLE(sheet_columns, struct sheet_line);
    for (size_t i = 0; i < m->n_sheets; i++)
        for (size_t k = 0; k < m->sheets[i].n_rows; k++)
            sheet_line_add(&t, &m->sheets[i], &m->sheets[i].rows[k], a);
    return t;
}

static json_t *machine_json(const struct machine *m, const struct table *rows)
{
    const struct chip *c = &m->chip;
    json_t *peak = json_pack("{s:f, s:f, s:f, s:f}", "fp16", chip_peak_flop_per_s(c, c->mac_fp16_fp16_per_cycle), "fp16.32",
                             chip_peak_flop_per_s(c, c->mac_fp16_fp32_per_cycle), "fp32", chip_peak_flop_per_s(c, c->mac_fp32_per_cycle), "fp8",
                             chip_peak_flop_per_s(c, c->mac_fp8_per_cycle));
    json_int_t ipu_bytes = (json_int_t)(c->tile_memory_bytes * c->n_tiles);
    return json_pack("{s:s, s:s?, s:s?, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:o, s:f, s:o}", "name", m->name, "board", m->board_name,
                     "chip", m->chip_name, "ipus", (json_int_t)m->n_ipus, "ipus_per_board", (json_int_t)m->ipus_per_board, "ipus_per_domain",
                     (json_int_t)m->ipus_per_domain, "tiles_per_ipu", (json_int_t)c->n_tiles, "workers_per_tile", (json_int_t)c->n_workers,
                     "clock_hz", c->clock_hz, "memory_bytes_per_tile", (json_int_t)c->tile_memory_bytes, "memory_bytes_per_ipu", ipu_bytes,
                     "memory_bytes", ipu_bytes * (json_int_t)m->n_ipus, "peak_flop_per_s_per_ipu", peak, "exchange_bytes_per_s_per_ipu",
                     (double)(c->exchange_bytes_per_cycle * c->n_tiles) * c->clock_hz, "rows", table_json(rows));
}

static int print_machine(const struct options *o, const struct machine *m, struct session *s, struct err *err)
{
    struct document d = { .arena = &s->arena };
    struct table *rows = document_table(&d, machine_rows(m, &s->arena));
    struct topology t;
    rows->formats = IN_CSV;
    document_member(&d, NULL, machine_json(m, rows));
    bool good = topology_build(&t, m, NULL, &s->arena, err);
    if (good && !o->topology) {
        machine_print(document_stream(&d, IN_TEXT), m);
        document_gap(&d);
    }
    if (good) {
        topology_document(&d, &t, o->topology);
        topology_graph(&d, &t);
        document_write(s->out, o->format, &d);
    } else {
        document_drop(&d);
    }
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}

int command_machine(const struct options *o, struct session *s, struct err *err)
{
    struct machine m;
    bool draws = o->topology || o->format == FORMAT_DOT;
    if (draws && (o->n_arguments == 0 || o->format == FORMAT_CSV || o->format == FORMAT_JSON))
        return bad_input(err, "machine: %s wants a NAME, and prints every link as text or dot", o->topology ? "--topology" : "--format dot");
    if (o->n_arguments == 0)
        return list_names(all_machines, o, s, err);
    if (!machine_load(&m, o->arguments[0], s->paths.specs_dir, &s->arena, err))
        return EXIT_BAD_INPUT;
    return print_machine(o, &m, s, err);
}
