/*
 * lint.c - checks the logs of submissions; see lint.h. Files are grouped by folder, as one folder holds the runs of one system and benchmark.
 */
#include "results/mlperf/lint_file.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST_TREE = 16 };

/* ---- which files --------------------------------------------------------------------------- */

static bool collect_folder(struct name_list *out, const char *dir, int depth, struct arena *a, struct err *err)
{
    char **names;
    size_t n;
    struct stat s;
    if (!list_folder(&names, &n, dir, "", a, err))
        return false;
    for (size_t i = 0; i < n && depth < DEEPEST_TREE; i++) {
        const char *path = arena_printf(a, "%s/%s", dir, names[i]);
        size_t length = strlen(names[i]);
        if (stat(path, &s) != 0)
            continue;
        if (S_ISDIR(s.st_mode) && !collect_folder(out, path, depth + 1, a, err))
            return false;
        if (S_ISREG(s.st_mode) && length > 11 && !strncmp(names[i], "result_", 7) && text_is(names[i] + length - 4, ".txt"))
            name_list_add(out, path, a);
    }
    return true;
}

bool lint_collect(struct name_list *out, const char *path, struct arena *a, struct err *err)
{
    struct stat s;
    size_t before = out->n;
    if (stat(path, &s) != 0)
        return fail(err, "%s: no such file or folder", path);
    if (!S_ISDIR(s.st_mode)) {
        name_list_add(out, path, a);
        return true;
    }
    if (!collect_folder(out, path, 0, a, err))
        return false;
    return out->n > before || fail(err, "%s: no result_N.txt in it or below it", path);
}

/* ---- groups ----------------------------------------------------------------------------------- */

static const char *folder_of(const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_printf(a, "%.*s", (int)(slash - path), path) : ".";
}

struct members { struct lint_file *files[256]; struct lint_facts *facts[256]; size_t n; };

static void review_seeds(struct lint_report *r, const struct members *m, struct arena *a)
{
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < i; j++)
            if (text_is(m->facts[i]->seed, m->facts[j]->seed)) {
                const char *text = arena_printf(a, "%s is also that of %s, want another in every run", m->facts[i]->seed,
                                                m->files[j]->path);
                lint_add(r, m->files[i], (struct lint_message){ RULE_REVIEW, m->files[i]->path, 0, "seed", text }, a);
                break;
            }
}

static void test_convergence(struct lint_group *g, const struct members *m, const struct lint_options *opt, struct arena *a)
{
    double points[256];
    for (size_t i = 0; i < m->n; i++)
        points[i] = m->facts[i]->convergence_point;
    struct err why;
    g->rcp_tested = rcp_check(&g->rcp, g->benchmark, opt->ruleset, m->facts[0]->global_batch, points, m->n, opt->data_dir, a, &why);
    if (!g->rcp_tested)
        g->rcp.text = arena_printf(a, "not tested: %s", why.msg);
}

static void finish_group(struct lint_report *r, struct lint_group *g, const struct members *m, const struct lint_options *opt,
                         struct arena *a)
{
    g->benchmark = m->facts[0]->benchmark ? m->facts[0]->benchmark : "";
    g->division = m->facts[0]->division ? m->facts[0]->division : "";
    g->n_files = m->n;
    for (size_t i = 0; i < m->n; i++)
        g->n_passed += m->files[i]->passed;
    size_t may_fail = m->n < 2 ? 0 : text_is(g->benchmark, "unet3d") ? 4 : 1;
    g->passed = g->n_passed + may_fail >= m->n;
    if (text_is(g->division, "closed"))
        review_seeds(r, m, a);
    if (opt->data_dir && m->n > 1 && isfinite(m->facts[0]->global_batch))
        test_convergence(g, m, opt, a);
}

