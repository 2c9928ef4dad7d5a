/*
 * plot.c - podbench plot: a run's figures. The data of each is written as CSV into RUN/figures, then gnuplot
 * draws every script of plots there, as SVG and as PNG. All arithmetic is here; the scripts pick columns by name.
 *
 * Unknown values are written as NaN, which gnuplot skips.
 */
#include "harness/harness.h"
#include "harness/scaling.h"
#include "harness/more_chips.h"
#include "results/accuracy/check.h"
#include "results/simulate/recompute_curve.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what a figure is made of --------------------------------------------------------------------- */

struct plot_data {
    struct results results;
    struct csv_table check;
    struct figures figures;
    struct session *s;
};

static void write_number(FILE *f, double x, bool last)
{
    char text[32];
    snprintf(text, sizeof text, isnan(x) ? "NaN" : "%.8g", x);
    csv_write_cell(f, text, last);
}

static bool open_data(struct new_file *file, const char *folder, const char *name, struct session *s, struct err *err)
{
    return new_file_open(file, arena_printf(&s->arena, "%s/%s.csv", folder, name), err);
}

/* ---- throughput against chips ----------------------------------------------------------------------- */

static bool write_scaling(const struct plot_data *d, const char *workload, const char *folder, struct err *err)
{
    struct scaling scaling;
    struct new_file file;
    scaling_build(&scaling, workload, &d->results, &d->figures);
    if (!open_data(&file, folder, arena_printf(&d->s->arena, "scaling-%s", workload), d->s, err))
        return false;
    fprintf(file.f, "chips");
    for (size_t k = 0; k < N_SCALING_ROUNDS; k++) {
        const char *round = scaling_rounds[k];
        fprintf(file.f, ",%s published,%s simulated,%s ideal,%s published efficiency,%s simulated efficiency", round, round,
                round, round, round);
    }
    fprintf(file.f, "\n");
    for (size_t i = 0; i < scaling.n_sizes; i++) {
        write_number(file.f, (double)scaling.sizes[i], false);
        for (size_t k = 0; k < N_SCALING_ROUNDS; k++) {
            const struct scaling_point *p = &scaling.points[k][i];
            const double cells[] = { p->published, p->simulated, p->ideal, p->published_efficiency, p->simulated_efficiency };
            for (size_t c = 0; c < 5; c++)
                write_number(file.f, cells[c], k + 1 == N_SCALING_ROUNDS && c == 4);
        }
    }
    return new_file_save(&file, err);
}

/* ---- time to train beside the peers -------------------------------------------------------------------- */

struct bar { const char *label; uint64_t chips; const char *round; double published, simulated, peer; };
struct bars { struct bar *items; size_t n, cap; };

static int bar_order(const void *a, const void *b)
{
    const struct bar *x = a, *y = b;
    if (x->chips != y->chips)
        return x->chips > y->chips ? -1 : 1;
    int by_round = strcmp(y->round, x->round);
    return by_round ? by_round : strcmp(y->label, x->label);
}

static void add_bar(struct bars *bars, struct bar bar, struct arena *a)
{
    bars->items = arena_grow(a, bars->items, bars->n, &bars->cap, sizeof *bars->items);
    bars->items[bars->n++] = bar;
}

static void add_ipu_bars(struct bars *bars, const struct plot_data *d, const char *workload)
{
    struct arena *a = &d->s->arena;
    for (size_t i = 0; i < d->results.n; i++) {
        const struct result *r = &d->results.items[i];
        struct mlperf_id id;
        if (!text_is(r->workload, workload) || !mlperf_id_parse(&id, r) || id.has_framework)
            continue;
        struct bar bar = { .chips = r->ipus, .round = arena_strdup(a, id.round), .peer = NAN,
                           .published = published_value(&d->figures, r->id, "time_to_train_min"),
                           .simulated = r->time_to_train_s > 0 ? r->time_to_train_s / 60 : NAN };
        bar.label = arena_printf(a, "%s %s%s", id.round, r->system, text_is(id.division, "open") ? " (open)" : "");
        add_bar(bars, bar, a);
    }
}

/* "NVIDIA A100-SXM4-80GB (400W)" -> "NVIDIA A100" */
static const char *short_accelerator(const char *name, struct arena *a)
{
    return arena_printf(a, "%.*s", (int)strcspn(name, "-("), name);
}

