/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_drawings_of_run.c - the data of figures of one run, which is simulated, by what must hold of it; and the run that is chosen.
 */
#include "tests/figures/drawn.h"
#include "system-model/graph/graph.h"
#include "results/simulate/simulate.h"

static const char pipelined[] = "vendor-ipu-pod16-resnet50-pipelined";
static const struct figures no_figures;

/* A comma between quotes is text. */
static const char *field(const char *row, size_t column)
{
    bool quoted = false;
    for (size_t i = 0; i < column; row++) {
        quoted ^= *row == '"';
        i += *row == ',' && !quoted;
    }
    return row;
}

static double number(const char *row, size_t column) { return strtod(field(row, column), NULL); }

/* The lines below the header of a table, which is removed. */
static size_t lines_of(char **out, const char *table)
{
    char *text, *path = arena_printf(&a, "%s/%s.csv", folder(), table), *line;
    size_t n = 0;
    assert_true(read_text_file(&text, NULL, path, 1 << 20, &a, &err));
    unlink(path);
    strsep(&text, "\n");
    while ((line = strsep(&text, "\n")) && *line) {
        assert_true(n < 2000);
        out[n++] = line;
    }
    return n;
}

static struct drawing_source simulated(struct simulation *sim)
{
    static struct results one;
    struct result r = {0};
    assert_true(simulator_run(simulator(), sim, &r, pipelined, NULL, 0, &err));
    results_add(&one, &r, &a);
    return (struct drawing_source){ &one, &no_figures, NULL, simulator(), NULL };
}

/* One row for the model, the IPU with the fullest tile; each region has its bytes. */
static void check_memory(const struct drawing_source *from, const struct simulation *sim, char **lines)
{
    struct drawing d = drawn("memory", from);
    size_t n = lines_of(lines, "memory");
    double limit = (double)sim->machine->chip.tile_memory_bytes;
    uint32_t fullest = 0;
    for (uint32_t i = 1; i < sim->plan.request.ipus_per_replica; i++)
        fullest = sim->plan.memory[i].total_bytes > sim->plan.memory[fullest].total_bytes ? i : fullest;
    assert_int_equal(n, 1);
    assert_near(number(lines[0], 2), limit / 1000, 1e-9);
    for (size_t k = 0; k < N_MEMORY_CATEGORIES; k++) {
        double kb = (double)sim->plan.memory[fullest].bytes[k] / 1000;
        assert_near(number(lines[0], 3 + k), kb, 1e-6 * kb);
    }
    assert_string_equal(d.finding, arena_printf(&a, "What the fullest tile holds, by model: the fullest of all is on IPU %u of ipu-pod16-resnet50-pipelined, %.0f %% full",
                                                fullest, 100 * (double)sim->plan.memory[fullest].total_bytes / limit));
}

/* Each item begins where the one before ends; the last is the whole step of the mean IPU. */
static void check_waterfall(const struct drawing_source *from, char **lines)
{
    struct drawing d = drawn("waterfall", from);
    size_t n = lines_of(lines, "waterfall");
    double at = 0, step_ms = 1e3 * from->results->items[0].step_time_s;
    assert_true(n > 3);
    for (size_t i = 0; i < n; i++) {
        double first = number(lines[i], 2), last = number(lines[i], 3);
        assert_near(number(lines[i], 1), (double)i, 0);
        assert_near(first, i + 1 < n ? at : 0, 1e-5);
        at = last;
    }
    assert_near(at, step_ms, 1e-5 * step_ms);
    assert_non_null(strstr(d.finding, arena_printf(&a, "a step takes %.3g ms", step_ms)));
}

/* Bars of one IPU do not overlap; there are as many forward as backward passes, each with a number. The busy share is
 * the sum of their widths. */
