/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_validity.c - distances and intervals by hand, what is left out of a fit, what lies beyond everything published. */
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/validity/validity.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena a;
static struct err err;

/* In the table's order: family, mode, workload, chip, framework, compute, ipus, width, micro-batch, global batch, sequence. */
static struct properties one = { .name = { "bert", "train", "bert-large", "bow", "PopART", "fp16" }, .count = { [6] = 16, 4, 3, 1536, 512 } };

static struct properties with(size_t at, const char *value)
{
    struct properties p = one;
    if (properties[at].is_count)
        assert_true(parse_u64(value, &p.count[at]));
    else
        p.name[at] = value;
    properties_settle(&p);
    return p;
}

static double distance_with(size_t at, const char *value)
{
    struct properties p = with(at, value);
    return property_distance(&one, &p);
}

static void distances_by_hand(void **state)
{
    (void)state;
    properties_settle(&one);
    assert_string_equal(properties[4].name, "framework");
    assert_string_equal(properties[10].name, "sequence_length");
    assert_near(property_distance(&one, &one), 0, 0);
    assert_near(distance_with(1, "infer"), 4, 0);
    assert_near(distance_with(4, "PyTorch"), 1, 0);
    assert_near(distance_with(6, "128"), 0.75, 1e-12);          /* three doublings, a quarter each */
    assert_near(distance_with(10, "128"), 1, 1e-12);            /* two, a half each */
    assert_near(distance_with(10, "0"), 0.5, 1e-12);            /* none at all counts as one */
    assert_near(distance_with(10, "1"), 4.5, 1e-12);            /* of one it is nine doublings to 512, from there as far */
    struct properties single = with(10, "1");
    assert_near(property_distance(&single, &one), 4.5, 1e-12);
}

/* Each property alone: another name, or twice the count. */
static void weights_of_all_properties(void **state)
{
    static const double weights[] = { 4, 4, 1, 1, 1, 1, 0.25, 0.5, 0.25, 0.25, 0.5 };
    (void)state;
    assert_int_equal(n_properties, sizeof weights / sizeof *weights);
    properties_settle(&one);
    for (size_t i = 0; i < n_properties; i++)
        assert_near(distance_with(i, properties[i].is_count ? arena_printf(&a, "%u", 2 * (unsigned)one.count[i]) : "another"), weights[i], 1e-12);
    arena_free(&a);
}

/* ---- intervals ------------------------------------------------------------------------------------ */

/* Three groups, one run each, a framework apart (distance 1), errors 0.02, 0.04 and 0.09. Mean 0.05, farthest 1.
 * Sizes, group left out: e^-1 x mean of the other two + (1 - e^-1) x 0.05, times 1 + 1/1:
 *   first 0.110455 (others 0.065), second 0.103722 (0.055), third 0.085327 (0.03)
 * ratios 0.18107, 0.38565, 1.05476; ceil(0.9 x 4) = 4 of 3: the largest. */
static struct reference three[3];
static const struct references three_groups = { .items = three, .n = 3 };

static void make_three(void)
{
    static const char *const frameworks[] = { "PopART", "PyTorch", "TensorFlow" };
    static const double errors[] = { 0.02, -0.04, 0.09 };
    static const enum role roles[] = { FIGURE_VALIDATE, FIGURE_CALIBRATE, FIGURE_CONTEXT };
    for (size_t i = 0; i < 3; i++)
        three[i] = (struct reference){ .configuration = frameworks[i], .recipe = frameworks[i], .group = frameworks[i],
                                       .role = roles[i], .published = 70 + (double)i, .simulated = 90 + (double)i, .at = with(4, frameworks[i]), .left_out = errors[i] };
}

static void intervals_by_hand(void **state)
{
    (void)state;
    make_three();
    struct spread s = spread_of(&three_groups, NULL, &a);
    assert_int_equal(s.n_errors, 3);
    assert_near(s.mean_error, 0.05, 1e-12);
    assert_near(s.farthest, 1, 1e-12);
    double k = exp(-1);
    assert_near(s.quantile, 0.09 / (2 * (k * 0.03 + (1 - k) * 0.05)), 1e-12);
    /* At the first: known for certain, 0.02 with weight 1, the others e^-1 each; nothing is farther. */
    double local = (0.02 + k * 0.04 + k * 0.09) / (1 + 2 * k);
    assert_near(spread_half_width(&s, &three_groups, &one, &(struct left_out){0}), s.quantile * local, 1e-12);
    /* Nine in ten of a normal error lie within 1.6449 deviations. */
    assert_near(spread_deviation(&three_groups, &one, NULL, &a), s.quantile * local / 1.6448536, 1e-8);
    struct spread others = spread_of(&three_groups, "PopART", &a);
    assert_near(spread_deviation(&three_groups, &one, "PopART", &a),
                spread_half_width(&others, &three_groups, &one, &(struct left_out){ .group = "PopART" }) / 1.6448536, 1e-8);
    arena_free(&a);
}

/* Two groups in one place, 0.02 and 0.04 off: each by the other's, half and twice as much. Nothing is any distance apart. */
static void groups_in_one_place(void **state)
{
    (void)state;
    struct reference two[] = { { .configuration = "p", .group = "p", .role = FIGURE_VALIDATE, .at = with(4, "PopART"), .left_out = 0.02 },
                               { .configuration = "q", .group = "q", .role = FIGURE_VALIDATE, .at = with(4, "PopART"), .left_out = -0.04 } };
    const struct references both = { .items = two, .n = 2 };
    struct spread s = spread_of(&both, NULL, &a);
    assert_near(s.farthest, 0, 0);
    assert_near(s.mean_error, 0.03, 1e-12);
    assert_near(s.quantile, 2, 1e-12);
    assert_near(spread_half_width(&s, &both, &two[0].at, &(struct left_out){0}), 2 * 0.03, 1e-12);
    arena_free(&a);
}

