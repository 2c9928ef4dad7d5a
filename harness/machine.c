/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machine.c - podbench machine: a spec sheet with its sources, the values derived from it, and its links.
 */
#include "harness/harness.h"
#include "system-model/network/topology.h"
#include <jansson.h>
#include <unistd.h>

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
    struct document *d = &s->answer;
    struct table *rows = document_table(d, machine_rows(m, &s->arena));
    struct topology *t = ARENA_NEW(&s->arena, struct topology);
    rows->formats = IN_CSV;
    document_member(d, NULL, machine_json(m, rows));
    if (!topology_build(t, m, NULL, &s->arena, err))
        return EXIT_BAD_INPUT;
    if (!o->topology) {
        machine_print(document_stream(d, IN_TEXT), m);
        document_gap(d);
    }
    topology_document(d, t, o->topology);
    topology_graph(d, t);
    return EXIT_DONE;
}

/* ---- a machine of one's own ------------------------------------------------------------------------------ */

static const char *copied_name(size_t i, size_t n_parts, const char *name, struct arena *a)
{
    bool is_chip = i + 1 == n_parts;
    return i ? arena_printf(a, "%s-%s", name, is_chip ? "chip" : "board") : name;
}

/* Copies a sheet. The row that names the sheet of its board or chip gets the name of that sheet's copy. */
static bool copy_sheet(const char *path, const char *from, const char *part, struct arena *a, struct err *err)
{
    char *text;
    struct new_file file;
    if (access(path, F_OK) == 0)
        return fail(err, "machine: %s is there already; take another name", path);
    if (!read_text_file(&text, NULL, from, 1 << 20, a, err) || !new_file_open(&file, path, err))
        return false;
    for (const char *line; (line = strsep(&text, "\n")) && (*line || text); ) {
        size_t n = strcspn(line, ",");
        bool names_part = part && (strncmp(line, "board,", n + 1) == 0 || strncmp(line, "chip,", n + 1) == 0);
        if (names_part)
            fprintf(file.f, "%.*s,%s%s\n", (int)n, line, part, line + n + 1 + strcspn(line + n + 1, ","));
        else
            fprintf(file.f, "%s\n", line);
    }
    return new_file_save(&file, err);
}

static int copy_machine(const struct machine *m, const char *name, struct session *s, struct err *err)
{
    size_t n_parts = 1;                 /* counts system, board and chip, but not the fitted constants after them */
    while (m->sheets[n_parts - 1].name != m->chip_name)
        n_parts++;
    if (strchr(name, '/') || strchr(name, '.'))
        return bad_input(err, "--copy %.60s: want a name without a folder or an ending, as in mine", name);
    for (size_t i = 0; i < n_parts; i++) {
        const char *path = arena_printf(&s->arena, "%s.csv", copied_name(i, n_parts, name, &s->arena));
        const char *part = i + 1 < n_parts ? copied_name(i + 1, n_parts, name, &s->arena) : NULL;
        if (!copy_sheet(path, m->sheets[i].path, part, &s->arena, err))
            return EXIT_BAD_INPUT;
        fprintf(s->out, "wrote %s\n", path);
    }
    fprintf(s->out, "change values and their sources, then: podbench run RECIPE --set recipe.system=%s.csv\n", name);
    return EXIT_DONE;
}

int command_machine(const struct options *o, struct session *s, struct err *err)
{
    struct machine m;
    bool draws = o->topology || o->format == FORMAT_DOT;
    if (draws && (o->n_arguments == 0 || o->format == FORMAT_CSV || o->format == FORMAT_JSON))
        return bad_input(err, "machine: %s wants a NAME, and prints every link as text or dot", o->topology ? "--topology" : "--format dot");
    if (o->copy && o->n_arguments == 0)
        return bad_input(err, "machine: --copy wants the NAME of a machine to begin with");
    if (o->n_arguments == 0)
        return list_names(all_machines, s, err);
    if (!machine_load(&m, o->arguments[0], s->paths.specs_dir, &s->arena, err))
        return EXIT_BAD_INPUT;
    return o->copy ? copy_machine(&m, o->copy, s, err) : print_machine(o, &m, s, err);
}
