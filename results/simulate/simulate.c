/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulate.c - recipe -> machine, graph, plan, timeline -> result. All ratios are computed here.
 *
 * Model flop (for mfu) are the forward and backward multiply-accumulates; hardware flop (hfu) add recomputation. Time to train is
 *     (start-up + steps x step time + evaluations + tail) x scaling (convergence_scaling),
 * timed as MLPerf's rules demand. Evaluations are placed
 *   in line   each interval's samples are followed by a pass over the evaluation set on the training pipeline, either forward only or as
 *             many training steps as hold the set (eval_program);
 *   at end    every checkpoint is written while training waits, and is read back and evaluated after training, within the timed region.
 * Training ends with the first whole call that reaches its samples. All 40 logs of MLPerf's ResNet-50, whose epochs are five calls and a
 * fraction, show it: the last epoch is one call longer, and so are those in which the fractions add up to a call
 * (docs/maintainers/evidence.md).
 *
 * Samples to converge are the recipe's own, or predicted from the global batch (converge = model). A trainer's loop also switches programs for
 * an evaluation, compiles the first one, and waits for checkpoints, by the framework's sheet; a recipe says whether its throughput includes
 * these (rate). A recipe of an MLPerf round has two times to train: with its own samples only the system is predicted, with predicted samples
 * everything is.
 */
#include "system-model/machine/machine.h"
#include "results/simulate/simulator.h"
#include "system-model/graph/graph.h"
#include "system-model/machine/fitted.h"
#include "results/simulate/split.h"
#include "workloads/recipe/recipe_convergence.h"

/* ---- ratios ------------------------------------------------------------------------- */

static double cycles_to_seconds(const struct machine *m, double cycles)
{
    return cycles / m->chip.clock_hz;
}

/* Sums over IPUs can exceed 64 bits, so upper and lower halves are summed separately. Whole numbers give equal sums for folded and unfolded
 * replicas. */
void step_breakdown(double *part_s, const struct timeline *t)
{
    uint64_t upper[N_PARTS] = {0}, lower[N_PARTS] = {0}, n_ipus = 0;
    for (uint32_t i = 0; i < t->n_rows; i++) {
        n_ipus += t->rows[i].n_alike;
        for (int k = 0; k < N_PARTS; k++) {
            upper[k] += (t->rows[i].spent.part[k] >> 32) * t->rows[i].n_alike;
            lower[k] += (t->rows[i].spent.part[k] & UINT32_MAX) * t->rows[i].n_alike;
        }
    }
    for (int k = 0; k < N_PARTS; k++)
        part_s[k] = cycles_to_seconds(t->plan->topology->machine, ((double)upper[k] * 0x1p32 + (double)lower[k]) / (double)n_ipus);
}

_Static_assert((int)COMPUTE_FP16 == (int)TYPE_FP16 && (int)COMPUTE_FP32 == (int)TYPE_FP32 && (int)COMPUTE_FP8 == (int)TYPE_FP8,
               "what is computed in is a data type");

static void fill_utilisation(struct result *r, const struct recipe *rec, const struct timeline *t)
{
    const struct plan *p = t->plan;
    const struct chip *c = &p->topology->machine->chip;
    double can = (double)chip_mac_per_cycle(c, (enum data_type)rec->model.compute, p->request.partials) * (double)c->n_tiles
               * (double)t->step_cycles * p->request.ipus_per_replica;
    r->mfu = (double)p->model_mac * p->request.grad_accum / can;
    r->hfu = (double)p->hardware_mac * p->request.grad_accum / can;
}

static void fill_memory(struct result *r, const struct plan *p)
{
    r->fits = p->fits;
    r->fits_probability = plan_fits_probability(p, p->topology->machine->chip.memory_error);
    if (!p->memory)
        return;
    r->memory_peak_bytes_per_tile = p->memory[p->worst_ipu].total_bytes;
    r->memory_shortfall_bytes_per_tile = p->shortfall_bytes;
    r->off_chip_bytes_per_board = p->off_chip.board_bytes;
}