static struct reference at_ipus(const char *ipus, const char *group, double left_out)
{
    return (struct reference){ .configuration = ipus, .group = group, .role = FIGURE_VALIDATE, .at = with(6, ipus), .left_out = left_out };
}

/* Two of a group on 16 and 32 IPUs, others on 128 and 1024: a quarter for each doubling, so that 0.75 is the farthest from one to another group's.
 * The third is worst told: by its group's 0.06 at 0.5, and 0.02 and 0.01 a quarter farther, less than the mean. */
static void distances_differ(void **state)
{
    (void)state;
    struct reference four[] = { at_ipus("16", "p", 0.02), at_ipus("32", "p", -0.06), at_ipus("128", "q", 0.13), at_ipus("1024", "r", 0.01) };
    const struct references all = { .items = four, .n = 4 };
    const double mean = 0.22 / 4, w = exp(-0.25), local = (0.06 + 0.02 * w + 0.01 * w) / (1 + 2 * w), k = exp(-0.5);
    struct spread s = spread_of(&all, NULL, &a);
    assert_int_equal(s.n_errors, 4);
    assert_near(s.mean_error, mean, 1e-12);
    assert_near(s.farthest, 0.75, 1e-12);
    assert_near(s.quantile, 0.13 / ((k * local + (1 - k) * mean) * (1 + 0.5 / 0.75)), 1e-12);
    /* on 256: 0.25 and 0.5 from the last two, which are far off; without the third, half a doubling from the fourth alone */
    struct properties p = with(6, "256");
    const double v = exp(-0.25), u = exp(-0.5), t = exp(-0.75), near = (0.13 + 0.01 * v + 0.06 * u + 0.02 * t) / (1 + v + u + t);
    assert_near(spread_half_width(&s, &all, &p, &(struct left_out){0}), s.quantile * near * (1 + 0.25 / 0.75), 1e-12);
    const double few = (0.01 + 0.06 * v + 0.02 * u) / (1 + v + u);
    assert_near(spread_half_width(&s, &all, &p, &(struct left_out){ .group = "q" }), s.quantile * (k * few + (1 - k) * mean) * (1 + 0.5 / 0.75), 1e-12);
    /* of one group nothing is known from others: no interval anywhere */
    s = spread_of(&(struct references){ .items = four, .n = 2 }, NULL, &a);
    assert_int_equal(s.n_errors, 0);
    assert_near(spread_half_width(&s, &(struct references){ .items = four, .n = 2 }, &p, &(struct left_out){0}), 0, 0);
    arena_free(&a);
}

/* Next to one without an error, far from one of 0.4: a quarter of the mean of both. */
static void no_run_is_without_error(void **state)
{
    (void)state;
    struct reference two[] = { at_ipus("16", "p", 0), at_ipus("65536", "q", -0.4) };
    const struct references both = { .items = two, .n = 2 };
    struct spread s = spread_of(&both, NULL, &a);
    const double k = exp(-3);
    assert_near(s.quantile, 0.4 / (2 * (k * 0.05 + (1 - k) * 0.2)), 1e-12);
    assert_near(spread_half_width(&s, &both, &two[0].at, &(struct left_out){0}), s.quantile * 0.05, 1e-12);
    arena_free(&a);
}

/* Twenty groups in one place, 1 to 20 % off: each is told by the mean of the others, and ceil(0.9 x 21) = 19 of 20 are inside. */
static void nine_in_ten_of_twenty(void **state)
{
    (void)state;
    struct reference twenty[20];
    for (size_t i = 0; i < 20; i++)
        twenty[i] = at_ipus("16", arena_printf(&a, "group %zu", i), 0.01 * (double)(1 + i * 7 % 20));
    const struct references all = { .items = twenty, .n = 20 };
    assert_near(spread_of(&all, NULL, &a).quantile, 19 * 19.0 / (210 - 19), 1e-9);
    arena_free(&a);
}

static void farther_is_wider(void **state)
{
    (void)state;
    static const char *const ipus[] = { "16", "64", "1024", "65536", "1000000" };
    double before = 0;
    make_three();
    struct spread s = spread_of(&three_groups, NULL, &a);
    for (size_t i = 0; i < 5; i++) {
        struct properties p = with(6, ipus[i]);
        double half = spread_half_width(&s, &three_groups, &p, &(struct left_out){0});
        assert_true(half > before);
        before = half;
    }
    arena_free(&a);
}

