/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_trace.c - the trace is JSON, its events sum to the result's breakdown, its counters carry the bytes that were sent.
 */
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/simulate/simulate.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static void run(struct simulation *sim, struct result *r, const char *recipe, const char *const *sets, size_t n_sets)
{
    struct plan_cache cache = {0};
    struct err err;
    if (!simulate(sim, r, recipe, sets, n_sets, &paths, &cache, &err)) {
        print_error("%s\n", err.msg);
        assert_true(false);
    }
    plan_cache_free(&cache);
}

static json_t *trace_of(const struct timeline *t)
{
    char *text;
    struct err err;
    json_error_t where;
    PRINTED(text, assert_true(timeline_write_trace(f, t, NULL, &err)));
    json_t *trace = json_loads(text, 0, &where);
    assert_non_null(trace);
    free(text);
    return trace;
}

static const char *text_of(json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static const struct timeline_row *row_of(const struct timeline *t, json_t *event)
{
    for (uint32_t i = 0; i < t->n_rows; i++)
        if (t->rows[i].replica == json_integer_value(json_object_get(event, "pid")) &&
            t->rows[i].ipu == json_integer_value(json_object_get(event, "tid")))
            return &t->rows[i];
    return NULL;
}

/* Sums over all spans but waits and over all chips, alike ones counted: seconds, and cycles by part. */
static double work_of(double *parts, const struct timeline *t, double n_ipus, double hz)
{
    double cycles = 0;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct span *s = &t->spans[i];
        struct cycles spent = span_parts(t, s);
        double times = span_is_waiting(s->kind) ? 0 : (double)s->repeat * t->rows[s->row].n_alike / n_ipus / hz;
        cycles += (double)s->n_cycles * times;
        for (int k = 0; k < N_PARTS; k++)
            parts[k] += (double)spent.part[k] * times;
    }
    return cycles;
}

/* Durations of all slices: the step, less what waits. Part by part: the breakdown, the bubble less what waits. */
static void assert_sums(const struct simulation *sim, const struct result *r)
{
    json_t *trace = trace_of(&sim->timeline), *event;
    double parts[N_PARTS] = {0}, want[N_PARTS] = {0}, dur_s = 0, n_ipus = (double)r->ipus, hz = sim->machine->chip.clock_hz;
    double work_s = work_of(want, &sim->timeline, n_ipus, hz);
    size_t i, n = 0;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event) {
        if (!text_is(text_of(event, "ph"), "X"))
            continue;
        const struct timeline_row *row = row_of(&sim->timeline, event);
        assert_non_null(row);
        assert_false(text_is(text_of(event, "cat"), "wait"));
        dur_s += 1e-6 * json_number_value(json_object_get(event, "dur")) * row->n_alike / n_ipus;
        n++;
        for (int k = 0; k < N_PARTS; k++)
            parts[k] += (double)json_integer_value(json_object_get(json_object_get(event, "args"), part_names[k])) * row->n_alike / n_ipus / hz;
    }
    assert_near(dur_s, work_s, 1e-9 * (double)n);      /* each end is cut to the nanosecond */
    for (int k = 0; k < N_PARTS; k++) {
        assert_near(parts[k], want[k], 1e-12 * r->step_time_s + 1e-12);
        if (k != PART_BUBBLE)
            assert_near(parts[k], r->breakdown_s[k], 1e-12 * r->step_time_s + 1e-12);
    }
    json_decref(trace);
}

/* Slices of one IPU, in order of their start, follow each other: whole nanoseconds, none begins before the last has ended. */
struct slice { long long from_ns, to_ns; };

