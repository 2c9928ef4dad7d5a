/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline_print.c - the timeline as a picture in letters, and as tables: how each IPU spends the step, and each span.
 */
#include "system-model/timeline/timeline.h"
#include "system-model/graph/graph.h"
#include "system-model/output/output.h"

/* ---- a picture ------------------------------------------------------------------------------------ */

enum state { STATE_FORWARD, STATE_BACKWARD, STATE_COPY, STATE_OTHER, STATE_WAIT, N_STATES };

static enum state state_of(const struct span *s)
{
    switch ((enum span_kind)s->kind) {
    case SPAN_FORWARD:  return STATE_FORWARD;
    case SPAN_BACKWARD: return STATE_BACKWARD;
    case SPAN_COPY:     return STATE_COPY;
    case SPAN_WAIT:
    case SPAN_TURN:     return STATE_WAIT;
    case SPAN_INPUT: case SPAN_RESULTS: case SPAN_REARRANGE: case SPAN_REDUCE: case SPAN_CLIP: case SPAN_STREAMING: case SPAN_OPTIMIZER:
    case SPAN_NORMS: case SPAN_GATHER: case SPAN_LOAD: case SPAN_CALL: case SPAN_UPLOAD: case SPAN_HOST: return STATE_OTHER;
    case N_SPAN_KINDS:  break;
    }
    assert(false);
    return N_STATES;
}

/* How a column's time is spent, and the micro-batches of its longest forward and backward stretches. */
struct column { uint64_t spent[N_STATES], longest[2]; uint32_t micro_batch[2]; };

static void add_stretch(struct column *columns, uint32_t n_columns, uint64_t step, uint64_t start, uint64_t end, enum state state, uint32_t micro_batch)
{
    uint64_t scaled_end = end * n_columns;
    for (uint64_t at = start * n_columns; at < scaled_end;) {
        uint64_t i = at / step, next = min_u64((i + 1) * step, scaled_end);
        struct column *c = &columns[i];
        c->spent[state] += next - at;
        if (state <= STATE_BACKWARD && next - at > c->longest[state]) {
            c->longest[state] = next - at;
            c->micro_batch[state] = micro_batch;
        }
        at = next;
    }
}

static char letter_of(const struct column *c)
{
    int most = STATE_WAIT;
    for (int i = 0; i < N_STATES; i++)
        if (c->spent[i] > c->spent[most])
            most = i;
    return most == STATE_FORWARD ? (char)('A' + c->micro_batch[0] % 26) : most == STATE_BACKWARD ? (char)('a' + c->micro_batch[1] % 26)
         : most == STATE_COPY ? '-' : most == STATE_OTHER ? '#' : c->spent[STATE_WAIT] ? '.' : ' ';
}

struct picture_line { const char *ipu, *letters, *at_work; };
static const struct table_column picture_columns[] = {
#define C(member) { COLUMN(struct picture_line, member), .heading = "" }
    C(ipu), C(letters), C(at_work),
#undef C
};

static struct picture_line picture_line(const struct timeline *t, uint32_t row, uint32_t n_columns, struct arena *a)
{
    struct column *columns = ARENA_ARRAY(a, struct column, n_columns);
    char *letters = ARENA_ARRAY(a, char, n_columns + 1);
    uint64_t busy = 0;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct span *s = &t->spans[i];
        for (uint32_t k = 0; s->row == row && k < s->repeat; k++) {
            uint64_t start = s->start_cycle + k * s->period_cycles;
            add_stretch(columns, n_columns, t->step_cycles, start, start + s->n_cycles, state_of(s), s->which + k);
            busy += state_of(s) <= STATE_BACKWARD ? s->n_cycles : 0;
        }
    }
    for (uint32_t i = 0; i < n_columns; i++)
        letters[i] = letter_of(&columns[i]);
    return (struct picture_line){ arena_printf(a, "ipu %u", row), letters,
                                  arena_printf(a, "%.0f %% at work", 100 * (double)busy / (double)t->step_cycles) };
}

void timeline_picture(struct document *d, const struct timeline *t, uint32_t n_columns)
{
    struct table *picture = document_table(d, TABLE(picture_columns, struct picture_line, .indent = "  "));
    for (uint32_t row = 0; row < t->plan->request.ipus_per_replica && t->step_cycles; row++) {
        struct picture_line line = picture_line(t, row, n_columns, d->arena);
        table_add(picture, &line, d->arena);
    }
}

/* ---- tables ---------------------------------------------------------------------------------------- */

struct spent_line { uint32_t replica, ipu, alike; const char *part; uint64_t cycles; double share; };
static const struct table_column part_columns[] = {
#define C(member, text, ...) { COLUMN(struct spent_line, member), .heading = text, __VA_ARGS__ }
    C(replica, "replica"), C(ipu, "ipu"), C(alike, "alike"), C(part, "part"), C(cycles, "cycles"), C(share, "of the step", .format = "%.2f %%", .scale = 100),
#undef C
};

