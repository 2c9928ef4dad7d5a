/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.c - podbench report: a run as one self-contained HTML page, for a reader with two minutes.
 *
 * The page is a story: the result in one sentence, how it is known, where the time of the largest run goes, what is missed, and the figures
 * with their findings (inline SVG from podbench plot; report.js lets them answer to the mouse). Then follow folded tables that can be sorted
 * and filtered, a card for each run, and the status for CI. Every number links to its row, its source and its run.
 */
#include "harness/harness.h"
#include "harness/report_tables.h"
#include "results/study/trust.h"
#include <unistd.h>

/* ---- numbers ----------------------------------------------------------------------------- */

static void write_card(FILE *f, const char *number, const char *what)
{
    fprintf(f, "<div><b>%s</b>%s</div>\n", number, what);
}

static const char *prediction_cell(const struct csv_table *t, size_t id, const char *name, size_t column)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (text_is(t->rows[i].cells[id], name))
            return t->rows[i].cells[column];
    return NULL;
}

static bool load_predictions(struct csv_table *t, size_t *id, size_t *simulated, const char *path, struct arena *a)
{
    return csv_load(t, path, a, NULL) && csv_column(id, t, "id", NULL) && csv_column(simulated, t, "simulated", NULL);
}

/* The number of rows of check.csv whose prediction differs from the baseline's; NAN without a baseline. */
static double moved_rows(const struct report_page *r)
{
    struct csv_table base, run;
    size_t base_id, base_simulated, id, simulated, n = 0;
    if (!load_predictions(&base, &base_id, &base_simulated, arena_printf(r->a, "%s/check.csv", r->baselines_dir), r->a)
        || !load_predictions(&run, &id, &simulated, r->check_path, r->a))
        return NAN;
    for (size_t i = 0; i < run.n_rows; i++) {
        const char *was = prediction_cell(&base, base_id, run.rows[i].cells[id], base_simulated), *now = run.rows[i].cells[simulated];
        n += was && *now && !text_is(was, now);
    }
    return (double)n;
}

struct tolerance_count { size_t n, n_out; };

/* Counts the judged rows, and those out of tolerance, of one of two kinds: runs with their evaluations, memory and derived rows; or kernels
 * and links. */
static struct tolerance_count rows_out_of_tolerance(const struct check *c, bool of_runs)
{
    struct tolerance_count count = {0};
    for (size_t i = 0; i < c->n; i++) {
        enum figure_kind kind = figure_kind(c->rows[i].figure);
        if (c->rows[i].figure->role == FIGURE_CONTEXT || of_runs == (kind == FIGURE_OF_KERNEL || kind == FIGURE_OF_LINK))
            continue;
        count.n++;
        count.n_out += c->rows[i].verdict != VERDICT_PASS;
    }
    return count;
}

static void write_known(FILE *f, const struct check *c, const struct report_page *r)
{
    const struct check_group runs = { .kind = FIGURE_OF_RUN };
    struct accuracy blind = check_accuracy(c, COUNTS_AS_VALIDATE, &runs, r->a);
    fputs("<section id=\"known\">\n", f);
    if (blind.errors.n)
        fprintf(f, "<p><b>%.1f %%</b> is the median error over %zu published configurations of role validate (mean %.1f %%, worst %.0f %%, bias %+.1f %%, + where "
                   "too fast).</p>\n", 100 * blind.errors.median, blind.errors.n, 100 * blind.errors.mean, 100 * blind.max_abs_error, 100 * blind.errors.bias);
    fputs("<p class=\"dim\">Each published figure has a role, which a ledger holds. Rows of role calibrate may shape constants; "
          "rows of role validate never do, so their errors are what a new run has to expect. Each answer has a 90 % interval, made of the errors of "
          "runs that the fit had not seen.</p>\n</section>\n", f);
}

