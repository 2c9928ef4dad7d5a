/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace.c - the timeline span by span: Chrome trace events for Perfetto and chrome://tracing, CSV for figures.
 *
 * Each IPU is a named track (pid: replica, tid: IPU), each span but a wait a slice named by its kind and stage. Times are whole
 * nanoseconds, rounded down at both ends, so slices that follow each other never overlap. A recurring span is written out each
 * time it recurs, so a file grows with gradient accumulation. A slice's arguments are the cycles it was spent on, part by part.
 * Arrows lead from each collective of the weight update to the work that waits for it. Counters: bytes a second on the busiest link of
 * each kind, averaged over a copy or collective (not counted: small all-reduces of norms inside a pass); bytes stashed on each IPU.
 */
#include "system-model/timeline/timeline.h"
#include "system-model/graph/graph.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 5000000 };         /* a gigabyte of text; the viewers give up long before */

static double to_us(const struct timeline *t, uint64_t cycles)
{
    return (double)cycles / t->plan->topology->machine->chip.clock_hz * 1e6;
}

/* Whole nanoseconds, in microseconds: printed to three digits they are exact. */
static double slice_us(const struct timeline *t, uint64_t cycles) { return floor(to_us(t, cycles) * 1e3) / 1e3; }

static void write_names(FILE *f, const struct timeline *t)
{
    for (uint32_t r = 0; r < t->n_rows; r++) {
        const struct timeline_row *row = &t->rows[r];
        fprintf(f, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"IPU %u\"}},\n", row->replica, row->ipu,
                row->ipu);
        if (row->ipu == 0)
            fprintf(f, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":\"replica %u (%u alike)\"}},\n", row->replica,
                    row->replica, row->n_alike);
    }
}

/* ---- link counters ----------------------------------------------------------------------- */

/* Bytes on the busiest link of each kind during the span; NULL if none. */
static const double *busiest_bytes(const struct timeline *t, const struct span *s)
{
    const struct update_op *op = span_update_op(t, s);
    uint32_t slots = t->plan->n_slots;
    return s->kind == SPAN_COPY ? t->plan->runs[s->which / slots].copies[s->which % slots].busiest_bytes : op && !op->on_tiles ? op->busiest_bytes : NULL;
}

static void write_counter(FILE *f, const struct timeline *t, const struct timeline_row *row, uint64_t at, const double *bytes, double time_s)
{
    for (int k = 0; k < N_LINK_KINDS; k++)
        if (bytes[k] > 0)
            fprintf(f, "{\"ph\":\"C\",\"name\":\"busiest %s\",\"pid\":%u,\"ts\":%.3f,\"args\":{\"bytes_per_s\":%.6g}},\n", link_kind_names[k],
                    row->replica, slice_us(t, at), time_s > 0 ? bytes[k] / time_s : 0.0);
}

/* ---- stash counters ------------------------------------------------------------------------ */

struct change { uint64_t at; int64_t bytes; };

/* A forward pass adds its activations to the IPU's stash; the backward pass of the same micro-batch removes them. */
static size_t stash_changes(struct change *out, const struct timeline *t, uint32_t row)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct span *s = &t->spans[i];
        bool forward = s->kind == SPAN_FORWARD;
        if (s->row != row || (!forward && s->kind != SPAN_BACKWARD))
            continue;
        int64_t bytes = (int64_t)t->plan->stages[s->stage].stash_bytes;
        for (uint32_t k = 0; k < s->repeat; k++)
            out[n++] = (struct change){ s->start_cycle + k * s->period_cycles + s->n_cycles, forward ? bytes : -bytes };
    }
    SORT_BY(out, n, RISING(struct change, at));
    return n;
}

static void write_stash(FILE *f, const struct timeline *t, uint64_t n_events)
{
    struct arena scratch = {0};
    struct change *changes = ARENA_ARRAY(&scratch, struct change, n_events);
    for (uint32_t r = 0; r < t->n_rows && t->plan->request.training; r++) {
        size_t n = stash_changes(changes, t, r);
        int64_t held = 0;
        for (size_t i = 0; i < n; i++) {
            held += changes[i].bytes;
            fprintf(f, "{\"ph\":\"C\",\"name\":\"stash of IPU %u\",\"pid\":%u,\"ts\":%.3f,\"args\":{\"bytes\":%" PRId64 "}},\n", t->rows[r].ipu,
                    t->rows[r].replica, slice_us(t, changes[i].at), held);
        }
    }
    arena_free(&scratch);
}

/* ---- events -------------------------------------------------------------------------------- */