static void check_pipeline(const struct drawing_source *from, char **lines)
{
    struct drawing d = drawn("pipeline", from);
    static const char *const tables[] = { "pipeline-inference", "pipeline-training" };
    static const unsigned passes[2][2] = { { 8, 0 }, { 16, 16 } };
    double share[2];
    for (size_t t = 0; t < 2; t++) {
        size_t n = lines_of(lines, tables[t]), count[2] = { 0, 0 };
        double last = 0, busy = 0, bars[4][64][2];
        size_t n_bars[4] = { 0 };
        for (size_t i = 0; i < n; i++) {
            double chip = number(lines[i], 0);
            size_t column = 2, shown = 0;
            for (size_t k = 0; k < 4; k++)
                if (!isnan(number(lines[i], 2 + 2 * k))) {
                    column = 2 + 2 * k;
                    shown++;
                }
            double at = number(lines[i], column), to = number(lines[i], column + 1);
            assert_int_equal(shown, 1);
            assert_true(to >= at && chip < 4);
            last = fmax(last, to);
            if (column < 6) {
                double which = number(lines[i], 1), (*mine)[2] = bars[(int)chip];
                assert_true(which >= 1 && which <= passes[t][0]);
                for (size_t k = 0; k < n_bars[(int)chip]; k++)
                    assert_true(at >= mine[k][1] - 1e-3 || to <= mine[k][0] + 1e-3);
                mine[n_bars[(int)chip]][0] = at;
                mine[n_bars[(int)chip]++][1] = to;
                busy += to - at;
                count[(column - 2) / 2]++;
            }
        }
        assert_int_equal(count[0], 4 * passes[t][0]);
        assert_int_equal(count[1], 4 * passes[t][1]);
        share[t] = 100 * busy / (4 * last);
    }
    assert_true(share[0] > 10 && share[1] > 10);
    double found[2];
    assert_int_equal(sscanf(d.finding, "ResNet-50 on four IPUs, computing %lf %% of the time in inference of 8 micro-batches, %lf", &found[0], &found[1]), 2);
    assert_near(found[0], share[0], 0.501);     /* whole per cent of what the bars, cut to the microsecond, sum to */
    assert_near(found[1], share[1], 0.501);
}

/* Every link between two IPUs once, drawn as a line or a stub, with the load of the busiest direction. */
static void check_links(const struct drawing_source *from, const struct simulation *sim, char **lines)
{
    struct drawing d = drawn("links", from);
    size_t n = lines_of(lines, "links"), between = 0;
    double most = 0;
    for (uint32_t i = 0; i < sim->topology->n_links; i++)
        between += topology_link(sim->topology, i).from < 16 && topology_link(sim->topology, i).to < 16;
    assert_int_equal(n, between);
    uint32_t link = 0;
    for (size_t i = 0; i < n; i++, link++) {
        while (topology_link(sim->topology, link).from >= 16 || topology_link(sim->topology, link).to >= 16)
            link++;
        uint32_t ipu = topology_link(sim->topology, link).from, to = topology_link(sim->topology, link).to;
        double along = (double)(to / 2) - ipu / 2, across = (double)(to % 2) - ipu % 2, side = ipu < to ? 0.06 : -0.06;
        assert_near(number(lines[i], 5), ipu, 0);
        assert_near(number(lines[i], 0), ipu / 2 + (along == 0 ? side : 0), 1e-9);
        assert_near(number(lines[i], 1), ipu % 2 + (across == 0 ? side : 0), 1e-9);
        assert_near(number(lines[i], 2), fabs(along) > 1 ? (along > 0 ? -0.4 : 0.4) : along, 1e-9);
        assert_near(number(lines[i], 3), across, 1e-9);
        assert_true(number(lines[i], 4) >= 0 && number(lines[i], 4) <= 100);
        most = fmax(most, number(lines[i], 4));
    }
    assert_near(most, 100, 1e-9);
    assert_non_null(strstr(d.finding, "ipu-pod16-resnet50-pipelined: copies between stages put "));
    assert_int_equal(lines_of(lines, "links-ipus"), 16);
    assert_string_equal(lines[5], "2,1,5");
}