static bool add_groups(struct lint_report *r, struct lint_facts *facts, const struct lint_options *opt, struct arena *a, struct err *err)
{
    bool *taken = ARENA_ARRAY(a, bool, r->n_files);
    for (size_t i = 0; i < r->n_files; i++) {
        struct members m = { .n = 0 };
        const char *folder = folder_of(r->files[i].path, a);
        for (size_t j = i; j < r->n_files; j++) {
            if (taken[j] || !text_is(folder, folder_of(r->files[j].path, a)))
                continue;
            if (m.n == sizeof m.files / sizeof *m.files)
                return fail(err, "%s: more than %zu logs in one folder", folder, m.n);
            taken[j] = true;
            m.files[m.n] = &r->files[j];
            m.facts[m.n++] = &facts[j];
        }
        if (m.n == 0)
            continue;
        r->groups = arena_grow(a, r->groups, r->n_groups, &r->cap_groups, sizeof *r->groups);
        struct lint_group *g = &r->groups[r->n_groups++];
        *g = (struct lint_group){ .folder = utf8_text(folder, a) };
        finish_group(r, g, &m, opt, a);
        r->passed = r->passed && g->passed;
    }
    return true;
}

bool lint_files(struct lint_report *out, char *const *files, size_t n, const struct lint_options *opt, struct arena *a, struct err *err)
{
    *out = (struct lint_report){ .passed = true, .n_files = n };
    out->files = ARENA_ARRAY(a, struct lint_file, n);
    struct lint_facts *facts = ARENA_ARRAY(a, struct lint_facts, n);
    for (size_t i = 0; i < n; i++) {
        out->files[i].path = files[i];
        if (!lint_one(out, &out->files[i], &facts[i], opt, a, err))
            return false;
    }
    return add_groups(out, facts, opt, a, err);
}

/* ---- printing ------------------------------------------------------------------------------------ */

static void print_message(FILE *f, const struct lint_message *m)
{
    fprintf(f, "%s:", m->path);
    if (m->line)
        fprintf(f, "%llu:", (unsigned long long)m->line);
    fprintf(f, " %s: %s%s%s\n", rule_severity_names[m->severity], m->key, *m->key ? ": " : "", m->text);
}

void lint_print(FILE *f, const struct lint_report *r)
{
    for (size_t i = 0; i < r->n_messages; i++)
        print_message(f, &r->messages[i]);
    for (size_t i = 0; i < r->n_groups; i++) {
        const struct lint_group *g = &r->groups[i];
        fprintf(f, "%s: %s: %s %s: %zu of %zu logs pass\n", g->folder, g->passed ? "pass" : "fail", g->division, g->benchmark, g->n_passed,
                g->n_files);
        if (g->rcp.text)
            fprintf(f, "%s: reference convergence: %s%s\n", g->folder, !g->rcp_tested ? "" : g->rcp.passed ? "pass: " : "fail: ",
                    g->rcp.text);
    }
}

static json_t *message_json(const struct lint_message *m)
{
    return json_pack("{s:s, s:s, s:I, s:s, s:s}", "severity", rule_severity_names[m->severity], "path", m->path, "line",
                     (json_int_t)m->line, "key", m->key, "text", m->text);
}

static json_t *group_json(const struct lint_group *g)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:I, s:I, s:b}", "folder", g->folder, "benchmark", g->benchmark, "division", g->division,
                          "logs", (json_int_t)g->n_files, "logs_passed", (json_int_t)g->n_passed, "pass", (int)g->passed);
    if (g->rcp_tested)
        json_object_set_new(o, "reference_convergence", json_pack("{s:b, s:f, s:f, s:f, s:f, s:f, s:s}", "pass", (int)g->rcp.passed,
            "submission_mean", g->rcp.submission_mean, "reference_mean", g->rcp.mean, "reference_sd", g->rcp.sd,
            "max_speedup", g->rcp.max_speedup, "least_mean", g->rcp.least_mean, "text", g->rcp.text));
    return o;
}

json_t *lint_json(const struct lint_report *r)
{
    json_t *messages = json_array(), *groups = json_array();
    for (size_t i = 0; i < r->n_messages; i++)
        json_array_append_new(messages, message_json(&r->messages[i]));
    for (size_t i = 0; i < r->n_groups; i++)
        json_array_append_new(groups, group_json(&r->groups[i]));
    return json_pack("{s:b, s:o, s:o}", "pass", (int)r->passed, "groups", groups, "messages", messages);
}