/* The third is left out: the others give 0.02 and 0.04 at distance 1, too narrow for its 0.09. */
static void coverage_by_hand(void **state)
{
    (void)state;
    struct interval_coverage c;
    make_three();
    interval_coverage(&c, &three_groups, &a);
    assert_int_equal(c.n_groups, 3);
    assert_int_equal(c.all.n, 3);
    assert_int_equal(c.groups[0].inside, 1);
    assert_int_equal(c.groups[2].inside, 0);
    assert_int_equal(c.all.inside, 2);
    double halves[3], sum = 0;
    for (size_t i = 0; i < 3; i++) {
        struct spread others = spread_of(&three_groups, three[i].group, &a);
        halves[i] = spread_half_width(&others, &three_groups, &three[i].at, &(struct left_out){ .group = three[i].group });
        assert_near(c.groups[i].mean_half_width, halves[i], 1e-12);
        sum += halves[i];
    }
    assert_near(c.all.mean_half_width, sum / 3, 1e-12);
    /* Each alone left out, its group told by the spread alone: the others of the three stand beside it. */
    double near_sum = 0;
    size_t near_inside = 0;
    for (size_t i = 0; i < 3; i++) {
        struct spread others = spread_of(&three_groups, three[i].group, &a);
        double half = spread_half_width(&others, &three_groups, &three[i].at, &(struct left_out){ .configuration = three[i].configuration });
        near_inside += fabs(three[i].left_out) <= half;
        near_sum += half;
    }
    assert_int_equal(c.near.n, 3);
    assert_int_equal(c.near.inside, near_inside);
    assert_near(c.near.mean_half_width, near_sum / 3, 1e-12);
    /* Of a single group nothing is left to tell an interval from. */
    interval_coverage(&c, &(struct references){ .items = three, .n = 1 }, &a);
    assert_int_equal(c.n_groups, 1);
    assert_int_equal(c.all.n, 0);
    assert_int_equal(c.groups[0].n, 0);
    arena_free(&a);
}

/* At the first itself; where its group, another that it belongs to or its configuration is left out, the others are one name apart. */
static void what_is_left_out_is_not_near(void **state)
{
    (void)state;
    make_three();
    const struct left_out first[] = { { .group = "PopART" }, { .other_group = "PopART" }, { .configuration = "PopART" } };
    const struct spread s = { .mean_error = 0.05, .farthest = 1, .quantile = 3 };
    const double k = exp(-1);
    for (size_t i = 0; i < 3; i++)
        assert_near(spread_half_width(&s, &three_groups, &one, &first[i]), 3 * 2 * 0.065, 1e-12);
    assert_near(spread_half_width(&s, &three_groups, &one, &(struct left_out){ .group = "PyTorch" }), 3 * (k * 0.09 + 0.02) / (1 + k), 1e-12);
}

/* ---- what is left out of the fit ------------------------------------------------------------------ */

/* Three runs are said to be far slower than predicted: fitted to them alone the host's call is longer, and the run that was left out
 * predicted slower than with the constants as they are. The rows that only validate or are context keep their error; where a configuration has
 * another row, context says nothing. */
static const char table[] =
    "id,recipe,metric,value,unit,tolerance,role,source,quote,note\n"
    "x,mlperf-v2.0-closed-bow-pod64-bert-large,throughput_samples_per_s,7000,samples/s,0.1,calibrate,s,,\n"
    "y,mlperf-v1.1-closed-ipu-pod64-resnet50,throughput_samples_per_s,60000,samples/s,0.1,calibrate,s,,\n"
    "z,mlperf-v1.1-closed-ipu-pod16-resnet50,throughput_samples_per_s,25000,samples/s,0.1,calibrate,s,,\n"
    "w,mlperf-v1.0-closed-ipu-pod16-resnet50,throughput_samples_per_s,20000,samples/s,0.1,calibrate,s,,\n"
    "u,mlperf-v1.1-closed-ipu-pod256-resnet50,throughput_samples_per_s,300000,samples/s,0.1,validate,s,,\n"
    "v,no-such-recipe,throughput_samples_per_s,1,samples/s,0.1,validate,s,,\n"
    "c,mlperf-v2.0-closed-bow-pod64-resnet50,throughput_samples_per_s,100000,samples/s,0.1,context,s,,\n"
    "d,mlperf-v1.1-closed-ipu-pod128-resnet50,throughput_samples_per_s,1,samples/s,0.1,context,s,,\n"
    "t,mlperf-v1.1-closed-ipu-pod128-resnet50,throughput_samples_per_s,150000,samples/s,0.1,validate,s,,\n";

static void a_group_is_left_out(void **state)
{
    (void)state;
    struct simulator simulator;
    struct figures figures = {0};
    struct references r;
    const char *path = temp_file(table, sizeof table - 1, ".csv");
    simulator_open(&simulator, &paths);
    assert_true(published_load(&figures, path, &a, &err));
    references_build(&r, &figures, &simulator, &a);
    assert_int_equal(r.n, 7);                                   /* what cannot be simulated is not there */
    assert_true(r.items[0].left_out < log(r.items[0].simulated / 7000) - 1e-3);
    static const struct { enum role role; double published; } others[] = {
        { FIGURE_VALIDATE, 300000 }, { FIGURE_VALIDATE, 150000 }, { FIGURE_CONTEXT, 100000 }
    };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(r.items[4 + i].role, others[i].role);
        assert_near(r.items[4 + i].left_out, log(r.items[4 + i].simulated / others[i].published), 1e-12);
    }
    assert_string_equal(r.items[1].group, "resnet50 train TensorFlow gc200");
    assert_string_equal(r.items[1].group, r.items[2].group);
    simulator_close(&simulator);
    arena_free(&a);
}

/* d ln(rate) / d ln(constant), from a tenth less of it. */
static const char *specs_dir = "system-model/specs";

static double slope_of(struct simulator *by, const struct reference *x, const char *key)
{
    struct sheet fitted;
    struct simulation sim;
    struct result r;
    double value;
    assert_true(sheet_load(&fitted, arena_printf(&a, "%s/fitted-system.csv", specs_dir), &a, &err));
    assert_true(parse_f64(sheet_find(&fitted, key)->value, &value));
    const char *set = arena_printf(&a, "machine.%s=%.10g", key, 0.9 * value);
    assert_true(simulator_run(by, &sim, &r, x->recipe, &set, 1, &err));
    simulation_free(&sim);
    return log(r.throughput_samples_per_s / x->simulated) / log(0.9);
}