static bool has_point(char **lines, size_t n, double intensity, double rate)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(number(lines[i], 1) / intensity - 1) < 1e-5 && fabs(number(lines[i], 2) / rate - 1) < 1e-5)
            return true;
    return false;
}

/* Every operation that multiplies has a point, equal ones share it, and nothing else has one. */
static void check_points(const struct simulation *sim, char **lines, size_t n)
{
    double (*seen)[2] = arena_alloc(&a, sim->graph->n_ops * sizeof *seen);
    size_t n_points = 0;
    for (uint32_t s = 0; s < sim->plan.n_stages; s++) {
        const struct stage_plan *stage = &sim->plan.stages[s];
        for (uint32_t i = 0; i < sim->graph->n_ops; i++) {
            const struct op_plan *p = stage->compiled->op_plans[i];
            uint32_t layer = sim->graph->ops[i].layer_id;
            if (layer < stage->first_layer || layer - stage->first_layer >= stage->n_layers || p->mac == 0 || p->exchanged_bytes == 0)
                continue;
            double intensity = 2 * (double)p->mac / (double)p->exchanged_bytes;
            double rate = 2e-12 * (double)p->mac / (double)op_plan_cycles(p) * sim->machine->chip.clock_hz;
            assert_true(has_point(lines, n, intensity, rate));
            size_t k = 0;
            while (k < n_points && (seen[k][0] != intensity || seen[k][1] != rate))
                k++;
            seen[k][0] = intensity, seen[k][1] = rate;
            n_points += k == n_points;
        }
    }
    assert_int_equal(n, n_points);
}

/* No point is above its roof, which is what the chip's units and exchange allow. */
static void check_roofline(const struct drawing_source *from, const struct simulation *sim, char **lines)
{
    const struct chip *c = &sim->machine->chip;
    struct drawing d = drawn("roofline", from);
    double peak = chip_peak_flop_per_s(c, chip_mac_per_cycle(c, TYPE_FP16, sim->plan.request.partials)) / 1e12;
    double slope = (double)c->n_tiles * (double)c->exchange_bytes_per_cycle * c->clock_hz / 1e12, percent;
    size_t n = lines_of(lines, "roofline"), near = 0;
    for (size_t i = 0; i < n; i++) {
        double intensity = number(lines[i], 1), rate = number(lines[i], 2), limit = fmin(peak, intensity * slope);
        assert_true(rate > 0 && rate <= limit * (1 + 1e-6) && number(lines[i], 0) == 1);
        near += rate > limit / 2;
    }
    assert_true(n > 20);
    check_points(sim, lines, n);
    assert_int_equal(sscanf(d.finding, "%lf", &percent), 1);
    assert_near(percent, 100 * (double)near / (double)n, 0.51);
    assert_int_equal(lines_of(lines, "roofline-roofs"), 3);
    assert_near(number(lines[0], 3), slope, 1e-6 * slope);
    assert_near(number(lines[1], 2), peak / slope, 1e-6 * peak / slope);
    assert_near(number(lines[1], 3), peak, 1e-6 * peak);
    assert_near(number(lines[2], 2), 6 * peak / slope, 1e-6 * 6 * peak / slope);
    assert_near(number(lines[2], 3), peak, 1e-6 * peak);
}

/* 9 micro-batches in rows of 8 accumulations, each cell as the simulator gives it; the finding names the fastest that
 * fits. */
