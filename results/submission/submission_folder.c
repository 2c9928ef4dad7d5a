/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission_folder.c - writes the files of a simulated submission; see submission_logs.h. submission_log.c writes the logs. Sources of folder
 * layout and system fields: mlcommons/training_policies, and package_checker and system_desc_checker of mlcommons/logging.
 */
#include "results/submission/submission_logs.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "results/mlperf/mlperf.h"

static const char *given_field(const struct submission_description *s, const char *key)
{
    for (size_t i = 0; i < s->n_fields; i++)
        if (text_is(s->fields[i].key, key))
            return s->fields[i].value;
    return NULL;
}

/* The value of a field in the system description. Some fields are the same in all simulated submissions. Counts must be whole numbers for the
 * official summariser. */
static const char *field_value(const struct submission_description *s, const char *key, struct arena *a)
{
    if (text_is(key, "submitter"))
        return SIMULATED_ORG;
    if (text_is(key, "division"))
        return s->division;
    if (text_is(key, "status"))
        return !text_is(s->demands->edition->statuses, "any") ? "Research, Development, or Internal (RDI)" : "research";
    const char *value = given_field(s, key);
    if (text_is(key, "system_name"))
        return arena_printf(a, "%s (simulated)", value ? value : s->system);
    if (text_is(key, "hw_notes"))
        return arena_printf(a, SIMULATED_NOTE "%s%s. %s", s->trust ? "; " : "", s->trust ? s->trust : "", value ? value : "");
    if (!value && TEXT_IS_ONE_OF(key, "number_of_nodes", "host_processors_per_node", "accelerators_per_node"))
        return "1";
    return value && *value ? value : "not modelled";
}

static bool check_fields(const struct name_list *known, const struct submission_description *s, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < s->n_fields; i++)
        if (!name_list_has(known, s->fields[i].key))
            return fail(err, "system description: '%s' is not one of its fields; known: %s", s->fields[i].key,
                        names_list((const char *const *)known->names, known->n, a));
    return true;
}

static bool write_system(const char *path, const struct submission_description *s, const struct name_list *fields, struct arena *a,
                         struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    fprintf(file.f, "{\n");
    for (size_t i = 0; i < fields->n; i++)
        fprintf(file.f, "  %s: %s%s\n", mllog_quote(fields->names[i], a), mllog_quote(field_value(s, fields->names[i], a), a),
                i + 1 < fields->n ? "," : "");
    fprintf(file.f, "}\n");
    return new_file_save(&file, err);
}

static bool write_readme(const char *path, const char *benchmark, struct arena *a, struct err *err)
{
    return write_text_file(path, arena_printf(a, "# %s, simulated\n\nThe logs under results/ were written by podbench, a simulator. No system ran this benchmark: "
                      "every time, accuracy and\nseed in them is modelled. They are in MLPerf's format so that its tools can be tried on them, and are not a "
                      "submission.\n", benchmark), err);
}

static bool write_log(const char *path, const struct submission_description *s, const struct drawn_run *run, size_t i, struct arena *a,
                      struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    return new_file_end(&file, submission_write_log(file.f, s, run, i, a, err), err);
}

static bool holds_logs(const char *folder, struct arena *a)
{
    char **names;
    size_t n;
    if (access(folder, F_OK) != 0 || !list_folder(&names, &n, folder, "", a, NULL))
        return false;
    for (size_t i = 0; i < n; i++)
        if (is_result_name(names[i]))
            return true;
    return false;
}

/* The paths of a submission. */
struct submission_paths { const char *name, *systems, *logs, *code; };