/* The value of "key=value; ..." in a note; "" when it is not there. */
static const char *note_value(const char *note, const char *key, struct arena *a)
{
    size_t n = strlen(key);
    for (const char *p = note; p; p = strchr(p, ';')) {
        p += strspn(p, "; ");
        if (strncmp(p, key, n) == 0 && p[n] == '=')
            return arena_printf(a, "%.*s", (int)strcspn(p + n + 1, ";"), p + n + 1);
    }
    return "";
}

/* GPU systems of the rounds that IPUs took part in, closed division, up to 256 chips. */
static bool add_peer_bars(struct bars *bars, const struct plot_data *d, const char *benchmark, struct err *err)
{
    struct arena *a = &d->s->arena;
    for (size_t i = 0; i < d->figures.n; i++) {
        const struct figure *f = &d->figures.items[i];
        struct bar bar = { .round = note_value(f->note, "round", a), .published = NAN, .simulated = NAN, .peer = f->value };
        const char *accelerator = note_value(f->note, "accelerator", a);
        bool of_round = strcmp(bar.round, "v1.0") >= 0 && strcmp(bar.round, "v2.0") <= 0;
        if (!of_round || !text_is(note_value(f->note, "division", a), "closed") || !strstr(accelerator, "NVIDIA") ||
            !text_is(note_value(f->note, "benchmark", a), benchmark))
            continue;
        if (!parse_u64(note_value(f->note, "chips", a), &bar.chips))
            return fail(err, "%s:%u: note: has no chips=NUMBER", f->path, f->line);
        if (bar.chips > 256)
            continue;
        bar.label = arena_printf(a, "%s %llu x %s (%s)", bar.round, (unsigned long long)bar.chips,
                                 short_accelerator(accelerator, a), note_value(f->note, "submitter", a));
        add_bar(bars, bar, a);
    }
    return true;
}

static bool write_times(const struct plot_data *d, const char *workload, const char *benchmark, const char *folder, struct err *err)
{
    struct bars bars = {0};
    struct new_file file;
    add_ipu_bars(&bars, d, workload);
    if (!add_peer_bars(&bars, d, benchmark, err))
        return false;
    if (bars.n)
        qsort(bars.items, bars.n, sizeof *bars.items, bar_order);
    if (!open_data(&file, folder, arena_printf(&d->s->arena, "time-to-train-%s", benchmark), d->s, err))
        return false;
    fprintf(file.f, "row,label,chips,published,simulated,peer\n");
    for (size_t i = 0; i < bars.n; i++) {
        const struct bar *b = &bars.items[i];
        write_number(file.f, (double)i, false);
        csv_write_cell(file.f, b->label, false);
        write_number(file.f, (double)b->chips, false);
        write_number(file.f, b->published, false);
        write_number(file.f, b->simulated, false);
        write_number(file.f, b->peer, true);
    }
    return new_file_save(&file, err);
}

/* ---- simulated against published --------------------------------------------------------------------------- */

static const char *const accuracy_panels[] = { "throughput", "time", "other" };
enum { N_ACCURACY_PANELS = 3 };

static size_t panel_of(const char *metric)
{
    return text_is(metric, "throughput_samples_per_s") ? 0 : text_is(metric, "time_to_train_min") ? 1 : 2;
}

static bool write_accuracy(const struct plot_data *d, const char *folder, struct err *err)
{
    enum { METRIC, ROLE, PUBLISHED, SIMULATED, N };
    static const char *const names[N] = { "metric", "role", "published", "simulated" };
    size_t at[N];
    struct new_file file;
    for (size_t k = 0; k < N; k++)
        if (!csv_column(&at[k], &d->check, names[k], err))
            return false;
    if (!open_data(&file, folder, "accuracy", d->s, err))
        return false;
    fprintf(file.f, "published");
    for (size_t p = 0; p < N_ACCURACY_PANELS; p++)
        for (int role = 0; role < N_FIGURE_ROLES; role++)
            fprintf(file.f, ",%s %s", accuracy_panels[p], role_names[role]);
    fprintf(file.f, "\n");
    for (size_t i = 0; i < d->check.n_rows; i++) {
        char **cells = d->check.rows[i].cells;
        if (!*cells[at[SIMULATED]])
            continue;
        fprintf(file.f, "%s", cells[at[PUBLISHED]]);
        for (size_t p = 0; p < N_ACCURACY_PANELS; p++)
            for (int role = 0; role < N_FIGURE_ROLES; role++)
                fprintf(file.f, ",%s", p == panel_of(cells[at[METRIC]]) && text_is(role_names[role], cells[at[ROLE]])
                        ? cells[at[SIMULATED]] : "NaN");
        fprintf(file.f, "\n");
    }
    return new_file_save(&file, err);
}