static void write_status(FILE *f, const struct check *c, const struct report_page *r)
{
    double moved = moved_rows(r);
    struct tolerance_count runs_out = rows_out_of_tolerance(c, true), parts_out = rows_out_of_tolerance(c, false);
    fprintf(f, "<h2 id=\"status\">Status for CI</h2>\n<p>%s.</p>\n<div class=\"numbers\">\n",
            check_passes(c) ? "Every judged figure is within tolerance" : "Some judged figures are out of tolerance");
    write_card(f, arena_printf(r->a, "%zu of %zu", runs_out.n_out, runs_out.n),
               arena_printf(r->a, "judged rows of runs are out of tolerance; of kernels and links %zu of %zu", parts_out.n_out, parts_out.n));
    write_card(f, isnan(moved) ? "no baseline" : arena_printf(r->a, "%.0f", moved), "predictions of published figures moved since the baseline");
    fputs("</div>\n", f);
}

/* ---- figures ------------------------------------------------------------------------------------------- */

/* Replacements that fit a drawing into the page. Ids get the figure's name ("%s") in front, as they must be unique in the page. Attributes
 * that gnuplot repeats for every mark become classes of report.css. Parts for gnuplot's own script are dropped. */
static const struct { const char *from, *to; } rewritten[] = {
    { "<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" stroke-linecap=\"butt\" stroke-linejoin=\"miter\">\n</g>\n", "" },
    { "<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" stroke-linecap=\"butt\" stroke-linejoin=\"miter\">", "<g class=\"g\">" },
    { " onmouseout=\"gnuplot_svg.hideHypertext()\"><title> </title>", ">" }, { " shape-rendering='crispEdges'", "" },
    { "<tspan font-family=\"Helvetica\" >", "<tspan>" },
    { " font-family=\"Helvetica\"", "" }, { " font-size=\"13.50\"", "" }, { "  text-anchor=\"start\"", "" }, { "stroke='none'", "class=\"n\"" },
    { " stroke=\"none\" fill=\"black\"", " class=\"t\"" }, { " color='rgb(  0,   0,   0)' opacity='0.00'", "" },
    { "onmousemove=\"gnuplot_svg.showHypertext(evt,'", "data-says=\"" }, { "')\"", "\"" }, { " fill = ", " fill=" }, { " points = ", " points=" },
    { "\t", "" }, { ">\n", ">" }, { "\n", " " },
    { "id=\"", "id=\"%s-" }, { "id='", "id='%s-" }, { "href='#", "href='#%s-" }, { "href=\"#", "href=\"#%s-" }, { "url(#", "url(#%s-" },
};

static bool write_svg(FILE *f, const char *path, const char *name, struct arena *a, struct err *err)
{
    enum { N = sizeof rewritten / sizeof *rewritten };
    char *text, begins[N + 2] = "r";                /* the first characters of all texts that are replaced */
    for (size_t i = 0; i < N; i++)
        begins[i + 1] = *rewritten[i].from;
    if (!read_text_file(&text, NULL, path, LARGEST_FILE_BYTES, a, err))
        return false;
    const char *p = strstr(text, "<svg");
    if (!p)
        return fail(err, "%s: holds no <svg; draw it again with 'podbench plot'", path);
    while (*p) {
        size_t i = 0, n_plain = strcspn(p, begins);
        unsigned red, green, blue;
        int n_colour = 0;
        if (n_plain) {
            fwrite(p, 1, n_plain, f);
            p += n_plain;
            continue;
        }
        if (*p == 'r' && sscanf(p, "rgb(%u,%u,%u)%n", &red, &green, &blue, &n_colour) == 3 && n_colour) {
            fprintf(f, "#%02x%02x%02x", red, green, blue);
            p += n_colour;
            continue;
        }
        while (i < N && strncmp(p, rewritten[i].from, strlen(rewritten[i].from)) != 0)
            i++;
        if (i == N) {
            fputc(*p++, f);
            continue;
        }
        p += strlen(rewritten[i].from);
        const char *to = rewritten[i].to, *hole = strstr(to, "%s");
        fprintf(f, "%.*s", hole ? (int)(hole - to) : (int)strlen(to), to);
        if (hole)
            write_xml_text(f, name), fputs(hole + 2, f);
    }
    fputc('\n', f);
    return true;
}

