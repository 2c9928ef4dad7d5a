/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * training_statements.c - tries statements on training with small models of Fashion-MNIST: norms at small micro-batches, samples to a target against the batch.
 *
 * usage: training_statements FILE: appends rows to what number_statements wrote. Exit status 1 where a value is outside of its expected range, 2 without the
 * data. Ranges were written before the values were known; docs/maintainers/numerics.md says which missed.
 */
#include "tests/execute/statements.h"
#include "workloads/convergence/convergence_law.h"
#include "workloads/data/data.h"
#include <gsl/gsl_cdf.h>

#define FASHION "/usr/share/datasets/fashion-mnist"
enum { N_SEEDS = 5, WINDOW = 1024 };

/* ---- a model that learns ------------------------------------------------------------------------------------- */

struct pupil { struct planned_model m; struct dataset *data; struct arena arena; uint64_t seed; };

static bool show(void *user, float *to, uint32_t id, uint64_t step, uint32_t replica, uint64_t micro_batch, struct err *err)
{
    const struct pupil *p = user;
    const struct tensor *t = &p->m.g.tensors[id];
    uint64_t n = tensor_elements(t), items[WINDOW], all = dataset_items(p->data, DATA_TRAIN), rows = p->m.g.micro_batch;
    (void)replica, (void)err;
    if (t->role == ROLE_WEIGHT) {
        double bound = t->n_dims > 1 ? 2 * sqrt(3.0 * (double)t->dims[t->n_dims - 1] / (double)n) : 0;
        for (uint64_t i = 0; i < n; i++)
            to[i] = (float)(t->n_dims > 1 ? bound * noise_at(p->seed * 1000 + id, i) : text_is(t->name, "gamma"));
        return true;
    }
    uint64_t first = (step * p->m.p.request.grad_accum + micro_batch) * rows;
    for (uint64_t i = 0; i < rows; i++)
        items[i] = shuffled((first + i) % all, all, p->seed + (first + i) / all * 100);
    dataset_fill(p->data, to, id, DATA_TRAIN, items, 0);
    return true;
}

static void pupil_start(struct pupil *p, const struct small_model *s, uint32_t grad_accum)
{
    struct variant v = { .n_replicas = 1, .n_ipus = 1, .grad_accum = grad_accum, .schedule = SCHEDULE_SEQUENTIAL, .span = 1 };
    *p = (struct pupil){ .seed = 1 };
    bool planned = plan_model(&p->m, &base, s, &v);
    assert_string_equal(p->m.err.msg, "");
    assert_true(planned);
    struct data_request q = { &p->m.g, "training_statements", FASHION, 1 };
    if (!dataset_open(&p->data, &q, &p->arena, &p->m.err)) {
        fprintf(stderr, "%s\n", p->m.err.msg);
        exit(2);
    }
}

static void pupil_end(struct pupil *p)
{
    arena_free(&p->arena);
    arena_free(&p->m.arena);
}

static struct execution *pupil_begin(struct pupil *p, uint64_t seed, double rate, double momentum)
{
    p->seed = seed;
    struct execution_options o = { .optimizer = { .learning_rate = rate, .momentum = momentum }, .seed = seed, .mean_losses = true, .fill = show, .user = p };
    struct execution *x = execution_start(&p->m.p, &o, &p->m.err);
    assert_non_null(x);
    return x;
}

static double next_loss(struct execution *x, struct pupil *p)
{
    struct step_result r;
    assert_true(execution_step(x, &r, &p->m.err));
    return r.loss;
}

/* ---- norms ----------------------------------------------------------------------------------------------------- */

static const struct resnet_config small_net = { .units = { 1, 1, 1 }, .image = 28, .image_channels = 1, .width = 8, .classes = 10 };

/* The loss of the last 1024 of 3072 samples, all of them new, in batches of 32; the mean of three seeds. */
static double last_loss(uint32_t micro_batch, bool groups)
{
    enum { BATCH = 32, STEPS = 3072 / BATCH, LAST = WINDOW / BATCH };
    const struct small_model s = { { .name = "resnet", .build = resnet_build, .config = &small_net },
                                   { .micro_batch = micro_batch, .norm_groups = groups ? 4 : 0, .batch_norm_span = groups ? 0 : 1 } };
    struct pupil p;
    double sum = 0;
    pupil_start(&p, &s, BATCH / micro_batch);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct execution *x = pupil_begin(&p, seed, 0.05, 0.9);
        for (int step = 0; step < STEPS; step++) {
            double loss = next_loss(x, &p);
            sum += step >= STEPS - LAST ? loss / LAST / 3 : 0;
        }
        execution_end(x);
    }
    pupil_end(&p);
    return sum;
}

