/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * harness.h - the program: a session with its folders and cache, a table of options and a table of commands.
 */
#ifndef HARNESS_H
#define HARNESS_H
#include "results/published/published.h"
#include "results/simulate/simulator.h"
#include "results/submission/drawn_runs.h"
#include "system-model/output/output.h"

/* ---- options.c: the options of every command, as options.def describes them --------------- */

#define MEMBER_TAKES_TEXT(member) const char *member;
#define MEMBER_TAKES_LIST(member) const char **member; size_t n_##member;
#define MEMBER_TAKES_NUMBER(member) uint64_t member;
#define MEMBER_TAKES_COUNT(member) uint64_t member;
#define MEMBER_TAKES_FORMAT(member) enum output_format member;
#define MEMBER_IS_FLAG(member) bool member;
#define MEMBER_IS_SETTING(member)
#define MEMBER_TAKES_SETTING(member)
struct options {
#define OPTION(id, type, member, ...) MEMBER_##type(member)
#include "harness/options.def"
#undef OPTION
    bool is_format_given;               /* false if `format` is only the default */
    const char **arguments; size_t n_arguments;
};

enum option_id {
#define OPTION(id, ...) OPT_##id,
#include "harness/options.def"
#undef OPTION
    N_OPTIONS
};
__extension__ typedef unsigned __int128 option_set;          /* one bit for each option */
#define OPTION_BIT(option) ((option_set)1 << (option))

/* ---- commands.c: the commands --------------------------------------------------------------- */

struct session {
    struct arena arena;                 /* freed when the command ends */
    FILE *out, *log;                    /* receive answers and messages: standard output and error, or memory in the library */
    bool in_terminal;                   /* true if `out` is a terminal */
    bool in_colour;                     /* true if text may hold escape sequences */
    struct document answer;             /* a command adds to it; it is written in the format of --format when the command has ended */
    const char *root;
    struct simulator simulator;         /* runs all simulations of a command, and caches their parts */
    struct model_paths paths;
    const char *published_dir, *validity_dir, *runs_dir, *baselines_dir, *plots_dir;
    bool executes;                      /* the command computes numbers, so keys that only change numbers have an effect */
    bool trains;                        /* the command trains, so all keys have an effect */
};

extern const char podbench_commit[];       /* the commit from which the program was built, or "unknown"; make writes commit.c */

struct command {
    const char *group;                          /* the heading of a group, at its first command; NULL for other commands */
    const char *name, *arguments;               /* arguments as in the usage, such as "RECIPE..." or "[BASE] RUN" */
    const char *summary, *detail;               /* summary is one line without a full stop; detail is further sentences, or NULL */
    option_set options;                         /* OPTION_BITs; every command also has --root */
    unsigned formats;                           /* FORMAT_BITs; 0 if there is no --format */
    int (*run)(const struct options *o, struct session *s, struct err *err);    /* returns an exit status, and a message with EXIT_BAD_INPUT */
    bool simulates;                             /* the output depends on the fitted constants */
};
extern const struct command commands[];
extern const size_t n_commands;
const struct command *command_find(const char *name);           /* NULL if no command has this name */
/* A suggestion "did you mean '...'? ": the name for what other tools call by the typed word, or else the name with the nearest letters; "" if
 * none is near. */
const char *words_suggestion(const char *const *names, size_t n, const char *typed, struct arena *a);
int command_unknown(const char *name, struct err *err);         /* returns EXIT_BAD_INPUT; the message lists the commands */
/* Runs a command in an open session. Returns its exit status, and a message with EXIT_BAD_INPUT. */
int command_call(const struct command *c, const struct options *o, struct session *s, struct err *err);

/* True if the command takes this many arguments. Those in brackets are optional, and dots allow any number. */
bool command_takes(const struct command *c, size_t n_arguments);
/* Option i as help and completion show it. Its name is NULL if the command does not have it. option_of() is false beyond the last option. */
struct option_view { const char *name, *argument, *help; };
bool option_of(struct option_view *out, const struct command *c, size_t i, struct arena *a);
/* Parses a command line; false, with a message, if it is malformed. With argp_flags 0, argp itself ends the program after --help, and with
 * status 2 at an option that the command does not have. */
