/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot.c - podbench plot: the figures of a run.
 *
 * The data of each figure is written to RUN/figures as CSV, from which gnuplot draws it as SVG and PNG. All arithmetic is done in C; the
 * scripts in plots/ only pick columns by name. Unknown values are NaN, which gnuplot skips.
 */
#include "harness/harness.h"
#include "results/figures/drawings.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- where more chips stop paying ------------------------------------------------ */

static void write_sweep(struct drawing *d, const struct scaling_case *w, struct chips_point *last, struct session *s)
{
    FILE *f = drawing_table(d, arena_printf(d->a, "more-chips-%s", w->name),
                            "chips,gradient accumulation,global batch,minutes,low,high,samples,chip hours");
    for (size_t i = 0; i < n_scaling_sizes; i++) {
        struct chips_point p;
        if (!scaling_best(&p, w, scaling_sizes[i], d->from->record, s))
            continue;
        drawing_shows(d, p.guess);
        DRAWING_ROW(f, NULL, (double)p.chips, (double)p.accumulation, p.batch, p.minutes, p.low, p.high, p.samples, (double)p.chips * p.minutes / 60);
        last[0] = last[1];
        last[1] = p;
    }
}

static void write_sweeps(struct drawing *d, struct session *s)
{
    const char *text = "";
    d->missing = "no recipe to take to other sizes";
    for (size_t i = 0; i < n_scaling_cases; i++) {
        struct chips_point last[2] = {0};
        if (!results_find(d->from->results, scaling_cases[i].recipe))
            return;
        write_sweep(d, &scaling_cases[i], last, s);
        text = arena_printf(d->a, "%s%s%s from %llu to %llu IPUs: %.2f times as fast", text, i ? "; " : "", scaling_cases[i].name,
                            (unsigned long long)last[0].chips, (unsigned long long)last[1].chips, last[0].minutes / last[1].minutes);
    }
    d->finding = text;
    drawing_say_guesses(d);
}

/* ---- gnuplot ----------------------------------------------------------------------------------------------- */

const char *gnuplot_string(const char *text, struct arena *a)
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

/* Waits for gnuplot. If it failed, the message has the first line of its stderr that is no warning, as it warns about every empty column. */
static bool gnuplot_wait(pid_t child, const char *script, FILE *talk, struct err *err)
{
    int status;
    char line[256] = "";
    if (waitpid(child, &status, 0) < 0)
        return fail(err, "%s: gnuplot ended unexpectedly", script);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    rewind(talk);
    while (fgets(line, sizeof line, talk) && (strstr(line, "warning:") || *line == '\n'))
        line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && !*line)
        return fail(err, "gnuplot is not installed: apt-get install gnuplot-nox");
    return fail(err, "%s: gnuplot failed: %s", script, line);
}

/* Starts gnuplot in a folder. The picture is read through *drawn, because gnuplot would not report a full disk. */
static pid_t start_gnuplot(FILE **drawn, FILE *talk, const char *script, const char *settings, const char *folder)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        setenv("LC_ALL", "C", 1);
        if (dup2(fileno(talk), STDERR_FILENO) >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0 && chdir(folder) == 0)
            execlp("gnuplot", "gnuplot", "-d", "-e", settings, script, (char *)NULL);
        if (errno != ENOENT)
            fprintf(talk, "%s\n", strerror(errno)), fflush(talk);
        _exit(127);
    }
    close(ends[1]);
    *drawn = fdopen(ends[0], "rb");
    return child;
}

static void copy_all(FILE *to, FILE *from)
{
    char bytes[8192];
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)); )
        fwrite(bytes, 1, n, to);
    fclose(from);
}

/* A running gnuplot and its picture. */
struct gnuplot { struct new_file file; FILE *talk, *drawn; pid_t child; };

static bool gnuplot_start(struct gnuplot *g, const char *picture, const char *script, const char *settings, const char *folder, struct err *err)
{
    *g = (struct gnuplot){ .talk = tmpfile(), .child = -1 };
    if (!g->talk)
        return fail(err, "%s: cannot make a temporary file", script);
    if (!new_file_open(&g->file, picture, err)) {
        fclose(g->talk);
        return false;
    }
    g->child = start_gnuplot(&g->drawn, g->talk, script, settings, folder);
    return true;
}

static bool gnuplot_end(struct gnuplot *g, const char *script, struct err *err)
{
    if (g->drawn)
        copy_all(g->file.f, g->drawn);
    bool drawn_well = g->child > 0 ? gnuplot_wait(g->child, script, g->talk, err) : fail(err, "%s: cannot start a process", script);
    fclose(g->talk);
    return new_file_end(&g->file, drawn_well, err);
}

bool gnuplot_draw(const char *picture, const char *script, const char *settings, const char *folder, struct err *err)
{
    struct gnuplot g;
    return gnuplot_start(&g, picture, script, settings, folder, err) && gnuplot_end(&g, script, err);
}