/* BERT beside three runs of ResNet-50, which hang on the call, the one constant that is fitted: without BERT the call would be longer by
 * the least squares over the three, though by no more than a factor of e. Those three are one group, beside which one run is too few. */
static void a_refit_by_hand(void **state)
{
    static const double factors[][4] = { { 1.03, 0.992, 0.997, 1.004 }, { 1.03, 1.01, 1.003, 0.998 }, { 0.9, 0.5, 0.6, 0.7 }, { 0.9, 1.9, 1.8, 1.7 } };
    (void)state;
    struct simulator simulator;
    struct figures figures = {0};
    struct references r;
    size_t n_inside = 0;
    simulator_open(&simulator, &paths);
    assert_true(published_load(&figures, temp_file(table, sizeof table - 1, ".csv"), &a, &err));
    references_build(&r, &figures, &simulator, &a);
    for (size_t c = 0; c < sizeof factors / sizeof *factors; c++) {
        struct references again;
        double products = 0, squares = 0;
        for (size_t i = 0; i < 4; i++)
            figures.items[i].value = r.items[i].simulated * factors[c][i];
        references_build(&again, &figures, &simulator, &a);
        for (size_t i = 1; i < 4; i++) {
            double slope = slope_of(&simulator, &r.items[i], "call_s");
            products += slope * -log(factors[c][i]);
            squares += slope * slope;
            assert_near(again.items[i].left_out, -log(factors[c][i]), 1e-9);
        }
        double moved = fmin(1, fmax(-1, -products / squares));
        n_inside += fabs(moved) < 1;
        assert_near(again.items[0].left_out, -log(factors[c][0]) + slope_of(&simulator, &r.items[0], "call_s") * moved, 1e-9);
    }
    assert_int_equal(n_inside, 2);
    simulator_close(&simulator);
    arena_free(&a);
}