/* Replaces the verdict on memory by the published outcome of this very configuration, if there is one. A recipe of another name may be that
 * configuration, too; one of an ONNX file is looked up by its name alone, as its hash reads the file. */
static bool recall_memory(struct result *r, struct simulation *sim, const struct memory_record *known, struct err *err)
{
    const struct recipe *rec = &sim->recipe;
    const struct plan *plans[] = { NULL, &sim->plan };          /* as it was recorded, and without what the plan shows to have no effect */
    const struct memory_published *p = NULL;
    const char *hash;
    if (sim->simulator->options.judges || sim->changes.n || (rec->model.file && !memory_record_published(known, rec->id))
        || recipe_has_other_number(rec, sim->file, &sim->plan))
        return true;
    for (size_t i = 0; i < sizeof plans / sizeof *plans && !p; i++) {
        if (!recipe_hash(&hash, rec, plans[i], &sim->arena, err))
            return false;
        p = memory_record_of_hash(known, hash);
    }
    if (!p)
        return true;
    r->fits_published = memory_outcome_names[p->outcome];
    r->fits = p->outcome == MEMORY_RAN;
    r->fits_probability = r->fits;
    return true;
}

/* Makes the verdict less certain the less the program resembles those whose memory is known. */
static bool doubt_memory(struct result *r, struct simulation *sim, struct err *err)
{
    r->fits_probability_counted = r->fits_probability;
    const char *name[N_PROGRAM_NAMES];
    if (sim->simulator->options.as_counted)
        return true;
    const struct memory_record *known = simulator_memory_record(sim->simulator, err);
    if (!known)
        return false;
    program_names_of(name, sim, &sim->arena);
    const struct memory_doubt doubt = memory_record_doubt(known, name, sim->machine->chip.memory_error, NULL);
    r->memory_distance = doubt.distance;
    r->fits_probability = r->fits_probability_counted = memory_doubt_probability(&doubt, plan_fits_probability(&sim->plan, doubt.error));
    return recall_memory(r, sim, known, err);
}

static const char *available_memory_text(const struct plan_request *r, struct arena *a)
{
    const char *text = "";
    for (uint32_t i = 0; i < r->n_available_memory; i++)
        text = arena_printf(a, "%s%s%g", text, i ? "," : "", r->available_memory[i]);
    return text;
}

/* For a plan that does not fit, finds smaller shares of memory for temporaries with which it fits, and the step's time with them. */
static bool fill_smaller_share(struct result *r, struct simulation *sim, struct err *err)
{
    struct plan p;
    struct timeline t;
    struct result smaller;
    if (r->fits || sim->plan.fits || sim->simulator->options.verdict_only || !plan_with_less_memory(&p, sim->compiler, &sim->plan, &sim->arena))
        return true;
    p.request.detail.totals_only = true;
    if (!timeline_run(&t, &p, &sim->arena, err))
        return fail_at(err, sim->recipe.path);
    result_of_step(&smaller, &sim->recipe, &t);
    r->smaller_available_memory = sim->smaller_available_memory = available_memory_text(&p.request, &sim->arena);
    r->smaller_memory_step_time_s = smaller.step_time_s;
    return true;
}

static double waiting_share(const struct result *r)
{
    double waiting_s = 0;
    for (int k = 0; k < N_PARTS; k++)
        waiting_s += part_classes[k] == CLASS_WAITING || part_classes[k] == CLASS_HOST ? r->breakdown_s[k] : 0;
    return waiting_s / r->step_time_s;
}

