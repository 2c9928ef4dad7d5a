/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call.c - the host's own time around the work of the chips: what one call does, shared by the steps that it makes.
 *
 *     call = 2 x host latency + engine run + framework + input prepared in the call + first fetch + results
 *            + weights read back + uploads + what no source explains
 *     step = call / steps a call
 *
 *     latency        the program's start and its end pass between host and chips. Steps of one call are rounds of a loop
 *                    on the chips, which asks the host for nothing (graphcore/popart popprograms.cpp:545-625 at d2f20d78)
 *     engine run     launch_s: the program is selected and started, and reports its end
 *     framework      dispatch_s for each call of the session: arguments are bound and checked, and outputs are made
 *                    (graphcore/poptorch python/_poplar_executor.py:1223-1266 and
 *                    popart_compiler/source/Compiler.cpp:1149-1190 at c2a8b177)
 *     first fetch    the first micro-batch is fetched on demand, as starting an engine drops what was prefetched
 *                    (graphcore/popart devicex.cpp:977-1012 at d2f20d78). This takes a stream copy that waits for the host,
 *                    and a copy of the bytes of all replicas of the process, whose callbacks run in one thread. I/O tiles
 *                    hide the port's time of all other micro-batches.
 *     results        a stream copy that waits, a copy of what is returned into fresh memory, and averages over the host's
 *                    processes
 *     weights        a run of the engine that reads the weights, the link, and three copies on the host (graphcore/poptorch
 *                    python/_poplar_executor.py:543-553)
 *     unexplained    a fitted time, as no source names its cause. It is part of calls that train or evaluate a model of at
 *                    least unexplained_parameters, on data that is not made on the chip. A table spread over replicas is
 *                    not counted among the parameters: no model that shows this time has such a table, and only a few
 *                    lookups read it.
 * Streams that are not buffered wait in the loop, at every micro-batch (plan_fetch()). Data that is made on the chip needs
 * no stream and no upload (graphcore/popart irlowering.cpp:3169-3240 and devicex.cpp:857, 946, 1626 at d2f20d78), so that
 * its steps never wait for the host: only the engine's run does. If requests for inference overlap, only the latency of a
 * call remains, whatever its data, as each run starts by asking the host for its program.
 *
 * A source that takes the mean of a run's first steps (timed_steps) counts what its loader needs for the first batch:
 *     loader = bytes of a step of one process x loader_s_per_byte / timed_steps
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

enum { WEIGHT_COPIES = 3 };

const char *const call_part_names[N_CALL_PARTS] = {
    [CALL_LATENCY] = "latency", [CALL_RUN] = "engine-run", [CALL_FRAMEWORK] = "framework", [CALL_UNEXPLAINED] = "unexplained", [CALL_DATA] = "data",
    [CALL_FIRST_FETCH] = "first-fetch", [CALL_LOADER] = "loader", [CALL_OUTPUTS] = "outputs", [CALL_WEIGHTS] = "weights-read", [CALL_UPLOAD] = "upload",
};

/* Bytes of one micro-batch in one direction, for all replicas of the process that has the most. */
static double process_bytes(const struct plan *p, uint64_t stage_bytes(const struct plan *, uint32_t))
{
    double bytes = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        bytes += (double)stage_bytes(p, s);
    return bytes * (double)plan_process_replicas(&p->request);
}

static bool is_unexplained(const struct plan_request *o, uint64_t parameters)
{
    double least = o->program.unexplained_parameters;
    return (o->training || o->evaluation) && !o->host.synthetic_data && least > 0 && (double)parameters >= least;
}

/* Input that the call prepares is made by one core. Requests for inference are copied where the framework wants another layout or type; a loader of
 * training stacks its samples, which are then contiguous and need no copy. */
static double data_s(const struct plan *p, double step_bytes)
{
    const struct plan_request *o = &p->request;
    const struct program *f = &o->program;
    bool in_call = f->host_data == HOST_DATA_IN_CALL, is_request = !o->training && !o->evaluation;
    return (in_call ? step_bytes / f->host_data_bytes_per_s + plan_preparing_s(p) : 0) + (is_request ? step_bytes * f->conversion_s_per_byte : 0);
}

static double first_fetch_s(const struct plan *p, double micro_batch_bytes)
{
    const struct program *f = &p->request.program;
    double port_s = (double)p->overlapped_input_cycles / p->topology->machine->chip.clock_hz;
    double waits_s = plan_is_buffered(&p->request) ? f->stream_copy_s + port_s : 0;
    return micro_batch_bytes > 0 ? waits_s + micro_batch_bytes / f->callback_bytes_per_s : 0;
}

static double outputs_s(const struct plan *p)
{
    const struct plan_request *o = &p->request;
    const struct program *f = &o->program;
    bool in_loop = !plan_is_buffered(o) && plan_returns_each_micro_batch(o);
    double averages = min_u64(o->host.n_instances, o->n_replicas) > 1 ? (double)f->output_reductions : 0;
    double returned_bytes = process_bytes(p, plan_result_bytes) * o->grad_accum;
    return averages * o->fitted.output_reduction_s + (o->host.synthetic_data || in_loop ? 0 : f->stream_copy_s) + returned_bytes / f->result_bytes_per_s;
}

static double weights_read_s(const struct plan *p)
{
    const struct program *f = &p->request.program;
    const struct machine *m = p->topology->machine;
    double bytes = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        bytes += (double)p->stages[s].weight_bytes;
    return f->weight_reads * (f->launch_s + bytes / m->chip.host_link_bytes_per_s + WEIGHT_COPIES * bytes / f->callback_bytes_per_s);
}

void plan_call(struct plan *p)
{
    const struct plan_request *o = &p->request;
    const struct program *f = &o->program;
    double steps = o->training ? f->steps_per_call : 1, bytes = plan_process_bytes(p), s[N_CALL_PARTS] = {0};
    double latency_s = 2 * p->topology->machine->host_latency_s;
    if (plan_requests_overlap(o))
        s[CALL_LATENCY] = latency_s;
    else
        s[CALL_DATA] = data_s(p, bytes * o->grad_accum);
    if (steps > 0 && !plan_requests_overlap(o)) {
        s[CALL_LATENCY] = o->host.synthetic_data ? 0 : latency_s / steps;
        s[CALL_RUN] = f->launch_s / steps;
        s[CALL_FRAMEWORK] = (double)f->session_calls * f->dispatch_s / steps;
        s[CALL_UNEXPLAINED] = is_unexplained(o, plan_own_parameters(p)) ? (double)f->session_calls * o->fitted.unexplained_call_s / steps : 0;
        s[CALL_FIRST_FETCH] = first_fetch_s(p, bytes) / steps;
        s[CALL_OUTPUTS] = outputs_s(p) / steps;
        s[CALL_WEIGHTS] = o->training ? weights_read_s(p) / steps : 0;
    }
    if (o->training && o->detail.timed_steps)
        s[CALL_LOADER] = bytes * o->grad_accum * o->fitted.loader_s_per_byte / (double)o->detail.timed_steps;
    if (o->training && !o->host.synthetic_data && steps > 0)
        s[CALL_UPLOAD] = f->uploads_per_call * f->upload_s / steps;
    for (int i = 0; i < N_CALL_PARTS; i++)
        p->call_cycles[i] = cycles_of(p->topology, s[i]);
}
