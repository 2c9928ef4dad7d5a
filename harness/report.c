/*
 * report.c - podbench report: a run as one HTML page that needs nothing else: the accuracy, the figures
 * (SVG, inline), every published row, every result. Figures are there when podbench plot has drawn them.
 */
#include "harness/harness.h"
#include "results/judgement/judgement.h"
#include "results/accuracy/check.h"
#include "results/published/derived.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_FIGURE_BYTES = 16 << 20 };

static const char style[] =
    "body{font:15px/1.45 sans-serif;max-width:1250px;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;font-size:13px;margin:1em 0}td,th{padding:2px 9px;border-bottom:1px solid #ddd;text-align:left}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}tr.bad td{background:#fdeee4}svg{max-width:100%;height:auto}"
    ".scroll{overflow-x:auto}";

static void write_cell(FILE *f, const char *text)
{
    double unused;
    fputs(parse_f64(text, &unused) ? "<td class=\"n\">" : "<td>", f);
    write_xml_text(f, text);
    fputs("</td>", f);
}

static void write_number_cell(FILE *f, bool known, double percent)
{
    if (known)
        fprintf(f, "<td class=\"n\">%.2f</td>", percent);
    else
        fputs("<td class=\"n\">-</td>", f);
}

static void write_summary(FILE *f, const struct check *c, struct arena *a)
{
    size_t n;
    struct accuracy *all = check_summary(&n, c, a);
    fputs("<h2>Accuracy</h2>\n<p>Relative error of the simulated value, in percent, each configuration counted once. Rows of role "
          "<i>validate</i> never shaped a constant; those whose configuration also calibrates stand under <i>repeats</i>.</p>\n<table><tr><th>by<th>of<th>role<th>rows<th>simulated<th>passed<th>configurations<th>median<th>mean<th>worst<th>bias"
          "<th>worst row</tr>\n", f);
    for (size_t i = 0; i < n; i++) {
        const struct accuracy *x = &all[i];
        bool known = x->n_simulated > 0;
        fputs("<tr>", f);
        write_cell(f, x->group);
        write_cell(f, x->name);
        write_cell(f, standing_names[x->standing]);
        fprintf(f, "<td class=\"n\">%zu</td><td class=\"n\">%zu</td><td class=\"n\">%zu</td><td class=\"n\">%zu</td>", x->n_rows,
                x->n_simulated, x->n_passed, x->n_configurations);
        write_number_cell(f, known, 100 * x->median_abs_error);
        write_number_cell(f, known, 100 * x->mean_abs_error);
        write_number_cell(f, known, 100 * x->max_abs_error);
        write_number_cell(f, known, 100 * x->bias);
        write_cell(f, x->worst ? x->worst->figure->id : "-");
        fputs("</tr>\n", f);
    }
    fputs("</table>\n", f);
}

