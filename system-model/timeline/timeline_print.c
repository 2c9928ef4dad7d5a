/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline_print.c - the timeline as a picture in letters, and as text: how each IPU spends the step, and each span.
 */
#include "system-model/timeline/timeline.h"
#include "system-model/graph/graph.h"

/* ---- a picture ------------------------------------------------------------------------------------ */

enum state { STATE_FORWARD, STATE_BACKWARD, STATE_COPY, STATE_OTHER, STATE_WAIT, N_STATES };

static enum state state_of(const struct span *s)
{
    switch (s->kind) {
    case SPAN_FORWARD:  return STATE_FORWARD;
    case SPAN_BACKWARD: return STATE_BACKWARD;
    case SPAN_COPY:     return STATE_COPY;
    case SPAN_WAIT:
    case SPAN_TURN:     return STATE_WAIT;
    default:            return STATE_OTHER;
    }
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

static void draw_row(FILE *f, const struct timeline *t, uint32_t row, uint32_t n_columns)
{
    struct arena scratch = {0};
    struct column *columns = ARENA_ARRAY(&scratch, struct column, n_columns);
    char letters[MAX_PICTURE_COLUMNS] = "";
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
    fprintf(f, "  ipu %-2u %.*s  %.0f %% at work\n", row, (int)n_columns, letters, 100 * (double)busy / (double)t->step_cycles);
    arena_free(&scratch);
}

void timeline_draw(FILE *f, const struct timeline *t, uint32_t n_columns)
{
    for (uint32_t row = 0; row < t->plan->request.ipus_per_replica && t->step_cycles; row++)
        draw_row(f, t, row, n_columns < MAX_PICTURE_COLUMNS ? n_columns : MAX_PICTURE_COLUMNS);
}

/* ---- text ----------------------------------------------------------------------------------------- */

/* Indices of spans, row by row: those of row r from first[r] to first[r + 1]. */
static const size_t *spans_by_row(size_t **first, const struct timeline *t, struct arena *a)
{
    size_t *order = ARENA_ARRAY(a, size_t, t->n_spans + 1);
    *first = ARENA_ARRAY(a, size_t, (size_t)t->n_rows + 2);
    for (size_t i = 0; i < t->n_spans; i++)
        (*first)[t->spans[i].row + 2]++;
    for (size_t r = 2; r < (size_t)t->n_rows + 2; r++)
        (*first)[r] += (*first)[r - 1];
    for (size_t i = 0; i < t->n_spans; i++)
        order[(*first)[t->spans[i].row + 1]++] = i;
    return order;
}

static void print_span(FILE *f, const struct timeline *t, const struct span *s)
{
    fprintf(f, "  %14" PRIu64 " %12" PRIu64 " %-10s", s->start_cycle, s->n_cycles, span_kind_names[s->kind]);
    if (s->stage != UINT16_MAX)
        fprintf(f, " stage %u", s->stage);
    if (s->repeat > 1)
        fprintf(f, " x %u every %" PRIu64, s->repeat, s->period_cycles);
    const struct update_chain *chain = span_chain(t, s);
    if (chain)
        fprintf(f, "  %s of %" PRIu64 " elements, as %s", update_kind_names[span_op_of(chain, s)->kind], chain->n_elements, chain->tensor);
    fputc('\n', f);
}

void timeline_print(FILE *f, const struct timeline *t, bool spans)
{
    struct arena scratch = {0};
    size_t *first;
    const size_t *order = spans_by_row(&first, t, &scratch);
    double hz = t->plan->topology->machine->chip.clock_hz;
    fprintf(f, "timeline of %s on %s: one step, %" PRIu64 " cycles, %.6g s\n", t->plan->graph->name, t->plan->topology->machine->name,
            t->step_cycles, (double)t->step_cycles / hz);
    fprintf(f, "A..Z forward and a..z backward by micro-batch, - copy, # update and host, . waiting\n");
    timeline_draw(f, t, 110);
    for (uint32_t r = 0; r < t->n_rows; r++) {
        const struct timeline_row *row = &t->rows[r];
        fprintf(f, "ipu %u of replica %u (%u replicas alike)\n", row->ipu, row->replica, row->n_alike);
        for (size_t i = first[r]; spans && i < first[r + 1]; i++)
            print_span(f, t, &t->spans[order[i]]);
        for (int k = 0; k < N_PARTS; k++)
            if (row->spent.part[k])
                fprintf(f, "  = %-12s %14" PRIu64 " cycles %6.2f %%\n", part_names[k], row->spent.part[k],
                        100.0 * (double)row->spent.part[k] / (double)t->step_cycles);
    }
    arena_free(&scratch);
}
