/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_print.c - the plan as a document: stages, memory, pipeline, weight update, operations.
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"
#include "system-model/output/output.h"

/* ---- stages and memory ------------------------------------------------------------------ */

struct stage_line { uint32_t stage, ipu, depth; const char *layers; uint64_t parameters, forward, backward, again, stash; };
static const struct table_column stage_columns[] = {
#define C(member, text) { COLUMN(struct stage_line, member), .heading = text }
    C(stage, "stage"), C(ipu, "ipu"), C(layers, "layers"), C(parameters, "parameters"), C(forward, "forward cyc"), C(backward, "backward cyc"),
    C(again, "recompute"), C(stash, "stash B"), C(depth, "depth"),
#undef C
};

static void add_stage_table(struct document *d, const struct plan *p)
{
    struct table *t = document_table(d, TABLE(stage_columns, struct stage_line, .indent = "  "));
    t->title = arena_printf(d->arena, "stages: %u on %u IPU%s, schedule %s, recompute %s", p->n_stages, p->request.ipus_per_replica,
                            plural(p->request.ipus_per_replica), schedule_names[p->request.schedule], recompute_names[p->request.recompute]);
    for (uint32_t i = 0; i < p->n_stages; i++) {
        const struct stage_plan *s = &p->stages[i];
        const struct layer *layers = p->graph->layers;
        table_add(t, &(struct stage_line){ i, s->ipu, s->stash_depth,
                  arena_printf(d->arena, "%s .. %s", layers[s->first_layer].name, layers[stage_end(s) - 1].name), s->n_parameters,
                  s->forward_cycles, s->backward_cycles, s->recompute_cycles, s->stash_bytes }, d->arena);
    }
}

/* A table of counts: a row for each name, a column for each IPU. */
struct count_row { const char *name; uint64_t counts[]; };

static struct table *add_count_table(struct document *d, const char *first, uint32_t n_columns, const char *const *headings)
{
    struct table_column *columns = ARENA_ARRAY(d->arena, struct table_column, n_columns + 1);
    columns[0] = (struct table_column){ .heading = first, .type = CELL_TEXT };
    for (uint32_t i = 0; i < n_columns; i++)
        columns[i + 1] = (struct table_column){ .heading = headings[i], .type = CELL_U64,
                                                .offset = offsetof(struct count_row, counts) + i * sizeof(uint64_t) };
    return document_table(d, (struct table){ .columns = columns, .n_columns = n_columns + 1, .indent = "  ",
                                             .row_bytes = sizeof(struct count_row) + n_columns * sizeof(uint64_t) });
}

struct off_chip_line { const char *region; uint64_t bytes; };
static const struct table_column off_chip_columns[] = {
    { COLUMN(struct off_chip_line, region), .heading = "region" }, { COLUMN(struct off_chip_line, bytes), .heading = "bytes" },
};

static void add_off_chip_regions(struct document *d, const struct plan *p)
{
    const struct off_chip *m = &p->off_chip;
    if (!plan_is_phased(&p->request))
        return;
    struct table *t = document_table(d, TABLE(off_chip_columns, struct off_chip_line, .indent = "  "));
    t->title = "memory off the chip: bytes of the IPU with most";
    for (int k = 0; k < N_OFF_CHIP; k++)
        table_add(t, (struct off_chip_line[]){ { off_chip_names[k], (uint64_t)m->bytes[k] } }, d->arena);
    if (m->capacity_bytes > 0)
        document_line(d, "  %s: %.0f of %.0f bytes of a board's streaming memory", m->overflows ? "does not fit" : "fits", m->board_bytes, m->capacity_bytes);
    else
        document_line(d, "  %.0f bytes of the host's memory for IPUs that share a board; no sheet has its size", m->board_bytes);
}

static void add_memory_regions(struct document *d, const struct plan *p)
{
    uint64_t capacity = p->topology->machine->chip.tile_memory_bytes;
    uint32_t n_ipus = p->request.ipus_per_replica;
    const char **ipus = ARENA_ARRAY(d->arena, const char *, n_ipus);
    for (uint32_t i = 0; i < n_ipus; i++)
        ipus[i] = arena_printf(d->arena, "ipu%u", i);
    struct table *t = add_count_table(d, "region", n_ipus, ipus);
    t->title = arena_printf(d->arena, "memory: bytes on the fullest tile of each IPU, of %" PRIu64, capacity);
    struct count_row *row = arena_alloc(d->arena, t->row_bytes);
    for (int r = 0; r <= N_MEMORY_CATEGORIES; r++) {
        row->name = r < N_MEMORY_CATEGORIES ? memory_category_names[r] : "total";
        for (uint32_t i = 0; i < n_ipus; i++)
            row->counts[i] = r < N_MEMORY_CATEGORIES ? p->memory[i].bytes[r] : p->memory[i].total_bytes;
        table_add(t, row, d->arena);
    }
    add_off_chip_regions(d, p);
    if (!p->shortfall_bytes)
        document_line(d, "  fits: %" PRIu64 " bytes free on the fullest tile (IPU %u)", capacity - p->memory[p->worst_ipu].total_bytes, p->worst_ipu);
    else
        document_line(d, "  does not fit: %s too many on the fullest tile (IPU %u)", quantity_kept((double)p->shortfall_bytes, "B", 3, d->arena), p->worst_ipu);
}

