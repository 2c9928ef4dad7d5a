/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_diff.c - two small recipes with any overrides, compared: why they differ.
 *
 * The first byte picks both recipes; a line is an override of B, or, after "a:", of A. Laws: the causes and the rest add up to the whole to
 * the picosecond, the whole is the difference of the two steps, turned around it is the negative, a recipe does not differ from itself;
 * the parts of two rows add up, and so do the costs of each and the way from the ideal to the step.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/small.h"
#include "tests/model_paths.h"
#include "results/study/diff.h"
#include "results/study/explain.h"

#include <math.h>

enum { MOST_ACCUMULATION = 32 };

static const char *const recipes[] = { "vendor-ipu-pod4-resnet50-caraml", "vendor-ipu-m2000-bert-base-infer-b16", "vendor-ipu-m2000-resnet50-infer-b4" };
enum { N_RECIPES = sizeof recipes / sizeof *recipes };

struct side { const char *recipe; struct texts sets; };

static struct simulation_request question_of(const struct side *s, struct simulator *by)
{
    return (struct simulation_request){ .recipe = s->recipe, .overrides = s->sets.items, .n_overrides = s->sets.n, .simulator = by };
}

static bool compare(struct diff *d, const struct side *a, const struct side *b, struct simulator *by, struct arena *arena)
{
    struct err err = { "" };
    struct simulation_request qa = question_of(a, by), qb = question_of(b, by);
    struct diff_times sum = {0};
    bool good = diff_simulations(d, &qa, &qb, arena, &err);
    LAW(good || (*err.msg && !strchr(err.msg, '\n')));
    if (!good)
        return false;
    for (size_t i = 0; i < d->n; i++) {
        sum.step_ps += d->causes[i].change.step_ps;
        sum.sample_fs += d->causes[i].change.sample_fs;
    }
    LAW(sum.step_ps + d->rest.step_ps == d->whole.step_ps && sum.sample_fs + d->rest.sample_fs == d->whole.sample_fs);
    LAW(d->whole.step_ps == llround(d->b.step_time_s * 1e12) - llround(d->a.step_time_s * 1e12));
    struct diff_parts parts = diff_parts(&d->a, &d->b);
    int64_t whole_ps = parts.rounding_ps;
    for (int k = 0; k < N_PARTS; k++)
        whole_ps += parts.part_ps[k];
    LAW(whole_ps == parts.whole_ps);
    return true;
}

static void check_costs(const struct side *s, struct simulator *by)
{
    struct arena a = {0};
    struct simulation sim;
    struct result r;
    struct cost tree;
    struct waterfall w;
    if (!simulator_run(by, &sim, &r, s->recipe, s->sets.items, s->sets.n, NULL))
        return;
    cost_tree_build(&tree, &sim.timeline, &a);
    waterfall_build(&w, &sim.timeline);
    LAW(!cost_tree_wrong(&tree));
    LAW(fabs(cost_seconds(&tree, &sim.timeline) / r.step_time_s - 1) < 1e-9);
    LAW(w.n > 0 && w.items[w.n - 1].from_ipu_cycles == 0 && w.items[w.n - 1].to_ipu_cycles == tree.ipu_cycles);
    for (size_t i = 1; i + 1 < w.n; i++)
        LAW(w.items[i].from_ipu_cycles == w.items[i - 1].to_ipu_cycles && w.items[i].to_ipu_cycles >= w.items[i].from_ipu_cycles);
    simulation_free(&sim);
    arena_free(&a);
}

static void print_all(const struct diff *d)
{
    FILE *nowhere = fopen("/dev/null", "w");
    struct arena scratch = {0};
    struct document text = { .arena = &scratch };
    diff_document(&text, d);
    document_write(nowhere, FORMAT_TEXT, &text);
    arena_free(&scratch);
    fclose(nowhere);
}

static void split(struct side sides[2], const struct texts *lines)
{
    for (size_t i = 0; i < lines->n; i++) {
        bool of_a = strncmp(lines->items[i], "a:", 2) == 0;
        struct texts *t = &sides[of_a ? 0 : 1].sets;
        t->items[t->n++] = lines->items[i] + (of_a ? 2 : 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct simulator by;
    static size_t n_inputs;
    char text[1024];
    if (n < 1 || n >= sizeof text)
        return 0;
    memcpy(text, data, n);
    text[n] = 0;
    struct side sides[2] = { { .recipe = recipes[data[0] % N_RECIPES] }, { .recipe = recipes[data[0] / N_RECIPES % N_RECIPES] } };
    struct texts lines = lines_of(text + 1);
    split(sides, &lines);
    for (int i = 0; i < 2; i++)
        if (!is_small(sides[i].recipe, paths.recipes_dir, sides[i].sets.items, sides[i].sets.n, MOST_ACCUMULATION))
            return 0;
    if (!by.paths)
        simulator_open(&by, &paths);
    struct arena a = {0};
    struct diff there, back, none;
    if (compare(&there, &sides[0], &sides[1], &by, &a)) {
        LAW(compare(&back, &sides[1], &sides[0], &by, &a) && back.whole.step_ps == -there.whole.step_ps);
        LAW(compare(&none, &sides[1], &sides[1], &by, &a) && none.n == 0 && none.whole.step_ps == 0);
        check_costs(&sides[1], &by);
        print_all(&there);
    }
    arena_free(&a);
    if (++n_inputs % 2000 == 0) {
        simulator_close(&by);
        by = (struct simulator){0};
    }
    return 0;
}
