/*
 * trace.c - the timeline span by span: Chrome trace events for Perfetto and chrome://tracing, CSV for figures, a picture in letters.
 *
 * Chips are rows (pid: replica, tid: IPU), spans complete events, times in microseconds. A recurring span is written out each
 * time it recurs, so a file grows with gradient accumulation, but is never held in memory. An event's arguments are the
 * cycles it was spent on, part by part: summed over a chip's events they are its part of the result's breakdown.
 * Links are counters, one a kind of link: bytes a second on the busiest link of that kind, averaged over a copy or collective
 * between replicas. Not counted: the small all-reduces of norms inside a pass.
 */
#include "system-model/timeline/timeline.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_EVENTS = 5000000 };         /* a gigabyte of text; the viewers give up long before */

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

/* ---- link counters ----------------------------------------------------------------------- */

/* Bytes on the busiest link of each kind while the span lasts; NULL: none. */
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
            fprintf(f, "{\"ph\":\"C\",\"name\":\"busiest %s\",\"pid\":%u,\"ts\":%.6f,\"args\":{\"bytes_per_s\":%.6g}},\n", link_kind_names[k],
                    row->replica, to_us(t, at), time_s > 0 ? bytes[k] / time_s : 0.0);
}

/* ---- events -------------------------------------------------------------------------------- */

static void write_event(FILE *f, const struct timeline *t, const struct span *s, uint32_t k)
{
    const struct timeline_row *row = &t->rows[s->row];
    struct cycles parts = span_parts(t, s);
    fprintf(f, "{\"ph\":\"X\",\"name\":\"%s", span_kind_names[s->kind]);
    if (s->stage != UINT16_MAX)
        fprintf(f, " %u", s->stage);
    fprintf(f, "\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%.6f,\"dur\":%.6f,\"args\":{", span_kind_names[s->kind], row->replica,
            row->ipu, to_us(t, s->start_cycle + k * s->period_cycles), to_us(t, s->n_cycles));
    if (s->stage != UINT16_MAX)
        fprintf(f, "\"micro_batch\":%u,", s->which + k);
    for (int i = 0; i < N_PARTS; i++)
        if (parts.part[i])
            fprintf(f, "\"%s\":%" PRIu64 ",", part_names[i], parts.part[i]);
    fprintf(f, "\"cycles\":%" PRIu64 "}},\n", s->n_cycles);
}

static void write_span(FILE *f, const struct timeline *t, const struct span *s)
{
    const struct timeline_row *row = &t->rows[s->row];
    const struct update_op *op = span_update_op(t, s);
    bool once = op && !op->all_ipus;            /* in series; else all IPUs share one exchange, told by the first */
    const double *bytes = once || row->ipu == 0 ? busiest_bytes(t, s) : NULL;
    for (uint32_t k = 0; k < s->repeat; k++) {
        uint64_t start = s->start_cycle + k * s->period_cycles;
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

bool timeline_write_trace(FILE *f, const struct timeline *t, struct err *err)
{
    uint64_t n = count_events(t);
    if (n > MOST_EVENTS)
        return fail(err, "trace: %" PRIu64 " events, at most %d; lower parallel.gradient_accumulation or parallel.replicas, or leave out --unfolded",
                    n, MOST_EVENTS);
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", f);
    write_names(f, t);
    for (size_t i = 0; i < t->n_spans; i++)
        write_span(f, t, &t->spans[i]);
    fprintf(f, "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"end of step\",\"pid\":0,\"tid\":0,\"ts\":%.6f}\n]}\n", to_us(t, t->step_cycles));
    return true;
}

/* ---- CSV --------------------------------------------------------------------------------------- */

void timeline_write_csv(FILE *f, const struct timeline *t)
{
    fputs("replica,ipu,replicas_alike,kind,stage,micro_batch,start_cycle,cycles,start_s,end_s\n", f);
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct span *s = &t->spans[i];
        const struct timeline_row *row = &t->rows[s->row];
        for (uint32_t k = 0; k < s->repeat; k++) {
            uint64_t start = s->start_cycle + k * s->period_cycles;
            fprintf(f, "%u,%u,%u,%s,", row->replica, row->ipu, row->n_alike, span_kind_names[s->kind]);
            if (s->stage != UINT16_MAX)
                fprintf(f, "%u,%u", s->stage, s->which + k);
            else
                fputc(',', f);
            fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%.9g,%.9g\n", start, s->n_cycles, to_us(t, start) * 1e-6, to_us(t, start + s->n_cycles) * 1e-6);
        }
    }
}

/* ---- a picture ------------------------------------------------------------------------------------ */

static char letter_of(const struct span *s, uint32_t k)
{
    switch (s->kind) {
    case SPAN_FORWARD:  return (char)('A' + (s->which + k) % 26);
    case SPAN_BACKWARD: return (char)('a' + (s->which + k) % 26);
    case SPAN_COPY:     return '-';
    case SPAN_WAIT:     return '.';
    default:            return '#';
    }
}

/* One stretch of a row: a column takes its letter when it fills more of it than any stretch before. */
static void draw_stretch(char *letters, uint64_t *filled, uint32_t n_columns, uint64_t step, uint64_t start, uint64_t end, char letter)
{
    uint64_t scaled_end = end * n_columns;
    for (uint64_t at = start * n_columns; at < scaled_end;) {
        uint64_t column = at / step, next = (column + 1) * step < scaled_end ? (column + 1) * step : scaled_end;
        if (next - at > filled[column]) {
            filled[column] = next - at;
            letters[column] = letter;
        }
        at = next;
    }
}

void timeline_draw(FILE *f, const struct timeline *t, uint32_t n_columns)
{
    if (n_columns > MAX_PICTURE_COLUMNS)
        n_columns = MAX_PICTURE_COLUMNS;
    for (uint32_t row = 0; row < t->plan->options.ipus_per_replica && t->step_cycles; row++) {
        char letters[MAX_PICTURE_COLUMNS] = "";
        uint64_t filled[MAX_PICTURE_COLUMNS] = {0};
        memset(letters, ' ', sizeof letters);
        for (size_t i = 0; i < t->n_spans; i++) {
            const struct span *s = &t->spans[i];
            for (uint32_t k = 0; s->row == row && k < s->repeat; k++) {
                uint64_t start = s->start_cycle + k * s->period_cycles;
                draw_stretch(letters, filled, n_columns, t->step_cycles, start, start + s->n_cycles, letter_of(s, k));
            }
        }
        fprintf(f, "  ipu %-2u %.*s\n", row, (int)n_columns, letters);
    }
}
