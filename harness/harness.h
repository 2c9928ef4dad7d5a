/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * harness.h - the program: a session (folders, cache), options from one table, commands in another.
 */
#ifndef HARNESS_H
#define HARNESS_H
#include "results/published/published.h"
#include "results/simulate/simulator.h"
#include "system-model/output/output.h"

/* ---- options.c: every option of every command, described once --------------------------- */

struct options {
    const char *root;                   /* the folder that holds system-model/specs and the rest; NULL: found */
    enum output_format format;
    const char **sets; size_t n_sets;   /* --set section.key=value, in order */
    const char **overs; size_t n_overs; /* --over, --zip section.key=values */
    const char **zips; size_t n_zips;
    const char **limits; size_t n_limits;
    const char *maximise, *minimise;
    uint64_t most;
    const char *out, *trace, *mllog, *published, *ruleset, *recipe, *from, *shard, *expect, *metric, *better, *least_change, *margin, *reason, *recipes, *baseline, *label;
    uint64_t runs, seed, jobs;
    bool train_samples, rcp_bypass, seed_bypass, force, until_valid;        /* of MLPerf packages */
    bool check, topology, kernels, links, ops, unfolded, update, all, require_fit, resume;
    const char **arguments; size_t n_arguments;
};

enum option_id { OPT_ROOT, OPT_FORMAT, OPT_SET, OPT_OUT, OPT_TRACE, OPT_MLLOG, OPT_PUBLISHED, OPT_RULESET,
                 OPT_EXPECT, OPT_METRIC, OPT_BETTER, OPT_LEAST_CHANGE, OPT_MARGIN, OPT_REASON, OPT_RECIPES, OPT_BASELINE, OPT_LABEL,
                 OPT_TRAIN_SAMPLES, OPT_RCP_BYPASS, OPT_SEED_BYPASS, OPT_FORCE, OPT_RECIPE, OPT_UNTIL_VALID,
                 OPT_RUNS, OPT_SEED, OPT_CHECK, OPT_TOPOLOGY, OPT_KERNELS, OPT_LINKS, OPT_OPS, OPT_UNFOLDED, OPT_UPDATE, OPT_ALL,
                 OPT_REQUIRE_FIT, OPT_OVER, OPT_ZIP, OPT_FROM, OPT_JOBS, OPT_SHARD, OPT_RESUME, OPT_MAXIMISE, OPT_MINIMISE, OPT_LIMIT, OPT_MOST, OPT_APPROXIMATE, N_OPTIONS };
#define OPTION_BIT(option) (UINT64_C(1) << (option))

/* ---- main.c: the commands --------------------------------------------------------------- */

struct session {
    struct arena arena;                 /* lives as long as the command */
    struct simulator simulator;         /* every simulation of a command goes through it */
    const char *root;
    struct model_paths paths;
    const char *published_dir, *validity_dir, *runs_dir, *baselines_dir, *rules_dir, *plots_dir;
};

struct command {
    const char *group;                          /* the heading above the first command of a group; NULL: the same group */
    const char *name, *arguments;               /* arguments: as usage shows them: "RECIPE...", "[BASE] RUN" */
    const char *summary, *detail;               /* one line without a full stop; further sentences, or NULL */
    uint64_t options;                           /* OPTION_BITs apart from --root, which all have */
    unsigned formats;                           /* FORMAT_BITs; 0: no --format */
    int (*run)(const struct options *o, struct session *s, struct err *err);    /* command_function; an exit status; err->msg when BAD_INPUT */
    bool simulates;                             /* what it prints rests on the fitted constants */
};
extern const struct command commands[];
extern const size_t n_commands;

/* What is in brackets may be left out, what dots follow repeated. */
bool command_takes(const struct command *c, size_t n_arguments);
/* The summary as a sentence, and the detail after it. */
const char *command_help(const struct command *c, struct arena *a);
/* An option as help, man pages and completion show it. False past the last; name NULL: not one of the command's. */
struct option_view { const char *name, *argument, *help; };
bool option_of(struct option_view *out, const struct command *c, size_t i, struct arena *a);
/* Exits on --help (0) and on a malformed command line (2). */
void options_parse(struct options *out, const struct command *c, int argc, char **argv, struct arena *a);
bool session_open(struct session *s, const char *root, struct err *err);
/* Folders that --recipes, --published and --baseline name instead of the program's own. */
bool session_folders(struct session *s, const struct options *o, struct err *err);
void session_tell_unfitted(struct session *s);      /* that a fitted sheet is not there: what is simulated rests on unfitted values */
void session_tell_replaced(const struct options *o);        /* keys that --set sets twice */
void session_close(struct session *s);

