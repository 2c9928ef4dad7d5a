/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call.c - the host's own time: one call of the session, shared by the steps that it makes.
 *
 *     call = session calls x call_s + input prepared in the call + first micro-batch + averages over processes + uploads x upload_s
 *     step = 2 x host latency + call / steps a call
 * A process prepares the input of its replicas alone; the first micro-batch of a call is fetched on demand, as starting an
 * engine drops what was prefetched (graphcore/popart devicex.cpp:797-824 at sdk 2.5.1). What the call itself has prepared is there then,
 * and the transfer takes only the port's time, which the loop hides during the work. Input that the call prepares is made by one core. Inference is
 * fed by requests: where they overlap, its calls cost the latency alone; where a call returns its results before the next one, it costs
 * the engine's launch and the preparation of its input. Published training programs take call_s instead of
 * the launch; a program without calls of a session takes the launch.
 *
 * A source that takes the mean of a run's first steps (timed_steps) counts what its loader needs for the first batch:
 *     loader = bytes of a step of one process x loader_s_per_byte / timed_steps
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

const char *const call_part_names[N_CALL_PARTS] = {
    [CALL_LATENCY] = "latency", [CALL_SESSION] = "session", [CALL_DATA] = "data", [CALL_FIRST_FETCH] = "first-fetch",
    [CALL_LOADER] = "loader", [CALL_OUTPUTS] = "outputs", [CALL_UPLOAD] = "upload",
};

double plan_process_bytes(const struct plan *p)
{
    double bytes = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        bytes += (double)plan_port_bytes(p, s);
    return bytes * (double)plan_process_replicas(&p->request);
}

void plan_call(struct plan *p)
{
    const struct plan_request *o = &p->request;
    const struct program *f = &o->program;
    double steps = o->training ? f->steps_per_call : 1, s[N_CALL_PARTS] = {0};
    s[CALL_LATENCY] = 2 * p->topology->machine->host_latency_s;
    bool training = o->training || o->evaluation;
    if ((training || !f->calls_overlap) && steps > 0) {
        double fetch_s = plan_process_bytes(p) / f->host_data_bytes_per_s, port_s = (double)p->overlapped_input_cycles / p->topology->machine->chip.clock_hz;
        bool in_call = f->host_data == HOST_DATA_IN_CALL;
        s[CALL_SESSION] = (training && f->session_calls ? (double)f->session_calls * o->fitted.call_s : f->launch_s) / steps;
        s[CALL_DATA] = in_call ? fetch_s * o->grad_accum + plan_preparing_s(p) : 0;
        s[CALL_FIRST_FETCH] = (in_call ? port_s : fetch_s) / steps;
        s[CALL_OUTPUTS] = min_u64(o->host.n_instances, o->n_replicas) > 1 ? (double)f->output_reductions * o->fitted.output_reduction_s / steps : 0;
    }
    if (o->training && o->detail.timed_steps)
        s[CALL_LOADER] = plan_process_bytes(p) * o->grad_accum * o->fitted.loader_s_per_byte / (double)o->detail.timed_steps;
    if (o->training && steps > 0)
        s[CALL_UPLOAD] = f->uploads_per_call * f->upload_s / steps;
    for (int i = 0; i < N_CALL_PARTS; i++)
        p->call_cycles[i] = cycles_of(p->topology, s[i]);
}
