/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * workload.c - podbench workload: the layers, parameters and work of a model and, for an ONNX file, how each operator was imported. It can
 * also write a built-in model as an ONNX file.
 */
#include "harness/harness.h"
#include "system-model/graph/graph.h"
#include "workloads/models/models.h"
#include "workloads/onnx/onnx.h"
#include <jansson.h>

static json_t *workload_json(const struct workload *w, const struct graph *g, struct arena *a)
{
    const char **layers = ARENA_ROOM(a, const char *, g->n_layers);
    for (size_t i = 0; i < g->n_layers; i++)
        layers[i] = utf8_text(g->layers[i].name, a);
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "name", w->name, "family", w->family, "sample", w->sample, "parameters",
                     (json_int_t)graph_parameters(g), "forward_mac", (json_int_t)graph_forward_mac(g), "forward_flop",
                     (json_int_t)(2 * graph_forward_mac(g)), "operations", (json_int_t)g->n_ops, "layers", json_words(layers, g->n_layers));
}

static json_t *counts_json(const struct onnx_import *import)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < import->n_counts; i++) {
        const struct onnx_count *c = &import->counts[i];
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s?, s:i}", "operator", c->op, "fate", onnx_fate_names[c->fate], "into", c->into,
                                              "nodes", (int)c->n));
    }
    return rows;
}

/* refused: why the file cannot be trained, so that its inference is printed; NULL if it can, or nobody asked. */
static void print_workload(const struct options *o, const struct workload *w, const struct graph *g, const struct onnx_import *import, const char *refused,
                           struct session *s)
{
    if (o->format == FORMAT_JSON) {
        json_t *json = workload_json(w, g, &s->arena);
        if (refused)
            json_object_set_new(json, "training_refused", json_string(utf8_text(refused, &s->arena)));
        if (import->model)
            json_object_set_new(json, "operators", counts_json(import));
        print_json(s->out, json);
        return;
    }
    if (o->ops)
        graph_print_ops(s->out, g);
    else
        graph_print(s->out, g);
    if (import->model)
        onnx_print(s->out, import);
    if (refused)
        fprintf(s->out, "inference alone, as training is refused: %s\n", refused);
}

static bool read_sparsity(struct sparse_request *q, const char *text)
{
    if (strncmp(text, "density=", 8) == 0)
        return parse_f64(text + 8, &q->density) && q->density > 0 && q->density <= 1;
    if (strncmp(text, "block=", 6) == 0)
        return parse_u64(text + 6, &q->block) && q->block > 0 && q->block <= 16;
    if (strncmp(text, "layers=", 7) == 0)
        return q->layers = text + 7, true;
    q->pattern = text_is(text, "pattern=dynamic") ? PATTERN_DYNAMIC : PATTERN_STATIC;
    return strncmp(text, "pattern=", 8) == 0 && (q->pattern == PATTERN_DYNAMIC || text_is(text + 8, "static"));
}

/* Reads a setting of a recipe key that shapes models. */
static bool read_setting(struct model_options *m, const char *text, struct arena *a, struct err *err)
{
    const char *equals = strchr(text, '=');
    bool data = strncmp(text, "data.", 5) == 0 && equals;
    if (data)
        m->dimensions = arena_printf(a, "%s%s%s", m->dimensions ? m->dimensions : "", m->dimensions ? "," : "", text + 5);
    else if (text_is(text, "recipe.approximate=yes"))
        m->approximate = true;
    else if (strncmp(text, "recipe.operators=", 17) == 0)
        m->operators = text + 17;
    else if (strncmp(text, "recipe.output=", 14) == 0)
        m->output = text + 14;
    else if (text_is(text, "recipe.mode=infer"))
        m->inference = true;
    else if (strncmp(text, "sparsity.", 9) == 0 && read_sparsity(&m->sparse, text + 9))
        return true;
    else if (strncmp(text, "parallel.micro_batch=", 21) == 0 && parse_u64(text + 21, &m->micro_batch) && m->micro_batch - 1 < 65536)
        return true;
    else
        return fail(err, "--set %.100s: want data.NAME=SIZE, parallel.micro_batch=1..65536, recipe.mode=infer, recipe.output=NAME, "
                    "sparsity.KEY=VALUE, recipe.operators=FILE or recipe.approximate=yes", text);
    return true;
}

