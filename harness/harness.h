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
    bool is_format_given;               /* false: format is the default, text */
    const char **arguments; size_t n_arguments;
};

enum option_id {
#define OPTION(id, ...) OPT_##id,
#include "harness/options.def"
#undef OPTION
    N_OPTIONS
};
__extension__ typedef unsigned __int128 option_set;          /* a bit for each option */
#define OPTION_BIT(option) ((option_set)1 << (option))

/* ---- commands.c: the commands --------------------------------------------------------------- */

struct session {
    struct arena arena;                 /* freed when the command ends */
    FILE *out, *log;                    /* the streams for answers and messages: standard output and error, or a library's memory */
    bool in_terminal;                   /* `out` is a terminal */
    bool in_colour;                     /* text may hold escape sequences */
    const char *root;
    struct simulator simulator;         /* runs, and caches, every simulation of a command */
    struct model_paths paths;
    const char *published_dir, *validity_dir, *runs_dir, *baselines_dir, *plots_dir;
    bool executes;                      /* the command computes numbers, so keys that shape only numbers have an effect */
    bool trains;                        /* the command trains, so every key has an effect */
};

extern const char podbench_commit[];       /* the commit that the program was built from; "unknown" outside a repository and an archive of it; commit.c is made by make */

struct command {
    const char *group;                          /* the heading of a group, at its first command; NULL for the others */
    const char *name, *arguments;               /* arguments as usage shows them: "RECIPE...", "[BASE] RUN" */
    const char *summary, *detail;               /* summary: one line without a full stop; detail: further sentences, or NULL */
    option_set options;                         /* OPTION_BITs; every command also has --root */
    unsigned formats;                           /* FORMAT_BITs; 0 if there is no --format */
    int (*run)(const struct options *o, struct session *s, struct err *err);    /* returns an exit status, with a message for BAD_INPUT */
    bool simulates;                             /* the command's output depends on the fitted constants */
};
extern const struct command commands[];
extern const size_t n_commands;
const struct command *command_find(const char *name);           /* NULL if no command has this name */
/* "did you mean '...'? ", by what other tools call the same, and else by letters; "" where nothing is near. */
const char *words_suggestion(const char *const *names, size_t n, const char *typed, struct arena *a);
int command_unknown(const char *name, struct err *err);         /* EXIT_BAD_INPUT, with a message that names the commands there are */
/* Runs a command in an open session. Returns its exit status, with a message for EXIT_BAD_INPUT. */
int command_call(const struct command *c, const struct options *o, struct session *s, struct err *err);

/* True if the command takes this many arguments: those in brackets are optional, and dots mean any number. */
bool command_takes(const struct command *c, size_t n_arguments);
/* Option i as help and completion show it; its name is NULL when the command does not have it. False past
 * the last option. */
struct option_view { const char *name, *argument, *help; };
bool option_of(struct option_view *out, const struct command *c, size_t i, struct arena *a);
/* False, with a message, for a malformed command line. With argp_flags 0, argp itself ends the program after --help, and with status 2 at an
 * option that the command does not have. */
bool options_parse(struct options *out, const struct command *c, int argc, char **argv, unsigned argp_flags, struct arena *a, struct err *err);
/* root NULL: the folder is searched for; given_as: its name in messages ("--root"). The caller owns out and log. */
bool session_open(struct session *s, const char *root, const char *given_as, struct err *err);
/* Replaces the program's own folders by those that --recipes, --published and --baseline name. */
bool session_folders(struct session *s, const struct options *o, struct err *err);
/* True if the session has the program's own figures and recipes, which are those of the ledger and of first-sight.csv. */
bool session_has_own_rows(const struct session *s, const struct options *o);
void session_warn_unfitted(struct session *s);      /* warns when a fitted sheet is missing, so that unfitted values are used */
void session_warn_replaced(const struct options *o, struct session *s);        /* warns of keys that --set sets twice */
void session_close(struct session *s);