static void norms(void)
{
    report("batch_norm_of_2", last_loss(2, false) / last_loss(32, false), 1.03, 2, "loss with batch norms over micro-batches of 2, over that with 32; batches of 32");
    report("group_norm_of_2", last_loss(2, true) / last_loss(32, true), 0.98, 1.02, "the same with group norms");
}

/* ---- samples to a target ----------------------------------------------------------------------------------------- */

enum { N_BATCHES = 8, SMALLEST = 8, N_RATES = 8, MOST_SAMPLES = 400000 };
static const double target = 0.65, lowest_rate = 0.025;

static bool dense_build(struct builder *b, const struct workload *w, struct err *err)
{
    (void)w;
    (void)err;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "hidden");
    uint32_t x = build_reshape(b, build_images(b, 28, 1), DIMS(b->batch, 28 * 28));
    x = build_op1(b, OP_TANH, build_dense(b, x, 32, true));
    build_layer(b, LAYER_LAST, 0, 0, 1, "classes");
    build_classes(b, build_dense(b, x, 10, true), DIMS(b->batch));
    return true;
}

/* Until the mean loss of the last 1024 samples, each taken before it is learned, is the target's. That mean is of the weights after as many samples as
 * were learned in the middle of them. Infinite if it never is. */
static double samples_to_target(struct pupil *p, uint64_t seed, double rate)
{
    uint64_t batch = p->m.g.micro_batch, window = WINDOW / batch, n = 0;
    double losses[WINDOW], sum = 0;
    struct execution *x = pupil_begin(p, seed, rate, 0);
    for (bool reached = false; !reached && isfinite(sum) && n * batch < MOST_SAMPLES; n++) {
        double loss = next_loss(x, p);
        sum += loss - (n < window ? 0 : losses[n % window]);
        losses[n % window] = loss;
        reached = n + 1 >= window && sum / (double)window <= target;
        if (reached)
            sum = 0;
    }
    execution_end(x);
    return sum == 0 ? (double)(n * batch) - WINDOW / 2.0 - (double)batch / 2 : INFINITY;
}

static int compare_values(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The samples of all seeds in rising order, at the best of eight rates, each twice the one before, by another seed. */
static void find_samples(double *samples, uint64_t batch)
{
    const struct small_model s = { { .name = "dense", .build = dense_build }, { .micro_batch = batch } };
    struct pupil p;
    double best = INFINITY, rate = 0;
    pupil_start(&p, &s, 1);
    for (int k = 0; k < N_RATES; k++) {
        double tried = samples_to_target(&p, 99, lowest_rate * (1 << k));
        if (tried < best)
            best = tried, rate = lowest_rate * (1 << k);
    }
    printf("%6ju  rate %-6g", (uintmax_t)batch, rate);
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
        printf(" %7.0f", samples[seed - 1] = samples_to_target(&p, seed, rate));
    sort_items(samples, N_SEEDS, sizeof *samples, compare_values);
    printf("   median %.0f\n", samples[N_SEEDS / 2]);
    fflush(stdout);
    pupil_end(&p);
}

/* A line in the logarithms through all points but one; slope 0 if it is to be level. Returns the logarithm of its error at a point. */
static double line_error(const struct rcp_point *points, size_t left_out, size_t at, bool level)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < N_BATCHES; i++) {
        double b = log(points[i].batch), s = log(points[i].mean);
        if (i != left_out)
            n++, x += b, y += s, xx += b * b, xy += b * s;
    }
    double slope = level ? 0 : (n * xy - x * y) / (n * xx - x * x);
    return (y - slope * x) / n + slope * log(points[at].batch) - log(points[at].mean);
}

static double line_loo(const struct rcp_point *points, bool level)
{
    double sum = 0;
    for (size_t i = 0; i < N_BATCHES; i++)
        sum += pow(line_error(points, i, i, level), 2);
    return sqrt(sum / N_BATCHES);
}

/* The mean of the logarithms. */
static double middle(const struct rcp_point *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += log(p->values[i]) / (double)p->n;
    return sum;
}

/* F test of lack of fit (Draper and Smith 1998, section 2.1): what a form leaves of the means of ln, over what the seeds of one batch differ by. The errors of
 * the form at each batch are of ln. Batches have learning rates from one grid, so that the form is charged with the grid's steps, too. */