/* A file that cannot be trained is read for inference, unless that is refused too. */
static bool import_file(struct graph *g, struct onnx_import *import, const char **refused, struct model_options *m, struct session *s, struct err *err)
{
    if (onnx_file_import(g, import, m, &s->arena, err))
        return true;
    if (m->inference)
        return false;
    struct err of_training = *err;
    *g = (struct graph){0};
    *import = (struct onnx_import){0};
    *err = (struct err){0};
    m->inference = true;
    *refused = arena_strdup(&s->arena, of_training.msg);
    bool done = onnx_file_import(g, import, m, &s->arena, err);
    *err = done ? *err : of_training;
    return done;
}

static bool build_workload(struct graph *g, struct onnx_import *import, const char **refused, const struct workload *w, const struct options *o,
                           struct session *s, struct err *err)
{
    struct model_options m = own_options;
    for (size_t i = 0; i < o->n_sets; i++)
        if (!read_setting(&m, o->sets[i], &s->arena, err))
            return false;
    m.file = o->arguments[0];
    m.loss_slices = o->onnx ? 1 : 0;    /* the file that is written computes its loss in one piece */
    if (w->traits & IS_FILE)
        return import_file(g, import, refused, &m, s, err);
    if (m.dimensions || m.approximate || m.output)
        return fail(err, "--set: symbolic dimensions, outputs and --approximate are for ONNX files; %s is built in", w->name);
    return workload_graph(g, w, &m, &s->arena, err);
}

/* Writes the model to a file. For inference the file has no losses, and its outputs are those of the model. */
static int write_model(const struct options *o, const struct workload *w, const struct graph *g, struct session *s, struct err *err)
{
    uint64_t seed = 0;
    if (w->traits & IS_FILE)
        return bad_input(err, "workload: --onnx writes built-in models; %s is an ONNX file already", o->arguments[0]);
    if (!onnx_is_file(o->onnx))
        return bad_input(err, "workload: --onnx %.200s: want a name that ends in .onnx, as 'podbench workload' takes it back", o->onnx);
    if (o->weights && !parse_u64(o->weights, &seed))
        return bad_input(err, "workload: --weights: '%.60s' %s", o->weights, why_no_u64(o->weights));
    if (!onnx_write(o->onnx, g, o->weights ? &seed : NULL, err))
        return EXIT_BAD_INPUT;
    fprintf(s->out, "wrote %s%s\n", o->onnx, o->weights ? arena_printf(&s->arena, " and %s.data", o->onnx) : "");
    return EXIT_DONE;
}

int command_workload(const struct options *o, struct session *s, struct err *err)
{
    struct graph g = {0};
    struct onnx_import import = {0};
    if (o->n_arguments == 0 && (o->ops || o->n_sets || o->onnx))
        return bad_input(err, "workload: %s wants a NAME", o->onnx ? "--onnx" : o->ops ? "--ops" : "--set, or --approximate,");
    if (o->weights && !o->onnx)
        return bad_input(err, "workload: --weights SEED is for the file that --onnx writes");
    if (o->ops && o->format == FORMAT_JSON)
        return bad_input(err, "workload: --ops prints every operation as text; json has their number");
    if (o->n_arguments == 0 && o->format == FORMAT_JSON)
        return list_names(all_workloads, s, err);
    if (o->n_arguments == 0) {
        for (size_t i = 0; i < workload_count(); i++)
            fprintf(s->out, "%-24s %s\n", workload_at(i)->name, workload_at(i)->help);
        return EXIT_DONE;
    }
    const struct workload *w = workload_find(o->arguments[0], err);
    const char *refused = NULL;
    if (!w || !build_workload(&g, &import, &refused, w, o, s, err))
        return EXIT_BAD_INPUT;
    if (o->onnx)
        return write_model(o, w, &g, s, err);
    print_workload(o, w, &g, &import, refused, s);
    return EXIT_DONE;
}