/* ---- where a step's time goes --------------------------------------------------------------------------------- */

static const char *const share_names[] = { "matmul and convolution", "vector work", "rearrange", "exchange", "sync",
                                           "copies and bubble", "accumulate and optimizer", "all-reduce", "host and streaming" };
enum { N_SHARES = sizeof share_names / sizeof *share_names };
static const unsigned char share_of_part[] = {
    [PART_MATMUL] = 0, [PART_CONV] = 0, [PART_LSTM] = 0,
    [PART_NORM] = 1, [PART_ELEMENTWISE] = 1, [PART_SOFTMAX] = 1, [PART_EMBEDDING] = 1, [PART_POOLING] = 1, [PART_LOSS] = 1,
    [PART_REARRANGE] = 2, [PART_EXCHANGE] = 3, [PART_SYNC] = 4, [PART_STAGE_COPY] = 5, [PART_BUBBLE] = 5,
    [PART_ACCUMULATE] = 6, [PART_OPTIMIZER] = 6, [PART_ALL_REDUCE] = 7, [PART_STREAMING] = 8, [PART_HOST] = 8,
};
_Static_assert(sizeof share_of_part == N_PARTS, "one share a part");

/* By model, then round, then chips. */
static int run_order(const void *a, const void *b)
{
    const struct result *x = *(const struct result *const *)a, *y = *(const struct result *const *)b;
    int by_model = strcmp(x->workload, y->workload), by_round = strncmp(x->id, y->id, strlen("mlperf-v0.0"));
    if (by_model || by_round)
        return by_model ? by_model : by_round;
    if (x->ipus != y->ipus)
        return x->ipus < y->ipus ? -1 : 1;
    return strcmp(x->id, y->id);
}

static const struct result **mlperf_runs(size_t *n, const struct plot_data *d)
{
    const struct result **runs = ARENA_ARRAY(&d->s->arena, const struct result *, d->results.n + 1);
    *n = 0;
    for (size_t i = 0; i < d->results.n; i++)
        if (strncmp(d->results.items[i].id, "mlperf-", strlen("mlperf-")) == 0 && d->results.items[i].step_time_s > 0)
            runs[(*n)++] = &d->results.items[i];
    qsort(runs, *n, sizeof *runs, run_order);
    return runs;
}

/* Percent of the step, stacked: each share's left and right end. The first run is the highest row. */
static bool write_breakdown(const struct plot_data *d, const char *folder, struct err *err)
{
    struct new_file file;
    size_t n;
    const struct result **runs = mlperf_runs(&n, d);
    if (!open_data(&file, folder, "breakdown", d->s, err))
        return false;
    fprintf(file.f, "row,low,high,label");
    for (size_t k = 0; k < N_SHARES; k++)
        fprintf(file.f, ",%s,%s end", share_names[k], share_names[k]);
    fprintf(file.f, "\n");
    for (size_t i = 0; i < n; i++) {
        const struct result *r = runs[i];
        size_t row = n - 1 - i;
        double share[N_SHARES] = {0}, end = 0;
        for (size_t p = 0; p < N_PARTS; p++)
            share[share_of_part[p]] += 100 * r->breakdown_s[p] / r->step_time_s;
        fprintf(file.f, "%zu,%g,%g,%s", row, (double)row - 0.4, (double)row + 0.4, r->id + strlen("mlperf-"));
        for (size_t k = 0; k < N_SHARES; k++) {
            fprintf(file.f, ",%.6g,%.6g", end, end + share[k]);
            end += share[k];
        }
        fprintf(file.f, "\n");
    }
    return new_file_save(&file, err);
}

/* ---- where more chips stop paying --------------------------------------------------------------------------------- */

static bool write_sweep(const struct plot_data *d, const struct sweep *w, const char *folder, struct err *err)
{
    struct new_file file;
    if (!open_data(&file, folder, arena_printf(&d->s->arena, "more-chips-%s", w->name), d->s, err))
        return false;
    fprintf(file.f, "chips,gradient accumulation,global batch,minutes,low,high,samples,chip hours\n");
    for (size_t i = 0; i < n_sweep_sizes; i++) {
        struct sweep_point p = {0};
        if (!sweep_best(&p, w, sweep_sizes[i], d->s))
            continue;
        const double cells[] = { (double)p.chips, (double)p.accumulation, p.batch, p.minutes, p.low, p.high, p.samples,
                                 (double)p.chips * p.minutes / 60 };
        for (size_t k = 0; k < 8; k++)
            write_number(file.f, cells[k], k == 7);
    }
    return new_file_save(&file, err);
}