static void check_map(const struct drawing_source *from, char **lines)
{
    static const unsigned micro_batches[] = { 1, 2, 4, 8, 12, 16, 20, 24, 32 }, accumulations[] = { 1, 2, 4, 8, 16, 32, 64, 128 };
    struct drawing d = drawn("map", from);
    double most = 0;
    const char *best = "";
    assert_int_equal(lines_of(lines, "map"), 72);
    for (size_t i = 0; i < 72; i++) {
        const char *sets[] = { arena_printf(&a, "parallel.micro_batch=%u", micro_batches[i % 9]),
                               arena_printf(&a, "parallel.gradient_accumulation=%u", accumulations[i / 9]) };
        struct simulation sim = {0};
        struct result r;
        bool good = simulator_run(from->simulator, &sim, &r, pipelined, sets, 2, NULL);
        const char *cell = !good ? "NaN,refused" : !r.fits ? "NaN,does not fit"
                         : arena_printf(&a, "%.8g,%.0f", r.throughput_samples_per_s, r.throughput_samples_per_s);
        assert_string_equal(lines[i], arena_printf(&a, "%zu,%zu,%s", i % 9, i / 9, cell));
        if (good && r.fits && r.throughput_samples_per_s > most) {
            most = r.throughput_samples_per_s;
            best = arena_printf(&a, "at most %.0f (micro-batch %u, accumulation %u)", most, micro_batches[i % 9], accumulations[i / 9]);
        }
        if (good)
            simulation_free(&sim);
    }
    assert_true(most > 0);
    assert_non_null(strstr(d.finding, best));
}

/* With more IPUs than can be drawn, or no copies between stages, there is no picture of links. */
static void links_of_no_run(void **state)
{
    const struct result runs_alone[] = {
        { .id = "too-large", .ipus = 65, .fits = true, .step_time_s = 1, .breakdown_s = { [PART_STAGE_COPY] = 0.9 } },
        { .id = "no-copies", .ipus = 64, .fits = true, .step_time_s = 1 },
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct results one = { .items = (struct result *)&runs_alone[i], .n = 1 };
        const struct drawing_source from = { &one, &no_figures, NULL, simulator(), NULL };
        struct drawing d = drawn("links", &from);
        assert_null(d.finding);
        assert_string_equal(d.missing, "no pipelined training run on at most 64 IPUs");
    }
}

/* The run that the figure is about; the others are no recipes, so that choosing one of them fails. */
static void the_run_is_chosen(void **state)
{
#define COPIES(share) .step_time_s = 1, .breakdown_s = { [PART_STAGE_COPY] = (share) }
    const struct result links[] = {
        { .id = "too-large", .ipus = 65, .fits = true, COPIES(0.9) }, { .id = "no-copies", .ipus = 4, .fits = true, COPIES(0) },
        { .id = "fewer-copies", .ipus = 16, .fits = true, COPIES(0.2) }, { .id = pipelined, .ipus = 64, .fits = true, COPIES(0.3) },
        { .id = "too-large-too", .ipus = 128, .fits = true, COPIES(0.8) }, { .id = "half-as-many", .ipus = 16, .fits = true, COPIES(0.15) },
        { .id = "a-smaller-share", .ipus = 16, .fits = true, .step_time_s = 4, .breakdown_s = { [PART_STAGE_COPY] = 0.8 } },
        { .id = "a-small-step", .ipus = 16, .fits = true, .step_time_s = 0.25, .breakdown_s = { [PART_STAGE_COPY] = 0.05 } },
        { .id = "no-fit", .ipus = 16, COPIES(0.8) }, { .id = "inference", .ipus = 16, .fits = true, .latency_s = 1, COPIES(0.8) },
    };
    const struct result waterfall[] = {
        { .id = "fewer", .ipus = 15, .fits = true, COPIES(0) }, { .id = "a-first-name", .ipus = 16, .fits = true, COPIES(0) },
        { .id = pipelined, .ipus = 16, .fits = true, COPIES(0) }, { .id = "b-name", .ipus = 16, .fits = true, COPIES(0) },
        { .id = "fewer-too", .ipus = 4, .fits = true, COPIES(0) },
    };
    const struct result map[] = {
        { .id = "z-last-name", .ipus = 16, .fits = true, COPIES(0) }, { .id = "copies", .ipus = 2, .fits = true, COPIES(0.1) },
        { .id = pipelined, .ipus = 16, .fits = true, COPIES(0) }, { .id = "larger", .ipus = 17, .fits = true, COPIES(0) },
        { .id = "copies-too", .ipus = 8, .fits = true, COPIES(0.1) },
    };
    const struct { const char *name; const struct result *runs; size_t n; } cases[] = {
        { "links", links, sizeof links / sizeof *links }, { "waterfall", waterfall, sizeof waterfall / sizeof *waterfall },
        { "map", map, sizeof map / sizeof *map },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct results list = { .items = (struct result *)cases[i].runs, .n = cases[i].n };
        struct drawing_source from = { &list, &no_figures, NULL, simulator(), NULL };
        struct drawing d = drawn(cases[i].name, &from);
        assert_non_null(d.finding);
        assert_non_null(strstr(d.finding, "ipu-pod16-resnet50-pipelined"));
    }
}

