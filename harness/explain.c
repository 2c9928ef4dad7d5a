/*
 * explain.c - podbench explain: what bounds a recipe, where its step goes, what would help; as text, as JSON, or its waterfall as CSV.
 */
#include "harness/harness.h"
#include "results/explain/explain.h"
#include <jansson.h>

static void print_explanation(enum output_format format, const struct explanation *e)
{
    if (format == FORMAT_JSON)
        print_json(stdout, explain_json(e));
    else if (format == FORMAT_CSV)
        waterfall_write_csv(stdout, e);
    else
        explain_print(stdout, e);
}

int command_explain(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim = {0};
    struct result r;
    struct explanation e;
    struct progress p;
    struct question q = { .recipe = o->arguments[0], .overrides = o->sets, .n_overrides = o->n_sets, .simulator = &s->simulator,
                          .progress = progress_show, .user = &p };
    if (!simulator_run(q.simulator, &sim, &r, q.recipe, q.overrides, q.n_overrides, err)) {
        simulation_free(&sim);
        return EXIT_BAD_INPUT;
    }
    progress_start(&p, "moving each value");
    explain(&e, &sim, &r, &q, &s->arena);
    progress_end(&p);
    print_explanation(o->format, &e);
    simulation_free(&sim);
    return EXIT_DONE;
}
