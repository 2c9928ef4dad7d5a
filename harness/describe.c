/*
 * describe.c - the artefacts on paper: list, machine, workload, plan, timeline.
 */
#include "harness/harness.h"
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

/* ---- list ----------------------------------------------------------------------------------- */

static bool all_machines(char ***names, size_t *n, struct session *s, struct err *err)
{
    return machine_names(names, n, s->paths.specs_dir, &s->arena, err);
}

static bool workload_names(char ***names, size_t *n, struct session *s, struct err *err)
{
    (void)err;
    *names = ARENA_ARRAY(&s->arena, char *, n_workloads);
    for (*n = 0; *n < n_workloads; (*n)++)
        (*names)[*n] = arena_strdup(&s->arena, workloads[*n].name);
    return true;
}

static const struct listing {
    const char *name;
    bool (*names)(char ***names, size_t *n, struct session *s, struct err *err);
} listings[] = { { "recipes", all_recipes }, { "machines", all_machines }, { "workloads", workload_names } };

static int print_names(const struct listing *l, const struct options *o, struct session *s, struct err *err)
{
    char **names;
    size_t n;
    if (!l->names(&names, &n, s, err))
        return EXIT_BAD_INPUT;
    if (o->format == FORMAT_JSON) {
        json_t *array = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(array, json_string(names[i]));
        print_json(stdout, array);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < n; i++)
        printf("%s\n", names[i]);
    return EXIT_DONE;
}

int command_list(const struct options *o, struct session *s, struct err *err)
{
    if (text_is(o->arguments[0], "keys")) {
        recipe_keys_print(stdout);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof listings / sizeof *listings; i++)
        if (text_is(listings[i].name, o->arguments[0]))
            return print_names(&listings[i], o, s, err);
    return bad_input(err, "list: '%.60s' cannot be listed; known: recipes, machines, workloads, keys", o->arguments[0]);
}

/* ---- machine -------------------------------------------------------------------------------- */

static json_t *sheet_row_json(const struct sheet *sheet, const struct sheet_row *row)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?}", "sheet", sheet->name, "key", row->key, "value", row->value,
                     "unit", row->unit, "source", row->source, "note", row->note);
}

static json_t *machine_json(const struct machine *m)
{
    const struct chip *c = &m->chip;
    json_t *rows = json_array(), *o = json_object(), *peak = json_object();
    json_object_set_new(o, "name", json_string(m->name));
    json_object_set_new(o, "board", m->board_name ? json_string(m->board_name) : json_null());
    json_object_set_new(o, "chip", m->chip_name ? json_string(m->chip_name) : json_null());
    json_object_set_new(o, "ipus", json_integer((json_int_t)m->n_ipus));
    json_object_set_new(o, "ipus_per_board", json_integer((json_int_t)m->ipus_per_board));
    json_object_set_new(o, "ipus_per_domain", json_integer((json_int_t)m->ipus_per_domain));
    json_object_set_new(o, "tiles_per_ipu", json_integer((json_int_t)c->n_tiles));
    json_object_set_new(o, "workers_per_tile", json_integer((json_int_t)c->n_workers));
    json_object_set_new(o, "clock_hz", json_real(c->clock_hz));
    json_object_set_new(o, "memory_bytes_per_tile", json_integer((json_int_t)c->tile_memory_bytes));
    json_object_set_new(o, "memory_bytes_per_ipu", json_integer((json_int_t)(c->tile_memory_bytes * c->n_tiles)));
    json_object_set_new(o, "memory_bytes", json_integer((json_int_t)(c->tile_memory_bytes * c->n_tiles * m->n_ipus)));
    json_object_set_new(peak, "fp16", json_real(chip_peak_flop_per_s(c, c->mac_fp16_fp16_per_cycle)));
    json_object_set_new(peak, "fp16.32", json_real(chip_peak_flop_per_s(c, c->mac_fp16_fp32_per_cycle)));
    json_object_set_new(peak, "fp32", json_real(chip_peak_flop_per_s(c, c->mac_fp32_per_cycle)));
    json_object_set_new(peak, "fp8", json_real(chip_peak_flop_per_s(c, c->mac_fp8_per_cycle)));
    json_object_set_new(o, "peak_flop_per_s_per_ipu", peak);
    json_object_set_new(o, "exchange_bytes_per_s_per_ipu",
                        json_real((double)(c->exchange_bytes_per_cycle * c->n_tiles) * c->clock_hz));
    for (size_t i = 0; i < m->n_sheets; i++)
        for (size_t k = 0; k < m->sheets[i].n_rows; k++)
            json_array_append_new(rows, sheet_row_json(&m->sheets[i], &m->sheets[i].rows[k]));
    json_object_set_new(o, "rows", rows);
    return o;
}