/* ---- pipeline ---------------------------------------------------------------------------- */

struct pipeline_line { uint32_t n_cycles; const char *tasks; uint64_t copy; };
static const struct table_column pipeline_columns[] = {
#define C(member, text) { COLUMN(struct pipeline_line, member), .heading = text }
    C(n_cycles, "times"), C(copy, "copy"), C(tasks, "tasks"),
#undef C
};

static void add_pipeline_table(struct document *d, const struct plan *p)
{
    struct table *t = document_table(d, TABLE(pipeline_columns, struct pipeline_line, .indent = "  ",
                      .title = "pipeline: cycles alike, cycles of the copy after each, and tasks at work (F forward, B backward, by stage)"));
    for (uint32_t r = 0; r < p->n_runs; r++) {
        const char *tasks = "";
        for (const struct task *task = p->tasks + p->runs[r].first_task; task < p->tasks + p->runs[r].end_task; task++)
            tasks = arena_printf(d->arena, "%s%s%c%u", tasks, *tasks ? " " : "", task->kind == TASK_FORWARD ? 'F' : 'B', task->stage);
        table_add(t, &(struct pipeline_line){ p->runs[r].n_cycles, tasks, p->runs[r].copy_cycles }, d->arena);
    }
}

/* ---- weight update and call -------------------------------------------------------------- */

static double to_ms(const struct plan *p, uint64_t cycles)
{
    return 1e3 * (double)cycles / p->topology->machine->chip.clock_hz;
}

static void add_call_line(struct document *d, const struct plan *p)
{
    const char *parts = "";
    for (int i = 0; i < N_CALL_PARTS; i++)
        parts = arena_printf(d->arena, "%s %s %.3f", parts, call_part_names[i], to_ms(p, p->call_cycles[i]));
    document_line(d, "call: by %s, %g steps per call; ms per step:%s; each micro-batch waits %.4f ms for its host exchange", p->request.framework_name,
                  p->request.program.steps_per_call, parts, to_ms(p, p->fetch_cycles));
}

void plan_update_document(struct document *d, const struct plan *p)
{
    if (p->request.training) {
        struct table *t = add_count_table(d, "ipu", N_UPDATE_KINDS, update_kind_names);
        struct count_row *row = arena_alloc(d->arena, t->row_bytes);
        t->title = arena_printf(d->arena, "update: cycles by IPU, %s; --update lists it tensor by tensor",
                                p->update.in_series ? "one IPU after the other" : "side by side");
        for (uint32_t i = 0; i < p->request.ipus_per_replica; i++) {
            row->name = arena_printf(d->arena, "%u", i);
            for (int k = 0; k < N_UPDATE_KINDS; k++)
                row->counts[k] = update_cycles(p, i, (enum update_kind)k);
            table_add(t, row, d->arena);
        }
    }
    add_call_line(d, p);
}

/* One step of the update, summed over tensors that are alike. */
struct update_line { const char *ipu, *tensor, *step; uint32_t n_tensors; uint64_t n_elements, cycles; double each_ms, all_ms, bytes; bool sharded; };
static const struct table_column update_columns[] = {
#define C(member, text, ...) { COLUMN(struct update_line, member), .heading = text, __VA_ARGS__ }
    C(ipu, "ipu", .aligns_right = true), C(n_tensors, "tensors"), C(n_elements, "elements"), C(tensor, "as"), C(sharded, "sharded"), C(step, "step"),
    C(cycles, "cycles each"), C(each_ms, "ms each", .format = "%.4f"), C(all_ms, "ms in all", .format = "%.3f"), C(bytes, "bytes", .format = "%.0f"),
#undef C
};

