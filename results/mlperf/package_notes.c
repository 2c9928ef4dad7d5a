/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * package_notes.c - notes on what a package's verdict leaves out: disagreements between its logs, its system description and its side files,
 * and places where the official tools would end with an exception; see mlperf_internal.h.
 *
 * A note fails nothing. A warning says that the package cannot be uploaded unchanged, or that it would be judged as something else than its
 * logs say. A review note is for people who look at the package.
 */
#include <ctype.h>
#include <unistd.h>

#include "results/mlperf/mlperf_internal.h"

void package_note(struct package *p, enum severity severity, const char *text)
{
    struct folder *f = p->f;
    ARENA_APPEND(p->a, f->notes, f->n_notes, f->cap_notes, (struct log_message){ severity, 0, "", text });
}

/* ---- exceptions of the official tools -------------------------------------------------------------------- */

/* The first reason why the official reference test would end with an exception, or NULL. */
static const char *why_stopped(const struct package *p)
{
    const struct folder *f = p->f;
    const char *benchmark = NULL;
    bool any_batch = false, any_without = false;
    for (const struct run_entry *r = f->runs; r < f->runs + f->n; r++) {
        if (r->stops)
            return arena_printf(p->a, "%s: %s", r->file, r->stops);
        bool without = isnan(r->measures[MEASURE_BATCH]);
        any_batch = any_batch || !without, any_without = any_without || without;
        if (f->edition->one_batch && benchmark && !text_is(benchmark, r->benchmark))
            return arena_printf(p->a, "the logs name different benchmarks, %s in %s", *r->benchmark ? r->benchmark : "none", r->file);
        benchmark = r->benchmark;
    }
    return f->edition->one_batch && any_batch && any_without ? "some logs have no global_batch_size" : NULL;
}

static void note_exceptions(struct package *p)
{
    enum part_state state = p->f->parts[PACKAGE_CONVERGENCE].state;
    const char *why = state == PART_PASSED || state == PART_BYPASSED ? why_stopped(p) : NULL;
    if (why)
        package_note(p, SEVERITY_WARNING, arena_printf(p->a, "the official package checker ends here with an exception, so nothing can be uploaded: %s", why));
}

/* ---- the system description against the logs ---------------------------------------------------------------- */

/* True if one name contains the other, comparing only letters and digits. */
static bool names_agree(const char *x, const char *y, struct arena *a)
{
    char *plain[2];
    const char *from[] = { x, y };
    for (int i = 0; i < 2; i++) {
        size_t n = 0;
        plain[i] = arena_strdup(a, from[i]);
        for (const char *c = from[i]; *c; c++)
            if (isalnum((unsigned char)*c))
                plain[i][n++] = (char)tolower((unsigned char)*c);
        plain[i][n] = 0;
    }
    return strstr(plain[0], plain[1]) || strstr(plain[1], plain[0]);
}

static void note_other_division(struct package *p, const char *described)
{
    const char *logged = p->logged.division, *seeds = "";
    if (!*logged || text_is(logged, described))
        return;
    if (text_is(logged, "closed"))
        seeds = ", so that seeds and reference convergence are not tested";
    package_note(p, SEVERITY_WARNING, arena_printf(p->a, "the system description says division '%.30s', the logs '%.30s': the official tools go by the description%s",
                                               described, logged, seeds));
}

static void note_status(struct package *p, const char *described)
{
    static const struct { const char *logged, *described; } same[] = {
        { "onprem", "Available on-premise" }, { "cloud", "Available cloud" }, { "preview", "Preview" },
        { "research", "Research, Development, or Internal (RDI)" },
    };
    if (text_is(p->f->edition->statuses, "any"))
        return;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (text_is(p->logged.status, same[i].logged) && !text_is(described, same[i].described))
            package_note(p, SEVERITY_REVIEW, arena_printf(p->a, "the system description says status '%.60s', the logs submission_status '%s'", described, same[i].logged));
}

/* Warns of fields that the official summariser cannot turn into whole numbers. */
static void note_counts(struct package *p, const json_t *doc)
{
    static const char *const counts[] = { "number_of_nodes", "host_processors_per_node", "accelerators_per_node" };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const json_t *v = json_object_get(doc, counts[i]);
        char shown[MLLOG_SHOWN_BYTES];
        if (v && !python_int(v, p->a))
            package_note(p, SEVERITY_WARNING, arena_printf(p->a, "the system description has %s %s: the official summariser ends with an exception, as it wants a whole number",
                                                       counts[i], mllog_show(v, shown)));
    }
}

static void note_description(struct package *p)
{
    json_t *doc = p->f->edition->system_description ? load_small_json(folder_description_path(p->f, p->a)) : NULL;
    const char *submitter = json_string_value(json_object_get(doc, "submitter")), *status = json_string_value(json_object_get(doc, "status"));
    if (p->description_division)
        note_other_division(p, p->description_division);
    bool placeholder = strstr(p->logged.org, "PLACEHOLDER") || strstr(p->logged.platform, "PLACEHOLDER");
    if (submitter && *p->logged.org && !placeholder && !names_agree(submitter, p->logged.org, p->a))
        package_note(p, SEVERITY_REVIEW, arena_printf(p->a, "the system description says submitter '%.60s', the logs submission_org '%.60s'", submitter, p->logged.org));
    if (placeholder)
        package_note(p, SEVERITY_REVIEW, arena_printf(p->a, "the logs name a placeholder: submission_org '%.60s', submission_platform '%.60s'", p->logged.org,
                                                  p->logged.platform));
    if (status)
        note_status(p, status);
    note_counts(p, doc);
    json_decref(doc);
}

/* ---- side files ----------------------------------------------------------------------------------------------- */

/* Warns if scaling.json differs from the reference test's factor, by which the official package checker would replace it. */
static void note_scaling(struct package *p)
{
    struct folder *f = p->f;
    double own = f->rcp.scaling;
    if (!f->edition->reads_scaling || f->why_no_score || f->parts[PACKAGE_CONVERGENCE].state != PART_PASSED || fabs(f->scaling - own) <= 1e-9 * own)
        return;
    const char *from = f->scaling == 1 ? "without scaling.json the score is" : arena_printf(p->a, "by scaling.json, a factor of %.6g, the score is", f->scaling);
    package_note(p, SEVERITY_WARNING, arena_printf(p->a, "%s %.6g minutes, by the reference test's factor, %.6g, %.6g: the official package checker writes the file anew, "
             "so the table has the second unless reference points changed after the deadline", from, f->score_minutes, own, f->olympic_minutes * own));
}

/* ---- the submitted code ------------------------------------------------------------------------------------------ */

static void note_code(struct package *p)
{
    const char *results = folder_results_path(p->f, p->a), *benchmarks = results ? arena_printf(p->a, "%s/../benchmarks", results) : NULL;
    if (!benchmarks || !p->f->edition->repository || access(benchmarks, R_OK) != 0)
        return;
    const char *code = arena_printf(p->a, "%s/%s", benchmarks, p->f->benchmark), *config = path_name(p->logged.config);
    if (access(code, R_OK) != 0)
        package_note(p, SEVERITY_REVIEW, arena_printf(p->a, "the submitter's benchmarks has no folder %s with its code", p->f->benchmark));
    else if (*config && !folder_holds(code, config))
        package_note(p, SEVERITY_REVIEW, arena_printf(p->a, "the logs name config_filename '%.100s', which is not in benchmarks/%s", p->logged.config, p->f->benchmark));
}

void package_note_disagreements(struct package *p)
{
    note_code(p);
    note_exceptions(p);
    note_description(p);
    note_scaling(p);
}