static void write_machine_csv(FILE *f, const struct machine *m)
{
    fprintf(f, "sheet,key,value,unit,source,note\n");
    for (size_t i = 0; i < m->n_sheets; i++)
        for (size_t k = 0; k < m->sheets[i].n_rows; k++) {
            const struct sheet_row *row = &m->sheets[i].rows[k];
            const char *const cells[] = { m->sheets[i].name, row->key, row->value, row->unit, row->source, row->note };
            for (size_t c = 0; c < sizeof cells / sizeof *cells; c++)
                csv_write_cell(f, cells[c] ? cells[c] : "", c + 1 == sizeof cells / sizeof *cells);
        }
}

static int print_machine(const struct options *o, const struct machine *m, struct session *s, struct err *err)
{
    if (o->format == FORMAT_JSON) {
        print_json(stdout, machine_json(m));
        return EXIT_DONE;
    }
    if (o->format == FORMAT_CSV) {
        write_machine_csv(stdout, m);
        return EXIT_DONE;
    }
    struct topology t;
    if (!topology_build(&t, m, NULL, &s->arena, err))
        return EXIT_BAD_INPUT;
    if (o->format == FORMAT_DOT) {
        topology_print_dot(stdout, &t);
        return EXIT_DONE;
    }
    if (!o->topology) {
        machine_print(stdout, m);
        printf("\n");
    }
    topology_print(stdout, &t);
    return EXIT_DONE;
}

int command_machine(const struct options *o, struct session *s, struct err *err)
{
    struct machine m;
    if (o->n_arguments == 0)
        return print_names(&listings[1], o, s, err);
    if (!machine_load(&m, o->arguments[0], s->paths.specs_dir, &s->arena, err))
        return EXIT_BAD_INPUT;
    return print_machine(o, &m, s, err);
}

/* ---- workload ------------------------------------------------------------------------------- */

static json_t *workload_json(const struct workload *w, const struct graph *g)
{
    json_t *o = json_object(), *layers = json_array();
    json_object_set_new(o, "name", json_string(w->name));
    json_object_set_new(o, "family", json_string(w->family));
    json_object_set_new(o, "sample", json_string(w->sample));
    json_object_set_new(o, "parameters", json_integer((json_int_t)graph_parameters(g)));
    json_object_set_new(o, "forward_mac", json_integer((json_int_t)graph_forward_mac(g)));
    json_object_set_new(o, "forward_flop", json_integer((json_int_t)(2 * graph_forward_mac(g))));
    json_object_set_new(o, "operations", json_integer((json_int_t)g->n_ops));
    for (size_t i = 0; i < g->n_layers; i++)
        json_array_append_new(layers, json_string(g->layers[i].name));
    json_object_set_new(o, "layers", layers);
    return o;
}

static void print_workload(const struct options *o, const struct workload *w, const struct graph *g)
{
    if (o->format == FORMAT_JSON) {
        print_json(stdout, workload_json(w, g));
        return;
    }
    if (o->ops)
        graph_print_ops(stdout, g);
    else
        graph_print(stdout, g);
}

int command_workload(const struct options *o, struct session *s, struct err *err)
{
    struct graph g = {0};
    if (o->n_arguments == 0 && o->format == FORMAT_JSON)
        return print_names(&listings[2], o, s, err);
    if (o->n_arguments == 0) {
        for (size_t i = 0; i < n_workloads; i++)
            printf("%-24s %s\n", workloads[i].name, workloads[i].help);
        return EXIT_DONE;
    }
    const struct workload *w = workload_find(o->arguments[0], err);
    if (!w || !workload_graph(&g, w, NULL, &s->arena, err))
        return EXIT_BAD_INPUT;
    print_workload(o, w, &g);
    return EXIT_DONE;
}

/* ---- plan and timeline ---------------------------------------------------------------------- */

static bool simulate_argument(struct simulation *sim, struct result *r, const struct options *o, struct session *s, struct err *err)
{
    return simulate(sim, r, o->arguments[0], o->sets, o->n_sets, &s->paths, &s->cache, err);
}

int command_plan(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim = {0};
    struct result r;
    bool good = simulate_argument(&sim, &r, o, s, err);
    if (good)
        plan_print(stdout, &sim.plan);
    simulation_free(&sim);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}

static bool write_trace(const char *path, const struct timeline *t, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    if (!timeline_write_trace(file.f, t, err)) {
        new_file_drop(&file);
        return false;
    }
    return new_file_save(&file, err);
}

int command_timeline(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim = {0};
    struct result r;
    s->paths.unfolded = o->unfolded;
    bool good = simulate_argument(&sim, &r, o, s, err) && (!o->trace || write_trace(o->trace, &sim.timeline, err));
    if (good)
        (o->format == FORMAT_CSV ? timeline_write_csv : timeline_print)(stdout, &sim.timeline);
    simulation_free(&sim);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}
