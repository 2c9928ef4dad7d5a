/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pipeline.c - which stage works on which micro-batch, cycle by cycle, and what moves between the IPUs.
 *
 * A schedule is a set of tasks, each the forward or the backward pass of a stage. A task works once in each cycle, from
 * its first cycle on, for as many cycles as there are micro-batches. S is the number of stages, and s counts them from 0:
 *   popart       Forward s begins in cycle s and backward s in cycle 2S-2-s, so the last stage does both in the same cycle.
 *                There is one slot: IPUs work side by side, and tasks of the same IPU take turns. With GA micro-batches
 *                there are GA + 2S-2 cycles. (PopART, pipeline transform)
 *   grouped      The cycles are those of popart, with two slots each: first all forward tasks together, then all backward tasks.
 *   interleaved  Forward s begins at tick s and backward s at tick 2S-1-s, with a micro-batch every two ticks, so that
 *                neighbours alternate.
 *   sequential   One task runs after the other, without overlap.
 *   none         The same, for a model that is sharded without a pipeline.
 *   inference    Forward s begins in cycle s.
 *   phases       One task runs after the other, each for all micro-batches (phases.c).
 * (Grouped, interleaved and sequential are TensorFlow's: the depth of its FIFOs is 2, 1 and 0 times S-1-s.)
 *
 * In a cycle that starts a micro-batch, the replica first waits for the host exchange that brings it. It waits for the
 * latency of the host's port: once for each replica that its process serves before it, or once in all if the process
 * keeps several micro-batches ready. Results that go to the host with each micro-batch are a second exchange, which is
 * taken together with the first. Results of a whole step or call are sent without waiting.
 *
 * After each slot the outputs of its tasks are copied to the next stages, all in one exchange. PopART copies once a
 * cycle, and runs its merged copy in full even while the pipeline fills and drains (popprograms.cpp:266-322 at sdk
 * 2.5.1). TensorFlow copies after the forward passes, and again after the backward passes.
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

/* ---- tasks --------------------------------------------------------------------------- */

static void place_tick(struct task *t, uint32_t tick)
{
    t->first_cycle = tick / 2;
    t->slot = tick % 2;
}

static void plan_place_task(struct task *t, enum schedule schedule, uint32_t n_stages, bool training)
{
    uint32_t s = t->stage, last = n_stages - 1;
    bool forward = t->kind == TASK_FORWARD;
    if (schedule == SCHEDULE_SEQUENTIAL || schedule == SCHEDULE_NONE) {
        t->slot = forward ? s : n_stages + last - s;
        return;
    }
    if (schedule == SCHEDULE_INTERLEAVED && training) {
        place_tick(t, forward ? s : 2 * last + 1 - s);
        return;
    }
    t->first_cycle = forward ? s : 2 * last - s;
    t->slot = schedule == SCHEDULE_GROUPED && !forward;
}

/* Places a task in time: forward phases come first, then backward phases, each for as many cycles as there are micro-batches. The last forward
 * phase also does its backward pass. */
static void place_phase(struct task *t, uint32_t n_stages, uint32_t n_cycles)
{
    t->first_cycle = (t->kind == TASK_FORWARD ? t->stage : 2 * (n_stages - 1) - t->stage) * n_cycles;
}

static void make_tasks(struct plan *p, struct arena *a)
{
    bool training = p->request.training;
    p->n_tasks = p->n_stages * (training ? 2 : 1);
    p->tasks = ARENA_ARRAY(a, struct task, p->n_tasks);
    for (uint32_t i = 0; i < p->n_tasks; i++) {
        struct task *t = &p->tasks[i];
        t->stage = i < p->n_stages ? i : 2 * p->n_stages - 1 - i;
        t->kind = i < p->n_stages ? TASK_FORWARD : TASK_BACKWARD;
        t->n_cycles = t->kind == TASK_FORWARD ? p->stages[t->stage].forward_cycles : p->stages[t->stage].backward_cycles;
        if (plan_is_phased(&p->request))
            place_phase(t, p->n_stages, p->request.grad_accum);
        else
            plan_place_task(t, p->request.schedule, p->n_stages, training);
        assert(i == 0 || t[-1].first_cycle <= t->first_cycle);
        p->n_slots = max_u32(p->n_slots, t->slot + 1);
    }
}

/* ---- copies between stages -------------------------------------------------------------- */

static bool copies_in_full(const struct plan *p)
{
    return p->request.schedule == SCHEDULE_POPART && p->request.training;
}

/* Lists the copies after a slot in replica 0. A forward task sends its output to the next stage, if there is one; a backward task sends the
 * gradient to the stage before. */
static size_t slot_flows(struct flow *flows, const struct plan *p, const struct pipeline_run *r, uint32_t slot)
{
    bool in_full = copies_in_full(p);
    size_t n = 0;
    for (uint32_t i = in_full ? 0 : r->first_task; i < (in_full ? p->n_tasks : r->end_task); i++) {
        const struct task *t = &p->tasks[i];
        bool forward = t->kind == TASK_FORWARD;
        if (t->slot != slot || (!forward && t->stage == 0))
            continue;
        uint32_t to = forward ? t->stage + 1 : t->stage - 1;
        uint64_t bytes = p->stages[forward ? t->stage : to].output_bytes;
        if (bytes && p->stages[t->stage].ipu != p->stages[to].ipu)
            flows[n++] = (struct flow){ p->stages[t->stage].ipu, p->stages[to].ipu, (double)bytes };
    }
    return n;
}

/* Costs the copies after a slot. All replicas copy at the same time, over the links that they share. */
static bool plan_copy(struct pipeline_run *r, uint32_t slot, const struct plan *p, struct compiler *c, struct err *err)
{
    struct flow flows[2 * MAX_STAGES];
    struct flows_cost cost;
    size_t n = slot_flows(flows, p, r, slot);
    uint32_t width = p->request.ipus_per_replica;
    if (!n)
        return true;
    if (!compile_flows(&cost, c, flows, n, plan_played_replicas(p, width), width, err))
        return false;
    r->copies[slot].cycles = cycles_of(p->topology, cost.time_s) + p->topology->machine->chip.global_sync_cycles;
    memcpy(r->copies[slot].busiest_bytes, cost.busiest_bytes, sizeof cost.busiest_bytes);
    r->copy_cycles += r->copies[slot].cycles;
    return true;
}

/* ---- runs ------------------------------------------------------------------ */

static bool copy_in_run(struct pipeline_run *r, const struct plan *p, struct compiler *c, struct arena *a, struct err *err)
{
    if (r > p->runs && copies_in_full(p)) {         /* every run has the same copies */
        r->copies = r[-1].copies;
        r->copy_cycles = r[-1].copy_cycles;
        return true;
    }
    r->copies = ARENA_ARRAY(a, struct stage_copy, p->n_slots);
    for (uint32_t slot = 0; slot < p->n_slots; slot++)
        if (!plan_copy(r, slot, p, c, err))
            return false;
    return true;
}

/* Sets the tasks at work in the run's first cycle, starting from those of the run before, and the number of cycles until a task begins or ends. */
static void find_tasks(struct pipeline_run *r, const struct plan *p)
{
    uint64_t cycle = r->first_cycle, n = p->request.grad_accum;
    while (r->end_task < p->n_tasks && p->tasks[r->end_task].first_cycle <= cycle)
        r->end_task++;
    while (r->first_task < r->end_task && p->tasks[r->first_task].first_cycle + n <= cycle)
        r->first_task++;
    uint64_t next = r->first_task < r->end_task ? p->tasks[r->first_task].first_cycle + n : UINT64_MAX;
    if (r->end_task < p->n_tasks)
        next = min_u64(next, p->tasks[r->end_task].first_cycle);
    r->n_cycles = (uint32_t)(next - cycle);
}

/* With phases, each run is one phase, which begins by loading what its tasks need. */
static void load_phase(struct pipeline_run *r, const struct plan *p, struct arena *a)
{
    struct cycles *load = ARENA_NEW(a, struct cycles);
    for (const struct task *t = p->tasks + r->first_task; t < p->tasks + r->end_task; t++)
        cycles_add(load, &p->stages[t->stage].phase_cycles[t->kind], 1);
    r->load = load;
    r->load_cycles = cycles_total(load);
}

/* A run lasts until a task begins or ends. */
static bool make_runs(struct plan *p, struct compiler *c, struct arena *a, struct err *err)
{
    p->runs = ARENA_ROOM(a, struct pipeline_run, 2 * p->n_tasks);
    uint32_t end_cycle = p->tasks[p->n_tasks - 1].first_cycle + p->request.grad_accum;
    for (uint32_t cycle = 0; cycle < end_cycle; cycle += p->runs[p->n_runs - 1].n_cycles) {
        struct pipeline_run *r = &p->runs[p->n_runs++], before = r > p->runs ? r[-1] : (struct pipeline_run){0};
        *r = (struct pipeline_run){ .first_cycle = cycle, .first_task = before.first_task, .end_task = before.end_task };
        find_tasks(r, p);
        if (plan_is_phased(&p->request))
            load_phase(r, p, a);
        if (!copy_in_run(r, p, c, a, err))
            return false;
    }
    return true;
}

/* ---- stash depth, input ----------------------------------------------------------------------- */

static uint32_t stash_depth(const struct plan *p, uint32_t stage)
{
    uint32_t behind = p->n_stages - 1 - stage;
    if (plan_is_phased(&p->request))
        return behind ? p->request.grad_accum : 1;
    switch (p->request.schedule) {
    case SCHEDULE_POPART:
        return 2 * behind + 1;
    case SCHEDULE_GROUPED:
        return 2 * behind + 1;
    case SCHEDULE_INTERLEAVED:
        return behind + 1;
    case SCHEDULE_NONE:
    case SCHEDULE_SEQUENTIAL:
    case N_SCHEDULES:
        return 1;
    }
    return 1;
}

/* The number of host exchanges of a micro-batch. Unless streams are grouped, which costs memory and saves time, PopART copies an input just before
 * the first operation that reads it, and a result as soon as it is made. Copies at the same place in the program are taken to share one exchange
 * (graphcore/popart willow/src/popx/irlowering.cpp:3639-3647, 3765-3771 and sessionoptions.hpp:1541 at d2f20d78); all streams of a pipeline's
 * stage are at one place (irlowering.cpp:3217-3226). */
static double host_exchanges(const struct plan *p)
{
    const struct plan_request *o = &p->request;
    const struct stage_plan *s = &p->stages[0];
    bool apart = o->program.streams_apart && p->n_stages == 1 && !plan_is_buffered(o), returns = plan_returns_each_micro_batch(o) && !o->io_tiles;
    bool all_results = apart && !o->training && !o->evaluation && o->program.returns_results;
    return (double)((apart ? s->n_arrivals : 1) + (returns ? (all_results ? s->n_results : 1) : 0));
}

/* A host exchange is a sync of the whole replica with its process. There is one for the input, and in inference one for the results; ungrouped
 * streams have one for each tensor. I/O tiles hide the transfer of bytes but not the sync, and their results leave in the exchange that brings
 * input. That I/O tiles save no sync is assumed: ResNet-50 on C600 takes 10 us a batch more with real data than with data made on the chip
 * (docs/maintainers/unexplained.md). Without buffered streams a replica waits for a copy in each exchange, and for the syncs of the other replicas
 * that its process serves in turn. The bytes have arrived by then, because a stream is filled again once it has been read (docs.graphcore.ai
 * poplar-api, StreamCallback); they only bound the step (plan_feeding_s()). With more buffers a process is ahead of its replicas and grants the
 * sync at once. */
static void plan_fetch(struct plan *p, double step_bytes)
{
    const struct plan_request *o = &p->request;
    double sync_s = p->topology->machine->host_latency_s, replicas = (double)plan_process_replicas(o), threads = (double)o->program.fetch_threads;
    double turns = threads > 0 && o->program.prefetch_depth < 2 ? ceil(replicas / threads) : 1;
    double wait_s = plan_is_buffered(o) ? turns * sync_s : o->program.stream_copy_s + (turns - 1) * sync_s;
    p->fetch_cycles = step_bytes > 0 ? cycles_of(p->topology, host_exchanges(p) * wait_s) : 0;
}

/* The time that an IPU waits for bytes from or to the host. */
static uint64_t io_wait_cycles(const struct plan *p, uint64_t n_bytes, double port_bytes_per_s)
{
    uint64_t tiles = p->request.io_tiles;
    return tiles ? plan_io_copy_cycles(p, n_bytes) : cycles_of(p->topology, (double)n_bytes / port_bytes_per_s);
}

/* Bytes of a micro-batch in one direction. sum: of a replica; most: of the busiest IPU, whose stages share one port. */
struct port_bytes { double sum, most; };

static struct port_bytes port_bytes(const struct plan *p, uint64_t stage_bytes(const struct plan *, uint32_t), struct arena *a)
{
    double *of_ipu = ARENA_ARRAY(a, double, p->request.ipus_per_replica);
    struct port_bytes b = {0};
    for (uint32_t s = 0; s < p->n_stages; s++) {
        double n = (double)stage_bytes(p, s);
        b.sum += n;
        b.most = fmax(b.most, of_ipu[p->stages[s].ipu] += n);
    }
    return b;
}

/* Without I/O tiles the IPU waits while its host port is in use. With them the port fills and empties the I/O tiles during the work, and the step takes
 * at least as long as that. Ports and networks carry both directions at once. */
static void plan_input(struct plan *p, struct arena *a)
{
    const struct machine *m = p->topology->machine;
    const struct port_bytes in = port_bytes(p, plan_port_bytes, a), out = port_bytes(p, plan_result_bytes, a);
    double rate = m->chip.host_link_bytes_per_s, step_bytes = in.sum * p->request.grad_accum;
    double port_share = m->pcie_shared_bytes_per_s / (double)plan_sharing_ipus(p, m->pcie_shared_ipus);
    if (m->pcie_shared_ipus > 1)
        rate = fmin(rate, port_share);
    p->io_cycles = ARENA_ARRAY(a, uint64_t, p->n_stages);
    p->result_cycles = ARENA_ARRAY(a, uint64_t, p->n_stages);
    for (uint32_t s = 0; s < p->n_stages; s++) {
        p->io_cycles[s] = io_wait_cycles(p, plan_port_bytes(p, s), rate);
        p->result_cycles[s] = io_wait_cycles(p, plan_result_bytes(p, s), rate);
    }
    double beside_s = p->request.io_tiles ? fmax(in.most, out.most) / rate : 0;
    p->overlapped_input_cycles = cycles_of(p->topology, beside_s);
    double replicas_on_board = (double)plan_sharing_ipus(p, m->ipus_per_board) / p->request.ipus_per_replica;
    double network_s = fmax(in.sum, out.sum) * p->request.grad_accum * replicas_on_board / m->host_network_bytes_per_s;
    double floor_s = fmax(beside_s * p->request.grad_accum, network_s);
    double decode = p->request.host.decode_bytes_per_s * p->request.host.n_hosts;
    if (decode > 0)
        floor_s = fmax(floor_s, step_bytes * p->request.n_replicas / decode);
    floor_s = fmax(floor_s, plan_feeding_s(p));
    p->host_floor_cycles = cycles_of(p->topology, floor_s);
    plan_fetch(p, step_bytes);
}

static bool check_schedule(const struct plan *p, struct err *err)
{
    const struct plan_request *o = &p->request;
    uint32_t deepest = 2 * p->n_stages - 1;
    if (plan_is_phased(o))
        return true;
    if (p->n_stages > 32)
        return fail(err, "parallel.layers_per_ipu: %u stages, at most 32 can be scheduled", p->n_stages);
    if (o->training && o->schedule == SCHEDULE_POPART && o->grad_accum < deepest)
        return fail(err, "parallel.gradient_accumulation: %u micro-batches cannot fill a popart pipeline of %u stages; want at least %u (2 x stages - 1)",
                    o->grad_accum, p->n_stages, deepest);
    return true;
}

bool plan_pipeline(struct plan *p, struct compiler *c, struct arena *a, struct err *err)
{
    if (!check_schedule(p, err))
        return false;
    make_tasks(p, a);
    for (uint32_t s = 0; s < p->n_stages; s++)
        p->stages[s].stash_depth = p->request.training ? stash_depth(p, s) : 0;
    plan_input(p, a);
    return make_runs(p, c, a, err);
}