/* Energy of chips with idle_power_w on their sheet: idle power times time, plus the energy of the work. The rest of the boards is added. */
static void fill_energy_parts(struct result *r, const struct plan *p, const struct power *power)
{
    const double *work_j = p->energy.j, n = p->request.n_replicas;
    r->energy_idle_j = power->idle_w * r->step_time_s;
    r->energy_running_j = n * work_j[ENERGY_RUNNING];
    r->energy_products_j = n * work_j[ENERGY_MAC];
    r->energy_vector_j = n * work_j[ENERGY_VECTOR];
    r->energy_exchange_j = n * work_j[ENERGY_EXCHANGE];
    r->energy_links_j = n * work_j[ENERGY_LINKS];
    r->energy_boards_j = power->boards_rest_w * r->step_time_s;
    double chips_j = r->energy_idle_j + n * energy_total(&p->energy);
    r->ipu_power_w = chips_j / r->step_time_s / (double)r->ipus;
    r->ipu_power_error_w = n * energy_error_j(&p->energy, &p->topology->machine->chip) / r->step_time_s / (double)r->ipus;
    r->energy_per_step_j = chips_j + r->energy_boards_j;
    r->energy_note = power->boards_rest_w > 0 ? "" : "no source gives the power of the boards' other parts";
}

/* Adds the power of hosts and cooling, as far as the recipe states it; the sum is what the meter of the site would show. */
static void fill_site(struct result *r, const struct recipe *rec)
{
    const double joules_per_kwh = 3.6e6;
    r->energy_hosts_j = (double)rec->host_count * rec->host_power_w * r->step_time_s;
    r->energy_cooling_j = rec->cooling_share * (r->energy_per_step_j + r->energy_hosts_j);
    r->energy_site_j = r->energy_per_step_j + r->energy_hosts_j + r->energy_cooling_j;
    r->carbon_per_step_g = r->energy_site_j / joules_per_kwh * rec->carbon_g_per_kwh;
    r->energy_cost_per_step = r->energy_site_j / joules_per_kwh * rec->price_per_kwh;
}

static void fill_energy(struct result *r, const struct plan *p, const struct recipe *rec)
{
    struct power power;
    machine_power(&power, p->topology->machine, r->ipus);
    r->energy_modelled = true;
    r->energy_missing = power.missing;
    if (power.missing)
        return;
    r->energy_per_step_j = power_mean_w(&power, waiting_share(r)) * r->step_time_s;
    r->energy_note = power.knows_waiting ? "" : "an upper bound: no source gives the power of waiting IPUs";
    if (power.has_law)
        fill_energy_parts(r, p, &power);
    r->energy_per_sample_j = r->energy_per_step_j / r->global_batch;
    r->mean_power_w = r->energy_per_step_j / r->step_time_s;
    r->power_at_work_w = power.at_work_w;
    r->power_waiting_w = power.knows_waiting ? power.waiting_w : 0;
    r->power_cap_w = power.cap_w;
    r->energy_counts = power.of;
    r->energy_source = power.row->source;
    r->energy_file = power.sheet->path;
    r->energy_line = power.row->line;
    fill_site(r, rec);
}

static void fill_cost(struct result *r, const struct recipe *rec)
{
    r->cost_per_step = rec->price_per_hour / 3600 * r->step_time_s;
    r->cost_per_million_samples = 1e6 * r->cost_per_step / r->global_batch;
    r->cost_missing = is_known(r->cost_per_step) || is_known(r->energy_cost_per_step) ? NULL : "the recipe states no price: --set cost.price_per_hour=PRICE or cost.price_per_kwh=PRICE";
}

/* Times of text generation. A call makes one token of each text of all its micro-batches, so that a text has its next token from the next call; with a
 * cache, the tokens of the prompt take a call each before that. */
static void fill_generation(struct result *r, const struct recipe *rec)
{
    const struct text_generation *g = &rec->model.generation;
    if (!g->new_tokens)
        return;
    double texts = (double)(rec->replicas * rec->gradient_accumulation * (g->prompts ? g->prompts : rec->model.micro_batch));
    r->token_latency_s = r->step_time_s;
    r->throughput_tokens_per_s = texts / r->token_latency_s;
    r->first_token_s = r->token_latency_s * (g->cache == CACHE_NONE ? 1 : (double)g->prompt_tokens);
}

