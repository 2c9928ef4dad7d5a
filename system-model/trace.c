/*
 * trace.c - the timeline as Chrome trace events, for Perfetto and chrome://tracing.
 *
 * Chips are rows (pid: replica, tid: IPU), phases and copies complete events, times in microseconds. A recurring
 * span is written out each time it recurs. Link load is a counter: the copies' and collectives' busy time.
 */
#include "system-model/plan.h"

#include <inttypes.h>

static double to_us(const struct timeline *t, uint64_t cycles)
{
    return (double)cycles / t->plan->topology->machine->chip.clock_hz * 1e6;
}

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

static bool uses_links(const struct span *s)
{
    return s->kind == SPAN_COPY || s->kind == SPAN_COLLECTIVE;
}

static void write_span(FILE *f, const struct timeline *t, const struct span *s)
{
    const struct timeline_row *row = &t->rows[s->row];
    for (uint32_t k = 0; k < s->repeat; k++) {
        uint64_t start = s->start_cycle + k * s->period_cycles;
        fprintf(f, "{\"ph\":\"X\",\"name\":\"%s", span_kind_names[s->kind]);
        if (s->stage != UINT16_MAX)
            fprintf(f, " %u", s->stage);
        fprintf(f, "\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%.6f,\"dur\":%.6f,\"args\":{\"cycles\":%" PRIu64 ",\"micro_batch\":%u}},\n",
                span_kind_names[s->kind], row->replica, row->ipu, to_us(t, start), to_us(t, s->n_cycles), s->n_cycles, k);
        if (uses_links(s) && row->ipu == 0) {
            fprintf(f, "{\"ph\":\"C\",\"name\":\"links busy\",\"pid\":%u,\"ts\":%.6f,\"args\":{\"busy\":1}},\n", row->replica, to_us(t, start));
            fprintf(f, "{\"ph\":\"C\",\"name\":\"links busy\",\"pid\":%u,\"ts\":%.6f,\"args\":{\"busy\":0}},\n", row->replica,
                    to_us(t, start + s->n_cycles));
        }
    }
}

void timeline_write_trace(FILE *f, const struct timeline *t)
{
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", f);
    write_names(f, t);
    for (size_t i = 0; i < t->n_spans; i++)
        if (t->spans[i].kind != SPAN_WAIT)
            write_span(f, t, &t->spans[i]);
    fprintf(f, "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"end of step\",\"pid\":0,\"tid\":0,\"ts\":%.6f}\n]}\n", to_us(t, t->step_cycles));
}