/* Sets the message and returns EXIT_BAD_INPUT. */
int bad_input(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- paths, settings, output ------------------------------------------------------------------- */

bool is_folder(const char *path);
/* The path of a table ("rows.csv") of a run, which is given by its name in results/runs, by its folder, or by the path
 * of the table itself. */
bool run_table_path(const char **out, const char *run, const char *table, struct session *s, struct err *err);
/* Refuses a run folder that is incomplete, or whose tables do not have these columns, and switches to the recipes and
 * figures that the run was made from. With columns NULL any will do and the folders stay, for commands that simulate
 * nothing. The path of a table passes. */
bool run_open(const char *run, const char *columns, struct session *s, struct err *err);
/* The folder of a run that run_open() accepted. Refuses a single table, which has no folder to write to. */
bool run_folder(const char **out, const char *run, struct session *s, struct err *err);
/* Published figures and the rows derived from them; published NULL: the session's. Warns of derived rows that lack a
 * recipe. */
bool session_figures(struct figures *out, const char *published, struct session *s, struct err *err);
struct check_source session_source(struct session *s, struct simulator *simulator);     /* simulates what figures are compared with */
struct first_sight;
const char *session_memory_sights_path(struct session *s);       /* the table that memory_sights_load() reads */
struct track_record;
struct own_runs;
/* The published runs by which answers are judged, and those of podbench-measured.csv in the current folder. Warns of a line that does not count. */
bool session_record(struct track_record *out, struct own_runs *own, struct session *s, struct err *err);
bool session_first_sight(struct first_sight *out, struct session *s, struct err *err);      /* empty if the table does not exist */
/* Every recipe's id, sorted. */
bool all_recipes(char ***ids, size_t *n, struct session *s, struct err *err);
bool all_machines(char ***names, size_t *n, struct session *s, struct err *err);
bool all_workloads(char ***names, size_t *n, struct session *s, struct err *err);
bool all_frameworks(char ***names, size_t *n, struct session *s, struct err *err);
typedef bool names_lister(char ***names, size_t *n, struct session *s, struct err *err);
int print_names(const char *const *names, size_t n, const struct options *o, struct session *s);     /* list_names.c */
int list_words(const struct options *o, struct session *s, struct err *err);
int list_names(names_lister *lister, const struct options *o, struct session *s, struct err *err);
/* A warning for output that does not say so itself: the model does not fit, and its times are as if it did. */
const char *unfit_text(const struct result *r, struct arena *a);        /* "does not fit: .." */
void warn_unfit(const struct result *r, struct session *s);
/* Simulates the recipe that the command was given, with its --set, and warns of settings without effect. */
bool simulate_argument(struct simulation *sim, struct result *r, const struct options *o, struct session *s, struct err *err);
/* Warns of keys and sheet values that have no effect on the simulation. */
void warn_unused_keys(const struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s,
                      struct arena *scratch);
/* One setting of a configuration, and its alternatives in a sweep or search. */
struct setting {
    const char *text, *key;             /* text is "key=value" */
    const char **others; size_t n_others;
    bool is_choice;                     /* chosen by podbench, not by the user */
    bool is_idle;                       /* the setting changes nothing */
};
struct configuration {
    const char *recipe;
    struct setting *settings; size_t n, cap;
    bool draws, is_of_many;             /* draws: the command draws or logs runs; is_of_many: this is one of the configurations of a sweep or a search */
};
void configuration_add(struct configuration *c, const char *const *texts, size_t n, struct arena *a);
/* A setting and its n alternatives, which are others[0], others[stride], and so on. */
void configuration_vary(struct configuration *c, const char *text, const char *const *others, size_t n, size_t stride, struct arena *a);
bool setting_is_of(const char *setting, const char *key);      /* "key=..." */
/* Warns of settings without effect; where names the configuration in the message: "first". The warnings are added to notes, an array, or NULL. */
void warn_idle_settings(struct configuration *c, const char *where, struct json_t *notes, struct session *s);
/* Leaves out, one after the other, each setting without which the result stays the same; returns how many remain. --unfolded keeps all. */
size_t settings_that_matter(const char **settings, size_t n, const char *recipe, const char *const *sets, size_t n_sets, struct session *s);
/* The number that --jobs gives, or one for each core. */
bool count_threads(uint32_t *out, const struct options *o, struct err *err);
/* Rows of spec sheets as a table: machine.c. */
struct sheet_line { const char *sheet, *key, *value, *unit, *source, *note; };
enum { N_SHEET_COLUMNS = 6 };
extern const struct table_column sheet_columns[N_SHEET_COLUMNS];
void sheet_line_add(struct table *t, const struct sheet *sheet, const struct sheet_row *row, struct arena *a);
/* Refuses to replace an existing file that does not begin as this command's own output does, because it may be somebody's input. */
bool may_replace(const char *path, const char *beginning, const char *what, struct err *err);
const char *gnuplot_string(const char *text, struct arena *a);      /* the text in single quotes, with quotes inside doubled; plot.c */
/* Runs a gnuplot script with these settings in a folder. The picture is replaced only when the drawing is complete. */
bool gnuplot_draw(const char *picture, const char *script, const char *settings, const char *folder, struct err *err);

/* ---- progress ------------------------------------------------------------------------------- */

/* A line among the messages, if they go to a terminal, once the work has taken two seconds. */
struct progress { FILE *log; const char *what; double started_s, shown_s, told_s; };
void progress_start(struct progress *p, FILE *log, const char *what);
void progress_report(void *progress, const char *what, size_t done, size_t of);     /* the report() of a struct watch */
/* Shows a text of its own; where stderr is no terminal, as a line now and then. */
void progress_tell(struct progress *p, const char *text);
double progress_seconds(const struct progress *p);      /* seconds since the work began */
void progress_end(struct progress *p);
/* interrupts_catch() to interrupts_release(): the first interrupt (Control-C) is only noted, and a second one ends the program. */
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

struct judge_options logs_options(const struct options *o, const struct session *s, struct progress *p);    /* starts p */
/* The file as named, or the real path of a folder, whose names say the round and system. NULL with a message when it
 * is not there. */
const char *logs_path(const char *path, struct session *s, struct err *err);
const char *logs_folder(const char *path, struct session *s, struct err *err);
void logs_notice(const char *path, const char *text);                       /* prints to stderr */
void logs_on_notice(void *user, const char *path, const char *text);        /* logs_on_notice() with the type that tree_visit() takes */
/* rounds.c: reads folders of logs, by the user's cache. */
bool results_from_folders(struct round_results *out, struct rounds_counts *counts, const char *const *dirs, size_t n, const struct options *o,
                          struct session *s, struct err *err);
/* check.c: values come from the run that is named, or every recipe is simulated when it is needed. */
bool build_check(struct check *out, const struct options *o, struct session *s, struct err *err);

/* ledger.c: adds what the ledger says to a check: a failure for each row that differs from it, and how many rows changed, by reason. Tables
 * without a ledger add nothing. */
bool ledger_check(struct document *d, struct session *s, struct err *err);

/* compare.c */
bool gate_of(struct gate *out, struct gate_tables *tables, const char *base, const char *run, double margin, struct session *s,
             struct err *err);
bool baseline_is_recorded(const char *baseline, struct arena *a);
bool margin_of(double *margin, const struct options *o, struct err *err);      /* --margin, or one point of mean error */
/* The result's value of a figure's metric; 0 for metrics that the answer does not show. */
double result_of_figure(const struct figure *g, const struct result *r);
bool answer_shows(const struct figure *g);      /* true if the answer shows the metric of this figure */
/* Shows digits to the uncertainty, a share of the throughput (0 if unknown), and the published figures of this recipe. r holds its provenance.
 * With colour a verdict of no is red. */
void answer_document(struct document *d, const struct simulation *sim, const struct result *r, double uncertainty, const struct figures *figures,
                     bool colour);
struct validity;
void answer_add_outside(struct document *d, const struct result *r, const struct validity *v, const struct figures *figures);

/* ---- submission.c: a submission of many runs drawn from one simulated run, scored by the rules of MLPerf and written as its logs */

struct track_record;
struct submission_request {
    uint64_t runs, seed;                /* runs 0: as many as the rules require */
    const char *mllog;                  /* the folder for the logs; NULL if they are not written */
    const struct track_record *record;          /* the references whose errors give the uncertainty of the step time; NULL if the fitted sheet gives it */
    bool until_valid;                   /* draw again until the submission has a score and passes */
    bool replaces;                      /* existing logs */
    bool predict_schedule;              /* epochs and evaluations follow the rules and the convergence model, not the recipe */
};
bool submission_draw(struct drawn_runs *out, const struct simulation *sim, const struct result *r,
                     const struct submission_request *q, struct session *s, struct err *err);

/* ---- run_table.c: several runs side by side */

struct run_summary {
    const char *id, *fits, *samples, *interval, *step, *published;      /* numbers are written as texts, with as many digits as the interval allows */
    uint64_t ipus;
    double mfu, power, train_min;       /* power: watts an IPU; 0 if unknown */
};
/* The result's id stays the caller's. figures may be NULL. */
struct run_summary run_summary(const struct result *r, const struct validity *v, const struct figures *figures, struct arena *a);
struct table run_table(const struct run_summary *lines, size_t n);

/* ---- more_chips.c: the best expected time to train on each size of system, which shows where more chips stop paying */

/* A run that is taken to other sizes of system. Replicas and gradient accumulation change, the host machines keep
 * their IPUs each, and a call to the device keeps its samples, in whole steps. */
struct scaling_case { const char *name, *recipe; };
extern const struct scaling_case scaling_cases[];
extern const size_t n_scaling_cases;
extern const uint64_t scaling_sizes[];
extern const size_t n_scaling_sizes;

struct chips_point { uint64_t chips, accumulation; double batch, minutes, low, high, samples; const char *guess; };

/* Finds the gradient accumulation with the shortest expected time to train; false when none can run on this many chips. */
bool scaling_best(struct chips_point *best, const struct scaling_case *w, uint64_t chips, const struct track_record *by, struct session *s);

/* ---- completion.c ---- */

/* Prints what may stand for the last word of a command line without the program's name, a line each: the word, and after a tab what it is.
 * Returns the list (podbench list) that has the names which may stand there, or NULL. */
const char *completion_offer(const char *const *words, size_t n);

/* ---- commands: command_NAME is in NAME.c, completion in completion_scripts.c, merge in sweep.c, record in history.c --------------- */

typedef int command_function(const struct options *o, struct session *s, struct err *err);
command_function list_recipes, command_list, command_machine, command_framework, command_workload, command_plan, command_timeline, command_execute,
    command_train, command_run, command_fit, command_kernel, command_explain, command_diff, command_sweep, command_merge, command_search, command_bench,
    command_check, command_validate, command_calibrate, command_ledger, command_audit, command_compare, command_baseline, command_init,
    command_record, command_history, command_completion, command_score, command_lint, command_compare_logs, command_rounds, command_judge,
    command_plot, command_report, command_watch, command_ask, command_measured;

#endif