/* The cycles of the busiest IPU in a step; an IPU may hold several stages. */
static double busiest_ipu_cycles(const struct plan *p)
{
    double most = 0, sums[MAX_STAGES] = { 0 };
    for (uint32_t s = 0; s < p->n_stages; s++) {
        double *sum = &sums[p->stages[s].ipu];
        *sum += ((double)p->stages[s].forward_cycles + (double)p->stages[s].backward_cycles) * p->request.grad_accum;
        most = fmax(most, *sum);
    }
    return most;
}

/* The cycles that the loop on the device takes, with the copies of a loop that passes its values on, which only some frameworks have. */
static double device_loop_cycles(const struct plan *p, const struct recipe *rec)
{
    struct op_plan loop;
    if (rec->mode != MODE_INFER || p->n_stages > 1 || !p->request.program.loops_by_value)
        return busiest_ipu_cycles(p);
    const struct chip *chip = &p->topology->machine->chip;
    const struct op_plan_options *opt = &p->stages[0].compiled->options;
    uint64_t rounds = max_u64(1, rec->model.repeat);
    device_loop_plan(&loop, p->graph, chip, opt);
    return busiest_ipu_cycles(p) + (double)(op_plan_cycles(&loop) * rounds + inner_loops_cycles(p->graph, (uint32_t)rounds, chip, opt));
}

static double codelet_cycles(const struct plan *p)
{
    double sum = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        sum += (double)p->stages[s].codelet_cycles;
    return sum;
}

void result_of_step(struct result *r, const struct recipe *rec, const struct timeline *t)
{
    const struct plan *p = t->plan;
    const struct machine *m = p->topology->machine;
    *r = (struct result){ .id = rec->id, .workload = rec->workload, .system = m->name };
    r->ipus = (uint64_t)p->request.n_replicas * p->request.ipus_per_replica;
    r->global_batch = (double)p->global_batch * recipe_samples_per_item(rec);
    r->step_time_s = cycles_to_seconds(m, (double)t->step_cycles);
    r->throughput_samples_per_s = r->global_batch / r->step_time_s;
    r->device_cycles = busiest_ipu_cycles(p);
    r->device_time_s = cycles_to_seconds(m, r->device_cycles);
    r->loop_cycles = device_loop_cycles(p, rec);
    r->codelet_cycles = codelet_cycles(p);
    if (rec->mode == MODE_INFER)
        r->latency_s = fmax(cycles_to_seconds(m, (double)t->first_output_cycles) + 2 * m->host_latency_s, p->request.host.requests * r->step_time_s / p->request.grad_accum);
    fill_generation(r, rec);
    fill_memory(r, p);
    step_breakdown(r->breakdown_s, t);
    fill_energy(r, p, rec);
    fill_cost(r, rec);
    fill_utilisation(r, rec, t);
}

/* Plans and plays another request of this simulation, and sets the time of its step. */
static bool play_once(double *step_s, struct simulation *sim, struct compiler *c, const struct plan_request *opt, struct err *err)
{
    struct plan p;
    struct timeline t;
    struct plan_request totals = *opt;
    totals.detail.totals_only = true;
    if (!c || !plan_build(&p, c, &totals, &sim->arena, err) || !timeline_run(&t, &p, &sim->arena, err))
        return false;
    *step_s = cycles_to_seconds(sim->machine, (double)t.step_cycles);
    return true;
}

/* Sets what faults cost, by comparison with the step on a machine without faults. */
static bool fill_fault_cost(struct result *r, struct simulation *sim, struct err *err)
{
    struct plan_request opt = sim->plan.request;
    double healthy_s;
    if (!opt.faults)
        return true;
    opt.faults = NULL;
    if (!play_once(&healthy_s, sim, simulator_compiler(sim, &sim->recipe, false, err), &opt, err))
        return false;
    r->fault_cost_s = r->step_time_s - healthy_s;
    return true;
}

