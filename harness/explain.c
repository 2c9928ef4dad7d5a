/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.c - podbench explain: what bounds a recipe, where its time goes and what would help. CSV is the waterfall.
 */
#include "harness/harness.h"
#include "results/study/explain.h"
#include "results/study/trust.h"
#include <jansson.h>

static void print_explanation(FILE *f, enum output_format format, const struct explanation *e, const struct validity *v)
{
    json_t *json = format == FORMAT_JSON ? explain_json(e) : NULL;
    if (json) {
        json_object_set_new(json, "validity", validity_json(v));
        print_json(f, json);
    } else if (format == FORMAT_CSV)
        waterfall_write_csv(f, e);
    else
        explain_print(f, e);
    if (format == FORMAT_TEXT) {
        fputc('\n', f);
        validity_print(f, v, e->result);
    }
}

int command_explain(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct explanation e;
    struct track_record record;
    struct validity v;
    struct progress p;
    struct simulation_request q = { .recipe = o->arguments[0], .overrides = o->sets, .n_overrides = o->n_sets, .simulator = &s->simulator,
                          .progress = progress_show, .user = &p };
    if (!track_record_open(&record, arena_printf(&s->arena, "%s/left-out.csv", s->validity_dir), &s->arena, err))
        return EXIT_BAD_INPUT;
    if (!simulate_argument(&sim, &r, o, s, err)) {
        simulation_free(&sim);
        return EXIT_BAD_INPUT;
    }
    progress_start(&p, s->log, "moving each value");
    explain(&e, &sim, &r, &q, &s->arena);
    progress_end(&p);
    validity_of(&v, &record, &sim, &r, &q, &s->arena);
    print_explanation(s->out, o->format, &e, &v);
    simulation_free(&sim);
    return EXIT_DONE;
}
