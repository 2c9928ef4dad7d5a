/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.c - the table of published results as one HTML page, whose data plots/rounds.js draws.
 */
#include "results/rounds/round_results.h"

#include <jansson.h>

static json_t *round_points(const struct round_table *rounds, const struct round_terms *terms, struct arena *a)
{
    json_t *out = json_array();
    struct rcp_table t;
    if (!terms->reference_convergence || !rcp_load_with(&t, rounds, terms->benchmark, terms->edition->round, RCP_LATER, a, NULL))
        return out;
    for (size_t i = 0; i < t.n; i++)
        json_array_append_new(out, json_pack("{s:s, s:s, s:f, s:f, s:s}", "benchmark", terms->benchmark, "round", terms->edition->round, "batch",
                                             t.points[i].batch, "mean", t.points[i].mean, "unit", t.points[i].unit));
    return out;
}

/* The reference points of the table's benchmarks, in all rounds. */
static json_t *reference_points(const struct round_results *r, const char *data_dir, struct arena *a)
{
    struct round_table rounds;
    json_t *out = json_array();
    if (!round_table_load(&rounds, data_dir, a, NULL))
        return out;
    for (size_t i = 0; i < rounds.n; i++) {
        bool used = false;
        for (size_t k = 0; k < r->n && !used; k++)
            used = text_is(r->items[k].benchmark, rounds.items[i].benchmark);
        json_t *points = used ? round_points(&rounds, &rounds.items[i], a) : json_array();
        json_array_extend(out, points);
        json_decref(points);
    }
    return out;
}

/* The path to the logs in a link: relative to the page if both paths are absolute. */
static const char *link_to(const char *path, const char *page, struct arena *a)
{
    const char *slash = strrchr(page, '/'), *dir = arena_printf(a, "%.*s", slash ? (int)(slash - page) : 1, slash ? page : ".");
    char *real = realpath(*dir ? dir : "/", NULL);
    const char *link = path;
    if (real && *path == '/') {
        size_t common = 0, k = 0;
        for (; real[k] && real[k] == path[k]; k++)
            common = real[k] == '/' ? k : common;
        if ((!real[k] && path[k] == '/') || (!path[k] && real[k] == '/'))
            common = k;
        link = "";
        for (const char *p = real + common; *p; p++)
            link = *p == '/' && p[1] ? arena_printf(a, "%s../", link) : link;
        link = arena_printf(a, "%s%s", link, path[common] ? path + common + 1 : ".");
    }
    free(real);
    return link;
}

bool rounds_page_write(FILE *f, const struct round_results *r, const char *page_path, const char *plots_dir, const char *data_dir,
                       struct arena *a, struct err *err)
{
    const struct table t = { .columns = round_result_columns, .n_columns = n_round_result_columns, .row_bytes = sizeof *r->items,
                             .rows = r->items, .n = r->n };
    const struct page page = { f, plots_dir, a };
    if (!page_open(&page, "MLPerf Training results", "rounds", err))
        return false;
    fputs("<main></main>\n<noscript>This page draws its figures with JavaScript.</noscript>\n", f);
    json_t *rows = table_json(&t);
    for (size_t i = 0; i < r->n; i++)
        json_object_set_new(json_array_get(rows, i), "link", json_string(link_to(r->items[i].path, page_path, a)));
    page_add_json(&page, "rows", rows);
    page_add_json(&page, "references", reference_points(r, data_dir, a));
    return page_close(&page, "rounds", err);
}