/* ---- training ------------------------------------------------------------------------ */

enum { MOST_EVALUATION_BATCHES = 1000000 };        /* the largest accumulation that a recipe may have */

/* The number of batches that hold the samples. The tolerance keeps a rounding error from adding a batch. */
static double batches_of(uint64_t samples, double batch)
{
    return ceil((double)samples / batch - 1e-9);
}

/* Simulates a forward pass over the evaluation set on all replicas, pipelined as training is. Between training steps it runs in whole calls of
 * as many micro-batches as training calls have (MLPerf v2.0 BERT: 4, 3, 2 and 2 calls on 16 to 256 IPUs). After training it is one call. */
static bool forward_evaluation(struct simulation *sim, struct err *err)
{
    const struct recipe *rec = &sim->recipe;
    struct plan_request opt = sim->plan.request;
    double batch = (double)sim->graph->micro_batch * plan_data_replicas(&opt) * recipe_samples_per_item(rec);
    double n = batches_of(rec->eval_samples, batch), n_calls = 1;
    if (n > MOST_EVALUATION_BATCHES)
        return fail(err, "training.eval_samples: takes %g micro-batches on every replica; want at most %g", n, (double)MOST_EVALUATION_BATCHES);
    opt.training = false;
    opt.evaluation = true;
    if (rec->eval_placement == EVAL_INLINE)
        n_calls = ceil(n / opt.grad_accum);
    else
        opt.grad_accum = (uint32_t)n;
    struct recipe infer = *rec;
    infer.mode = MODE_INFER;
    if (!play_once(&sim->evaluation_s, sim, simulator_compiler(sim, &infer, true, err), &opt, err))
        return false;
    sim->evaluation_s *= n_calls;
    return true;
}

static bool time_evaluation(struct simulation *sim, const struct result *r, struct err *err)
{
    const struct recipe *rec = &sim->recipe;
    sim->evaluation_s = 0;
    if (rec->eval_samples && rec->eval_program == EVAL_TRAINING)
        sim->evaluation_s = batches_of(rec->eval_samples, r->global_batch) * r->step_time_s;
    else if (rec->eval_samples && !forward_evaluation(sim, err))
        return false;
    if (rec->eval_placement == EVAL_END)
        sim->evaluation_s += sim->sdk.evaluated_checkpoint_s_per_parameter * (double)plan_parameters(&sim->plan);
    return true;
}

/* The recipe's own samples and evaluations. If the samples are a mean over runs, the evaluations are too, such as 15.5, and at least 1. */
static struct expected_training given_training(const struct recipe *r)
{
    bool is_mean = r->samples_to_converge > 0;
    double samples = is_mean ? r->samples_to_converge : r->epochs * (double)r->samples_per_epoch;
    double fit = r->eval_every ? samples / (double)r->eval_every : 1;
    return (struct expected_training){ samples, r->evaluations ? (double)r->evaluations : is_mean ? fmax(fit, 1) : floor(fit + 1e-9) };
}

static double engine_load_s(const struct program *f, double ipus)
{
    return f->engine_load_s + ipus * f->engine_load_s_per_ipu;
}

/* The time to load the engine of evaluations at the end. In all logs it ran on the IPUs of one host (MLPerf Training v1.0 to v2.0, ResNet-50). */
double last_evaluations_load_s(const struct simulation *sim)
{
    const struct plan_request *o = &sim->plan.request;
    return engine_load_s(&o->program, ceil((double)o->n_replicas * o->ipus_per_replica / fmax(1, o->host.n_hosts)));
}

