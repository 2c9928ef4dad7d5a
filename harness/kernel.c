/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel.c - podbench kernel: the operations of an ONNX file or of a recipe, each alone in a loop on the device, without a host. It prints the
 * cycles of each, with an interval from the errors of published operations of its kind, the bytes that it receives over the exchange, and the
 * bytes on a tile.
 */
#include "harness/harness.h"
#include "results/study/kernel_errors.h"
#include "system-model/compiler/compiler.h"
#include "system-model/graph/graph.h"
#include "workloads/onnx/onnx.h"

#include <jansson.h>

struct kernel_row {
    const char *operation, *kind, *pass;
    uint64_t cycles, compute_cycles, copies_cycles, exchange_cycles, sync_cycles, tiles, received_bytes, temporary_bytes, rounds;
    double low, high;                   /* ends of the interval in cycles; NaN if no operation was published */
    bool guess;
};

static const struct table_column kernel_columns[] = {
#define C(member, ...) { COLUMN(struct kernel_row, member), __VA_ARGS__ }
    C(operation, .heading = "operation"), C(kind, .heading = "kind"), C(pass, .heading = "pass"), C(cycles, .heading = "cycles"),
    C(compute_cycles, .heading = "compute"), C(copies_cycles, .heading = "of it copies"), C(exchange_cycles, .heading = "exchange"),
    C(sync_cycles, .heading = "sync"), C(tiles, .heading = "tiles"), C(received_bytes, .heading = "B received"),
    C(temporary_bytes, .heading = "B of temporaries"), C(rounds, .heading = "rounds"), C(low), C(high), C(guess),
#undef C
};

/* The row of an operation; its bytes are those of one tile. */
static struct kernel_row kernel_row_of(const struct plan *p, uint32_t op_id, const struct kernel_errors *errors)
{
    const struct op *op = &p->graph->ops[op_id];
    const struct op_plan *of = plan_stage_of(p, op->layer_id)->compiled->op_plans[op_id];
    uint64_t n_tiles = p->topology->machine->chip.n_tiles - p->request.io_tiles;
    const struct kernel_trust trust = kernel_trust_of(errors, kernel_kind_of(op), p->topology->machine->chip.name);
    double cycles = (double)op_plan_cycles(of), half = trust.n ? trust.half_width : (double)NAN;
    return (struct kernel_row){
        .operation = op->kind == OP_CODELET ? op->at->codelet->name : p->graph->layers[op->layer_id].name, .kind = op_kind_names[op->kind],
        .pass = op_pass_names[op->pass], .cycles = op_plan_cycles(of), .compute_cycles = of->compute_cycles, .copies_cycles = of->rearrange_cycles,
        .exchange_cycles = of->exchange_cycles, .sync_cycles = of->sync_cycles, .tiles = of->n_tiles_used,
        .received_bytes = of->exchanged_bytes / n_tiles, .temporary_bytes = of->temp_bytes_per_tile, .rounds = op_repeats(p->graph, op),
        .low = cycles * exp(-half), .high = cycles * exp(half), .guess = trust.is_guess,
    };
}

static uint64_t link_cycles(const struct plan *p)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        sum += p->stages[s].forward.part[PART_STAGE_COPY] + p->stages[s].backward.part[PART_STAGE_COPY];
    return sum;
}

/* Adds the interval of all operations together. Its ends are sums of the operations' ends, because operations of one kind err in the same
 * direction. It is a guess if guesses take most of the cycles. */
static void add_trust(struct document *d, const struct kernel_row *rows, size_t n, double all_cycles)
{
    double cycles = 0, low = 0, high = 0, guessed = 0;
    for (const struct kernel_row *x = rows; x < rows + n; x++) {
        double rounds = (double)x->rounds, its = rounds * (double)x->cycles;
        cycles += its, low += rounds * x->low, high += rounds * x->high, guessed += x->guess ? its : 0;
    }
    bool guess = guessed > cycles / 2, known = cycles > 0 && low > 0;
    double down = known ? low / cycles : (double)NAN, up = known ? high / cycles : (double)NAN;
    if (known)
        document_line(d, "trust: %s90 %% interval %.0f to %.0f cycles (x %.2g to x %.2g), by the errors of published operations %s",
                      guess ? "A GUESS, as too few operations of this kind were published of this chip: " : "", down * all_cycles, up * all_cycles, down, up,
                      guess ? "on other chips, or of other kinds" : "of its kind on this chip");
    else
        document_line(d, "trust: unknown, as there are no errors of published operations to go by ('make baseline' writes results/validity/kernel-errors.csv)");
    document_member(d, "validity", json_pack("{s:s, s:f, s:b, s:o, s:o}", "of", "loop_cycles", "level", 0.9, "guess", guess || !known, "low_cycles",
                                             known ? json_real(down * all_cycles) : json_null(), "high_cycles", known ? json_real(up * all_cycles) : json_null()));
}

