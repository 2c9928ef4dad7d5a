/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_call.c - what the host does in a call, part by part, by hand.
 *
 * ResNet-50 on four replicas of two processes: 20 images a micro-batch and replica, each of 224 x 224 x 3 bytes and a label of 4.
 */
#include "tests/planned.h"

#include <math.h>

static const char resnet[] = "vendor-ipu-pod4-resnet50-tf1";
static const double IMAGE_BYTES = 224 * 224 * 3 + 4;

static double part_s(const struct planned *y, const struct plan *p, enum call_part part)
{
    return (double)p->call_cycles[part] / y->sim.machine->chip.clock_hz;
}

/* Seven steps a call of two session calls, with three averages of 0.011 s and an upload every other step. */
static void start_call(struct planned *y)
{
    start(y, resnet);
    y->opt.program.steps_per_call = 7;
    y->opt.program.session_calls = 2;
    y->opt.program.launch_s = 0.0031;
    y->opt.program.dispatch_s = 0.0013;
    y->opt.program.stream_copy_s = 0.00019;
    y->opt.program.callback_bytes_per_s = 3.7e9;
    y->opt.program.prefetch_depth = 3;
    y->opt.program.host_data = HOST_DATA_AHEAD;
    y->opt.program.output_reductions = 3;
    y->opt.program.uploads_per_call = 0.5;
    y->opt.program.upload_s = 0.017;
    y->opt.fitted.unexplained_call_s = 0.13;
    y->opt.fitted.output_reduction_s = 0.011;
}

static void parts_by_hand(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start_call(&y);
    const double tick = 1 / y.sim.machine->chip.clock_hz;
    assert_true(build(&y, &p));
    assert_near(part_s(&y, &p, CALL_LATENCY), 2 * y.sim.machine->host_latency_s / 7, tick);
    assert_near(part_s(&y, &p, CALL_RUN), 0.0031 / 7, tick);
    assert_near(part_s(&y, &p, CALL_FRAMEWORK), 2 * 0.0013 / 7, tick);
    assert_near(part_s(&y, &p, CALL_UNEXPLAINED), 2 * 0.13 / 7, tick);
    assert_near(part_s(&y, &p, CALL_FIRST_FETCH), (0.00019 + 2 * 20 * IMAGE_BYTES / 3.7e9) / 7, tick);
    assert_near(part_s(&y, &p, CALL_OUTPUTS), (3 * 0.011 + 0.00019) / 7, tick);
    assert_near(part_s(&y, &p, CALL_UPLOAD), 0.5 * 0.017 / 7, tick);
    assert_int_equal(p.call_cycles[CALL_DATA] + p.call_cycles[CALL_WEIGHTS] + p.call_cycles[CALL_LOADER], 0);
    y.opt.n_replicas = 1;                       /* one of the two processes feeds: nothing is averaged */
    assert_true(build(&y, &p));
    assert_near(part_s(&y, &p, CALL_OUTPUTS), 0.00019 / 7, tick);
    y.opt.program.steps_per_call = 0;           /* the run is one call */
    assert_true(build(&y, &p));
    for (int i = 0; i < N_CALL_PARTS; i++)
        assert_int_equal(p.call_cycles[i], 0);
    stop(&y);
}

/* Steps on data of the chip have no streams: the run's 0.0031 s are all that waits for the host. Requests that overlap keep the turn to and fro of a run. */
static void data_of_the_chip_never_waits(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start_call(&y);
    const double tick = 1 / y.sim.machine->chip.clock_hz;
    y.opt.host.synthetic_data = true;
    assert_true(build(&y, &p));
    assert_int_equal(p.call_cycles[CALL_LATENCY] + p.call_cycles[CALL_FIRST_FETCH] + p.call_cycles[CALL_UPLOAD] + p.fetch_cycles, 0);
    assert_near(part_s(&y, &p, CALL_RUN), 0.0031 / 7, tick);
    y.opt.training = false;
    assert_true(build(&y, &p));
    assert_int_equal(p.call_cycles[CALL_LATENCY], 0);
    y.opt.program.calls_overlap = true;
    assert_true(build(&y, &p));
    assert_near(part_s(&y, &p, CALL_LATENCY), 2 * y.sim.machine->host_latency_s, tick);
    stop(&y);
}