static bool write_sweeps(const struct plot_data *d, const char *folder, struct err *err)
{
    for (size_t i = 0; i < n_sweeps; i++)
        if (!write_sweep(d, &sweeps[i], folder, err))
            return false;
    return true;
}

/* ---- recomputation: memory against extra work ---------------------------------------------------------------- */

static const char *const recompute_workloads[] = { "resnet50", "resnet152", "densenet121" };

static bool write_recompute(const struct plot_data *d, const char *workload, const char *folder, struct err *err)
{
    struct graph g = {0};
    struct recompute_point *points;
    struct new_file file;
    size_t n;
    const struct workload *w = workload_find(workload, err);
    if (!w || !workload_graph(&g, w, NULL, &d->s->arena, err) ||
        !open_data(&file, folder, arena_printf(&d->s->arena, "recompute-%s", workload), d->s, err))
        return false;
    recompute_curve(&points, &n, &g, &d->s->arena);
    fprintf(file.f, "checkpoints,memory,extra work\n");
    for (size_t i = 0; i < n; i++) {
        write_number(file.f, points[i].n_checkpoints, false);
        write_number(file.f, 100 * points[i].memory_share, false);
        write_number(file.f, 100 * points[i].extra_work_share, true);
    }
    return new_file_save(&file, err);
}

static bool write_recomputes(const struct plot_data *d, const char *folder, struct err *err)
{
    for (size_t i = 0; i < sizeof recompute_workloads / sizeof *recompute_workloads; i++)
        if (!write_recompute(d, recompute_workloads[i], folder, err))
            return false;
    return true;
}

/* ---- a small pipeline --------------------------------------------------------------------------------------- */

static const struct pipeline_picture { const char *name, *sets[2]; } pipelines[] = {
    { "pipeline-inference", { "recipe.mode=infer", "parallel.gradient_accumulation=8" } },
    { "pipeline-training", { "recipe.mode=train", "parallel.gradient_accumulation=16" } },
};

/* A bar a span: from and to (ms) stand in the columns of its kind; the chip's line is 0.8 high. */
static void write_bar(FILE *f, const struct timeline *t, const struct span *s, uint32_t k)
{
    static const enum span_kind shown[] = { SPAN_FORWARD, SPAN_BACKWARD, SPAN_COPY };
    double ms = 1e3 / t->plan->topology->machine->chip.clock_hz;
    double from = (double)(s->start_cycle + k * s->period_cycles) * ms, to = from + (double)s->n_cycles * ms;
    uint32_t ipu = t->rows[s->row].ipu;
    bool numbered = s->kind == SPAN_FORWARD || s->kind == SPAN_BACKWARD;
    fprintf(f, "%u,%.1f,%.1f,%.6g,", ipu, ipu - 0.4, ipu + 0.4, (from + to) / 2);
    if (numbered)
        fprintf(f, "%u", s->which + k + 1);
    for (size_t i = 0; i <= sizeof shown / sizeof *shown; i++) {
        bool other = s->kind != SPAN_FORWARD && s->kind != SPAN_BACKWARD && s->kind != SPAN_COPY;
        bool mine = i < sizeof shown / sizeof *shown ? s->kind == shown[i] : other;
        fprintf(f, mine ? ",%.6g,%.6g" : ",NaN,NaN", from, to);
    }
    fputc('\n', f);
}

static bool write_pipeline(const struct plot_data *d, const struct pipeline_picture *pic, const char *folder, struct err *err)
{
    struct simulation sim = {0};
    struct result r;
    struct new_file file;
    if (!simulator_run(&d->s->simulator, &sim, &r, "vendor-ipu-pod16-resnet50-pipelined", pic->sets, 2, err) ||
        !open_data(&file, folder, pic->name, d->s, err))
        return false;
    fprintf(file.f, "chip,low,high,middle,micro-batch,forward,forward end,backward,backward end,copy,copy end,update,update end\n");
    for (size_t i = 0; i < sim.timeline.n_spans; i++)
        for (uint32_t k = 0; sim.timeline.spans[i].kind != SPAN_WAIT && k < sim.timeline.spans[i].repeat; k++)
            write_bar(file.f, &sim.timeline, &sim.timeline.spans[i], k);
    simulation_free(&sim);
    return new_file_save(&file, err);
}