static void add_part_table(struct document *d, const struct timeline *t)
{
    struct table *parts = document_table(d, TABLE(part_columns, struct spent_line, .indent = "  ",
                                                  .title = "the step by IPU; alike: replicas that do the same, and are simulated once"));
    for (const struct timeline_row *row = t->rows; row < t->rows + t->n_rows; row++)
        for (int k = 0; k < N_PARTS; k++)
            if (row->spent.part[k])
                table_add(parts, &(struct spent_line){ row->replica, row->ipu, row->n_alike, part_names[k], row->spent.part[k],
                                                      (double)row->spent.part[k] / (double)t->step_cycles }, d->arena);
}

/* stage and every: NaN where there is none. */
struct span_line { uint32_t replica, ipu, times; uint64_t start, cycles; const char *kind, *update; double stage, every; };
static const struct table_column span_columns[] = {
#define C(member, text, ...) { COLUMN(struct span_line, member), .heading = text, __VA_ARGS__ }
    C(replica, "replica"), C(ipu, "ipu"), C(start, "start"), C(cycles, "cycles"), C(kind, "kind"), C(stage, "stage", .format = "%.0f"),
    C(times, "times"), C(every, "every", .format = "%.0f"), C(update, "update"),
#undef C
};

static int span_order(const void *x, const void *y)
{
    const struct span *const *a = x, *const *b = y;
    return (*a)->row != (*b)->row ? ((*a)->row > (*b)->row) - ((*a)->row < (*b)->row) : (*a > *b) - (*a < *b);
}

static void add_span_table(struct document *d, const struct timeline *t)
{
    struct table *table = document_table(d, TABLE(span_columns, struct span_line, .indent = "  ", .title = "spans, by IPU; some recur every so many cycles"));
    const struct span **spans = ARENA_ARRAY(d->arena, const struct span *, t->n_spans);
    for (size_t i = 0; i < t->n_spans; i++)
        spans[i] = &t->spans[i];
    sort_items(spans, t->n_spans, sizeof *spans, span_order);
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct span *s = spans[i];
        const struct timeline_row *row = &t->rows[s->row];
        const struct update_chain *chain = span_chain(t, s);
        const char *update = !chain ? "" : arena_printf(d->arena, "%s of %" PRIu64 " elements, as %s", update_kind_names[span_op_of(chain, s)->kind],
                                                        chain->n_elements, chain->tensor);
        table_add(table, &(struct span_line){ row->replica, row->ipu, s->repeat, s->start_cycle, s->n_cycles, span_kind_names[s->kind], update,
                  s->stage != UINT16_MAX ? s->stage : (double)NAN, s->repeat > 1 ? (double)s->period_cycles : (double)NAN }, d->arena);
    }
}

void timeline_document(struct document *d, const struct timeline *t, bool spans)
{
    enum { PICTURE_COLUMNS = 110 };
    document_line(d, "timeline of %s on %s: one step, %" PRIu64 " cycles, %.6g s", t->plan->graph->name, t->plan->topology->machine->name,
                  t->step_cycles, (double)t->step_cycles / t->plan->topology->machine->chip.clock_hz);
    document_line(d, "A..Z forward and a..z backward by micro-batch, - copy, # update and host, . waiting");
    timeline_picture(d, t, PICTURE_COLUMNS);
    add_part_table(d, t);
    if (spans)
        add_span_table(d, t);
}

/* ---- CSV: a row for each recurrence ----------------------------------------------------------------- */

/* stage and micro_batch: NaN where there is none. */
struct event_row { uint32_t replica, ipu, replicas_alike; const char *kind; double stage, micro_batch; uint64_t start_cycle, cycles; double start_s, end_s; };
static const struct table_column event_columns[] = {
#define C(member, ...) { COLUMN(struct event_row, member), __VA_ARGS__ }
    C(replica), C(ipu), C(replicas_alike), C(kind), C(stage), C(micro_batch), C(start_cycle), C(cycles), C(start_s, .csv_digits = 9),
    C(end_s, .csv_digits = 9),
#undef C
};

void timeline_write_csv(FILE *f, const struct timeline *t)
{
    const struct table events = TABLE(event_columns, struct event_row);
    double hz = t->plan->topology->machine->chip.clock_hz;
    table_write_csv_row(f, &events, NULL);
    for (const struct span *s = t->spans; s < t->spans + t->n_spans; s++) {
        const struct timeline_row *row = &t->rows[s->row];
        bool is_task = s->stage != UINT16_MAX;
        for (uint32_t k = 0; k < s->repeat; k++) {
            uint64_t start = s->start_cycle + k * s->period_cycles;
            table_write_csv_row(f, &events, &(struct event_row){ row->replica, row->ipu, row->n_alike, span_kind_names[s->kind],
                                is_task ? s->stage : (double)NAN, is_task ? s->which + k : (double)NAN, start, s->n_cycles, (double)start / hz,
                                (double)(start + s->n_cycles) / hz });
        }
    }
}
