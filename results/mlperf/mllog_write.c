/*
 * mllog_write.c - writes the files of a simulated submission; see mllog_write.h. The logs are in mllog_write_run.c.
 *
 * Folder layout and system fields: mlcommons/training_policies and mlcommons/logging package_checker, system_desc_checker.
 */
#include "results/mlperf/mllog_write.h"

#include <string.h>
#include <unistd.h>

#include "results/mlperf/mllog.h"

const char *const system_fields[] = {
    "submitter", "division", "status", "system_name", "number_of_nodes", "host_processors_per_node", "host_processor_model_name",
    "host_processor_core_count", "host_processor_vcpu_count", "host_processor_frequency", "host_processor_caches",
    "host_processor_interconnect", "host_memory_capacity", "host_storage_type", "host_storage_capacity", "host_networking",
    "host_networking_topology", "host_memory_configuration", "accelerators_per_node", "accelerator_model_name",
    "accelerator_host_interconnect", "accelerator_frequency", "accelerator_on-chip_memories", "accelerator_memory_configuration",
    "accelerator_memory_capacity", "accelerator_interconnect", "accelerator_interconnect_topology", "cooling", "hw_notes", "framework",
    "other_software_stack", "operating_system", "sw_notes",
};
const size_t n_system_fields = sizeof system_fields / sizeof *system_fields;

static const char *given(const struct submission_description *s, const char *key)
{
    for (size_t i = 0; i < s->n_fields; i++)
        if (text_is(s->fields[i].key, key))
            return s->fields[i].value;
    return NULL;
}

/* What every simulated submission says of itself, whatever the caller gives; counts must be whole numbers for the official summary. */
static const char *field_value(const struct submission_description *s, const char *key, struct arena *a)
{
    static const char *const counts[] = { "number_of_nodes", "host_processors_per_node", "accelerators_per_node" };
    if (text_is(key, "submitter"))
        return SIMULATED_ORG;
    if (text_is(key, "division"))
        return s->division;
    if (text_is(key, "status"))
        return "research";
    const char *value = given(s, key);
    if (text_is(key, "system_name"))
        return arena_printf(a, "%s (simulated)", value ? value : s->system);
    if (text_is(key, "hw_notes"))
        return arena_printf(a, "Simulated by podbench; no such run took place. %s", value ? value : "");
    for (size_t i = 0; !value && i < sizeof counts / sizeof *counts; i++)
        if (text_is(key, counts[i]))
            value = "1";
    return value ? value : "";
}

static bool known_field(const char *key)
{
    for (size_t i = 0; i < n_system_fields; i++)
        if (text_is(system_fields[i], key))
            return true;
    return false;
}

static bool write_system(const char *path, const struct submission_description *s, struct arena *a, struct err *err)
{
    struct new_file file;
    for (size_t i = 0; i < s->n_fields; i++)
        if (!known_field(s->fields[i].key))
            return fail(err, "system description: '%s' is no field of it", s->fields[i].key);
    if (!new_file_open(&file, path, err))
        return false;
    fprintf(file.f, "{\n");
    for (size_t i = 0; i < n_system_fields; i++)
        fprintf(file.f, "  %s: %s%s\n", mllog_quote(system_fields[i], a), mllog_quote(field_value(s, system_fields[i], a), a),
                i + 1 < n_system_fields ? "," : "");
    fprintf(file.f, "}\n");
    return new_file_save(&file, err);
}

static bool write_readme(const char *path, const struct submission_description *s, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    fprintf(file.f, "# %s, simulated\n\nThe logs under results/ were written by podbench, a simulator. No system ran this benchmark: every time, accuracy and\n"
            "seed in them is modelled. They are in MLPerf's format so that its tools can be tried on them, and are not a submission.\n",
            s->benchmark);
    return new_file_save(&file, err);
}

static bool write_log(const char *path, const struct submission_description *s, const struct drawn_run *run, size_t i, struct arena *a,
                      struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    if (!mllog_write_run(file.f, s, run, i, a, err)) {
        new_file_drop(&file);
        return false;
    }
    return new_file_save(&file, err);
}

/* Every log is made once for nothing, so that a refusal leaves no folder behind. */
static bool can_write(const struct submission_description *s, const struct drawn_run *runs, size_t n, struct arena *a, struct err *err)
{
    FILE *nowhere = fopen("/dev/null", "w");
    bool good = nowhere || fail(err, "/dev/null cannot be opened");
    for (size_t i = 0; good && i < n; i++)
        good = mllog_write_run(nowhere, s, &runs[i], i, a, err);
    if (nowhere)
        fclose(nowhere);
    return good;
}

bool mllog_write_submission(const char *dir, const struct submission_description *s, const struct drawn_run *runs, size_t n,
                            struct arena *a, struct err *err)
{
    const char *org = arena_printf(a, "%s/%s", dir, SIMULATED_ORG), *system = arena_printf(a, "%s-simulated", s->system);
    const char *systems = arena_printf(a, "%s/systems", org);
    const char *logs = arena_printf(a, "%s/results/%s/%s", org, system, s->benchmark);
    const char *code = arena_printf(a, "%s/benchmarks/%s/implementations/podbench", org, s->benchmark);
    if (strpbrk(s->system, " /"))
        return fail(err, "system '%s': a folder's name may hold no space or slash", s->system);
    if (!can_write(s, runs, n, a, err))
        return false;
    if (!make_folders(systems, err) || !make_folders(logs, err) || !make_folders(code, err))
        return false;
    if (!write_system(arena_printf(a, "%s/%s.json", systems, system), s, a, err)
        || !write_readme(arena_printf(a, "%s/README.md", code), s, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!write_log(arena_printf(a, "%s/result_%zu.txt", logs, i), s, &runs[i], i, a, err))
            return false;
    for (size_t i = n; unlink(arena_printf(a, "%s/result_%zu.txt", logs, i)) == 0; i++)
        ;                               /* those of a longer submission before */
    return true;
}