/* BAD_INPUT with a message, in one expression. */
int bad_input(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- paths, settings, output ------------------------------------------------------------------- */

/* A run by name (in results/runs), by folder, or by the path of its table: the path of `table` ("rows.csv") in it. */
bool run_table_path(const char **out, const char *run, const char *table, struct session *s, struct err *err);
/* Refuses a run folder that is not whole, or whose tables have other columns than `columns` (NULL: any: nothing is simulated beside it,
 * and the folders of its recipes and figures do not matter). A table's path passes. */
bool run_open(const char *run, const char *columns, struct session *s, struct err *err);
/* The folder of a run that run_open() has passed; a table by itself is refused: nothing can be put beside it. */
bool run_folder(const char **out, const char *run, struct session *s, struct err *err);
/* Published figures and what follows from them; published NULL: the session's. Derived rows without a recipe are left out aloud. */
bool session_figures(struct figures *out, const char *published, struct session *s, struct err *err);
/* Every recipe's id, sorted. */
bool all_recipes(char ***ids, size_t *n, struct session *s, struct err *err);
bool all_machines(char ***names, size_t *n, struct session *s, struct err *err);
bool all_workloads(char ***names, size_t *n, struct session *s, struct err *err);
bool all_frameworks(char ***names, size_t *n, struct session *s, struct err *err);
typedef bool names_lister(char ***names, size_t *n, struct session *s, struct err *err);
int print_names(names_lister *lister, const struct options *o, struct session *s, struct err *err);     /* list.c */
void tell_unfit(const struct result *r);        /* where what is printed does not say it: that the time is of a tile that is too small */
/* The recipe that is the command's argument, with its --set; of what is set without effect it is said so. */
bool simulate_argument(struct simulation *sim, struct result *r, const struct options *o, struct session *s, struct err *err);
/* Says which keys and values of sheets have no effect on what was simulated. */
void tell_unused_keys(const struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s,
                      struct arena *scratch);
/* One of many configurations: what is set, and what may stand in the place of each setting. */
struct setting {
    const char *text;                   /* "key=value" */
    const char **others; size_t n_others;
    bool is_choice;                     /* not what was asked for: podbench's own */
    bool is_idle;                       /* found to have no effect */
};
struct configuration {
    const char *recipe;
    struct setting *settings; size_t n, cap;
    bool draws, is_of_many;             /* runs are drawn from it, or logged; it is one of a sweep or a search */
};
void configuration_add(struct configuration *c, const char *const *texts, size_t n, struct arena *a);
/* A setting that is one of n: the first, and every stride-th after it. */
void configuration_vary(struct configuration *c, const char *text, const char *const *others, size_t n, size_t stride, struct arena *a);
/* Says which of them have no effect in it; where: "first". */
void tell_idle_settings(struct configuration *c, const char *where, struct session *s);
/* As many as --jobs says, else one for each core. */
bool count_threads(uint32_t *out, const struct options *o, struct err *err);
/* Rows of spec sheets as a table: machine.c. */
struct sheet_line { const char *sheet, *key, *value, *unit, *source, *note; };
enum { N_SHEET_COLUMNS = 6 };
extern const struct table_column sheet_columns[N_SHEET_COLUMNS];
void sheet_line_add(struct table *t, const struct sheet *sheet, const struct sheet_row *row, struct arena *a);
const char *gnuplot_string(const char *text, struct arena *a);      /* in single quotes, those within doubled; plot.c */
/* Runs a script with these settings in a folder. What it draws becomes the picture, whole or not at all. */
bool gnuplot_draw(const char *picture, const char *script, const char *settings, const char *folder, struct err *err);

/* ---- progress ------------------------------------------------------------------------------- */

/* A line on stderr when it is a terminal and the work has taken two seconds. */
struct progress { const char *what; double started_s, shown_s; };
bool takes_escapes(FILE *f);            /* a terminal, and no dumb one */
void progress_start(struct progress *p, const char *what);
void progress_show(void *progress, size_t done, size_t of);
void progress_tell(void *progress, const char *what, size_t done, size_t of);   /* of a part of the work: a simulator's watch */
void progress_end(struct progress *p);

/* ---- commands: command_NAME stands in NAME.c (merge: in sweep.c) -------------------------------------------------- */

typedef int command_function(const struct options *o, struct session *s, struct err *err);
command_function command_list, command_machine, command_framework, command_workload, command_plan, command_timeline, command_run, command_explain, command_diff,
    command_sweep, command_merge, command_search, command_bench,
    command_check, command_validate, command_calibrate, command_ledger, command_audit, command_compare, command_baseline, command_init, command_record, command_history, command_manual, command_completion, command_score, command_lint, command_compare_logs,
    command_plot, command_report, command_watch;

#endif