/* The chapters of the page with their figures. Figures that are not listed come in the last chapter. */
static const struct { const char *id, *heading, *text, *figures[8]; } chapters[] = {
    { "known", NULL, NULL, { "scaling", "kinds", "time-to-train" } },           /* this chapter is the first screen */
    { "time", "Where the time goes", NULL, { "waterfall", "breakdown", "roofline", "pipeline", "links" } },
    { "memory", "What fits", "The fullest tile decides: its bytes by category, and how they grow with the micro-batch.", { "memory", "fit" } },
    { "help", "What would help", NULL, { "map", "recompute", "more-chips", "servers", "large" } },
};
enum { N_CHAPTERS = sizeof chapters / sizeof *chapters };

static size_t chapter_of(const char *figure)
{
    size_t i = 0;
    for (; i + 1 < N_CHAPTERS; i++)
        for (size_t k = 0; chapters[i].figures[k]; k++)
            if (text_is(chapters[i].figures[k], figure))
                return i;
    return i;
}

/* The table findings.csv, which lists the figures in order. If it is missing, the page says how to draw them. */
struct drawn { struct csv_table findings; size_t figure, finding; bool is_there; };

/* Writes the wide drawing and, if `podbench plot` made one, the narrow one for a phone; the page shows the one that fits. */
static bool write_drawings(FILE *f, const char *name, const struct report_page *r, struct err *err)
{
    const char *wide = arena_printf(r->a, "%s/%s.svg", r->figures_dir, name), *narrow = arena_printf(r->a, "%s/%s-narrow.svg", r->figures_dir, name);
    if (access(narrow, F_OK) != 0)
        return write_svg(f, wide, name, r->a, err);
    fputs("<div class=\"wide\">\n", f);
    if (!write_svg(f, wide, name, r->a, err))
        return false;
    fputs("</div><div class=\"narrow\">\n", f);
    if (!write_svg(f, narrow, arena_printf(r->a, "%s-narrow", name), r->a, err))
        return false;
    fputs("</div>\n", f);
    return true;
}

static bool write_figures(FILE *f, const struct drawn *drawn, size_t chapter, const struct report_page *r, struct err *err)
{
    for (size_t i = 0; drawn->is_there && i < drawn->findings.n_rows; i++) {
        const char *name = drawn->findings.rows[i].cells[drawn->figure];
        if (chapter_of(name) != chapter)
            continue;
        fprintf(f, "<figure id=\"figure-%s\" tabindex=\"0\"><figcaption>%s</figcaption>\n", xml_text(name, r->a),
                xml_text(drawn->findings.rows[i].cells[drawn->finding], r->a));
        if (!write_drawings(f, name, r, err))
            return false;
        fputs("</figure>\n", f);
    }
    return true;
}

/* ---- the page --------------------------------------------------------------------------------------------- */

static bool write_chapters(FILE *f, const struct check *c, const struct results *results, const struct report_page *r, struct err *err)
{
    struct drawn drawn;
    drawn.is_there = csv_load(&drawn.findings, arena_printf(r->a, "%s/findings.csv", r->figures_dir), r->a, NULL)
                     && csv_column(&drawn.figure, &drawn.findings, "figure", NULL) && csv_column(&drawn.finding, &drawn.findings, "finding", NULL);
    if (!drawn.is_there)
        fputs("<p class=\"dim\">No figures were drawn for this run: <code>podbench plot</code> draws them.</p>\n", f);
    for (size_t i = 0; i < N_CHAPTERS; i++) {
        if (chapters[i].heading)
            fprintf(f, "<h2 id=\"%s\">%s</h2>\n", chapters[i].id, chapters[i].heading);
        if (text_is(chapters[i].id, "time"))
            report_write_hero(f, results, r);
        else if (text_is(chapters[i].id, "help"))
            report_write_help(f, results, r);
        else if (chapters[i].text)
            fprintf(f, "<p>%s</p>\n", chapters[i].text);
        fputs("<div class=\"figures\">\n", f);
        if (text_is(chapters[i].id, "known"))
            write_known(f, c, r);
        if (!write_figures(f, &drawn, i, r, err))
            return false;
        fputs("</div>\n", f);
    }
    return true;
}

