/*
 * workload.c - podbench workload: the layers, parameters and work of a model.
 */
#include "harness/harness.h"
#include <jansson.h>

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
        return print_names(all_workloads, o, s, err);
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