/* ResNet-50 has 25,557,032 parameters. */
static void the_unexplained_is_of_large_models(void **state)
{
    static const struct { double least; bool training, evaluation, synthetic, taken; } rows[] = {
        { 25557032, true, false, false, true }, { 25557033, true, false, false, false }, { 1, false, true, false, true }, { 1, false, false, false, false },
        { 0, true, false, false, false }, { 1, true, false, true, false } };
    (void)state;
    struct planned y;
    struct plan p;
    start_call(&y);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        y.opt.program.unexplained_parameters = rows[i].least;
        y.opt.training = rows[i].training;
        y.opt.evaluation = rows[i].evaluation;
        y.opt.host.synthetic_data = rows[i].synthetic;
        assert_true(build(&y, &p));
        assert_int_equal(p.call_cycles[CALL_UNEXPLAINED] > 0, rows[i].taken);
    }
    stop(&y);
}

/* TransE has a fourth of 2,500,604 entities on each replica, 100 numbers each, which are data; and 535 relations of 100. */
static void rows_over_replicas_are_no_program(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, "field-ipu-pod4-transe-wikikg2-bess");
    assert_true(build(&y, &p));
    assert_int_equal(plan_own_parameters(&p), 535 * 100);
    assert_int_equal(plan_parameters(&p), 535 * 100 + 2500604 / 4 * 100);
    y.opt.program.unexplained_parameters = 535 * 100;
    assert_true(build(&y, &p));
    assert_true(p.call_cycles[CALL_UNEXPLAINED] > 0);
    y.opt.program.unexplained_parameters = 535 * 100 + 1;
    assert_true(build(&y, &p));
    assert_int_equal(p.call_cycles[CALL_UNEXPLAINED], 0);
    stop(&y);
}

/* With one buffer each micro-batch waits for its copy and for the sync of the process's other replica; with three only the first waits. I/O tiles
 * hide the port's time of all micro-batches but the first. */
static void streams_that_are_not_buffered_wait_in_the_loop(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start_call(&y);
    const struct machine *m = y.sim.machine;
    const double tick = 1 / m->chip.clock_hz, bytes_s = 2 * 20 * IMAGE_BYTES / 3.7e9;
    assert_true(build(&y, &p));
    assert_near((double)p.fetch_cycles * tick, m->host_latency_s, tick);
    y.opt.program.prefetch_depth = 1;
    y.opt.program.fetch_threads = 1;
    assert_true(build(&y, &p));
    assert_near((double)p.fetch_cycles * tick, 0.00019 + m->host_latency_s, tick);
    assert_near(part_s(&y, &p, CALL_FIRST_FETCH), bytes_s / 7, tick);
    assert_near(part_s(&y, &p, CALL_OUTPUTS), (3 * 0.011 + 0.00019) / 7, tick);      /* the loss, once a call */
    y.opt.program.outputs_each_micro_batch = true;
    assert_true(build(&y, &p));
    assert_near((double)p.fetch_cycles * tick, 2 * (0.00019 + m->host_latency_s), tick);
    assert_near(part_s(&y, &p, CALL_OUTPUTS), 3 * 0.011 / 7, tick);
    y.opt.io_tiles = 32;
    assert_true(build(&y, &p));
    assert_near((double)p.fetch_cycles * tick, 2 * m->host_latency_s, tick);
    assert_near(part_s(&y, &p, CALL_FIRST_FETCH), (0.00019 + bytes_s + 20 * IMAGE_BYTES / m->chip.host_link_bytes_per_s) / 7, 2 * tick);
    stop(&y);
}

/* Images and labels arrive apart, and results leave apart: of all in inference (one, the scores), a few numbers of an evaluation or a step. A pipeline's
 * streams stand together, and buffered ones do not wait. */