static void figures_of_one_run(void **state)
{
    struct simulation sim = {0};
    struct drawing_source from = simulated(&sim);
    char **lines = ARENA_ARRAY(&a, char *, 2000);
    (void)state;
    check_memory(&from, &sim, lines);
    check_waterfall(&from, lines);
    check_pipeline(&from, lines);
    check_links(&from, &sim, lines);
    check_roofline(&from, &sim, lines);
    check_map(&from, lines);
    simulation_free(&sim);
}

/* The same with smaller micro-batches: the finding has whole per cents, which a single run might hide. */
static void pipelines_of_smaller_batches(void **state)
{
    static const char own[] = "micro_batch = 16";
    static const unsigned batches[] = { 12, 8, 4 };
    char *text, *path = arena_printf(&a, "%s/%s.ini", folder(), pipelined), **lines = ARENA_ARRAY(&a, char *, 2000);
    (void)state;
    assert_true(read_text_file(&text, NULL, arena_printf(&a, "%s/%s.ini", paths.recipes_dir, pipelined), 1 << 16, &a, &err));
    char *at = strstr(text, own);
    assert_non_null(at);
    *at = 0;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "%smicro_batch = %u%s", text, batches[i], at + sizeof own - 1);
        fclose(f);
        struct model_paths there = paths;
        struct simulator s;
        struct result r = { .id = pipelined };
        struct results one = { .items = &r, .n = 1 };
        there.recipes_dir = folder();
        simulator_open(&s, &there);
        check_pipeline(&(struct drawing_source){ .results = &one, .simulator = &s }, lines);
        simulator_close(&s);
        unlink(path);
    }
}

static bool is_faster(const struct result *x, const struct result *y)
{
    return x->throughput_samples_per_s > y->throughput_samples_per_s;
}

/* A run that does not fit, has no step or has a latency is not drawn, however fast; of equal ones the first is. */
static void the_run_that_is_drawn(void **state)
{
    struct result items[] = {
        { .fits = false, .step_time_s = 0.5, .throughput_samples_per_s = 90 }, { .fits = true, .throughput_samples_per_s = 80 },
        { .fits = true, .step_time_s = 0.5, .latency_s = 0.25, .throughput_samples_per_s = 70 },
        { .fits = true, .step_time_s = 0.5, .throughput_samples_per_s = 30 }, { .fits = true, .step_time_s = 0.5, .throughput_samples_per_s = 60 },
        { .fits = true, .step_time_s = 0.25, .throughput_samples_per_s = 60 }, { .fits = true, .step_time_s = 0.5, .throughput_samples_per_s = 50 },
    };
    struct figure one = { .recipe = "mlperf-v1.0-closed-ipu-pod16-x", .metric = "throughput_samples_per_s" };
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        items[i].id = "own", items[i].workload = "x", items[i].system = "ipu-pod16";
    const struct results all = { .items = items, .n = sizeof items / sizeof *items }, none = { .items = items, .n = 3 };
    const struct drawing_source from = { &all, &no_figures, NULL, NULL, NULL }, of_none = { &none, &no_figures, NULL, NULL, NULL };
    const struct drawing_source with_closed = { &all, &(struct figures){ .items = &one, .n = 1 }, NULL, NULL, NULL };
    (void)state;
    assert_ptr_equal(drawing_run(&(struct drawing){ .from = &from }, is_faster), &items[4]);
    items[3].id = one.recipe;               /* a published run of the closed division comes before faster ones */
    assert_ptr_equal(drawing_run(&(struct drawing){ .from = &with_closed }, is_faster), &items[3]);
    assert_null(drawing_run(&(struct drawing){ .from = &of_none }, is_faster));
}