static bool find_paths(struct submission_paths *p, const char *dir, const struct submission_description *s, struct arena *a, struct err *err)
{
    const char *org = arena_printf(a, "%s/%s", dir, SIMULATED_ORG), *name = s->name ? s->name : s->system;
    if (!*dir)
        return fail(err, "the folder to write to has an empty name");
    if (strpbrk(name, " /") || *name == '.')
        return fail(err, "'%s': a folder's name may hold no space or slash, and not begin with a dot", name);
    p->name = arena_printf(a, "%s-simulated", name);
    p->systems = arena_printf(a, "%s/systems", org);
    p->logs = arena_printf(a, "%s/results/%s/%s", org, p->name, s->benchmark);
    p->code = arena_printf(a, "%s/benchmarks/%s/implementations/podbench", org, s->benchmark);
    return s->replaces || !holds_logs(p->logs, a)
        || fail(err, "%s holds logs already: name another folder, or replace them by --force", p->logs);
}

/* Writes scaling.json as the package checker does, but no file if nothing is scaled. */
static bool write_scaling(const char *path, double scaling, struct arena *a, struct err *err)
{
    return !(scaling > 1) || write_text_file(path, arena_printf(a, "{\"scaling_factor\": %s}\n", mllog_real(scaling, a)), err);
}

static bool is_of_submission(const char *name)
{
    return is_result_name(name) || text_is(name, "scaling.json") || is_unfinished(name) || text_is(name, ".") || text_is(name, "..");
}

/* Links files of the old folder that belong to no submission into the new folder. */
static bool keep_foreign(const char *to, const char *from, struct arena *a, struct err *err)
{
    DIR *d = opendir(from);
    bool good = true;
    for (struct dirent *e; good && d && (e = readdir(d)); )
        good = is_of_submission(e->d_name) || link(arena_printf(a, "%s/%s", from, e->d_name), arena_printf(a, "%s/%s", to, e->d_name)) == 0
            || fail(err, "%s/%.100s: cannot be kept with the new logs: %s; move it, or name another folder", from, e->d_name, strerror(errno));
    if (d)
        closedir(d);
    return good;
}

static bool write_logs(const char *folder, const struct submission_paths *p, const struct submission_description *s, const struct drawn_run *runs, size_t n,
                       struct arena *a, struct err *err)
{
    bool good = keep_foreign(folder, p->logs, a, err) && write_scaling(arena_printf(a, "%s/scaling.json", folder), s->scaling, a, err);
    for (size_t i = 0; good && i < n; i++)
        good = write_log(arena_printf(a, "%s/result_%zu.txt", folder, i), s, &runs[i], i, a, err);
    return good;
}

/* Writes all files. The folder of logs is put in place last and at once, so that the submission is either complete or absent. */
static bool write_submission_files(const struct submission_paths *p, const struct submission_description *s, const struct name_list *fields,
                      const struct drawn_run *runs, size_t n, struct arena *a, struct err *err)
{
    struct new_folder logs;
    if (!make_folders(p->systems, err) || !make_folders(p->code, err) || !new_folder_replace(&logs, p->logs, err))
        return false;
    if (write_logs(logs.temp_path, p, s, runs, n, a, err)
        && write_system(arena_printf(a, "%s/%s.json", p->systems, p->name), s, fields, a, err)
        && write_readme(arena_printf(a, "%s/README.md", p->code), s->benchmark, a, err))
        return new_folder_save(&logs, err);
    new_folder_drop(&logs);
    return false;
}

bool submission_write(const char *dir, const struct submission_description *given, const struct drawn_run *runs, size_t n,
                            struct arena *a, struct err *err)
{
    struct submission_description s = *given;
    struct log_demands demands;
    struct name_list fields = {0};
    struct submission_paths p = {0};
    if (!s.demands) {
        if (!log_demands_load(&demands, s.ruleset, s.division, s.benchmark, s.optimizer, s.data_dir, a, err))
            return false;
        s.demands = &demands;
    }
    for (size_t i = 0; i < n; i++)
        if (!submission_write_log(NULL, &s, &runs[i], i, a, err))       /* tries all logs first, so that a refusal leaves no folder behind */
            return false;
    return find_paths(&p, dir, &s, a, err) && system_fields_load(&fields, s.data_dir, s.demands->edition, a, err) && check_fields(&fields, &s, a, err)
        && write_submission_files(&p, &s, &fields, runs, n, a, err);
}
