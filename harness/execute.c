/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execute.c - podbench execute: carries out the arithmetic of one step of a plan on random inputs. It prints the bytes that were in use next
 * to those that the plan counts.
 */
#include "harness/harness.h"
#include "results/simulate/simulate.h"
#include "results/train/train.h"
#include "system-model/execute/execution.h"
#include <jansson.h>
#include <unistd.h>

/* ---- host memory ------------------------------------------------------------------------------- */

/* Settings for the smallest step of this model and split, with the host memory that it takes; "" if even that is too much. A pipeline needs as
 * many micro-batches as it holds at a time. */
static const char *smallest_step(const struct plan *p, const struct options *o, struct session *s)
{
    enum { N_MORE = 4 };
    struct arena *a = &s->arena;
    uint32_t accumulation = p->request.training && p->n_stages > 1 ? 2 * p->n_stages - 1 : 1;
    const char *const more[N_MORE] = { "parallel.replicas=1", "parallel.micro_batch=1", arena_printf(a, "parallel.gradient_accumulation=%u", accumulation),
                                       "parallel.stash_type=fp16" };
    const char **sets = ARENA_ARRAY(a, const char *, o->n_sets + N_MORE), *text = "";
    size_t n = 0;
    for (; n < o->n_sets; n++)
        sets[n] = o->sets[n];
    for (size_t i = 0; i < N_MORE - (p->request.stash_type != TYPE_FP8); i++) {
        sets[n++] = more[i];
        text = arena_printf(a, "%s --set %s", text, more[i]);
    }
    struct simulation sim;
    struct result r;
    struct err err;
    bool good = simulator_run(&s->simulator, &sim, &r, o->arguments[0], sets, n, &err) && execution_fits_host(&sim.plan, &err);
    text = good ? arena_printf(a, "%s takes %.3g GB", text + 1, (double)execution_host_bytes(&sim.plan) / 1e9) : "";
    simulation_free(&sim);
    return text;
}

static bool check_host(const struct plan *p, const struct options *o, FILE *f, struct session *s, struct err *err)
{
    double wanted = (double)execution_host_bytes(p) / 1e9;
    fprintf(f, "host memory wanted: %.3g GB\n", wanted);
    fflush(f);
    if (execution_fits_host(p, err))
        return true;
    const char *smaller = smallest_step(p, o, s);
    return *smaller && fail(err, "%s: executing it takes %.3g GB of host memory, more than there is; %s", p->graph->name, wanted, smaller);
}

/* ---- time -------------------------------------------------------------------------------------------- */

/* The progress of a step, in multiply-accumulates of replica 0. */
struct execution_talk { const struct graph *g; double done_mac, all_mac; struct progress progress; };

static void tell_operation(void *user, uint32_t stage, enum task_kind kind, uint64_t micro_batch, uint32_t op_id)
{
    enum { LEAST_SECONDS = 1 };
    struct execution_talk *talk = user;
    char text[120];
    (void)stage, (void)kind, (void)micro_batch;
    double share = talk->done_mac / talk->all_mac, seconds = progress_seconds(&talk->progress);
    talk->done_mac += (double)op_mac(talk->g, &talk->g->ops[op_id]);
    if (!(share > 0) || share >= 1 || seconds < LEAST_SECONDS)
        return;
    snprintf(text, sizeof text, "executing: %.0f %% after %.0f s, about %.0f s left", 100 * share, seconds, seconds * (1 / share - 1));
    progress_tell(&talk->progress, text);
}

/* ---- bytes ------------------------------------------------------------------------------------------- */

static uint64_t planned_bytes(const struct plan *p, const struct stage_plan *s, enum live_category c)
{
    const struct plan_request *o = &p->request;
    double state = o->state.place == OPTIMIZER_ON_CHIP ? o->optimizer.state_bytes_per_param / plan_shard_replicas(p) : 0;
    switch (c) {
    case LIVE_WEIGHTS: return s->weight_bytes;
    case LIVE_ACCUMULATORS: return plan_keeps_gradients(o) ? s->weight_bytes : 0;
    case LIVE_STATE: return (uint64_t)((double)(s->n_parameters + s->n_copied) * state);
    case LIVE_STASH: return s->stash_bytes * min_u32(s->stash_depth, o->grad_accum);
    case LIVE_KEPT_INPUTS: return s->kept_input_bytes * min_u32(s->stash_depth, o->grad_accum);
    case LIVE_INPUTS: return s->host_bytes;
    case LIVE_ACTIVATIONS: return s->activation_bytes;
    case LIVE_HANDED_OVER: return plan_waiting_bytes(p, s);
    case N_LIVE_CATEGORIES: break;
    }
    assert(false);
    return 0;
}