/* The caption names the point with the least extra work among those that keep at most a fifth of the activations. */
static void recomputation(void **state)
{
    static const char *const models[] = { "resnet50", "resnet152", "densenet121" };
    struct drawing d = drawn("recompute", NULL);
    char **lines = ARENA_ARRAY(&a, char *, 2000);
    const char *expected = "Down to a fifth of the activation memory: ";
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        size_t n = lines_of(lines, arena_printf(&a, "recompute-%s", models[m]));
        double least = INFINITY;
        assert_true(n > 3);
        for (size_t i = 0; i < n; i++)
            if (number(lines[i], 1) <= 20)
                least = fmin(least, number(lines[i], 2));
        expected = isfinite(least) ? arena_printf(&a, "%s%s%s with %.0f %% more work", expected, m ? ", " : "", models[m], least)
                                   : arena_printf(&a, "%s%s%s never gets there", expected, m ? ", " : "", models[m]);
    }
    assert_string_equal(d.finding, expected);
}

/* A model has a cell for 4, 16, 64 and 256 IPUs. What fits is cut over no more IPUs than there are, and its rate is a number; with more IPUs it still fits, as well on
 * the chips and no slower, and so does a smaller model. GPT-2 Small fits on 4 IPUs; Bloom, whose weights and state are 2.1 TB, is never on the chips. The finding
 * names the first model that needs phases. */
static void large_models(void **state)
{
    struct results none = { 0 };
    const struct drawing_source from = { &none, &no_figures, NULL, simulator(), NULL };
    struct drawing d = drawn("large", &from);
    char **lines = ARENA_ARRAY(&a, char *, 2000);
    const char *first = NULL;
    bool on_chip = false, in_phases = false;
    (void)state;
    assert_int_equal(lines_of(lines, "large"), 9 * 4);
    for (size_t i = 0; i < 9 * 4; i++) {
        unsigned n_ipus = 4u << 2 * (i % 4), width = 0, second = 1;
        int place = (int)number(lines[i], 4);
        assert_int_equal((unsigned)number(lines[i], 3), n_ipus);
        sscanf(field(lines[i], 7), "%ux%u", &width, &second);
        assert_true(place ? width && width * second <= n_ipus && number(lines[i], 8) > 0 : !width && isnan(number(lines[i], 8)));
        for (size_t step = 1; step <= 4; step += 3) {
            const char *worse = step == 1 && i % 4 ? lines[i - 1] : step == 4 && i + 4 < 36 ? lines[i + 4] : NULL;
            assert_true(!worse || number(worse, 4) <= place);
            assert_true(!worse || number(worse, 4) == 0 || number(worse, 8) <= number(lines[i], 8));
        }
        on_chip = (i % 4 && on_chip) || place == 2;
        in_phases = (i % 4 && in_phases) || place == 1;
        if (i % 4 == 3 && in_phases && !on_chip && !first)
            first = arena_printf(&a, "From %.*s (", (int)strcspn(strchr(strchr(lines[i], ',') + 1, ',') + 1, ","), strchr(strchr(lines[i], ',') + 1, ',') + 1);
    }
    assert_true(number(lines[0], 4) > 0);
    assert_false(on_chip);
    assert_non_null(first);
    assert_int_equal(strncmp(d.finding, first, strlen(first)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_models),
        cmocka_unit_test(the_run_is_chosen), cmocka_unit_test(links_of_no_run), cmocka_unit_test(figures_of_one_run),
        cmocka_unit_test(pipelines_of_smaller_batches), cmocka_unit_test(recomputation), cmocka_unit_test(the_run_that_is_drawn),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, end);
}