static bool write_pipelines(const struct plot_data *d, const char *folder, struct err *err)
{
    return write_pipeline(d, &pipelines[0], folder, err) && write_pipeline(d, &pipelines[1], folder, err);
}

/* ---- gnuplot ----------------------------------------------------------------------------------------------- */

/* A gnuplot string: single quotes doubled. */
static const char *gnuplot_string(const char *text, struct arena *a)
{
    char *out = arena_alloc(a, 2 * strlen(text) + 3), *p = out;
    *p++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            *p++ = '\'';
        *p++ = *text;
    }
    *p = '\'';
    return out;
}

/* gnuplot talks on stderr about every empty column; it is shown, its first line, only when gnuplot fails. */
static bool wait_for(pid_t child, const char *script, FILE *talk, struct err *err)
{
    int status;
    char line[256] = "";
    if (waitpid(child, &status, 0) < 0)
        return fail(err, "%s: gnuplot was lost", script);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail(err, "gnuplot is not installed: apt-get install gnuplot-nox");
    rewind(talk);
    while (fgets(line, sizeof line, talk) && (strstr(line, "warning:") || *line == '\n'))
        line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    return fail(err, "%s: gnuplot failed: %s", script, line);
}

static bool draw(const char *script, const char *style, const char *name, const char *format, const char *folder,
                 struct arena *a, struct err *err)
{
    const char *set = arena_printf(a, "style=%s; name=%s; format='%s'", gnuplot_string(style, a), gnuplot_string(name, a), format);
    FILE *talk = tmpfile();
    if (!talk)
        return fail(err, "%s: no temporary file could be made", script);
    pid_t child = fork();
    if (child == 0) {
        setenv("LC_ALL", "C", 1);
        if (dup2(fileno(talk), STDERR_FILENO) >= 0 && chdir(folder) == 0)
            execlp("gnuplot", "gnuplot", "-d", "-e", set, script, (char *)NULL);
        _exit(127);
    }
    bool good = child > 0 ? wait_for(child, script, talk, err) : fail(err, "%s: no new process could be made", script);
    fclose(talk);
    return good;
}

/* Every plots/NAME.gp draws NAME, apart from style.gp, which they share. */
static bool draw_all(const char *folder, struct session *s, struct err *err)
{
    static const char *const formats[] = { "svg", "png" };
    char **names, plots[4096];
    size_t n;
    if (!realpath(s->plots_dir, plots))
        return fail(err, "%s: cannot be read", s->plots_dir);
    if (!list_folder(&names, &n, plots, ".gp", &s->arena, err))
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2 && !text_is(names[i], "style"); k++)
            if (!draw(arena_printf(&s->arena, "%s/%s.gp", plots, names[i]), arena_printf(&s->arena, "%s/style.gp", plots),
                      names[i], formats[k], folder, &s->arena, err))
                return false;
    return true;
}

/* ---- the command ---------------------------------------------------------------------------------------------- */

static bool load_plot_data(struct plot_data *d, const char *run, struct err *err)
{
    struct session *s = d->s;
    const char *rows, *check;
    return run_open(run, result_columns(&s->arena), s, err) && run_table_path(&rows, run, "rows.csv", s, err) && run_table_path(&check, run, "check.csv", s, err) &&
           results_load(&d->results, rows, &s->arena, err) && csv_load(&d->check, check, &s->arena, err) &&
           published_load(&d->figures, s->published_dir, &s->arena, err);
}

int command_plot(const struct options *o, struct session *s, struct err *err)
{
    struct plot_data d = { .s = s };
    const char *folder;
    const char *run = o->n_arguments ? o->arguments[0] : "latest";
    bool good = load_plot_data(&d, run, err) && run_table_path(&folder, run, "figures", s, err) && make_folders(folder, err) &&
                write_scaling(&d, "resnet50", folder, err) && write_scaling(&d, "bert-large", folder, err) &&
                write_times(&d, "resnet50", "resnet", folder, err) && write_times(&d, "bert-large", "bert", folder, err) &&
                write_accuracy(&d, folder, err) && write_breakdown(&d, folder, err) && write_recomputes(&d, folder, err) &&
                 write_sweeps(&d, folder, err) && write_pipelines(&d, folder, err) && draw_all(folder, s, err);
    if (!good)
        return EXIT_BAD_INPUT;
    fprintf(stderr, "podbench: figures in %s\n", folder);
    return EXIT_DONE;
}