static void streams_stand_apart(void **state)
{
    static const struct { bool apart, training, evaluation, outputs, pipelined; int exchanges; } rows[] = {
        { false, true, false, false, false, 1 }, { true, true, false, false, false, 2 }, { true, true, false, true, false, 3 }, { false, true, false, true, false, 2 },
        { true, false, false, false, false, 3 }, { true, false, true, true, false, 3 }, { true, true, false, false, true, 1 }, { true, true, false, true, true, 2 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct planned y;
        struct plan p;
        start_call(&y);
        y.opt.program.streams_apart = rows[i].apart;
        y.opt.training = rows[i].training;
        y.opt.evaluation = rows[i].evaluation;
        y.opt.program.outputs_each_micro_batch = rows[i].outputs;
        y.opt.program.prefetch_depth = 1;
        y.opt.program.calls_overlap = false;
        y.opt.program.fetch_threads = 1;
        if (rows[i].pipelined) {
            y.opt.n_replicas = 2;
            y.opt.ipus_per_replica = 2;
            y.opt.schedule = SCHEDULE_POPART;
            y.opt.grad_accum = 8;
        }
        assert_true(build(&y, &p));
        double wait_s = 0.00019 + ((double)plan_process_replicas(&y.opt) - 1) * y.sim.machine->host_latency_s;
        assert_near((double)p.fetch_cycles / y.sim.machine->chip.clock_hz, rows[i].exchanges * wait_s, 1 / y.sim.machine->chip.clock_hz);
        y.opt.program.prefetch_depth = 3;
        assert_true(build(&y, &p));
        assert_true((double)p.fetch_cycles / y.sim.machine->chip.clock_hz < 0.00019);
        stop(&y);
    }
}

/* Synthetic data leave the run and the framework; nothing is fetched, returned or uploaded. */
static void synthetic_data_move_nothing(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start_call(&y);
    y.opt.host.synthetic_data = true;
    y.opt.host.n_instances = 1;
    y.opt.host.sample_s = 0.37;
    y.opt.program.number_s = 0.0043;
    y.opt.program.outputs_each_micro_batch = true;
    y.opt.program.prefetch_depth = 1;
    y.opt.program.host_data = HOST_DATA_IN_CALL;
    assert_true(build(&y, &p));
    const double tick = 1 / y.sim.machine->chip.clock_hz;
    assert_near(part_s(&y, &p, CALL_RUN) + part_s(&y, &p, CALL_FRAMEWORK), (0.0031 + 2 * 0.0013) / 7, 2 * tick);
    for (int i = CALL_UNEXPLAINED; i < N_CALL_PARTS; i++)
        assert_int_equal(p.call_cycles[i], 0);
    assert_int_equal(p.fetch_cycles + p.host_floor_cycles, 0);
    y.opt.program.host_data = HOST_DATA_AHEAD;
    assert_true(build(&y, &p));
    assert_int_equal(p.host_floor_cycles, 0);
    stop(&y);
}

/* A request of three micro-batches, whose images are copied in the call at 0.27 ns a byte and whose scores, 1000 halves an image, come back at 2.3
 * GB/s. Where requests overlap, the latency alone counts. */
static void requests_by_hand(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start_call(&y);
    const double tick = 1 / y.sim.machine->chip.clock_hz, images = 3 * 2 * 20;
    y.opt.training = false;
    y.opt.grad_accum = 3;
    y.opt.program.conversion_s_per_byte = 2.7e-10;
    y.opt.program.result_bytes_per_s = 2.3e9;
    y.opt.program.calls_overlap = false;
    assert_true(build(&y, &p));
    double result_bytes = (double)plan_result_bytes(&p, 0) / 20;
    assert_true(result_bytes > 0);
    assert_near(part_s(&y, &p, CALL_RUN), 0.0031, tick);
    assert_near(part_s(&y, &p, CALL_FRAMEWORK), 2 * 0.0013, tick);
    double input_bytes = (double)plan_port_bytes(&p, 0) / 20;
    assert_near(part_s(&y, &p, CALL_DATA), images * input_bytes * 2.7e-10, tick);
    assert_near(part_s(&y, &p, CALL_FIRST_FETCH), 0.00019 + 2 * 20 * input_bytes / 3.7e9, tick);
    assert_near(part_s(&y, &p, CALL_OUTPUTS), 3 * 0.011 + 0.00019 + images * result_bytes / 2.3e9, tick);
    assert_int_equal(p.call_cycles[CALL_UPLOAD] + p.call_cycles[CALL_UNEXPLAINED], 0);
    y.opt.host.requests = 2;
    assert_true(build(&y, &p));
    for (int i = CALL_RUN; i < N_CALL_PARTS; i++)
        assert_int_equal(p.call_cycles[i], 0);
    y.opt.host.requests = 0;
    y.opt.program.calls_overlap = true;
    assert_true(build(&y, &p));
    assert_int_equal(p.call_cycles[CALL_RUN], 0);
    y.opt.host.requests = 1;
    assert_true(build(&y, &p));
    assert_near(part_s(&y, &p, CALL_RUN), 0.0031, tick);
    y.opt.evaluation = true;                    /* whose calls never overlap, and which returns a few numbers */
    y.opt.host.requests = 0;
    assert_true(build(&y, &p));
    assert_near(part_s(&y, &p, CALL_OUTPUTS), 3 * 0.011 + 0.00019, tick);
    assert_int_equal(p.call_cycles[CALL_DATA], 0);
    stop(&y);
}

/* A program that touches a parameter twice reads all weights twice: a run, the link and three copies on the host each time. */
static void weights_are_read_back(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start_call(&y);
    y.opt.program.weight_reads = 2;
    assert_true(build(&y, &p));
    double bytes = (double)p.stages[0].weight_bytes;
    assert_true(bytes >= 2 * 25557032);
    assert_near(part_s(&y, &p, CALL_WEIGHTS), 2 * (0.0031 + bytes / y.sim.machine->chip.host_link_bytes_per_s + 3 * bytes / 3.7e9) / 7,
                1 / y.sim.machine->chip.clock_hz);
    stop(&y);
}

/* The input of two replicas passes one process: its loader hands over 0.7 GB/s, its thread copies 3.7 GB/s, and in a call its core makes all. */
static void one_process_bounds_the_step(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start_call(&y);
    y.opt.program.host_data_bytes_per_s = 7e8;
    assert_true(build(&y, &p));
    const double tick = 1 / y.sim.machine->chip.clock_hz, step_bytes = 2 * 20 * IMAGE_BYTES * y.opt.grad_accum;
    assert_near((double)p.host_floor_cycles * tick, step_bytes / 7e8, 2 * tick);
    y.opt.program.host_data = HOST_DATA_IN_CALL;
    assert_true(build(&y, &p));
    assert_near(plan_feeding_s(&p), step_bytes / 3.7e9, tick);
    assert_near(part_s(&y, &p, CALL_DATA), step_bytes / 7e8, 2 * tick);
    y.opt.host.sample_s = 0.007;
    assert_true(build(&y, &p));
    assert_near(part_s(&y, &p, CALL_DATA), step_bytes / 7e8 + 0.007 * 2 * 20 * y.opt.grad_accum, 2 * tick);
    y.opt.program.host_data = HOST_DATA_AHEAD;
    y.opt.training = false, y.opt.evaluation = true;        /* which finds its samples prepared */
    assert_true(build(&y, &p));
    assert_near(plan_feeding_s(&p), plan_process_bytes(&p) * y.opt.grad_accum / 3.7e9, tick);
    stop(&y);
}

/* The mean of a run's first 11 steps waits for one batch of the loader, also where later ones are made in the calls. */
static void a_loader_starts_once(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start_call(&y);
    y.opt.fitted.loader_s_per_byte = 3e-9;
    y.opt.detail.timed_steps = 11;
    assert_true(build(&y, &p));
    const double batch_s = 2 * 20 * IMAGE_BYTES * y.opt.grad_accum * 3e-9;
    assert_near(part_s(&y, &p, CALL_LOADER), batch_s / 11, 1e-8);
    y.opt.program.host_data = HOST_DATA_IN_CALL;
    assert_true(build(&y, &p));
    double prepared_s = part_s(&y, &p, CALL_DATA);
    y.opt.program.steps_per_call = 0;           /* the input of each step is prepared, whether a call has one step or all of them */
    assert_true(build(&y, &p));
    assert_true(prepared_s > 0);
    assert_near(part_s(&y, &p, CALL_DATA), prepared_s, 0);
    assert_near(part_s(&y, &p, CALL_LOADER), batch_s / 11, 1e-8);
    y.opt.training = false;
    assert_true(build(&y, &p));
    assert_int_equal(p.call_cycles[CALL_LOADER], 0);
    stop(&y);
}

/* A micro-batch of 20 images of 150,528 bytes passes a stream of so many bytes, and none of one less; data made on the chip pass none. */
static void streams_have_room(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start_call(&y);
    y.opt.program.stream_buffer_bytes = 20 * 224 * 224 * 3;
    assert_true(build(&y, &p));
    y.opt.program.stream_buffer_bytes--;
    assert_false(build(&y, &p));
    assert_non_null(strstr(y.err.msg, "parallel.micro_batch: a micro-batch of images has 3.01056 MB, but a stream to or from the host may have 3.010559 MB at most "
                                      "(framework.stream_buffer_bytes); lower parallel.micro_batch, or return less"));
    y.opt.host.synthetic_data = true;
    assert_true(build(&y, &p));
    y.opt.host.synthetic_data = false;
    y.opt.program.stream_buffer_bytes = 0;
    assert_true(build(&y, &p));
    stop(&y);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(parts_by_hand), cmocka_unit_test(data_of_the_chip_never_waits), cmocka_unit_test(the_unexplained_is_of_large_models),
    cmocka_unit_test(rows_over_replicas_are_no_program), cmocka_unit_test(streams_that_are_not_buffered_wait_in_the_loop),
    cmocka_unit_test(streams_stand_apart), cmocka_unit_test(synthetic_data_move_nothing), cmocka_unit_test(requests_by_hand), cmocka_unit_test(weights_are_read_back),
    cmocka_unit_test(one_process_bounds_the_step), cmocka_unit_test(a_loader_starts_once), cmocka_unit_test(streams_have_room),
};
TAP_MAIN(tests)