static bool write_page(FILE *f, const struct check *c, const struct results *results, const struct report_page *r, struct err *err)
{
    const struct page page = { f, r->plots_dir, r->a };
    if (!page_open(&page, "podbench report", "report", err))
        return false;
    fputs("<main>\n", f);
    report_write_opening(f, c, results, r);
    if (!write_chapters(f, c, results, r, err))
        return false;
    report_write_missed(f, c, r);
    report_write_accuracy(f, c, r);
    report_write_published(f, c, r);
    report_write_runs(f, c, results, r);
    write_status(f, c, r);
    fputs("</main>\n", f);
    return page_close(&page, "report", err);
}

static bool save_page(const char *path, const struct check *c, const struct results *results, const struct report_page *r, struct err *err)
{
    struct new_file file;
    return new_file_open(&file, path, err) && new_file_end(&file, write_page(file.f, c, results, r, err), err);
}

enum { RUNS_PER_CHUNK = 16 };

struct trusted_run { const struct result *r; const struct track_record *record; const char *text; struct arena arena; };

/* Simulates a recipe again to judge the throughput of the run. A run with overrides, or of a missing recipe, gets no text. */
static void judge_one(void *user, size_t i, struct simulator *by)
{
    struct trusted_run *x = (struct trusted_run *)user + i;
    struct simulation sim;
    struct result again;
    struct validity v;
    struct document d = { .arena = &x->arena };
    char *text = NULL;
    size_t n;
    if ((x->r->overrides && *x->r->overrides) || !simulator_run(by, &sim, &again, x->r->id, NULL, 0, NULL))
        return;
    FILE *f = text_stream(&text, &n);
    validity_of(&v, x->record, &sim, x->r, NULL, &x->arena);
    validity_add_readings(&v, x->record, &again, &(struct simulation_request){ .recipe = x->r->id, .simulator = by }, &x->arena);
    validity_document(&d, &v, x->r);
    document_write(f, FORMAT_TEXT, &d);
    x->text = text_close(f, &text, &x->arena);
    simulation_free(&sim);
}

static bool judge_runs(struct report_page *out, const struct results *results, uint32_t n_threads, struct session *s, struct err *err)
{
    struct track_record record;
    struct simulator_pool pool;
    struct trusted_run *all = ARENA_ARRAY(&s->arena, struct trusted_run, results->n);
    if (!session_record(&record, NULL, s, err))
        return false;
    out->trust = ARENA_ARRAY(&s->arena, const char *, results->n);
    for (size_t i = 0; i < results->n; i++)
        all[i] = (struct trusted_run){ .r = &results->items[i], .record = &record };
    simulator_pool_open(&pool, &s->paths, n_threads, (struct simulator_options){ .totals_only = true, .verdict_only = true });
    simulator_pool_run(&pool, results->n, RUNS_PER_CHUNK, judge_one, all);
    simulator_pool_close(&pool);
    for (size_t i = 0; i < results->n; i++) {
        out->trust[i] = all[i].text ? arena_strdup(&s->arena, all[i].text) : NULL;
        arena_free(&all[i].arena);
    }
    return true;
}

int command_report(const struct options *o, struct session *s, struct err *err)
{
    const char *run = o->n_arguments ? o->arguments[0] : "latest", *folder;
    struct figures published;
    struct check_source from = session_source(s, &s->simulator);
    struct report_page r = { .plots_dir = s->plots_dir, .baselines_dir = s->baselines_dir, .published = &published, .simulator = &s->simulator, .a = &s->arena };
    struct check c;
    uint32_t n_threads;
    if (!count_threads(&n_threads, o, err) || !run_open(run, result_columns(&s->arena), s, err) || !run_folder(&folder, run, s, err))
        return EXIT_BAD_INPUT;
    r.figures_dir = arena_printf(&s->arena, "%s/figures", folder);
    r.check_path = arena_printf(&s->arena, "%s/check.csv", folder);
    const char *page = arena_printf(&s->arena, "%s/report.html", folder);
    if (!results_load(&from.known, arena_printf(&s->arena, "%s/rows.csv", folder), &s->arena, err) ||
        !session_figures(&published, o->published, s, err) ||
        !check_build(&c, &published, &from, &s->arena, err) || !judge_runs(&r, &from.known, n_threads, s, err) || !save_page(page, &c, &from.known, &r, err))
        return EXIT_BAD_INPUT;
    fprintf(s->log, "podbench: %s\n", page);
    return EXIT_DONE;
}
