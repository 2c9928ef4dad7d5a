/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calibrate.c - podbench calibrate: fits the constants that may be fitted, sheet by sheet.
 */
#include "harness/harness.h"
#include "results/calibrate/calibration.h"
#include "results/study/memory_known.h"
#include <unistd.h>

/* The state of the fits. Later fits use the results of earlier ones: that of the system uses the fitted constants of the chips. */
struct calibration { struct session *s; struct watch watch; double chip_constants[MAX_FITTED]; };

/* Fits memory_error, counting bytes with the newly fitted constants of the chips, as these change plans. Sets no key if no row calibrates. */
static bool fit_memory(struct fitted_value *out, const struct figures *figures, struct calibration *c, struct err *err)
{
    struct session *s = c->s;
    struct model_paths paths = s->paths;
    struct simulator simulator;
    struct memory_known known;
    paths.chip_constants = c->chip_constants;
    simulator_open(&simulator, &paths);
    bool good = memory_known_build(&known, figures, &(struct first_sight){0}, &(struct memory_sights){0}, &simulator, &s->arena, err);
    simulator_close(&simulator);
    if (!good)
        return false;
    const struct memory_spread m = memory_error_fit(&known);
    if (isnan(m.mean_square_root))
        return true;
    *out = (struct fitted_value){ memory_error_field.name, arena_printf(&s->arena, "%.3f", m.mean_square_root), memory_error_field.unit,
        arena_printf(&s->arena, "fitted to %zu verdicts and %zu fullest tiles of role calibrate in results/published: root of the mean square by their likelihood",
                     m.n_verdicts, m.n_known),
        arena_printf(&s->arena, "most likely %.3f; 95 %%: %.3f to %.3f", m.likely, m.low, m.high) };
    return true;
}

static bool fit_chip(FILE *f, struct calibration *c, struct err *err)
{
    struct session *s = c->s;
    struct figures figures;
    struct chip_fit fit;
    if (!published_load(&figures, s->published_dir, &s->arena, err) || !chip_fit_run(&fit, &figures, &s->paths, &c->watch, &s->arena, err))
        return false;
    for (size_t i = 0; i < n_fitted_constants; i++)
        c->chip_constants[i] = fit.values[i].value;
    struct fitted_value memory_error = {0};
    if (!fit_memory(&memory_error, &figures, c, err))
        return false;
    chip_fit_write(f, &fit, "the kernels and runs of role calibrate in results/published", &memory_error);
    chip_fit_print(s->log, &fit);
    return true;
}

static bool fit_convergence(FILE *f, struct calibration *c, struct err *err)
{
    struct session *s = c->s;
    const char *runs = arena_printf(&s->arena, "%s/runs/mlperf_runs.csv", s->published_dir);
    return convergence_fit(f, s->paths.data_dir, runs, &s->arena, err);
}

static bool fit_system(FILE *f, struct calibration *c, struct err *err)
{
    struct session *s = c->s;
    struct model_paths paths = s->paths;
    paths.chip_constants = c->chip_constants;
    struct figures figures;
    struct system_fit fit;
    if (!published_load(&figures, s->published_dir, &s->arena, err) || !system_fit_run(&fit, &figures, &paths, &c->watch, &s->arena, err))
        return false;
    system_fit_write(f, &fit);
    system_fit_print(s->log, &fit);
    return true;
}

/* The fits, one for each sheet; each uses the constants of those before it. */
static const struct fit { const char *file; bool (*run)(FILE *f, struct calibration *c, struct err *err); } fits[] = {
    { "fitted-chip.csv", fit_chip }, { "fitted-system.csv", fit_system }, { "fits.csv", fit_convergence },
};
enum { N_FITS = sizeof fits / sizeof *fits };

static bool write_sheet(const struct fit *fit, const char *folder, struct calibration *c, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, arena_printf(&c->s->arena, "%s/%s", folder, fit->file), err))
        return false;
    return new_file_end(&file, fit->run(file.f, c, err), err);
}

/* Prints a sheet, but only after its whole fit has succeeded. */
static bool print_fitted_sheet(const struct fit *fit, struct calibration *c, struct err *err)
{
    char *text = NULL;
    size_t n;
    FILE *f = text_stream(&text, &n);
    bool good = fit->run(f, c, err);
    const char *sheet = text_close(f, &text, &c->s->arena);
    if (good)
        fprintf(c->s->out, "# %s\n%s", fit->file, sheet);
    return good;
}

/* Runs all fits into a folder, or prints them if `folder` is NULL. */
static bool fit_all(const char *folder, struct calibration *c, struct err *err)
{
    struct session *s = c->s;
    for (int i = 0; i < N_FITS; i++) {
        if (isatty(fileno(s->log)))
            fprintf(s->log, "podbench: fitting %s\n", fits[i].file);
        if (folder ? !write_sheet(&fits[i], folder, c, err) : !print_fitted_sheet(&fits[i], c, err))
            return false;
    }
    return true;
}

/* Runs all fits into a new folder, which appears with all sheets or not at all. */
static bool fit_into(const char *path, struct calibration *c, struct err *err)
{
    struct new_folder folder;
    if (!new_folder_open(&folder, path, err))
        return false;
    if (fit_all(folder.temp_path, c, err))
        return new_folder_save(&folder, err);
    new_folder_drop(&folder);
    return false;
}

static bool keeps_protocol(struct session *s, struct err *err)
{
    struct figures figures;
    struct ledger ledger;
    struct run_rows runs;
    return protocol_allows_constants(N_FITTED_CHIP_NAMES + N_SYSTEM_CONSTANTS, err) &&
           published_load(&figures, s->published_dir, &s->arena, err) &&
           ledger_load(&ledger, arena_printf(&s->arena, "%s/ledger/ledger.csv", s->published_dir), &s->arena, err) &&
           protocol_allows_rows(&figures, &ledger, &s->arena, err) &&
           run_rows_load(&runs, arena_printf(&s->arena, "%s/runs/mlperf_runs.csv", s->published_dir), &s->arena, err) &&
           protocol_allows_runs(&runs, &figures, &s->arena, err);
}

int command_calibrate(const struct options *o, struct session *s, struct err *err)
{
    struct progress p;
    struct calibration c = { .s = s, .watch = { progress_report, &p } };
    progress_start(&p, s->log, "fitting");
    bool good = keeps_protocol(s, err) && (o->out ? fit_into(o->out, &c, err) : fit_all(NULL, &c, err));
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}