bool options_parse(struct options *out, const struct command *c, int argc, char **argv, unsigned argp_flags, struct arena *a, struct err *err);
/* Opens a session. If `root` is NULL, the folder is searched for; given_as is its option in messages ("--root"). The caller owns `out` and
 * `log`. */
bool session_open(struct session *s, const char *root, const char *given_as, struct err *err);
/* Takes the folders that --recipes, --published and --baseline name. */
bool session_folders(struct session *s, const struct options *o, struct err *err);
/* True if the figures and recipes are the program's own, to which the ledger and first-sight.csv belong. */
bool session_has_own_rows(const struct session *s, const struct options *o);
void session_warn_unfitted(struct session *s);      /* warns if a fitted sheet is missing, so that unfitted values are used */
void session_warn_replaced(const struct options *o, struct session *s);        /* warns of keys that --set sets twice */
void session_close(struct session *s);

/* Sets the message, and returns EXIT_BAD_INPUT. */
int bad_input(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- paths, settings, output ------------------------------------------------------------------- */

bool is_folder(const char *path);
/* The path of a run's table, such as "rows.csv". The run is given by its name in results/runs, by its folder, or by the table's own path. */
bool run_table_path(const char **out, const char *run, const char *table, struct session *s, struct err *err);
/* Opens a run, and switches to the recipes and figures from which it was made. Refuses a folder that is incomplete or whose tables have other
 * columns. If `columns` is NULL, any columns pass and the folders stay, for commands that simulate nothing. The path of a table passes, too. */
bool run_open(const char *run, const char *columns, struct session *s, struct err *err);
/* The folder of a run that run_open() accepted. Refuses a single table, which has no folder. */
bool run_folder(const char **out, const char *run, struct session *s, struct err *err);
/* Loads published figures and the rows derived from them; `published` NULL means those of the session. Warns of derived rows that lack a
 * recipe. */
bool session_figures(struct figures *out, const char *published, struct session *s, struct err *err);
struct check_source session_source(struct session *s, struct simulator *simulator);     /* makes simulations to compare figures with */
struct first_sight;
const char *session_memory_sights_path(struct session *s);       /* is the path of the table that memory_sights_load() reads */
struct track_record;
struct own_runs;
/* Loads the published runs by which answers are judged, and those of podbench-measured.csv in the current folder. Warns of lines that do not
 * count. */
bool session_record(struct track_record *out, struct own_runs *own, struct session *s, struct err *err);
bool session_first_sight(struct first_sight *out, struct session *s, struct err *err);      /* a missing table has no rows */
/* Lists the ids of all recipes, sorted. */
bool all_recipes(char ***ids, size_t *n, struct session *s, struct err *err);
bool all_machines(char ***names, size_t *n, struct session *s, struct err *err);
bool all_workloads(char ***names, size_t *n, struct session *s, struct err *err);
bool all_frameworks(char ***names, size_t *n, struct session *s, struct err *err);
typedef bool names_lister(char ***names, size_t *n, struct session *s, struct err *err);
int print_names(const char *const *names, size_t n, struct session *s);     /* list_names.c */
int list_words(const struct options *o, struct session *s, struct err *err);
int list_names(names_lister *lister, struct session *s, struct err *err);
/* Warns that the model does not fit, and that times are as if it did. This is for output that does not say so itself. */
const char *unfit_text(const struct result *r, struct arena *a);        /* begins with "does not fit: " */
void warn_unfit(const struct result *r, struct session *s);
/* Simulates the recipe in the command's arguments, with --set, and warns of settings without effect. */
bool simulate_argument(struct simulation *sim, struct result *r, const struct options *o, struct session *s, struct err *err);
/* Warns of keys and sheet values that have no effect on the simulation. */
void warn_unused_keys(const struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s,
                      struct arena *scratch);
/* One setting of a configuration, and its alternatives in a sweep or search. */
struct setting {
    const char *text, *key;             /* text is "key=value" */
    const char **others; size_t n_others;
    bool is_choice;                     /* podbench chose the setting, not the user */
    bool is_idle;                       /* the setting changes nothing */
};
struct configuration {
    const char *recipe;
    struct setting *settings; size_t n, cap;
    bool draws, is_of_many;             /* draws: the command draws or logs runs; is_of_many: it is one configuration of a sweep or search */
};
void configuration_add(struct configuration *c, const char *const *texts, size_t n, struct arena *a);
/* Adds a setting with n alternatives, which are others[0], others[stride], and so on. */
void configuration_vary(struct configuration *c, const char *text, const char *const *others, size_t n, size_t stride, struct arena *a);
bool setting_is_of(const char *setting, const char *key);      /* "key=..." */
/* Warns of settings without effect. `where` names the configuration in messages, such as "first". The warnings are added to the array `notes`,
 * unless that is NULL. */
void warn_idle_settings(struct configuration *c, const char *where, struct json_t *notes, struct session *s);
/* Drops, one after another, settings without which the result stays the same, and returns how many remain. With --unfolded all remain. */
size_t settings_that_matter(const char **settings, size_t n, const char *recipe, const char *const *sets, size_t n_sets, struct session *s);
/* The number of --jobs, or one thread for each core. */
bool count_threads(uint32_t *out, const struct options *o, struct err *err);
/* A row of a spec sheet, for tables (machine.c). */
struct sheet_line { const char *sheet, *key, *value, *unit, *source, *note; };
enum { N_SHEET_COLUMNS = 6 };
extern const struct table_column sheet_columns[N_SHEET_COLUMNS];
void sheet_line_add(struct table *t, const struct sheet *sheet, const struct sheet_row *row, struct arena *a);
/* Refuses to replace an existing file that does not begin like this command's output, because it may be somebody's input. */
bool may_replace(const char *path, const char *beginning, const char *what, struct err *err);
const char *gnuplot_string(const char *text, struct arena *a);      /* returns the text in single quotes; quotes inside are doubled (plot.c) */
/* Runs a gnuplot script with these settings in a folder. The picture is replaced only if the drawing is complete. */
bool gnuplot_draw(const char *picture, const char *script, const char *settings, const char *folder, struct err *err);

/* ---- progress ------------------------------------------------------------------------------- */

/* A line of progress on the terminal, shown once the work has taken two seconds. */
struct progress { FILE *log; const char *what; double started_s, shown_s, told_s; };
void progress_start(struct progress *p, FILE *log, const char *what);
void progress_report(void *progress, const char *what, size_t done, size_t of);     /* serves as report() of a struct watch */
/* Shows the given text; if stderr is no terminal, it prints a line from time to time. */
void progress_tell(struct progress *p, const char *text);
double progress_seconds(const struct progress *p);      /* returns seconds since the work began */
void progress_end(struct progress *p);
/* Between interrupts_catch() and interrupts_release() the first interrupt (Control-C) is only noted; a second one ends the program. */
void interrupts_catch(void);
bool was_interrupted(void);
bool interrupts_release(void);          /* returns was_interrupted() */

/* ---- helpers that several commands share ------------------------------------------------------------------ */

struct check;
struct figure;
struct gate;
struct gate_tables;
struct judge_options;
struct round_results;
struct rounds_counts;

struct judge_options logs_options(const struct options *o, const struct session *s, struct progress *p);    /* also starts `p` */
/* A file's path unchanged, or a folder's real path, since its names say the round and system. NULL, with a message, if it does not exist. */
const char *logs_path(const char *path, struct session *s, struct err *err);
const char *logs_folder(const char *path, struct session *s, struct err *err);
void logs_notice(const char *path, const char *text);                       /* prints to stderr */
void logs_on_notice(void *user, const char *path, const char *text);        /* logs_notice() with the type that tree_visit has */
/* rounds.c: reads folders of logs, with the user's cache. */
bool results_from_folders(struct round_results *out, struct rounds_counts *counts, const char *const *dirs, size_t n, const struct options *o,
                          struct session *s, struct err *err);
/* check.c: makes a check from the named run, or simulates recipes as they are needed. */
bool build_check(struct check *out, const struct options *o, struct session *s, struct err *err);

/* ledger.c: adds the ledger to a check: a failure for each row that differs from it, and how many rows changed, by reason. Tables without a
 * ledger add nothing. */
bool ledger_check(struct document *d, struct session *s, struct err *err);

/* compare.c */
bool gate_of(struct gate *out, struct gate_tables *tables, const char *base, const char *run, double margin, struct session *s,
             struct err *err);
bool baseline_is_recorded(const char *baseline, struct arena *a);
bool margin_of(double *margin, const struct options *o, struct err *err);      /* takes --margin, or one percentage point of mean error */
/* The result's value for a figure's metric; 0 if the answer does not show the metric. */
double result_of_figure(const struct figure *g, const struct result *r);
bool answer_shows(const struct figure *g);      /* true if the answer shows the figure's metric */
/* Adds the answer, with as many digits as `uncertainty`, a share of the throughput (0 if unknown), allows, and the published figures of this
 * recipe. r has its provenance. With `colour`, a verdict of "no" is red. */
void answer_document(struct document *d, const struct simulation *sim, const struct result *r, double uncertainty, const struct figures *figures,
                     bool colour);
struct validity;
void answer_add_outside(struct document *d, const struct result *r, const struct validity *v, const struct figures *figures);

/* ---- submission.c: a submission of many runs drawn from one simulated run, scored by the rules of MLPerf and written as its logs */

struct track_record;
struct submission_request {
    uint64_t runs, seed;                /* runs: 0 for as many as the rules demand */
    const char *mllog;                  /* the folder for the logs, or NULL to write none */
    const struct track_record *record;          /* the references whose errors give the uncertainty of a step; NULL takes it from the fitted sheet */
    bool until_valid;                   /* draws again until the submission has a score and passes */
    bool replaces;                      /* replaces existing logs */
    bool predict_schedule;              /* takes epochs and evaluations from the rules and the convergence model instead of the recipe */
};
bool submission_draw(struct drawn_runs *out, const struct simulation *sim, const struct result *r,
                     const struct submission_request *q, struct session *s, struct err *err);

/* ---- run_table.c: several runs side by side */

struct run_summary {
    const char *id, *fits, *samples, *interval, *step, *published;      /* numbers as text, with as many digits as the interval allows */
    uint64_t ipus;
    double mfu, power, train_min;       /* power: watts per IPU; 0 if unknown */
};
/* The summary of a result. It keeps the pointer to the result's id. `figures` may be NULL. */
struct run_summary run_summary(const struct result *r, const struct validity *v, const struct figures *figures, struct arena *a);
struct table run_table(const struct run_summary *lines, size_t n);

/* ---- more_chips.c: the best expected time to train on each size of system, which shows where more chips stop paying */

/* A run that is moved to other sizes of system. Replicas and gradient accumulation change; each host machine keeps its number of IPUs, and a
 * call keeps its samples, in whole steps. */
struct scaling_case { const char *name, *recipe; };
extern const struct scaling_case scaling_cases[];
extern const size_t n_scaling_cases;
extern const uint64_t scaling_sizes[];
extern const size_t n_scaling_sizes;

struct chips_point { uint64_t chips, accumulation; double batch, minutes, low, high, samples; const char *guess; };

/* Finds the gradient accumulation with the shortest expected time to train; false if none can run on this many chips. */
bool scaling_best(struct chips_point *best, const struct scaling_case *w, uint64_t chips, const struct track_record *by, struct session *s);

/* ---- completion.c ---- */

/* Prints the words that may end a command line, given without the program's name: on each line a word, and after a tab its description.
 * Returns the list (podbench list) of names that may stand there, or NULL. */
const char *completion_offer(const char *const *words, size_t n);

/* ---- commands: command_NAME is in NAME.c, completion in completion_scripts.c, merge in sweep.c, record in history.c --------------- */

typedef int command_function(const struct options *o, struct session *s, struct err *err);
/* Runs a command, and writes what it has added to the session's answer, unless it failed. */
int session_answer(command_function *run, const struct options *o, struct session *s, struct err *err);
command_function list_recipes, command_list, command_machine, command_framework, command_workload, command_plan, command_timeline, command_execute,
    command_train, command_run, command_fit, command_kernel, command_explain, command_diff, command_sweep, command_merge, command_search, command_bench,
    command_check, command_validate, command_calibrate, command_ledger, command_audit, command_compare, command_baseline, command_init,
    command_record, command_history, command_completion, command_score, command_lint, command_compare_logs, command_rounds, command_judge,
    command_plot, command_report, command_watch, command_ask, command_measured;

#endif