/* The time in which a trainer's loop exchanges programs and starts a loader for one evaluation, by the framework's sheet. */
static double evaluation_switch_s(const struct simulation *sim)
{
    const struct plan_request *o = &sim->plan.request;
    const struct program *f = &o->program;
    double ipus = (double)o->n_replicas * o->ipus_per_replica;
    bool switches = sim->recipe.eval_placement == EVAL_INLINE && sim->recipe.eval_program == EVAL_FORWARD;
    return switches ? (double)f->evaluation_loads * engine_load_s(f, ipus) + f->evaluation_fixed_s : 0;
}

static double checkpoints_s(const struct simulation *sim, double samples)
{
    double n = sim->recipe.save_every ? floor(samples / (double)sim->recipe.save_every + 1e-9) : 0;
    return n * sim->plan.request.program.checkpoint_s_per_parameter * (double)plan_parameters(&sim->plan);
}

/* Fills times, energy and cost of training. Energy and cost count the time that really passes, without convergence_scaling. */
static void fill_times(struct result *r, const struct simulation *sim, const struct expected_training *t, const struct convergence *c)
{
    const struct recipe *rec = &sim->recipe;
    r->samples_to_converge = t->samples;
    double n_steps = ceil(t->samples / r->global_batch), steps_per_call = sim->plan.request.program.steps_per_call;
    r->train_time_s = steps_in_whole_calls(n_steps, steps_per_call) * r->step_time_s;
    r->evaluation_time_s = sim->evaluation_s + (rec->eval_samples ? evaluation_switch_s(sim) : 0);
    bool compiles = r->evaluation_time_s > sim->evaluation_s && t->evaluations > 0;
    r->eval_time_s = r->evaluation_time_s * t->evaluations + (compiles ? sim->plan.request.program.first_compile_s : 0) + checkpoints_s(sim, t->samples);
    r->startup_time_s = rec->initial_checkpoint ? sim->sdk.checkpoint_start_s : 0;
    r->tail_time_s = rec->eval_placement == EVAL_END ? sim->sdk.eval_switch_s + last_evaluations_load_s(sim) : 0;
    r->time_to_train_s = r->startup_time_s + r->train_time_s + r->eval_time_s + r->tail_time_s;
    r->energy_j = r->energy_per_step_j / r->step_time_s * r->time_to_train_s;
    r->energy_site_to_train_j = r->energy_site_j / r->step_time_s * r->time_to_train_s;
    r->cost_to_train = r->cost_per_step / r->step_time_s * r->time_to_train_s;
    r->carbon_to_train_kg = r->carbon_per_step_g / 1000 / r->step_time_s * r->time_to_train_s;
    r->energy_cost_to_train = r->energy_cost_per_step / r->step_time_s * r->time_to_train_s;
    r->scaling_time_s = c ? (convergence_scaling(c, t->samples) - 1) * r->time_to_train_s : 0;
    r->logged_samples_per_s = t->samples / r->time_to_train_s;
    r->time_to_train_s += r->scaling_time_s;
}

/* The rate of an evaluation that is the whole program: its samples over the time of its calls, start and end. Other inference is no such loop. */
static void fill_evaluation_loop(struct result *r, const struct simulation *sim)
{
    double n = (double)sim->recipe.eval_samples, loop_s = sim->plan.request.program.evaluation_fixed_s + batches_of(sim->recipe.eval_samples, r->global_batch) * r->step_time_s;
    r->logged_samples_per_s = n > 0 && sim->recipe.rate == RATE_LOGGED ? n / loop_s : 0;
}

/* Takes the logged rate as throughput if the recipe asks for it. */
static void fill_rate(struct result *r, const struct recipe *rec)
{
    if (rec->rate == RATE_LOGGED && r->logged_samples_per_s > 0)
        r->throughput_samples_per_s = r->logged_samples_per_s;
}