static void print_lack_of_fit(const char *form, const double *errors, size_t n_fitted, const struct rcp_point *points)
{
    double off = 0, within = 0, n_off = (double)(N_BATCHES - n_fitted), n_within = N_BATCHES * (N_SEEDS - 1);
    for (size_t i = 0; i < N_BATCHES; i++) {
        off += N_SEEDS * errors[i] * errors[i];
        for (size_t k = 0; k < N_SEEDS; k++)
            within += pow(log(points[i].values[k]) - middle(&points[i]), 2);
    }
    double f = off / n_off / (within / n_within);
    printf("lack of fit, %s: F %.2f (%g, %g), p %.2g; seeds differ by %.3f of ln\n", form, f, n_off, n_within, gsl_cdf_fdist_Q(f, n_off, n_within), sqrt(within / n_within));
}

/* The forms fitted to the means of the logarithms of all seeds. */
static void judge_forms(const struct rcp_point *of_seeds)
{
    struct rcp_point points[N_BATCHES];
    struct rcp_table t = { .benchmark = "dense", .points = points, .n = N_BATCHES };
    struct convergence_law law;
    struct err err = { "" };
    double errors[N_BATCHES];
    for (size_t i = 0; i < N_BATCHES; i++)
        points[i] = of_seeds[i], points[i].mean = exp(middle(&of_seeds[i]));
    for (int free_g = 0; free_g < 2; free_g++) {
        assert_true(law_fit(&law, &t, free_g, &err));
        for (size_t i = 0; i < N_BATCHES; i++)
            errors[i] = log(law_at(&law, points[i].batch) / points[i].mean);
        printf("all seeds: E0 %.0f, Bc %.0f, g %.3f +- %.3f\n", law.e0, law.bc, law.g, law.g_error);
        print_lack_of_fit(free_g ? "g fitted" : "g = 1", errors, free_g ? 3 : 2, points);
    }
    for (size_t i = 0; i < N_BATCHES; i++)
        errors[i] = line_error(points, N_BATCHES, i, false);
    print_lack_of_fit("a power", errors, 2, points);
}

static void batches(void)
{
    double samples[N_BATCHES][N_SEEDS];
    struct rcp_point points[N_BATCHES] = { { 0 } };
    struct rcp_table t = { .benchmark = "dense", .points = points, .n = N_BATCHES };
    struct convergence_law free_g, held;
    struct err err = { "" };
    for (size_t i = 0; i < N_BATCHES; i++) {
        find_samples(samples[i], SMALLEST << i);
        points[i] = (struct rcp_point){ .batch = SMALLEST << i, .mean = samples[i][N_SEEDS / 2], .values = samples[i], .n = N_SEEDS };
    }
    judge_forms(points);
    report("batch_1024_over_8", points[N_BATCHES - 1].mean / points[0].mean, 2, 50, "median samples to the target with batches of 1024 over those of 8");
    if (!law_fit(&free_g, &t, true, &err) || !law_fit(&held, &t, false, &err)) {
        printf("%s\n", err.msg);
        all_hold = false;
        return;
    }
    for (size_t i = 0; i < N_BATCHES; i++)
        printf("%6.0f  %8.0f   g = 1: %8.0f (%+.1f %%)   free: %8.0f (%+.1f %%)\n", points[i].batch, points[i].mean, law_at(&held, points[i].batch),
               100 * (law_at(&held, points[i].batch) / points[i].mean - 1), law_at(&free_g, points[i].batch),
               100 * (law_at(&free_g, points[i].batch) / points[i].mean - 1));
    printf("g = 1: E0 %.0f, Bc %.0f, rms %.3f, left out %.3f; free: E0 %.0f, Bc %.0f, g %.2f +- %.2f, rms %.3f, left out %.3f; power %.3f, constant %.3f left out\n",
           held.e0, held.bc, held.rms, held.loo, free_g.e0, free_g.bc, free_g.g, free_g.g_error, free_g.rms, free_g.loo, line_loo(points, false), line_loo(points, true));
    report("batch_law_residual", held.rms, 0, 0.1, "samples against the batch: root mean square of ln of the law with exponent 1 over the medians");
    report("batch_law_exponent", free_g.g, 0.7, 1.3, "the law's exponent, fitted");
    report("batch_law_over_power", held.loo / line_loo(points, false), 0, 0.7, "error of the law at a batch that was left out, over that of a power of the batch");
}

int main(int argc, char **argv)
{
    statements_open(argc, argv, "a");
    norms();
    batches();
    return statements_close();
}