struct bytes_row { uint32_t stage; const char *category; uint64_t executed, planned; };
#define C(member, ...) { COLUMN(struct bytes_row, member), .heading = #member, __VA_ARGS__ }
static const struct table_column bytes_columns[] = { C(stage), C(category), C(executed), C(planned) };
#undef C

static void add_bytes(struct document *d, const struct execution *x, const struct plan *p)
{
    struct table *t = document_table(d, TABLE(bytes_columns, struct bytes_row));
    t->name = "live_bytes", t->title = "live bytes of one replica by stage, at most, and what the plan counts";
    for (uint32_t s = 0; s < p->n_stages; s++)
        for (int c = 0; c < N_LIVE_CATEGORIES; c++)
            table_add(t, &(struct bytes_row){ s, live_category_names[c], execution_live(x, s)->peak[c],
                                              planned_bytes(p, &p->stages[s], (enum live_category)c) }, d->arena);
}

/* ---- rounding ------------------------------------------------------------------------------------------ */

struct rounding_row { const char *tensors; uint64_t written, infinite, not_a_number, vanished, saturated; };
#define C(member, shown) { COLUMN(struct rounding_row, member), .heading = shown }
static const struct table_column rounding_columns[] = {
    C(tensors, ""), C(written, "written"), C(infinite, "infinite"), C(not_a_number, "NaN"), C(vanished, "vanished"), C(saturated, "saturated"),
};
#undef C

static void add_rounding(struct document *d, const struct step_result *r)
{
    static const char *const roles[N_TENSOR_ROLES] = { [ROLE_WEIGHT] = "weights and moments", [ROLE_ACTIVATION] = "activations",
                                                       [ROLE_GRADIENT] = "gradients", [ROLE_WEIGHT_GRADIENT] = "gradients of weights" };
    struct table *t = document_table(d, TABLE(rounding_columns, struct rounding_row));
    t->name = "rounding", t->title = "elements written in fp16 and fp8";
    for (int i = 0; i < N_TENSOR_ROLES; i++) {
        const struct rounding_counts *c = &r->rounded[i];
        if (c->n_rounded)
            table_add(t, &(struct rounding_row){ roles[i], c->n_rounded, c->n_infinite, c->n_not_a_number, c->n_vanished, c->n_saturated }, d->arena);
    }
}

/* ---- output of inference -------------------------------------------------------------------------------- */

struct output_row { const char *format; uint64_t numbers; double error, same_best; };
#define C(member, shown) { COLUMN(struct output_row, member), .heading = shown }
static const struct table_column output_columns[] = { C(format, "format"), C(numbers, "numbers"), C(error, "error"), C(same_best, "same best") };
#undef C

static struct output_row output_row_of(const char *format, const struct tensor_value *got, const struct tensor_value *exact, uint64_t width)
{
    double off = 0, all = 0, same = 0;
    for (uint64_t i = 0; i < got->n_elements; i++)
        off += pow((double)got->x[i] - (double)exact->x[i], 2), all += pow((double)exact->x[i], 2);
    for (uint64_t i = 0; i < got->n_elements; i += width)
        same += training_best_class(got->x + i, width) == training_best_class(exact->x + i, width);
    return (struct output_row){ format, got->n_elements, sqrt(off / all), same * (double)width / (double)got->n_elements };
}

static struct execution *one_step(const struct plan *p, const struct execution_options *o, struct err *err)
{
    struct step_result r;
    struct execution *x = execution_start(p, o, err);
    if (x && execution_step(x, &r, err))
        return x;
    execution_end(x);
    return NULL;
}

static bool has_fp8(const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].type == TYPE_FP8)
            return true;
    return false;
}

/* Compares the output with that of the same plan in fp32, with the same weights and inputs. The other format of fp8 is compared, too. */
static bool add_output(struct document *d, const struct execution *x, const struct plan *p, const struct execution_options *o, struct err *err)
{
    const struct tensor *out = &p->graph->tensors[p->graph->ops[p->graph->n_forward_ops - 1].outputs[0]];
    uint64_t width = out->dims[out->n_dims - 1];
    struct execution_options as_fp32 = *o, as_e5m2 = *o;
    as_fp32.precision.by_type = false, as_e5m2.precision.fp8_is_e5m2 = true;
    struct execution *exact = one_step(p, &as_fp32, err), *wide = exact && has_fp8(p->graph) ? one_step(p, &as_e5m2, err) : NULL;
    bool good = exact && (wide || !has_fp8(p->graph));
    struct table *t = document_table(d, TABLE(output_columns, struct output_row));
    t->name = "output", t->title = "output: root mean square error over that of fp32, and share of rows with the same largest number";
    for (int i = 0; i < 1 + (wide != NULL) && good; i++) {
        const char *format = !o->precision.by_type ? "fp32" : !wide ? "fp16" : i == 0 ? "fp8 as E4M3" : "fp8 as E5M2";
        struct output_row row = output_row_of(format, execution_output(i ? wide : x), execution_output(exact), width);
        table_add(t, &row, d->arena);
    }
    execution_end(exact);
    execution_end(wide);
    return good;
}

