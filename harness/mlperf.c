/*
 * mlperf.c - MLPerf logs, real or simulated: podbench score and podbench lint.
 */
#include "harness/harness.h"
#include "results/mlperf/lint.h"
#include "results/mlperf/score.h"

int command_score(const struct options *o, struct session *s, struct err *err)
{
    struct score_table table = {0};
    if (!score_tree(&table, o->arguments[0], s->paths.data_dir, &s->arena, err))
        return EXIT_BAD_INPUT;
    if (o->format == FORMAT_JSON)
        print_json(stdout, score_json(&table));
    else if (o->format == FORMAT_CSV)
        score_write_csv(stdout, &table);
    else
        score_print(stdout, &table);
    return EXIT_DONE;
}

int command_lint(const struct options *o, struct session *s, struct err *err)
{
    struct lint_options opt = { .ruleset = o->ruleset ? o->ruleset : "2.0.0", .rules_dir = s->rules_dir, .data_dir = s->paths.data_dir };
    struct name_list files = {0};
    struct lint_report report = {0};
    for (size_t i = 0; i < o->n_arguments; i++)
        if (!lint_collect(&files, o->arguments[i], &s->arena, err))
            return EXIT_BAD_INPUT;
    if (!lint_files(&report, files.names, files.n, &opt, &s->arena, err))
        return EXIT_BAD_INPUT;
    if (o->format == FORMAT_JSON)
        print_json(stdout, lint_json(&report));
    else
        lint_print(stdout, &report);
    return report.passed ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
