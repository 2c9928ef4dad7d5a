/*
 * lint.h - checks MLPerf logs by the rules of a ruleset: what the official compliance checker checks, and apart from it what reviewers check.
 */
#ifndef LINT_H
#define LINT_H
#include "results/mlperf/rcp.h"
#include "results/mlperf/rules.h"

struct lint_options {
    const char *ruleset;                /* 1.0.0, 1.1.0 or 2.0.0 */
    const char *rules_dir;              /* results/rules */
    const char *data_dir;               /* workloads/convergence; NULL: no reference-convergence test */
    bool count_train_samples;           /* BERT's convergence point is its train_samples line, not the last epoch_num */
};

/* severity: an error fails the file, a warning is the checker's own, a review note is for people to look at. */
struct lint_message {
    enum rule_severity severity;
    const char *path;
    uint64_t line;                      /* 0: the file as a whole */
    const char *key, *text;             /* key may be "" */
};

struct lint_file {
    const char *path;
    bool passed;
    uint64_t n_errors, n_warnings, n_reviews;
};

/* The files of one folder. */
struct lint_group {
    const char *folder, *benchmark, *division;
    size_t n_files, n_passed;
    bool passed;                        /* at most one file of a benchmark fails (unet3d: four) */
    bool rcp_tested;
    struct rcp_verdict rcp;             /* when tested; never changes passed */
};

struct lint_report {
    struct lint_message *messages;
    size_t n_messages, cap_messages;
    struct lint_file *files;
    size_t n_files;
    struct lint_group *groups;
    size_t n_groups, cap_groups;
    bool passed;                        /* every group did */
};

/* Fails only on a request it cannot follow: unreadable file, unknown ruleset, missing table. */
bool lint_files(struct lint_report *out, char *const *files, size_t n, const struct lint_options *opt, struct arena *a, struct err *err);

/* All files below a file or folder whose names are result_N.txt, sorted; a file is taken whatever its name. */
bool lint_collect(struct name_list *out, const char *path, struct arena *a, struct err *err);

/* "path:line: error: key: text" a line, then a summary a group. */
void lint_print(FILE *f, const struct lint_report *r);
json_t *lint_json(const struct lint_report *r);         /* the caller owns it */
#endif