/* Tensors of a model that is cut over IPUs are filled whole. */
static bool fill_noise(void *user, float *to, uint32_t tensor_id, uint64_t step, uint32_t replica, uint64_t micro_batch, struct err *err)
{
    const struct execution_talk *talk = user;
    return fill_with_noise((void *)(uintptr_t)(talk->g->whole ? talk->g->whole : talk->g), to, tensor_id, step, replica, micro_batch, err);
}

/* ---- the command ---------------------------------------------------------------------------------------- */

static struct execution_options options_of(const struct simulation *sim, const struct options *o, struct execution_talk *talk)
{
    return (struct execution_options){
        .optimizer = { .learning_rate = 1e-3, .momentum = 0.9, .second_momentum = 0.999, .epsilon = 1e-6, .weight_decay = 1e-4, .trust = 1e-3, .clip_norm = 1 },
        .seed = o->seed ? o->seed : 1, .mean_losses = true, .loss_scale = sim->recipe.loss_scale,
        .precision = { sim->recipe.model.compute != COMPUTE_FP32, sim->plan.request.partials, sim->recipe.stochastic_rounding, false },
        .n_threads = o->jobs ? (uint32_t)o->jobs : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), .fill = fill_noise, .watch = tell_operation, .user = talk };
}

static void add_step_taken(struct document *d, const struct plan *p, const struct step_result *r)
{
    const struct plan_request *q = &p->request;
    if (q->training)
        document_line_for(d, IN_TEXT, "loss %.5g; %ju elements of gradients are not finite%s", r->loss, (uintmax_t)r->n_not_finite,
                          r->skipped ? ", so no weight was changed" : "");
    document_member(d, "step", json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:b}", "workload", p->graph->name, "replicas", (json_int_t)q->n_replicas,
                                         "stages", (json_int_t)p->n_stages, "micro_batches", (json_int_t)q->grad_accum, "micro_batch",
                                         (json_int_t)p->graph->micro_batch, "host_bytes", (json_int_t)execution_host_bytes(p), "loss",
                                         json_number(q->training ? r->loss : NAN), "not_finite", (json_int_t)r->n_not_finite, "skipped", (int)r->skipped));
}

enum { WORTH_TELLING_S = 10 };
static bool execute(const struct simulation *sim, const struct options *o, struct session *s, struct err *err)
{
    const struct plan *p = &sim->plan;
    struct execution_talk talk = { .g = p->graph, .all_mac = (double)p->hardware_mac * p->request.grad_accum };
    struct execution_options options = options_of(sim, o, &talk);
    struct step_result r;
    FILE *said_first = o->format == FORMAT_TEXT ? s->out : s->log;
    fprintf(said_first, "%s: %u replica%s of %u stage%s, %u micro-batch%s of %ju; products %s\n", p->graph->name, p->request.n_replicas,
            plural(p->request.n_replicas), p->n_stages, plural(p->n_stages), p->request.grad_accum, p->request.grad_accum == 1 ? "" : "es",
            (uintmax_t)p->graph->micro_batch, options.precision.by_type ? "in the order of the AMP unit" : execute_library());
    if (!check_host(p, o, said_first, s, err))
        return false;
    double seconds = execution_host_seconds(p, &options);
    if (seconds > WORTH_TELLING_S)
        fprintf(s->log, "podbench: executing takes this host %.0f %s or more; fewer parallel.gradient_accumulation or replicas take less\n",
                seconds < 120 ? seconds : seconds / 60, seconds < 120 ? "s" : "min");
    progress_start(&talk.progress, s->log, "executing");
    struct execution *x = execution_start(p, &options, err);
    bool good = x && execution_step(x, &r, err);
    progress_end(&talk.progress);
    struct document d = { .arena = &s->arena };
    if (good) {
        add_step_taken(&d, p, &r);
        if (options.precision.by_type)
            add_rounding(&d, &r);
        add_bytes(&d, x, p);
        good = p->request.training || add_output(&d, x, p, &options, err);
    }
    if (good)
        document_write(s->out, o->format, &d);
    execution_end(x);
    return good;
}

int command_execute(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    s->executes = true;
    bool good = simulate_argument(&sim, &r, o, s, err) && execute(&sim, o, s, err);
    simulation_free(&sim);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}
