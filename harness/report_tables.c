/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_tables.c - the tables of the report, which the page folds, sorts and filters, and a card for each run.
 */
#include "harness/report_tables.h"

/* A link to the element with the id WHERE-ID. */
static const char *report_link(const char *where, const char *id, const char *text, struct arena *a)
{
    return arena_printf(a, "<a href=\"#%s-%s\">%s</a>", where, xml_text(id, a), xml_text(text, a));
}

/* The number as text, or "-" if it is unknown. */
static const char *number_or_dash(bool known, const char *format, double x, struct arena *a)
{
    char text[40] = "-";
    if (known)
        snprintf(text, sizeof text, format, x);
    return arena_strdup(a, text);
}

const char *grouped_number(double x, int digits, struct arena *a)
{
    int magnitude = x == 0 ? 0 : (int)floor(log10(fabs(x))), decimals = digits - 1 - magnitude;
    double unit = pow(10, -decimals);
    const char *plain = decimals > 0 ? arena_printf(a, "%.*f", decimals, x) : arena_printf(a, "%.0f", round(x / unit) * unit);
    size_t n_whole = strcspn(plain, "."), n = 0;
    char *out = arena_alloc(a, 2 * strlen(plain) + 1);
    for (size_t i = 0; plain[i]; i++) {
        if (i > 0 && i < n_whole && (n_whole - i) % 3 == 0 && plain[i - 1] != '-')
            out[n++] = ',';
        out[n++] = plain[i];
    }
    while (plain[n_whole] && (out[n - 1] == '0' || out[n - 1] == '.'))
        if (out[--n] == '.')
            break;
    out[n] = '\0';
    return out;
}

static void write_head(FILE *f, const char *id, const char *const *names, size_t n)
{
    fprintf(f, "<div class=\"scroll\"><table class=\"sortable\" id=\"%s\"><thead><tr>", id);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "<th>%s</th>", names[i]);
    fputs("</tr></thead><tbody>\n", f);
}

static void write_filter(FILE *f, const char *id, const char *example)
{
    fprintf(f, "<input type=\"search\" data-for=\"%s\" placeholder=\"filter: %s\" aria-label=\"filter\">\n", id, example);
}

/* ---- accuracy by group ---------------------------------------------------------------------------------- */

void report_write_accuracy(FILE *f, const struct check *c, const struct report_page *r)
{
    static const char *const names[] = { "by", "of", "role", "rows", "simulated", "within tolerance", "configurations", "median %", "mean %", "worst %",
                                         "bias %", "worst row" };
    size_t n;
    struct accuracy *all = check_summary(&n, c, r->a);
    fputs("<h2 id=\"accuracy\">Accuracy</h2>\n<details><summary>Error of the simulated value by group. Rows of role <i>validate</i> never shaped "
          "a constant; each configuration counts once. Bias is the mean of signed errors, + where predicted too fast.</summary>\n", f);
    write_head(f, "accuracy-table", names, sizeof names / sizeof *names);
    for (size_t i = 0; i < n; i++) {
        const struct accuracy *x = &all[i];
        const double errors[] = { x->errors.median, x->errors.mean, x->max_abs_error, x->errors.bias };
        fprintf(f, "<tr><td>%s</td><td>%s</td><td>%s</td><td>%zu</td><td>%zu</td><td>%zu</td><td>%zu</td>", xml_text(x->group, r->a), xml_text(x->name, r->a),
                counts_as_names[x->counts_as], x->n_rows, x->n_simulated, x->n_passed, x->errors.n);
        for (size_t k = 0; k < 4; k++)
            fprintf(f, "<td>%s</td>", number_or_dash(x->n_simulated > 0, "%.2f", 100 * errors[k], r->a));
        fprintf(f, "<td>%s</td></tr>\n", x->worst ? report_link("row", x->worst->figure->id, x->worst->figure->id, r->a) : "-");
    }
    fputs("</tbody></table></div></details>\n", f);
}

/* ---- published figures --------------------------------------------------------------------------------------- */

static void write_published_row(FILE *f, const struct check_row *row, struct arena *a)
{
    const struct figure *g = row->figure;
    bool good = row->verdict == VERDICT_PASS || g->role == FIGURE_CONTEXT, of_run = figure_kind(g) == FIGURE_OF_RUN && row->has_simulated;
    fprintf(f, "<tr%s id=\"row-%s\"><td>%s</td><td>%s</td><td>%s</td><td data-value=\"%.17g\">%s</td>%s<td>%s</td><td>%s</td><td>%s</td></tr>\n",
            good ? "" : " class=\"bad\"", xml_text(g->id, a), of_run ? report_link("run", g->recipe, g->id, a) : xml_text(g->id, a), xml_text(g->metric, a),
            role_names[g->role], g->value, grouped_number(g->value, 6, a),
            row->has_simulated ? arena_printf(a, "<td data-value=\"%.17g\">%s</td>", row->simulated, grouped_number(row->simulated, 4, a)) : "<td>-</td>",
            number_or_dash(row->has_simulated, "%.2f", 100 * row->error, a), g->without ? xml_text(g->without, a) : verdict_names[row->verdict], xml_text(g->source ? g->source : "", a));
}