static bool fill_training(struct result *r, struct simulation *sim, struct err *err)
{
    const struct recipe *rec = &sim->recipe;
    struct expected_training given = given_training(rec), predicted;
    if (!(given.samples > 0) && !rec->converge)
        return true;
    if (!time_evaluation(sim, r, err))
        return false;
    const struct workload *w = recipe_workload(rec);
    struct convergence c;
    bool known = w && w->benchmark && (rec->converge || recipe_terms(rec).named);
    if (known) {
        if (!simulator_convergence(&c, sim->simulator, rec, err))
            return false;
        predicted = expected_training(rec, &c);
        fill_times(r, sim, &predicted, &c);
        r->predicted_samples_to_converge = r->samples_to_converge;
        r->predicted_time_to_train_s = r->time_to_train_s;
    }
    if (!rec->converge)
        fill_times(r, sim, &given, known ? &c : NULL);
    return true;
}

/* Takes the shares of memory from another simulation, and does not count memory again. */
static void use_splits_of(struct plan_request *opt, const struct plan_request *of)
{
    memcpy(opt->available_memory, of->available_memory, sizeof opt->available_memory);
    opt->n_available_memory = of->n_available_memory;
    opt->detail.timed_only = true;
}

static bool run_simulation(struct simulation *sim, struct result *out, const char *recipe, const char *const *overrides, size_t n_overrides,
                struct err *err)
{
    struct plan_request opt;
    if (!simulator_prepare(sim, &opt, recipe, overrides, n_overrides, err))
        return false;
    opt.fitted = sim->fitted.times;
    opt.detail.unfolded = sim->simulator->paths->unfolded;
    opt.detail.totals_only = sim->simulator->options.totals_only;
    if (sim->simulator->options.splits_of)
        use_splits_of(&opt, &sim->simulator->options.splits_of->plan.request);
    if (!split_layers(&opt, sim->compiler, sim->simulator->options.split_attempts, err) || !plan_build(&sim->plan, sim->compiler, &opt, &sim->arena, err) ||
        !timeline_run(&sim->timeline, &sim->plan, &sim->arena, err))
        return fail_at(err, sim->recipe.path);
    result_of_step(out, &sim->recipe, &sim->timeline);
    if (!doubt_memory(out, sim, err) || !fill_fault_cost(out, sim, err) || !fill_smaller_share(out, sim, err))
        return false;
    if (sim->recipe.mode == MODE_INFER)
        fill_evaluation_loop(out, sim);
    else if (!sim->simulator->options.step_only && !fill_training(out, sim, err))
        return false;
    fill_rate(out, &sim->recipe);
    return true;
}

bool simulator_run(struct simulator *s, struct simulation *sim, struct result *out, const char *recipe, const char *const *overrides,
                   size_t n_overrides, struct err *err)
{
    *sim = (struct simulation){ .simulator = s, .arena = s->spare };
    s->spare = (struct arena){0};
    if (run_simulation(sim, out, recipe, overrides, n_overrides, err))
        return true;
    simulation_free(sim);
    return false;
}

bool simulate(struct simulation *sim, struct result *out, const char *recipe, const char *const *overrides, size_t n_overrides,
              const struct model_paths *paths, struct plan_cache *cache, struct err *err)
{
    struct simulator *s = calloc(1, sizeof *s);
    if (!s)
        out_of_memory(sizeof *s);
    simulator_open(s, paths);
    if (cache)
        s->plans = cache;
    bool good = simulator_run(s, sim, out, recipe, overrides, n_overrides, err);
    sim->owns_simulator = good;
    if (!good) {
        simulator_close(s);
        free(s);
    }
    return good;
}

/* The simulator keeps the arena for the next simulation. */
void simulation_free(struct simulation *sim)
{
    struct simulator *s = sim->simulator;
    if (s && sim->compiler_entry)
        sim->compiler_entry->users--;
    if (s && !s->spare.head) {
        arena_reset(&sim->arena);
        s->spare = sim->arena;
    } else {
        arena_free(&sim->arena);
    }
    if (sim->owns_simulator) {
        simulator_close(s);
        free(s);
    }
    *sim = (struct simulation){0};
}
