/*
 * run.c - podbench run: simulate the recipes that are named, and print their results.
 *
 * All recipes are simulated before the first byte is printed: an error leaves nothing behind.
 */
#include "harness/harness.h"
#include <jansson.h>

struct run_state { struct results results; int status; };

static bool run_one(struct run_state *state, const char *recipe, const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim = {0};
    struct result r;
    struct err law = {0};
    bool good = simulate(&sim, &r, recipe, o->sets, o->n_sets, &s->paths, &s->cache, err);
    if (good && o->check && !timeline_check(&sim.timeline, &law)) {
        fprintf(stderr, "podbench: %s: a law of the timeline is broken: %s\n", r.id, law.msg);
        state->status = EXIT_OUT_OF_TOLERANCE;
    }
    if (good)
        results_add(&state->results, &r, &s->arena);
    simulation_free(&sim);
    return good;
}

static void print_results_json(const struct results *set)
{
    if (set->n == 1) {
        print_json(stdout, result_json(&set->items[0]));
        return;
    }
    json_t *array = json_array();
    for (size_t i = 0; i < set->n; i++)
        json_array_append_new(array, result_json(&set->items[i]));
    print_json(stdout, array);
}

static void print_results(enum output_format format, const struct results *set)
{
    if (format == FORMAT_JSON) {
        print_results_json(set);
        return;
    }
    if (format == FORMAT_CSV)
        result_write_csv_header(stdout);
    for (size_t i = 0; i < set->n; i++) {
        if (format == FORMAT_CSV)
            result_write_csv(stdout, &set->items[i]);
        else
            result_print_text(stdout, &set->items[i]);
        if (format == FORMAT_TEXT && i + 1 < set->n)
            printf("\n");
    }
}

int command_run(const struct options *o, struct session *s, struct err *err)
{
    struct run_state state = { .status = EXIT_DONE };
    struct progress p;
    progress_start(&p, "simulating");
    for (size_t i = 0; i < o->n_arguments; i++) {
        if (!run_one(&state, o->arguments[i], o, s, err))
            return EXIT_BAD_INPUT;
        progress_show(&p, i + 1, o->n_arguments);
    }
    progress_end(&p);
    print_results(o->format, &state.results);
    return state.status;
}
