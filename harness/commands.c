/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commands.c - the table of commands, and the function by which the program and the library run a command.
 */
#include "harness/harness.h"
#include <argp.h>
#include <sys/resource.h>

#define TEXT_CSV_JSON (FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_CSV) | FORMAT_BIT(FORMAT_JSON))
#define TEXT_JSON (FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_JSON))

#define O(option) OPTION_BIT(OPT_##option)

const struct command commands[] = {
    { "Look at what there is",
      "list", "recipes|machines|workloads|frameworks|keys|operators|metrics|schema|assumptions|words [WORD...]", "List recipes, machines, workloads, frameworks, recipe keys, operators, "
      "metrics or assumptions", "Recipes come with their published figure and the error of its prediction; WORDs choose the recipes that have all these "
      "words in their name, model, machine or framework. Keys come with the values they take. Metrics are what a run gives, with their units; as markdown they are "
      "docs/formats.md. The schema is that of run's JSON. Assumptions are values that no source states; for those on sheets: how far halving or doubling "
      "moves a step. words prints the words of answers, such as replica and bubble, with their meaning.", O(NAMES), TEXT_CSV_JSON | FORMAT_BIT(FORMAT_MARKDOWN), command_list, false },
    { NULL, "machine", "[NAME]", "Print a spec sheet with its sources, and what follows from it", "Without a name: the names. --topology prints every link "
      "instead of the kinds of links. --copy begins a machine of your own.", O(TOPOLOGY) | O(COPY), TEXT_CSV_JSON | FORMAT_BIT(FORMAT_DOT), command_machine, false },
    { NULL, "framework", "[NAME]", "Print what a framework's programs do unless a recipe says otherwise", "Schedules, weight update, calls: each value with "
      "its source. NAME is a framework as a recipe names it, or a sheet. Without a name: the sheets.", 0, TEXT_CSV_JSON, command_framework, false },
    { NULL, "workload", "[NAME]", "Print a model's layers, parameters and work", "NAME is a built-in model or the path of an ONNX file. Without a name: the "
      "names.", O(ONNX) | O(WEIGHTS) | O(OPS) | O(SET) | O(APPROXIMATE) | O(OPERATORS), TEXT_JSON, command_workload, false },

    { "Ask about one configuration",
      "ask", "MODEL on MACHINE [WORD...]", "Say on one page how a model runs on a machine, and write the recipe", "MODEL is a built-in model or an ONNX file, MACHINE a "
      "system (pod16) or a number of chips (16 bow). WORDs say train or infer, and goals: fastest, cheapest (fewest IPUs), least energy, shortest training, at "
      "least N/s, for N texts (at a time; in training the global batch), fits with N %. It begins with the nearest published recipe, or one as init writes it, searches for 20 s, writes the best configuration as a "
      "recipe, and prints what run says of it. Where nothing fits, it begins again with shorter rows. Exit 1 when no configuration keeps the limits.", O(OUT) | O(SECONDS) | O(MOST) | O(JOBS), TEXT_JSON,
      command_ask, true },
    { NULL, "run", "RECIPE...", "Predict throughput, time to train, memory and energy", "Also says what bounds the run, how far to trust the answer, and how "
      "other values of unpublished settings would change it ([open] in list keys). The formats tap, junit, markdown and annotations say whether each "
      "recipe fits its machine.", O(SET) | O(CHECK) | O(RUNS) | O(SEED) | O(MLLOG) | O(FORCE) | O(UNTIL_VALID) | O(UNFOLDED) | O(ALL) | O(REQUIRE_FIT) |
      O(FRAMEWORK_OPTIONS) | O(APPROXIMATE) | O(OPERATORS), TEXT_CSV_JSON | JUDGING_FORMATS, command_run, true },
    { NULL, "measured", "RECIPE|TABLE.csv", "Keep a measurement of your own machine, which later answers then use", "In the folder of a project (init), it appends to "
      "podbench-measured.csv the run, its measured --step, and what was predicted before. From then on run, explain, search and sweep in that folder count its error "
      "as that of nine published runs; check lists it, and explain says which parts could explain the difference. TABLE.csv has the columns recipe,step.", O(SET) | O(STEP), TEXT_CSV_JSON,
      command_measured, true },
    { NULL, "fit", "RECIPE", "Find the largest sizes that fit, and what would make a larger one fit", "Sizes are the micro-batch, the sequence length, the IPUs of a replica, and "
      "the rows of a table of entities or categories. "
      "Prints what fills the fullest tile, by category and by layer. Changes come with what they cost in time, as keys of the recipe and as options of its "
      "framework. As csv: the memory of every size that was tried. Exit 1 when the recipe itself does not fit.", O(SET) | O(SIZE) | O(APPROXIMATE) | O(OPERATORS),
      TEXT_CSV_JSON, command_fit, true },
    { NULL, "explain", "RECIPE", "Say what bounds a recipe, where its time goes and what would help", "Every cost comes with its formula and sources. csv "
      "has the steps from the ideal time to the predicted one.", O(SET) | O(PROFILE), TEXT_CSV_JSON, command_explain, true },
    { NULL, "kernel", "FILE.onnx|RECIPE", "Price operations alone, in a loop on the device", "Prints cycles, exchange and bytes of a tile for each operation of an ONNX file "
      "or a recipe, without a host. A file runs on one IPU of bow-2000 in fp16 unless --set says otherwise. As csv: the operations. Exit 1 when it does not fit.",
      O(SET) | O(APPROXIMATE) | O(OPERATORS), TEXT_CSV_JSON, command_kernel, true },
    { NULL, "plan", "RECIPE", "Print the plan: placement, cost by stage, memory by IPU", "--all adds the pipeline, the weight update and every "
      "operation.", O(SET) | O(ALL) | O(UPDATE) | O(APPROXIMATE) | O(OPERATORS), 0, command_plan, true },
    { NULL, "timeline", "RECIPE", "Print what each IPU does when, in one step", "Draws the step, and prints what each IPU spends it on; --all prints every span.", O(ALL) |
      O(SET) | O(TRACE) | O(UNFOLDED) | O(APPROXIMATE) | O(OPERATORS), FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_CSV), command_timeline, true },
    { NULL, "execute", "RECIPE", "Compute the numbers of one step of a recipe's plan", "Weights and inputs are random, in the recipe's number formats. Executes every task in the plan's order, with "
      "stash, recomputation, replicas and weight update. Exit 2 when a task reads a tensor that the plan does not keep. Prints the host memory "
      "needed, the loss, overflows and underflows, and live bytes beside the plan's.", O(SET) | O(SEED) | O(JOBS) | O(APPROXIMATE) | O(OPERATORS), TEXT_JSON,
      command_execute, true },
    { NULL, "train", "RECIPE", "Train a recipe's small model on data", "Executes the plan step by step on the data of data.path, with the optimizer's "
      "values of [optimizer], and prints loss, quality, samples and the time that the machine would take. Ends with status 1 where the target is not "
      "reached. For small models: docs/train.md.", O(SET) | O(SEED) | O(JOBS) | O(UNTIL) | O(SEEDS) | O(MLLOG) | O(PLOT) | O(CHECKPOINT) | O(RESUME),
      IN_TEXT | IN_CSV | IN_JSON, command_train, true },
    { NULL, "diff", "A B", "Say why two recipes, or two runs, differ", "Lists the keys and sheet values that differ, each with its share of the difference. "
      "--set KEY=VALUE changes B, --set a:KEY=VALUE changes A.", O(SET), TEXT_JSON, command_diff, true },

    { "Try many configurations",
      "search", "RECIPE", "Find the best configuration of a recipe under limits", "Varies micro-batch, memory share, I/O tiles, IPUs per replica, cuts into "
      "stages, schedule, recomputation, where the optimizer state is kept, and its sharding; where none fits, a word table over 2 and 4 stages, and then layers cut over IPUs in phases. Only configurations that fit "
      "count. Says whether the answer is the best of all, or how much better another could be.", O(SET) | O(OVER) | O(MAXIMISE) | O(MINIMISE) | O(LIMIT) | O(MOST) | O(SECONDS) |
      O(FRAMEWORK_OPTIONS) | O(JOBS), TEXT_JSON, command_search, true },
    { NULL, "sweep", "RECIPE...", "Simulate a recipe over lists and ranges of its keys", "Prints a table on a terminal, or where --format text, --top, "
      "--sort or --columns ask for one. Otherwise writes one row per configuration, as CSV or as lines of JSON, with notes and the interval of run.",
      O(SET) | O(OVER) | O(ZIP) | O(FROM) | O(JOBS) | O(SHARD) | O(RESUME) | O(OUT) | O(UNFOLDED) | O(TOP) | O(SORT) | O(COLUMNS), FORMAT_BIT(FORMAT_TEXT) |
      FORMAT_BIT(FORMAT_CSV) | FORMAT_BIT(FORMAT_JSON), command_sweep, true },
    { NULL, "merge", "PART...", "Join the shards of a sweep", "Refuses gaps, overlaps, and parts of another sweep or version.", O(OUT), 0, command_merge,
      false },

    { "Compare predictions with published figures",
      "bench", "", "Simulate every recipe, write a run, and print it beside the figures", NULL, O(OUT) | O(RECIPES) | O(PUBLISHED) | O(KERNELS) | O(LINKS) |
      O(JOBS), TEXT_CSV_JSON, command_bench, true },
    { NULL, "check", "[RUN]", "Compare a run, or a fresh simulation, with the published figures", "Exit 1 when a row of role calibrate or validate is out "
      "of tolerance.", O(PUBLISHED) | O(EXPECT) | O(RECIPES), TEXT_CSV_JSON | JUDGING_FORMATS, command_check, true },
    { NULL, "validate", "[RUN]", "Print the accuracy by role and by group", "Without RUN: of a fresh simulation. Rows of role calibrate may shape "
      "constants; rows of role validate never do. --out writes the tables from which later answers get their intervals.", O(PUBLISHED) | O(OUT), TEXT_JSON, command_validate,
      true },
    { NULL, "plot", "[RUN]", "Draw a run's figures", "Without RUN: the latest. Writes CSV, SVG and PNG, by gnuplot.", O(RECIPES) | O(PUBLISHED), 0,
      command_plot, true },
    { NULL, "report", "[RUN]", "Write a run as one self-contained HTML page", "Without RUN: the latest.", O(RECIPES) | O(PUBLISHED), 0, command_report,
      true },
    { NULL, "audit", "", "Recompute every numeric claim of the source documents", "Prints counts and the claims that do not hold; --all prints all of "
      "them.", O(ALL), TEXT_CSV_JSON | FORMAT_BIT(FORMAT_MARKDOWN), command_audit, false },
    { NULL, "ledger", "", "Check that no published row has changed unrecorded", "Compares the role, configuration and value of every row with the ledger. "
      "Exit 1 when one differs.", 0, FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_CSV) | JUDGING_FORMATS, command_ledger, false },
    { NULL, "calibrate", "", "Fit the constants that may be fitted", "Uses only rows of role calibrate. Prints the sheets, or writes them to --out.",
      O(OUT), 0, command_calibrate, false },

    { "Notice changes",
      "compare", "[BASE] RUN", "Compare a run with the baseline, or with another run", "Prints what moved, by cause, and whether the accuracy holds; --all "
      "prints every cell. Exit 1 when anything moved.", O(ALL) | O(BASELINE) | O(MARGIN), TEXT_JSON | JUDGING_FORMATS, command_compare, false },
    { NULL, "baseline", "[RUN]", "Record a run as the new baseline, and why predictions moved", "Without RUN: the latest.", O(REASON) | O(MARGIN) |
      O(BASELINE), 0, command_baseline, false },
    { NULL, "record", "[RUN]", "Append a run to the history", "Without RUN: the latest.", O(LABEL) | O(FROM) | O(BASELINE), 0, command_record, false },
    { NULL, "history", "METRIC [RECIPE]", "Print how a metric changed from one recorded run to the next", "--out FILE.svg draws it.", O(ALL) | O(FROM) |
      O(OUT) | O(BASELINE), TEXT_CSV_JSON, command_history, false },
    { NULL, "watch", "SERIES", "Say whether a measured series is worse than its accepted level", "Judges columns of a table, newest row last, by statistics "
      "that hold for any noise. SERIES is a CSV table with or without a header, JSON, or - for standard input. Exit 1 while the latest level is worse than "
      "the accepted one, which is the first, a better one, or one accepted by --accept.", O(BY) | O(ACCEPT) | O(ACCEPTED) | O(OUT) | O(METRIC) | O(BETTER) |
      O(LEAST_CHANGE), TEXT_JSON | JUDGING_FORMATS, command_watch, false },

    { "Judge MLPerf logs",
      "score", "DIR", "Compute the official scores in a tree of MLPerf results", "One score for each system and benchmark. Exit 1 when there is none.",
      O(RULESET) | O(TRAIN_SAMPLES) | O(JOBS), TEXT_CSV_JSON, command_score, false },
    { NULL, "lint", "FILE|DIR...", "Check MLPerf logs and packages by the rules of their round", "Judges a log as the compliance checker does, and a folder "
      "as the package checker does. Exit 1 when something does not pass.", O(RULESET) | O(TRAIN_SAMPLES) | O(RCP_BYPASS) | O(SEED_BYPASS) |
      O(ONLY_FAILURES) | O(JOBS), TEXT_CSV_JSON | JUDGING_FORMATS, command_lint, false },
    { NULL, "rounds", "DIR...", "Print published MLPerf results of any rounds as one table", "DIR holds results repositories, or parts of them. --out "
      "FILE.html writes a page with figures and filters instead. Rows are cached in ~/.cache/podbench by the content of the logs.", O(OUT) | O(JOBS),
      TEXT_CSV_JSON, command_rounds, false },
    { NULL, "judge", "PREDICTIONS.csv|podbench|roofline|convergence RESULTS...", "Judge predictions of published MLPerf results", "RESULTS are folders of "
      "logs, or the table that rounds prints as csv. Prints errors, intervals, and the same for simple guesses. podbench and roofline predict what they "
      "can; convergence judges samples to the target. Exit 1 when no prediction can be scored.", O(OUT) | O(ALL) | O(PUBLISHED) | O(JOBS), TEXT_CSV_JSON,
      command_judge, true },
    { NULL, "compare-logs", "DIR", "Compare real MLPerf logs with the simulation of their recipe", "Compares steps by block, evaluations, start-up, samples "
      "and score, and says where the time differs.", O(RECIPE) | O(SET) | O(SEED) | O(RULESET) | O(TRAIN_SAMPLES), TEXT_CSV_JSON, command_compare_logs,
      true },

    { "Set up",
      "init", "[DIR]", "Start a project of your own in a folder, or a recipe for a model", "Writes a makefile, a recipe, a table of figures, and workflows "
      "for GitHub and GitLab. With --model a recipe alone, NAME.ini, in DIR or the current folder; --set gives sizes and keys that it is to keep.",
      O(MODEL) | O(SET) | O(OPERATORS), 0, command_init, false },
    { NULL, "completion", "bash|zsh|fish", "Print the completion script of a shell", NULL, 0, 0, command_completion, false },
};
const size_t n_commands = sizeof commands / sizeof *commands;