/* The name of the tensor of an update span, or of one of several that are alike. Names from an ONNX file that are not valid text are left out. */
static void write_tensor(FILE *f, const struct timeline *t, const struct span *s)
{
    const struct update_chain *chain = span_chain(t, s);
    json_t *name = json_string(chain->tensor);
    if (name) {
        fputs("\"tensor\":", f);
        json_dumpf(name, f, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
        fputc(',', f);
    }
    json_decref(name);
    fprintf(f, "\"elements\":%" PRIu64 ",\"step\":\"%s\",", chain->n_elements, update_kind_names[span_op_of(chain, s)->kind]);
}

static void write_event(FILE *f, const struct timeline *t, const struct span *s, uint32_t k)
{
    const struct timeline_row *row = &t->rows[s->row];
    struct cycles parts = span_parts(t, s);
    fprintf(f, "{\"ph\":\"X\",\"name\":\"%s", span_kind_names[s->kind]);
    if (s->stage != UINT16_MAX)
        fprintf(f, " %u", s->stage);
    uint64_t start = s->start_cycle + k * s->period_cycles;
    fprintf(f, "\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"args\":{", span_kind_names[s->kind], row->replica,
            row->ipu, slice_us(t, start), slice_us(t, start + s->n_cycles) - slice_us(t, start));
    if (s->stage != UINT16_MAX)
        fprintf(f, "\"micro_batch\":%u,", s->which + k);
    if (span_chain(t, s))
        write_tensor(f, t, s);
    for (int i = 0; i < N_PARTS; i++)
        if (parts.part[i])
            fprintf(f, "\"%s\":%" PRIu64 ",", part_names[i], parts.part[i]);
    fprintf(f, "\"cycles\":%" PRIu64 "}},\n", s->n_cycles);
}

/* Links the end of a collective to the start of what follows it in its chain. */
static void write_arrows(FILE *f, const struct timeline *t, const struct span *s, const struct span *next, uint64_t *id)
{
    const struct timeline_row *row = &t->rows[s->row];
    for (uint32_t k = 0; k < s->repeat; k++, ++*id) {
        double from = slice_us(t, s->start_cycle + k * s->period_cycles), to = slice_us(t, next->start_cycle + k * next->period_cycles);
        fprintf(f, "{\"ph\":\"s\",\"name\":\"waits\",\"cat\":\"collective\",\"id\":%" PRIu64 ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f},\n"
                   "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"waits\",\"cat\":\"collective\",\"id\":%" PRIu64 ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f},\n",
                *id, row->replica, row->ipu, from, *id, row->replica, row->ipu, to);
    }
}

static bool waits_for(const struct span *next, const struct span *s)
{
    return (s->kind == SPAN_REDUCE || s->kind == SPAN_GATHER) && next->row == s->row && !span_is_waiting(next->kind)
        && next->repeat == s->repeat;
}

static void write_span(FILE *f, const struct timeline *t, const struct span *s)
{
    const struct timeline_row *row = &t->rows[s->row];
    const struct update_op *op = span_update_op(t, s);
    bool once = op && !op->all_ipus;            /* in series each IPU reports its own exchange; else all share one, which the first reports */
    const double *bytes = once || row->ipu == 0 ? busiest_bytes(t, s) : NULL;
    for (uint32_t k = 0; k < s->repeat; k++) {
        uint64_t start = s->start_cycle + k * s->period_cycles;
        if (!span_is_waiting(s->kind))
            write_event(f, t, s, k);
        if (bytes) {
            write_counter(f, t, row, start, bytes, to_us(t, s->n_cycles) * 1e-6);
            write_counter(f, t, row, start + s->n_cycles, bytes, 0);
        }
    }
}

static uint64_t count_events(const struct timeline *t)
{
    uint64_t n = 0;
    for (size_t i = 0; i < t->n_spans; i++)
        n += t->spans[i].repeat;
    return n;
}

bool timeline_write_trace(FILE *f, const struct timeline *t, const char *made_by, struct err *err)
{
    uint64_t n = count_events(t);
    if (n > MOST_EVENTS)
        return fail(err, "trace: %" PRIu64 " events, at most %d; lower parallel.gradient_accumulation or parallel.replicas, or leave out --unfolded",
                    n, MOST_EVENTS);
    uint64_t arrow = 1;
    fprintf(f, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"workload\":\"%s\",\"system\":\"%s\",\"step_cycles\":%" PRIu64 "%s%s},\"traceEvents\":[\n",
            t->plan->graph->name, t->plan->topology->machine->name, t->step_cycles, made_by ? ",\"made_by\":" : "", made_by ? made_by : "");
    write_names(f, t);
    for (size_t i = 0; i < t->n_spans; i++) {
        write_span(f, t, &t->spans[i]);
        if (i + 1 < t->n_spans && waits_for(&t->spans[i + 1], &t->spans[i]))
            write_arrows(f, t, &t->spans[i], &t->spans[i + 1], &arrow);
    }
    write_stash(f, t, n);
    fprintf(f, "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"end of step\",\"pid\":0,\"tid\":0,\"ts\":%.3f}\n]}\n", slice_us(t, t->step_cycles));
    return true;
}