static int compare_slices(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    return x->from_ns != y->from_ns ? (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns) : (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

static void slices_never_overlap(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    run(&sim, &r, "mlperf-v2.0-closed-bow-pod16-bert-large", NULL, 0);
    json_t *trace = trace_of(&sim.timeline), *events = json_object_get(trace, "traceEvents"), *event;
    struct slice *slices = ARENA_ARRAY(&sim.arena, struct slice, json_array_size(events));
    size_t i, n = 0, n_starts = 0, n_ends = 0;
    json_array_foreach(events, i, event) {
        n_starts += text_is(text_of(event, "ph"), "s");
        n_ends += text_is(text_of(event, "ph"), "f");
        if (!text_is(text_of(event, "ph"), "X") || json_integer_value(json_object_get(event, "tid")) != 1)
            continue;
        slices[n].from_ns = llround(json_number_value(json_object_get(event, "ts")) * 1e3);
        slices[n].to_ns = slices[n].from_ns + llround(json_number_value(json_object_get(event, "dur")) * 1e3);
        n++;
    }
    assert_true(n > 500 && n_starts > 20 && n_starts == n_ends);
    qsort(slices, n, sizeof *slices, compare_slices);
    for (i = 1; i < n; i++)
        assert_true(slices[i].from_ns >= slices[i - 1].to_ns);
    json_decref(trace);
    simulation_free(&sim);
}

/* The stash grows and shrinks; it is never negative, and empty at the end. */
static void the_stash_is_emptied(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    run(&sim, &r, "vendor-ipu-pod16-resnet50-pipelined", NULL, 0);
    json_t *trace = trace_of(&sim.timeline), *event;
    double held = -1, most = 0;
    size_t i;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
        if (text_is(text_of(event, "ph"), "C") && text_is(text_of(event, "name"), "stash of IPU 0")) {
            held = (double)json_integer_value(json_object_get(json_object_get(event, "args"), "bytes"));
            assert_true(held >= 0);
            most = fmax(most, held);
        }
    assert_near(held, 0, 0);
    assert_near(most, (double)(sim.plan.stages[0].stash_bytes * sim.plan.stages[0].stash_depth), 0);
    json_decref(trace);
    simulation_free(&sim);
}

static void events_sum_to_the_breakdown(void **state)
{
    (void)state;
    static const char *const recipes[] = { "mlperf-v1.1-closed-ipu-pod16-bert-large", "mlperf-v1.1-closed-ipu-pod16-resnet50",
                                           "vendor-ipu-pod16-resnet50-pipelined", "vendor-ipu-m2000-bert-large-infer-b1" };
    static const char *const slow[] = { "faults.chip1=5 1.37" };
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        for (size_t with_fault = 0; with_fault <= (i < 3); with_fault++) {
            struct simulation sim;
            struct result r;
            run(&sim, &r, recipes[i], slow, with_fault);
            assert_sums(&sim, &r);
            simulation_free(&sim);
        }
}

/* The counters of one replica: rate times time until the next sample, summed, is what the busiest links carried. */
static void counters_carry_the_bytes_of_copies_and_collectives(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    run(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-bert-large", NULL, 0);
    const struct plan *p = &sim.plan;
    double want = 0, got = 0, rate = 0, at = 0;
    for (uint32_t i = 0; i < p->update.n_chains; i++)
        for (uint32_t k = 0; k < p->update.chains[i].steps->n_ops; k++)
            want += p->update.chains[i].n_tensors * p->update.chains[i].steps->ops[k].busiest_bytes[LINK_RAIL];
    assert_true(want > 0);
    for (uint32_t i = 0; i < p->n_runs; i++)
        for (uint32_t slot = 0; slot < p->n_slots; slot++)
            want += p->runs[i].n_cycles * p->runs[i].copies[slot].busiest_bytes[LINK_RAIL];
    json_t *trace = trace_of(&sim.timeline), *event;
    size_t i;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event) {
        if (!text_is(text_of(event, "ph"), "C") || !text_is(text_of(event, "name"), "busiest rail"))
            continue;
        double ts = json_number_value(json_object_get(event, "ts"));
        got += rate * (ts - at) * 1e-6;         /* one span's samples follow each other in the file */
        rate = json_number_value(json_object_get(json_object_get(event, "args"), "bytes_per_s"));
        at = ts;
        if (rate > 0)
            assert_true(rate <= 1.0001 * 80e9);
    }
    assert_near(got / want, 1, 1e-5);
    json_decref(trace);
    simulation_free(&sim);
}

/* Cycles of one replica's slices that name a step of this tensor. */
static double traced_cycles(const json_t *trace, const struct update_chain *chain, const char *step)
{
    const json_t *event;
    double cycles = 0;
    size_t i;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event) {
        const json_t *args = json_object_get(event, "args");
        if (text_is(json_string_value(json_object_get(args, "tensor")), chain->tensor) && json_integer_value(json_object_get(event, "pid")) == 0
            && json_integer_value(json_object_get(args, "elements")) == (json_int_t)chain->n_elements
            && text_is(json_string_value(json_object_get(args, "step")), step))
            cycles += (double)json_integer_value(json_object_get(args, "cycles"));
    }
    return cycles;
}

static double planned_cycles(const struct plan *p, const struct update_chain *chain, enum update_kind kind)
{
    double cycles = 0;
    for (const struct update_chain *c = p->update.chains; c < p->update.chains + p->update.n_chains; c++)
        for (uint32_t i = 0; i < c->steps->n_ops && text_is(c->tensor, chain->tensor) && c->n_elements == chain->n_elements; i++)
            if (c->steps->ops[i].kind == kind)
                cycles += (double)c->steps->ops[i].n_cycles * c->n_tensors * (c->ipu == ALL_IPUS ? p->request.ipus_per_replica : 1);
    return cycles;
}

/* The weight update's slices say whose they are: step by step and tensor by tensor, as planned. */
static void updates_name_their_tensors(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    static const char *const sets[] = { "parallel.gradient_accumulation=17" };
    run(&sim, &r, "mlperf-v2.0-closed-bow-pod16-bert-large", sets, 1);
    const struct plan *p = &sim.plan;
    json_t *trace = trace_of(&sim.timeline);
    assert_true(p->update.n_chains > 20);
    for (uint32_t i = 0; i < p->update.n_chains; i++) {
        const struct update_chain *c = &p->update.chains[i];
        for (uint32_t k = 0; k < c->steps->n_ops; k++)
            assert_near(traced_cycles(trace, c, update_kind_names[c->steps->ops[k].kind]), planned_cycles(p, c, c->steps->ops[k].kind), 0.5);
    }
    struct update_chain *quoted = ARENA_ARRAY(&sim.arena, struct update_chain, p->update.n_chains);
    memcpy(quoted, p->update.chains, p->update.n_chains * sizeof *quoted);
    for (uint32_t i = 0; i < p->update.n_chains; i++)
        quoted[i].tensor = i % 2 ? "a \"b\"\\\n" : "no text: \xff";
    sim.plan.update.chains = quoted;
    json_decref(trace);
    trace = trace_of(&sim.timeline);
    assert_true(traced_cycles(trace, &quoted[1], update_kind_names[quoted[1].steps->ops[0].kind]) > 0);
    json_decref(trace);
    simulation_free(&sim);
}

static void what_no_viewer_opens_is_refused(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    struct err err;
    static const char *const sets[] = { "parallel.gradient_accumulation=1000000" };
    run(&sim, &r, "vendor-ipu-pod16-resnet50-pipelined", sets, 1);
    char *text;
    PRINTED(text, assert_false(timeline_write_trace(f, &sim.timeline, NULL, &err)));
    assert_string_equal(text, "");
    const char *tail = strstr(err.msg, " events, at most ");
    assert_non_null(tail);
    assert_string_equal(tail, " events, at most 5000000; lower parallel.gradient_accumulation or parallel.replicas, or leave out --unfolded");
    free(text);
    simulation_free(&sim);
}

/* The last four cells of each line: start and length in cycles, start and end in seconds, written to nine digits. */
static void assert_ends(const char *csv, double hz)
{
    for (const char *line = strchr(csv, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        const char *cell = line;
        unsigned long long start, length;
        double start_s, end_s;
        for (int i = 0; i < 6; i++)
            cell = strchr(cell, ',') + 1;
        assert_int_equal(sscanf(cell, "%llu,%llu,%lf,%lf", &start, &length, &start_s, &end_s), 4);
        assert_near(start_s, (double)start / hz, 1e-8 * start_s);
        assert_near(end_s, (double)(start + length) / hz, 1e-8 * end_s);
    }
}

/* One line of header, one a recurrence; a long accumulation is still JSON. */
static void csv_and_long_traces(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    static const char *const sets[] = { "parallel.gradient_accumulation=5003" };
    run(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", sets, 1);
    json_t *trace = trace_of(&sim.timeline), *event;
    size_t n_events = 0, n_lines = 0, n_forward = 0, i;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event) {
        n_events += text_is(text_of(event, "ph"), "X");
        n_forward += text_is(text_of(event, "cat"), "forward");
    }
    char *text;
    PRINTED(text, timeline_write_csv(f, &sim.timeline));
    for (const char *c = text; *c; c++)
        n_lines += *c == '\n';
    assert_ends(text, sim.machine->chip.clock_hz);
    assert_int_equal(n_forward, 5003);
    assert_int_equal(n_lines, n_events + 1);
    free(text);
    json_decref(trace);
    simulation_free(&sim);
}

/* Trace and CSV of the first n spans, with another one behind them. */
static char *told(const struct timeline *whole, size_t n, struct span behind, struct arena *a)
{
    struct timeline t = *whole;
    struct err err;
    char *text;
    t.n_spans = n;
    t.spans = ARENA_ARRAY(a, struct span, n + 1);
    memcpy(t.spans, whole->spans, n * sizeof *t.spans);
    t.spans[n] = behind;
    PRINTED(text, assert_true(timeline_write_trace(f, &t, NULL, &err)); timeline_write_csv(f, &t));
    return text;
}

/* Spans behind the last one do not belong to the timeline: some are repeated, others would have waited for a last
 * collective. */
static void nothing_behind_the_last_span_is_told(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    run(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-bert-large", NULL, 0);
    const struct timeline *t = &sim.timeline;
    size_t n_collectives = 0, n = t->n_spans, each = n / 5 + 1;
    for (size_t i = 0; i < n; i++) {
        bool collective = i + 1 < n && t->spans[i].kind == SPAN_REDUCE && n_collectives < 4;
        n_collectives += collective;
        if (!collective && i % each)
            continue;
        size_t end = collective ? i + 1 : n;
        char *with = told(t, end, t->spans[collective ? end : i], &sim.arena), *without = told(t, end, (struct span){ 0 }, &sim.arena);
        assert_string_equal(with, without);
        free(with);
        free(without);
    }
    assert_true(n_collectives == 4);
    simulation_free(&sim);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(events_sum_to_the_breakdown), cmocka_unit_test(slices_never_overlap), cmocka_unit_test(the_stash_is_emptied), cmocka_unit_test(counters_carry_the_bytes_of_copies_and_collectives),
    cmocka_unit_test(updates_name_their_tensors), cmocka_unit_test(what_no_viewer_opens_is_refused), cmocka_unit_test(csv_and_long_traces),
    cmocka_unit_test(nothing_behind_the_last_span_is_told),
};
TAP_MAIN(tests)