const struct command *command_find(const char *name)
{
    return FIND_TEXT(commands, n_commands, struct command, name, name);
}

int command_unknown(const char *name, struct err *err)
{
    struct arena a = {0};
    const char **names = TEXTS_OF(commands, n_commands, struct command, name, &a);
    if (*name == '-')
        bad_input(err, "'%.60s': an option comes after its command: podbench COMMAND [OPTION...]; podbench --help lists the commands", name);
    else
        bad_input(err, "unknown command '%.60s'; %sknown: %s", name, words_suggestion(names, n_commands, name, &a), names_list(names, n_commands, &a));
    arena_free(&a);
    return EXIT_BAD_INPUT;
}

/* Refuses a stack below twice the need of the deepest command, with which it could crash without a message. Threads get the same stack. */
static bool has_stack(struct err *err)
{
    enum { LEAST_KIB = 192 };
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= LEAST_KIB << 10)
        return true;
    return fail(err, "the stack is limited to %llu KiB, want %d or more: ulimit -s %d", (unsigned long long)stack.rlim_cur >> 10, LEAST_KIB,
                LEAST_KIB);
}

int command_call(const struct command *c, const struct options *o, struct session *s, struct err *err)
{
    uint64_t unused_s;
    if (!has_stack(err) || !source_date(&unused_s, 0, err) || !session_folders(s, o, err))
        return EXIT_BAD_INPUT;
    if (c->simulates)
        session_warn_unfitted(s);
    session_warn_replaced(o, s);
    return session_answer(c->run, o, s, err);
}