static void add_chain(struct table *t, const struct plan *p, const struct update_chain *c, struct arena *a)
{
    const char *ipu = c->ipu == ALL_IPUS ? "all" : arena_printf(a, "%u", c->ipu);
    for (const struct update_op *op = c->steps->ops; op < c->steps->ops + c->steps->n_ops; op++) {
        double each_ms = to_ms(p, op->n_cycles);
        table_add(t, &(struct update_line){ ipu, c->tensor, update_kind_names[op->kind], c->n_tensors, c->n_elements, op->n_cycles, each_ms,
                                            each_ms * c->n_tensors, op->bytes, c->steps->n_shards > 1 }, a);
    }
}

void plan_tensors_document(struct document *d, const struct plan *p)
{
    const struct update_program *u = &p->update;
    document_line(d, "weight update of %s on %s, by %s: %s; tensors on all IPUs are merged", p->graph->name, p->topology->machine->name,
                  p->request.framework_name, u->in_series ? "one IPU after the other" : "IPUs side by side");
    struct table *t = document_table(d, TABLE(update_columns, struct update_line, .indent = "  "));
    for (uint32_t i = 0; i < u->n_chains; i++)
        add_chain(t, p, &u->chains[i], d->arena);
    add_call_line(d, p);
}

/* ---- operations -------------------------------------------------------------------------- */

static const char *conv_split_text(const struct conv_split *s, struct arena *a)
{
    if (!s->batch)
        return "";
    const char *serial = s->serial_in > 1 || s->serial_out > 1 ? arena_printf(a, " serial i%u o%u", s->serial_in, s->serial_out) : "";
    return arena_printf(a, "b%u f%u k%u g%u i%u o%u%s", s->batch, s->field, s->kernel, s->conv_groups, s->in_chans, s->out_chans, serial);
}

struct op_line { uint32_t op, tiles; const char *layer, *kind, *pass, *vertex, *split; uint64_t compute, exchange, sync, temp, code; double peak; };
static const struct table_column op_columns[] = {
#define C(member, text, ...) { COLUMN(struct op_line, member), .heading = text, __VA_ARGS__ }
    C(op, "op"), C(layer, "layer"), C(kind, "kind"), C(pass, "pass"), C(compute, "compute"), C(exchange, "exchange"), C(sync, "sync"), C(tiles, "tiles"),
    C(peak, "peak%", .format = "%.1f", .scale = 100), C(temp, "temp B"), C(code, "code B"), C(vertex, "vertex"), C(split, "split"),
#undef C
};

static void add_op_table(struct document *d, const struct plan *p)
{
    const struct chip *chip = &p->topology->machine->chip;
    struct table *t = document_table(d, TABLE(op_columns, struct op_line, .indent = "  ",
                                              .title = "operations: one micro-batch, on the tiles of one IPU"));
    for (uint32_t i = 0; i < p->graph->n_ops; i++) {
        const struct op *op = &p->graph->ops[i];
        const struct op_plan *o = plan_stage_of(p, op->layer_id)->compiled->op_plans[i];
        uint64_t cycles = op_plan_cycles(o), rate = chip_mac_per_cycle(chip, p->graph->tensors[op->inputs[0]].type, p->request.partials);
        double peak = cycles ? (double)o->mac / ((double)cycles * (double)(chip->n_tiles * rate)) : 0;
        table_add(t, &(struct op_line){ i, o->n_tiles_used, p->graph->layers[op->layer_id].name, op_kind_names[op->kind], op_pass_names[op->pass],
                                        vertex_kind_names[o->vertex], conv_split_text(&o->split, d->arena), o->compute_cycles, o->exchange_cycles,
                                        o->sync_cycles, o->temp_bytes_per_tile, op_code_bytes(&o->code), peak }, d->arena);
    }
}

/* ---- the whole plan ---------------------------------------------------------------------- */

static void add_head(struct document *d, const struct plan *p)
{
    if (p->graph->n_rough_ops)
        document_line(d, "roughly: %u operations of %s stand for what is not modelled ('podbench workload' lists them)", p->graph->n_rough_ops,
                      p->graph->name);
    document_line(d, "plan of %s on %s: %u replica%s of %u IPU%s, micro-batch %" PRIu64 ", gradient accumulation %u, global batch %" PRIu64,
                  p->graph->name, p->topology->machine->name, p->request.n_replicas, plural(p->request.n_replicas), p->request.ipus_per_replica,
                  plural(p->request.ipus_per_replica), p->graph->micro_batch, p->request.grad_accum, p->global_batch);
}

void plan_document(struct document *d, const struct plan *p, bool whole)
{
    add_head(d, p);
    add_stage_table(d, p);
    add_memory_regions(d, p);
    if (!whole)
        return;
    add_pipeline_table(d, p);
    plan_update_document(d, p);
    add_op_table(d, p);
}