static void print_kernel(const struct plan *p, const struct result *r, const struct kernel_errors *errors, const struct options *o, struct session *s)
{
    struct kernel_row *rows = ARENA_ARRAY(&s->arena, struct kernel_row, p->graph->n_ops);
    char time[QUANTITY_ROOM], memory[QUANTITY_ROOM], room[QUANTITY_ROOM];
    struct document d = { .arena = &s->arena };
    uint64_t links = link_cycles(p), tile_bytes = p->memory ? p->memory[p->worst_ipu].total_bytes : 0;
    document_line(&d, "%s on %ju IPU%s of %s: %.0f cycles, %s, in a loop on the device", r->workload, (uintmax_t)r->ipus, plural(r->ipus), r->system, r->loop_cycles,
                  quantity_text(time, r->loop_cycles / p->topology->machine->chip.clock_hz, "s", 4));
    if (r->loop_cycles > r->device_cycles)
        document_line(&d, "the loop's own copies and counter: %.0f of these cycles (framework.loops_by_value)", r->loop_cycles - r->device_cycles);
    if (links)
        document_line(&d, "halos between IPUs: %ju of these cycles", (uintmax_t)links);
    document_member(&d, NULL, json_pack("{s:s, s:s, s:I, s:f, s:f, s:I, s:b}", "workload", r->workload, "system", r->system, "ipus", (json_int_t)r->ipus, "loop_cycles",
                                        r->loop_cycles, "device_cycles", r->device_cycles, "memory_peak_bytes_per_tile", (json_int_t)tile_bytes, "fits", p->fits));
    document_line(&d, "fullest tile: %s of %s%s", quantity_text(memory, (double)tile_bytes, "B", 3),
                  quantity_text(room, (double)p->topology->machine->chip.tile_memory_bytes, "B", 3), p->fits ? "" : ": DOES NOT FIT");
    if (r->loop_cycles > r->device_cycles) {
        uint64_t copies = device_loop_bytes(p->graph, p->topology->machine->chip.n_tiles - p->request.io_tiles);
        document_line(&d, "not counted: the loop's copies of inputs and results, up to %s more on a tile", quantity_text(memory, (double)copies, "B", 3));
        document_member(&d, "loop_copies_bytes_per_tile", json_integer((json_int_t)copies));
    }
    for (uint32_t i = 0; i < p->graph->n_ops; i++)
        rows[i] = kernel_row_of(p, i, errors);
    add_trust(&d, rows, p->graph->n_ops, r->loop_cycles);
    document_gap(&d);
    document_table(&d, TABLE_OF(kernel_columns, rows, p->graph->n_ops, .name = "operations"));
    document_line(&d, "cycles and bytes of one round on the fullest tile; received: mean over the tiles");
    document_write(s->out, o->format, &d);
}

/* A file of fixed sizes is priced for as many samples as the settings say, whatever its own first dimension is. */
static bool note_samples(const char *file, uint64_t micro_batch, const struct options *o, struct session *s, struct err *err)
{
    struct onnx_description d;
    bool none = false;
    for (size_t i = 0; i < o->n_sets; i++)
        none |= text_is(o->sets[i], "data.batch=0");
    if (none)
        return true;
    if (!onnx_describe(&d, file, &s->arena, err))
        return false;
    if (d.file_batch > 1 && d.file_batch != micro_batch)
        fprintf(s->log, "podbench: %s: the first dimension, %ju, is taken for samples, of which %ju %s priced; --set data.batch=0 keeps the file's sizes, "
                "--set parallel.micro_batch=%ju prices as many samples\n", file, (uintmax_t)d.file_batch, (uintmax_t)micro_batch, micro_batch == 1 ? "is" : "are",
                (uintmax_t)d.file_batch);
    return true;
}

/* Runs an ONNX file with the settings of operators/alone.ini, and a recipe with its own. */
int command_kernel(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct kernel_errors errors;
    struct options own = *o;
    const char *recipe = arena_printf(&s->arena, "%s/operators/alone.ini", s->paths.recipes_dir);
    const char **sets = ARENA_ARRAY(&s->arena, const char *, o->n_sets + 2);
    if (onnx_is_file(o->arguments[0])) {
        sets[0] = arena_printf(&s->arena, "recipe.workload=%s", o->arguments[0]);
        sets[1] = arena_printf(&s->arena, "recipe.id=%s", o->arguments[0]);
        for (size_t i = 0; i < o->n_sets; i++)
            sets[i + 2] = o->sets[i];
        own.arguments = &recipe;
        own.sets = sets;
        own.n_sets = o->n_sets + 2;
    }
    if (!kernel_errors_load(&errors, arena_printf(&s->arena, "%s/kernel-errors.csv", s->validity_dir), &s->arena, err))
        return EXIT_BAD_INPUT;
    bool good = simulate_argument(&sim, &r, &own, s, err);
    good = good && (!onnx_is_file(o->arguments[0]) || note_samples(o->arguments[0], sim.plan.graph->micro_batch, o, s, err));
    if (good)
        print_kernel(&sim.plan, &r, &errors, o, s);
    bool fits = good && r.fits;
    simulation_free(&sim);
    return !good ? EXIT_BAD_INPUT : fits ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