void report_write_published(FILE *f, const struct check *c, const struct report_page *r)
{
    static const char *const names[] = { "figure", "metric", "role", "published", "simulated", "error %", "verdict", "source" };
    fprintf(f, "<h2 id=\"published\">Published figures</h2>\n<p>%s.</p>\n<details><summary>All published figures, each with its source, or why no recipe describes "
            "it; coloured rows are out of tolerance.</summary>\n", xml_text(figures_counted(c, r->a), r->a));
    write_filter(f, "published-table", "validate bert out of tolerance");
    write_head(f, "published-table", names, sizeof names / sizeof *names);
    for (size_t i = 0; i < c->n; i++)
        write_published_row(f, &c->rows[i], r->a);
    fputs("</tbody></table></div></details>\n", f);
}

/* ---- a card for each run ---------------------------------------------------------------------------------------- */

/* The colours in the figure "breakdown". */
static const char *const class_colours[N_PART_CLASSES] = {
    [CLASS_COMPUTE] = "#0072b2", [CLASS_EXCHANGE] = "#e69f00", [CLASS_SYNC] = "#f0e442", [CLASS_LINKS] = "#d55e00",
    [CLASS_WAITING] = "#bbbbbb", [CLASS_MEMORY] = "#cc79a7", [CLASS_HOST] = "#666666",
};

#define LEAST_SHARE 0.005               /* the least share of a step that a card shows */

static void write_html_bar(FILE *f, const struct result *r)
{
    fputs("<div class=\"bar\">", f);
    for (int p = 0; p < N_PARTS; p++)
        if (r->breakdown_s[p] > LEAST_SHARE * r->step_time_s)
            fprintf(f, "<span style=\"width:%.1f%%;background:%s\" title=\"%s\"></span>", 100 * r->breakdown_s[p] / r->step_time_s,
                    class_colours[part_classes[p]], part_names[p]);
    fputs("</div>\n", f);
}

static void write_breakdown(FILE *f, const struct result *r)
{
    fputs("<p class=\"dim\">", f);
    for (int p = 0; p < N_PARTS; p++)
        if (r->breakdown_s[p] > LEAST_SHARE * r->step_time_s)
            fprintf(f, "%s %.3g ms (%.0f %%) ", part_names[p], 1e3 * r->breakdown_s[p], 100 * r->breakdown_s[p] / r->step_time_s);
    fputs("</p>\n", f);
}

/* Writes the published figures of a recipe, each with a link to its row. */
static void write_own_figures(FILE *f, const struct check *c, const char *recipe, struct arena *a)
{
    fputs("<p>", f);
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        if (text_is(row->figure->recipe, recipe) && row->has_simulated)
            fprintf(f, "%s: published %s, simulated %s, %+.1f %% (%s). ", report_link("row", row->figure->id, row->figure->metric, a),
                    grouped_number(row->figure->value, 6, a), grouped_number(row->simulated, 4, a), 100 * row->error, role_names[row->figure->role]);
    }
    fputs("</p>\n", f);
}

static void write_facts(FILE *f, const struct result *r, struct arena *a)
{
    fprintf(f, "<p>%s on %" PRIu64 " IPU%s of %s, global batch %s, MFU %.1f %%, %s on the fullest tile", xml_text(r->workload, a), r->ipus,
            plural(r->ipus), xml_text(r->system, a), grouped_number(r->global_batch, 6, a), 100 * r->mfu,
            quantity_kept((double)r->memory_peak_bytes_per_tile, "B", 3, a));
    if (is_known(r->time_to_train_s))
        fprintf(f, ", %.2f minutes to train", r->time_to_train_s / 60);
    fprintf(f, ". Hash of inputs: %s.</p>\n", r->inputs ? xml_text(r->inputs, a) : "not recorded");
}

static void write_run_card(FILE *f, const struct result *r, const struct check *c, const char *trust, struct arena *a)
{
    const char *id = xml_text(r->id, a);
    fprintf(f, "<details id=\"run-%s\"><summary>%s: %s samples/s, %s ms per step%s</summary>\n", id, id, grouped_number(r->throughput_samples_per_s, 4, a),
            grouped_number(1e3 * r->step_time_s, 4, a), r->fits ? "" : ", <b>does not fit</b>");
    write_html_bar(f, r);
    write_breakdown(f, r);
    write_facts(f, r, a);
    write_own_figures(f, c, r->id, a);
    if (trust)
        fprintf(f, "<p>%s</p>\n", xml_text(trust, a));
    fputs("</details>\n", f);
}

void report_write_runs(FILE *f, const struct check *c, const struct results *results, const struct report_page *r)
{
    fputs("<h2 id=\"runs\">Runs</h2>\n<p><code>podbench explain RUN</code> and <code>podbench plan RUN</code> say more of each; parts below half a per cent "
          "of a step are left out.</p>\n", f);
    fprintf(f, "<details><summary>All %zu runs, a card for each</summary>\n", results->n);
    write_filter(f, "run-cards", "bow-pod64 resnet50");
    fputs("<div id=\"run-cards\">\n", f);
    for (size_t i = 0; i < results->n; i++)
        write_run_card(f, &results->items[i], c, r->trust[i], r->a);
    fputs("</div></details>\n", f);
}