static void write_figures_rows(FILE *f, const struct check *c)
{
    char text[64];
    fputs("<h2>Published figures</h2>\n<div class=\"scroll\"><table><tr><th>figure<th>metric<th>role<th>published<th>simulated"
          "<th>error %<th>verdict<th>source</tr>\n", f);
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        fputs(row->verdict == VERDICT_PASS || row->figure->role == FIGURE_CONTEXT ? "<tr>" : "<tr class=\"bad\">", f);
        write_cell(f, row->figure->id);
        write_cell(f, row->figure->metric);
        write_cell(f, role_names[row->figure->role]);
        snprintf(text, sizeof text, "%.6g", row->figure->value);
        write_cell(f, text);
        snprintf(text, sizeof text, "%.6g", row->simulated);
        write_cell(f, row->has_simulated ? text : "-");
        write_number_cell(f, row->has_simulated, 100 * row->error);
        write_cell(f, verdict_names[row->verdict]);
        write_cell(f, row->figure->source ? row->figure->source : "");
        fputs("</tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

static void write_results(FILE *f, const struct csv_table *rows)
{
    fputs("<h2>Results</h2>\n<div class=\"scroll\"><table><tr>", f);
    for (size_t k = 0; k < rows->n_columns; k++) {
        fputs("<th>", f);
        write_xml_text(f, rows->columns[k]);
    }
    fputs("</tr>\n", f);
    for (size_t i = 0; i < rows->n_rows; i++) {
        fputs("<tr>", f);
        for (size_t k = 0; k < rows->n_columns; k++)
            write_cell(f, rows->rows[i].cells[k]);
        fputs("</tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

/* The drawing alone: from "<svg" on, without the XML head; its ids are made the figure's own. */
static bool write_svg(FILE *f, const char *path, const char *name, struct arena *a, struct err *err)
{
    char *text;
    if (!read_text_file(&text, NULL, path, LARGEST_FIGURE_BYTES, a, err))
        return false;
    const char *svg = strstr(text, "<svg");
    if (!svg)
        return fail(err, "%s: holds no <svg", path);
    fprintf(f, "<h3>%s</h3>\n", name);
    for (const char *p = svg; *p; p++) {
        fputc(*p, f);
        bool is_id = strncmp(p, "id=\"", 4) == 0 || strncmp(p, "id='", 4) == 0, is_use = strncmp(p, "href='#", 7) == 0 ||
                     strncmp(p, "href=\"#", 7) == 0, is_url = strncmp(p, "url(#", 5) == 0;
        size_t n = is_id ? 4 : is_use ? 7 : is_url ? 5 : 0;
        if (n) {
            fwrite(p + 1, 1, n - 1, f);
            fprintf(f, "%s-", name);
            p += n - 1;
        }
    }
    fputc('\n', f);
    return true;
}

static bool write_drawings(FILE *f, const char *folder, struct arena *a, struct err *err)
{
    char **names;
    size_t n;
    if (!list_folder(&names, &n, folder, ".svg", a, NULL))
        return true;
    fputs("<h2>Figures</h2>\n", f);
    for (size_t i = 0; i < n; i++)
        if (!write_svg(f, arena_printf(a, "%s/%s.svg", folder, names[i]), names[i], a, err))
            return false;
    return true;
}

static bool write_page(FILE *f, const struct check *c, const struct csv_table *rows, const char *figures, struct arena *a,
                       struct err *err)
{
    fprintf(f, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>podbench report</title>"
            "<style>%s</style></head><body>\n<h1>podbench: %zu recipes, %zu published figures</h1>\n", style, rows->n_rows, c->n);
    write_summary(f, c, a);
    if (!write_drawings(f, figures, a, err))
        return false;
    write_figures_rows(f, c);
    write_results(f, rows);
    fputs("</body></html>\n", f);
    return true;
}

int command_report(const struct options *o, struct session *s, struct err *err)
{
    const char *run = o->n_arguments ? o->arguments[0] : "latest", *rows_path, *figures, *page;
    struct csv_table rows;
    struct figures published = {0};
    struct check_source from = { .simulator = &s->simulator };
    struct check c;
    struct new_file file;
    if (!run_open(run, result_columns(&s->arena), s, err) || !run_table_path(&rows_path, run, "rows.csv", s, err) || !run_table_path(&figures, run, "figures", s, err) ||
        !run_table_path(&page, run, "report.html", s, err) || !csv_load(&rows, rows_path, &s->arena, err) ||
        !results_load(&from.known, rows_path, &s->arena, err) ||
        !published_load_derived(&published, s->published_dir, s->paths.recipes_dir, &s->arena, err) || !check_build(&c, &published, &from, &s->arena, err) ||
        !new_file_open(&file, page, err))
        return EXIT_BAD_INPUT;
    if (!write_page(file.f, &c, &rows, figures, &s->arena, err)) {
        new_file_drop(&file);
        return EXIT_BAD_INPUT;
    }
    if (!new_file_save(&file, err))
        return EXIT_BAD_INPUT;
    fprintf(stderr, "podbench: %s\n", page);
    return EXIT_DONE;
}