/* Draws plots/NAME.gp three times at once: as SVG for a page and for a phone (widths in points; report.css shows one of them), and as PNG. */
static bool draw_all_forms(const char *name, const char *finding, const char *folder, struct session *s, struct err *err)
{
    static const struct { const char *of, *format; unsigned width; } forms[] = { { "", "svg", 600 }, { "-narrow", "svg", 390 }, { "", "png", 600 } };
    enum { N_FORMS = sizeof forms / sizeof *forms };
    struct gnuplot started[N_FORMS];
    struct arena *a = &s->arena;
    char plots[4096];
    size_t n = 0;
    bool good = true;
    if (!realpath(s->plots_dir, plots))
        return fail(err, "%s: cannot be read", s->plots_dir);
    const char *script = arena_printf(a, "%s/%s.gp", plots, name);
    for (; good && n < N_FORMS; n += good) {
        const char *settings = arena_printf(a, "style=%s; finding=%s; width=%u; format='%s'", gnuplot_string(arena_printf(a, "%s/style.gp", plots), a),
                                            gnuplot_string(finding, a), forms[n].width, forms[n].format);
        good = gnuplot_start(&started[n], arena_printf(a, "%s/%s%s.%s", folder, name, forms[n].of, forms[n].format), script, settings, folder, err);
    }
    for (size_t i = 0; i < n; i++)
        good = gnuplot_end(&started[i], script, good ? err : NULL) && good;
    return good;
}

/* ---- the command ---------------------------------------------------------------------------------------------- */

struct findings { FILE *f; const char *folder; struct session *s; };

/* Ends a figure. A figure without data is not drawn, and a message says so. */
static bool finish(const struct drawing *d, const char *name, const struct findings *to, struct err *err)
{
    if (!d->finding) {
        fprintf(to->s->log, "podbench: no figure %s: the run has %s\n", name, d->missing);
        return true;
    }
    csv_write_cell(to->f, name, false);
    csv_write_cell(to->f, d->finding, true);
    return draw_all_forms(name, d->finding, to->folder, to->s, err);
}

static bool draw_all(const struct drawing_source *from, const struct findings *to, struct err *err)
{
    struct progress p;
    bool good = true;
    progress_start(&p, to->s->log, "drawing");
    for (size_t i = 0; good && i <= n_drawing_kinds; i++) {
        struct drawing d = { .folder = to->folder, .from = from, .a = &to->s->arena };
        const char *name = i < n_drawing_kinds ? drawing_kinds[i].name : "more-chips";
        if (i == n_drawing_kinds)
            write_sweeps(&d, to->s);
        good = (i < n_drawing_kinds ? drawing_make(&d, &drawing_kinds[i], err) : drawing_save(&d, true, err)) && finish(&d, name, to, err);
        progress_report(&p, "", i + 1, n_drawing_kinds + 1);
    }
    progress_end(&p);
    return good;
}

static bool load_source(struct drawing_source *out, const char *run, const char *from_table, struct session *s, struct err *err)
{
    struct arena *a = &s->arena;
    struct results *results = ARENA_NEW(a, struct results);
    struct figures *published = ARENA_NEW(a, struct figures);
    struct first_seen_rows *first_seen = ARENA_NEW(a, struct first_seen_rows);
    struct track_record *record = ARENA_NEW(a, struct track_record);
    struct first_sight seen;
    const char *rows;
    *out = (struct drawing_source){ results, published, first_seen, &s->simulator, record };
    if (!run_open(run, result_columns(a), s, err) || !run_table_path(&rows, run, "rows.csv", s, err) || !results_load(results, rows, a, err)
        || !published_load(published, from_table ? from_table : s->published_dir, a, err))
        return false;
    return session_record(record, NULL, s, err) && session_first_sight(&seen, s, err) && first_seen_build(first_seen, published, &seen, &s->simulator, a, err);
}

int command_plot(const struct options *o, struct session *s, struct err *err)
{
    struct drawing_source from;
    struct findings to = { .s = s };
    struct new_file list;
    const char *run = o->n_arguments ? o->arguments[0] : "latest", *folder;
    if (!run_folder(&folder, run, s, err) || !load_source(&from, run, o->published, s, err))
        return EXIT_BAD_INPUT;
    to.folder = arena_printf(&s->arena, "%s/figures", folder);
    if (!make_folders(to.folder, err) || !new_file_open(&list, arena_printf(&s->arena, "%s/findings.csv", to.folder), err))
        return EXIT_BAD_INPUT;
    to.f = list.f;
    s->simulator.options.verdict_only = true;           /* no figure shows smaller shares of memory */
    fprintf(to.f, "figure,finding\n");
    if (!new_file_end(&list, draw_all(&from, &to, err), err))
        return EXIT_BAD_INPUT;
    fprintf(s->log, "podbench: figures in %s\n", to.folder);
    return EXIT_DONE;
}