/* The project's sheets beside another of the system's fitted constants. */
static char *specs_with(const char *fitted_system)
{
    static char folder[64];
    char *here = realpath("system-model/specs", NULL);
    memcpy(folder, "/tmp/podbench-specs-XXXXXX", sizeof "/tmp/podbench-specs-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(system(arena_printf(&a, "ln -s '%s'/* %s && rm %s/fitted-system.csv", here, folder, folder)), 0);
    FILE *f = fopen(arena_printf(&a, "%s/fitted-system.csv", folder), "w");
    fputs(fitted_system, f);
    fclose(f);
    free(here);
    return folder;
}

/* Access to streaming memory and the call are fitted. Without the one run of ResNet-50 three of BERT are left, two of which stream: the normal
 * equations of two. */
static void a_refit_of_two_constants(void **state)
{
    static const char rows[] =
        "id,recipe,metric,value,unit,tolerance,role,source,quote,note\n"
        "w,mlperf-v1.1-closed-ipu-pod16-resnet50,throughput_samples_per_s,1,samples/s,0.1,calibrate,s,,\n"
        "x,mlperf-v1.0-closed-ipu-pod16-bert-large,throughput_samples_per_s,1,samples/s,0.1,calibrate,s,,\n"
        "y,vendor-bow-pod64-bert-large-ph1-popart,throughput_samples_per_s,1,samples/s,0.1,calibrate,s,,\n"
        "z,mlperf-v2.0-closed-bow-pod16-bert-large,throughput_samples_per_s,1,samples/s,0.1,calibrate,s,,\n";
    static const char sheet[] =
        "key,value,unit,source,note\n"
        "call_s,0.04,s,fitted by a test,\n"
        "remote_access_s,2e-3,s,fitted by a test,\n";
    static const double factors[] = { 1.02, 1.05, 0.96, 1.007 };
    struct simulator simulator;
    struct figures figures = {0};
    struct references r;
    double cc = 0, ct = 0, tt = 0, cr = 0, tr = 0;
    struct model_paths with = paths;
    (void)state;
    with.specs_dir = specs_dir = specs_with(sheet);
    simulator_open(&simulator, &with);
    assert_true(published_load(&figures, temp_file(rows, strlen(rows), ".csv"), &a, &err));
    references_build(&r, &figures, &simulator, &a);
    for (size_t i = 0; i < 4; i++)
        figures.items[i].value = r.items[i].simulated * factors[i];
    references_build(&r, &figures, &simulator, &a);
    for (size_t i = 1; i < 4; i++) {
        double c = slope_of(&simulator, &r.items[i], "call_s"), t = slope_of(&simulator, &r.items[i], "remote_access_s"), off = -log(factors[i]);
        cc += c * c, ct += c * t, tt += t * t, cr += c * off, tr += t * off;
    }
    double moved = -(tt * cr - ct * tr) / (cc * tt - ct * ct);
    assert_true(fabs(moved) < 1 && fabs(ct * tr) > 0.05 * fabs(tt * cr));        /* the other constant has a say */
    assert_near(r.items[0].left_out, -log(factors[0]) + slope_of(&simulator, &r.items[0], "call_s") * moved, 1e-6);
    assert_int_equal(system(arena_printf(&a, "rm -r %s", specs_dir)), 0);
    specs_dir = "system-model/specs";
    simulator_close(&simulator);
    arena_free(&a);
}

static void the_table_is_read_as_written(void **state)
{
    (void)state;
    char *text = NULL;
    struct references back;
    make_three();
    PRINTED(text, references_write(f, &three_groups));
    assert_true(references_load(&back, temp_file(text, strlen(text), ".csv"), &a, &err));
    assert_int_equal(back.n, 3);
    assert_string_equal(back.items[2].at.name[4], "TensorFlow");
    assert_near(back.items[2].left_out, 0.09, 0);
    assert_near(back.items[2].published, 72, 0);
    assert_near(back.items[2].simulated, 92, 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(back.items[i].role, three[i].role);
    assert_true(references_load(&back, "no/such/left-out.csv", &a, &err));
    assert_int_equal(back.n, 0);
    /* A count and a number that are none; each of the three numbers is looked at. */
    static const struct { const char *from, *to, *message; } bad[] = {
        { ",1536,", ",1.5,", ":2: global_batch: '1.5' is not a whole number" }, { ",512,", ",x,", ":2: sequence_length: 'x' is not a whole number" },
        { ",0.02\n", ",much\n", ":2: left_out_log_error: 'much' is not a number" }, { ",90,", ",x,", ":2: simulated_samples_per_s: 'x' is not a number" },
        { ",70,", ",,", ":2: published_samples_per_s: '' is not a number" },
        { ",validate,", ",judge,", ":2: role: 'judge' is not one of: calibrate, validate, context" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = strstr(text, bad[i].from);
        assert_non_null(at);
        const char *changed = arena_printf(&a, "%.*s%s%s", (int)(at - text), text, bad[i].to, at + strlen(bad[i].from));
        assert_false(references_load(&back, temp_file(changed, strlen(changed), ".csv"), &a, &err));
        assert_string_equal(strrchr(err.msg, '/') + strcspn(strrchr(err.msg, '/'), ":"), bad[i].message);
    }
    free(text);
    arena_free(&a);
}

/* ---- an answer ------------------------------------------------------------------------------------- */

static struct validity validity_with(const char *recipe, const char *override)
{
    struct simulator simulator;
    struct simulation sim = {0};
    struct result r;
    struct track_record record;
    struct validity v = { .low = -1 };
    simulator_open(&simulator, &paths);
    assert_true(track_record_open(&record, "results/validity/left-out.csv", &a, &err));
    struct question q = { .recipe = recipe, .overrides = &override, .n_overrides = override ? 1 : 0, .simulator = &simulator };
    assert_true(simulator_run(&simulator, &sim, &r, recipe, q.overrides, q.n_overrides, &err));
    validity_of(&v, &record, &sim, &r, &q, &a);
    assert_true(v.low > 0 && v.low < r.throughput_samples_per_s && r.throughput_samples_per_s < v.high);
    simulation_free(&sim);
    simulator_close(&simulator);
    return v;
}

static void near_and_far(void **state)
{
    (void)state;
    const char *bert = "mlperf-v2.0-closed-bow-pod64-bert-large";
    struct validity near = validity_with(bert, NULL), longer = validity_with(bert, "data.sequence_length=32"),
                    far = validity_with("vendor-ipu-m2000-bert-large-infer-b1", NULL);
    assert_true(near.near && near.n_extrapolates == 0);
    assert_string_equal(near.nearest[0].reference->configuration, bert);
    assert_near(near.distance, 0, 0);
    assert_true(near.nearest[0].distance <= near.nearest[1].distance && near.nearest[1].distance <= near.nearest[2].distance);
    assert_true(longer.distance > 0 && log(longer.high / longer.low) > log(near.high / near.low));
    assert_near(validity_with("mlperf-v1.1-closed-ipu-pod16-resnet50", "data.sequence_length=32").distance, 0, 0);     /* images have none */
    assert_false(far.near);
    assert_true(log(far.high / far.low) > log(near.high / near.low));
    arena_free(&a);
}

/* A run that is three apart is near still: a name, and eight doublings of a quarter each; one doubling more is not. */
static void near_to_the_last_doubling(void **state)
{
    struct simulator simulator;
    struct simulation sim = {0};
    struct result r;
    struct reference only = { .configuration = "only", .group = "only", .role = FIGURE_VALIDATE };
    struct track_record record = { .references = { .items = &only, .n = 1 }, .spread = { .quantile = 0.1, .mean_error = 0.02 } };
    (void)state;
    simulator_open(&simulator, &paths);
    assert_true(simulator_run(&simulator, &sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", NULL, 0, &err));
    for (int doublings = 8; doublings <= 9; doublings++) {
        struct validity v;
        only.at = properties_of(&sim, &a);
        only.at.name[4] = "another";
        only.at.count[6] <<= doublings;
        properties_settle(&only.at);
        record.spread.n_errors = (size_t)doublings - 7;
        validity_of(&v, &record, &sim, &r, NULL, &a);
        assert_true((v.low > 0) == (doublings == 9) && (v.high > 0) == (doublings == 9));          /* of two errors on there is an interval */
        assert_near(v.distance, doublings == 8 ? 3 : 3.25, 0);
        assert_true(v.same_kind && v.near == (doublings == 8));
    }
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* Five published runs that are as far from it as can be told: the first three, in the table's order. */
static void of_equally_near_the_first(void **state)
{
    struct simulator simulator;
    struct simulation sim = {0};
    struct result r;
    struct validity v;
    struct reference five[5];
    const struct track_record record = { .references = { .items = five, .n = 5 } };
    (void)state;
    for (size_t i = 0; i < 5; i++)
        five[i] = (struct reference){ .configuration = "alike", .group = "alike", .role = FIGURE_VALIDATE, .at = one };
    five[1].at = with(1, "infer");                               /* farther */
    simulator_open(&simulator, &paths);
    assert_true(simulator_run(&simulator, &sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", NULL, 0, &err));
    validity_of(&v, &record, &sim, &r, NULL, &a);
    assert_int_equal(v.n_nearest, 3);
    assert_ptr_equal(v.nearest[0].reference, &five[0]);
    assert_ptr_equal(v.nearest[1].reference, &five[2]);
    assert_ptr_equal(v.nearest[2].reference, &five[3]);
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

static bool extrapolates(const struct validity *v, const char *name)
{
    for (size_t i = 0; i < v->n_extrapolates; i++)
        if (text_is(v->extrapolates[i], name))
            return true;
    return false;
}

static void what_lies_outside_is_named(void **state)
{
    (void)state;
    struct validity v = validity_with("mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=64");
    assert_true(extrapolates(&v, "micro_batch"));
    assert_false(extrapolates(&v, "ipus") || extrapolates(&v, "chip"));
    v = validity_with("mlperf-v1.1-closed-ipu-pod16-resnet50", "machine.clock_hz=2e9");
    assert_int_equal(v.n_extrapolates, 1);
    assert_string_equal(v.extrapolates[0], "machine.clock_hz");
    v = validity_with("vendor-bow-pod16-efficientnet-b4-g16-tf1", NULL);
    assert_true(extrapolates(&v, "workload"));
    assert_false(v.same_kind || v.near);
    arena_free(&a);
}

/* Where every step is a call, more of the time is in proportion to its fitted length; where links are slow, to their assumed efficiency. */
static void shares_follow_the_values(void **state)
{
    (void)state;
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    struct validity v = validity_with(recipe, NULL);
    assert_true(v.from_fitted_share >= 0 && v.from_assumed_share > 0 && v.from_fitted_share + v.from_assumed_share < 1);
    struct validity slow = validity_with(recipe, "hosts.steps_per_call=1");
    assert_true(slow.from_fitted_share > v.from_fitted_share + 0.1);
    slow = validity_with(recipe, "machine.link_bytes_per_s=1e8");
    assert_true(slow.from_assumed_share > v.from_assumed_share + 0.1);
    struct validity wide = validity_with("mlperf-v2.0-closed-bow-pod64-bert-large", NULL);     /* calls, 6 %, and compute sets add up */
    assert_true(wide.from_fitted_share > 0.07);
    arena_free(&a);
}

/* Each step of PopART's BERT is a call: its time is fitted, as if the first and last listed. What is sourced, of the recipe or beyond the list
 * is not. */
static void a_share_by_hand(void **state)
{
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-bert-large";
    struct simulator simulator;
    struct question q = { .recipe = recipe, .simulator = &simulator };
    struct simulation sim;
    struct result r;
    (void)state;
    simulator_open(&simulator, &paths);
    assert_true(simulator_run(&simulator, &sim, &r, recipe, NULL, 0, &err));
    const char *call_s = arena_printf(&a, "%.10g", sim.fitted.call_s);
    struct input call = { .name = "machine.call_s", .value = call_s, .unit = "s", .origin = ORIGIN_FITTED },
                 clock = { .name = "machine.clock_hz", .value = "1.325e9", .unit = "Hz", .origin = ORIGIN_SOURCED },
                 wait = { .name = "machine.host_latency_s", .value = "8.83e-6", .unit = "s", .origin = ORIGIN_FITTED };
    struct input items[][3] = { { call, clock, wait }, { clock, call, wait }, { call, wait, clock } };
    const size_t n[] = { 2, 2, 1 };
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        struct inputs inputs = { .items = items[i], .n = n[i] };
        assert_near(share_of_origin(ORIGIN_FITTED, &inputs, &q, &a), sim.fitted.call_s / r.step_time_s, 1e-8);
        assert_near(share_of_origin(ORIGIN_ASSUMED, &inputs, &q, &a), 0, 0);
    }
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* How many steps a call has, as if that were assumed: half as many take twice the calls. The time of calls is in proportion to their fitted length
 * and to this, which are more than all of the time; together they are told as all of it. */
static void shares_of_a_product_are_all_at_most(void **state)
{
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    static const char *const sets[] = { "hosts.steps_per_call=", "parallel.micro_batch=1" };
    const struct track_record record = { .references.n = 0 };
    struct simulator simulator;
    struct simulation sim;
    struct result r;
    struct inputs inputs;
    struct validity v;
    (void)state;
    simulator_open(&simulator, &paths);
    struct question q = { .recipe = recipe, .overrides = sets, .n_overrides = 2, .simulator = &simulator };
    assert_true(simulator_run(&simulator, &sim, &r, recipe, sets, 2, &err));
    for (size_t i = 0; i < sim.framework.n_sheets; i++) {
        struct sheet *s = &sim.framework.sheets[i];
        for (size_t k = 0; k < s->n_rows; k++)
            if (text_is(s->rows[k].key, "steps_per_call"))
                s->rows[k].source = "assumed: a test";
    }
    inputs_of_sheets(&inputs, &sim, &a);
    const double fitted = share_of_origin(ORIGIN_FITTED, &inputs, &q, &a), assumed = share_of_origin(ORIGIN_ASSUMED, &inputs, &q, &a);
    assert_true(fitted + assumed > 1.1);
    validity_of(&v, &record, &sim, &r, &q, &a);
    assert_near(v.from_fitted_share, fitted / (fitted + assumed), 1e-12);
    assert_near(v.from_assumed_share, assumed / (fitted + assumed), 1e-12);
    /* nothing is published */
    assert_true(v.n_nearest == 0 && !v.near && !v.same_kind && v.n_extrapolates == 1 && extrapolates(&v, "workload"));
    assert_near(v.distance, -1, 0);
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* The shares of the plan that was chosen are those of a machine that may choose again to a point, at most one and a half: the last recipe
 * here is the farthest off of all that there are (1.41 points). And they are the same whatever was asked before. */
static void shares_are_of_the_chosen_plan(void **state)
{
    (void)state;
    const char *recipes[] = { "mlperf-v1.1-closed-ipu-pod16-resnet50", "mlperf-v1.1-closed-ipu-pod64-bert-large",
                              "vendor-ipu-m2000-bert-large-infer-b1", "mlperf-v2.0-open-bow-pod64-transformer-transducer",
                              "vendor-ipu-pod16-efficientnet-b4-g16-tf1" };
    const size_t n_recipes = sizeof recipes / sizeof *recipes;
    struct simulator simulator;
    size_t n_differ = 0;
    simulator_open(&simulator, &paths);
    for (size_t i = 0; i < n_recipes; i++) {
        struct question q = { .recipe = recipes[i], .simulator = &simulator };
        struct simulation sim;
        struct result r;
        struct inputs inputs;
        assert_true(simulator_run(&simulator, &sim, &r, recipes[i], NULL, 0, &err));
        inputs_list(&inputs, &sim, &a);
        for (enum origin o = ORIGIN_FITTED; o <= ORIGIN_ASSUMED; o++) {
            struct inputs free_to_choose = { .items = inputs.items, .n = inputs.n };
            double share = share_of_origin(o, &inputs, &q, &a), chosen_again = share_of_origin(o, &free_to_choose, &q, &a);
            assert_near(share, chosen_again, i + 1 < n_recipes ? 0.01 : 0.015);
            assert_true(share_of_origin(o, &inputs, &q, &a) == share);
            n_differ += share != chosen_again;
        }
        struct validity cold = validity_with(recipes[i], NULL);
        assert_true(cold.from_assumed_share == share_of_origin(ORIGIN_ASSUMED, &inputs, &q, &a));
        simulation_free(&sim);
    }
    assert_true(n_differ > 1);
    simulator_close(&simulator);
    arena_free(&a);
}

/* Layers that were balanced within the memory lie elsewhere with splits that are given, as memory is then left aside. Shares are set beside the
 * same question unchanged, and are near those of two samples, which leave room (5 and 33 %). */
static void shares_where_memory_placed_layers(void **state)
{
    static const char *const sets[] = { "parallel.layers_per_ipu=", "parallel.micro_batch=3" };
    const char *recipe = "mlperf-v1.0-closed-ipu-pod16-bert-large";
    struct simulator simulator;
    struct simulation sim;
    struct result r, same;
    struct inputs inputs;
    (void)state;
    simulator_open(&simulator, &paths);
    struct question q = { .recipe = recipe, .overrides = sets, .n_overrides = 2, .simulator = &simulator }, step = q;
    assert_true(simulator_run(&simulator, &sim, &r, recipe, sets, 2, &err));
    inputs_of_sheets(&inputs, &sim, &a);
    step.options = (struct simulator_options){ .step_only = true, .splits_of = &sim };
    assert_true(ask_again(&same, &step, NULL, 0, &err));
    assert_true(same.step_time_s < 0.995 * r.step_time_s);
    assert_near(share_of_origin(ORIGIN_FITTED, &inputs, &q, &a), 0.045, 0.015);
    assert_near(share_of_origin(ORIGIN_ASSUMED, &inputs, &q, &a), 0.32, 0.03);
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* What a framework is assumed to do counts with the sheets' values: each by its largest change of the step, be it faster or slower. */
static void what_a_framework_does_is_counted(void **state)
{
    static const char *const others[] = { "framework.rearrange_before_reduce=no", "framework.remote_together=yes", "framework.fetch_threads=2",
                                          "framework.prefetch_depth=2" };
    const char *recipe = "vendor-bow-pod64-bert-large-ph2-tf1";
    struct simulator simulator;
    struct simulation sim;
    struct result r, other;
    struct inputs inputs, of_machine;
    double want = 0;
    (void)state;
    simulator_open(&simulator, &paths);
    struct question q = { .recipe = recipe, .simulator = &simulator }, step = q;
    assert_true(simulator_run(&simulator, &sim, &r, recipe, NULL, 0, &err));
    inputs_of_sheets(&inputs, &sim, &a);
    of_machine = inputs;
    of_machine.n = 0;
    while (!inputs.items[of_machine.n].of_recipe)
        of_machine.n++;
    step.options = (struct simulator_options){ .step_only = true, .splits_of = &sim };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_true(ask_again(&other, &step, &others[i], 1, &err));
        assert_true(other.step_time_s < r.step_time_s);
        want += 1 - other.step_time_s / r.step_time_s;
    }
    assert_true(want > 0.03);
    assert_near(share_of_origin(ORIGIN_ASSUMED, &inputs, &q, &a), share_of_origin(ORIGIN_ASSUMED, &of_machine, &q, &a) + want, 1e-12);
    assert_near(share_of_origin(ORIGIN_FITTED, &inputs, &q, &a), share_of_origin(ORIGIN_FITTED, &of_machine, &q, &a), 0);
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

static void coverage_as_text(void **state)
{
    struct interval_count group = { .what = "BERT on bow", .n = 8, .inside = 6, .mean_half_width = log(1.25) };
    const struct interval_coverage c = { .groups = &group, .n_groups = 1, .all = { .what = "all", .n = 40, .inside = 37, .mean_half_width = log(1.5) },
                                         .near = { .what = "near" } };
    char *text;
    (void)state;
    PRINTED(text, interval_coverage_print(f, &c));
    assert_string_equal(text, "group left out                                 runs inside      share  half width\n"
                              "BERT on bow                                       8      6     75.0 %      25.0 %\n"
                              "all                                              40     37     92.5 %      50.0 %\n"
                              "near                                              0      0      0.0 %       0.0 %\n");
    free(text);
    json_t *json = interval_coverage_json(&c);
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, "{\"group\":\"all\",\"configurations\":40,\"inside\":37,\"mean_half_width\":0.5,\"level\":0.9,\"configuration_left_out\":"
                              "{\"group\":\"near\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0},\"groups\":["
                              "{\"group\":\"BERT on bow\",\"configurations\":8,\"inside\":6,\"mean_half_width\":0.25}]}");
    free(text);
    json_decref(json);
}

/* 1000 samples/s, 90 % less to 175 % more; the nearest run 4 % too fast when left out. */
static void a_judgement_as_text(void **state)
{
    const struct reference near = { .configuration = "one", .left_out = log(1.04) };
    const struct result r = { .throughput_samples_per_s = 1000 };
    struct validity v = { .low = 100, .high = 2750, .distance = 0.75, .nearest = { { &near, 0.75 } }, .n_nearest = 1, .near = true, .same_kind = true,
                          .from_fitted_share = 0.12, .from_assumed_share = 0.03 };
    char *text;
    (void)state;
    PRINTED(text, validity_print(f, &v, &r));
    assert_string_equal(text, "trust: 90 % interval 100 to 2750 samples/s (-90, +175 %); 12 % of the time rests on fitted values, 3 % on assumed ones\n"
                              "  nearest published: one, distance 0.75, predicted +4.0 % off when left out of the fit\n");
    free(text);
    json_t *json = validity_json(&v);
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, "{\"of\":\"throughput_samples_per_s\",\"level\":0.9,\"interval_low\":100.0,\"interval_high\":2750.0,\"near\":true,"
                              "\"nearest\":[{\"configuration\":\"one\",\"error\":0.04,\"distance\":0.75}],\"extrapolates\":[],"
                              "\"from_fitted_share\":0.12,\"from_assumed_share\":0.03,\"from_sourced_share\":0.85}");
    free(text);
    json_decref(json);
    v.near = v.same_kind = false;
    v.from_fitted_share = v.from_assumed_share = NAN;
    v.extrapolates[v.n_extrapolates++] = "micro-batch 9";
    v.extrapolates[v.n_extrapolates++] = "128 IPUs";
    PRINTED(text, validity_print(f, &v, &r));
    assert_string_equal(text, "trust: 90 % interval 100 to 2750 samples/s (-90, +175 %)\n"
                              "  NOTHING NEAR IS PUBLISHED, AND NOTHING OF THIS KIND: the interval is a guess; nearest published: one, distance 0.75, predicted +4.0 % off when left "
                              "out of the fit\n  beyond everything published: micro-batch 9, 128 IPUs\n");
    free(text);
    v.high = v.low = 0;
    PRINTED(text, validity_print(f, &v, &r));
    assert_non_null(strstr(text, "trust: unknown"));
    free(text);
    json = validity_json(&v);
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, "{\"of\":\"throughput_samples_per_s\",\"level\":0.9,\"interval_low\":null,\"interval_high\":null,\"near\":false,"
                              "\"nearest\":[{\"configuration\":\"one\",\"error\":0.04,\"distance\":0.75}],\"extrapolates\":[\"micro-batch 9\",\"128 IPUs\"],"
                              "\"from_fitted_share\":null,\"from_assumed_share\":null,\"from_sourced_share\":0.0}");
    free(text);
    json_decref(json);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(distances_by_hand), cmocka_unit_test(weights_of_all_properties), cmocka_unit_test(distances_differ), cmocka_unit_test(no_run_is_without_error),
    cmocka_unit_test(nine_in_ten_of_twenty), cmocka_unit_test(intervals_by_hand), cmocka_unit_test(farther_is_wider), cmocka_unit_test(groups_in_one_place),
    cmocka_unit_test(coverage_by_hand), cmocka_unit_test(what_is_left_out_is_not_near), cmocka_unit_test(a_judgement_as_text), cmocka_unit_test(coverage_as_text), cmocka_unit_test(a_group_is_left_out), cmocka_unit_test(a_refit_by_hand), cmocka_unit_test(a_refit_of_two_constants), cmocka_unit_test(the_table_is_read_as_written),
    cmocka_unit_test(near_and_far), cmocka_unit_test(of_equally_near_the_first), cmocka_unit_test(near_to_the_last_doubling), cmocka_unit_test(what_lies_outside_is_named), cmocka_unit_test(shares_follow_the_values),
    cmocka_unit_test(a_share_by_hand), cmocka_unit_test(shares_of_a_product_are_all_at_most), cmocka_unit_test(shares_are_of_the_chosen_plan),
    cmocka_unit_test(shares_where_memory_placed_layers),
    cmocka_unit_test(what_a_framework_does_is_counted),
};

TAP_MAIN(tests)
