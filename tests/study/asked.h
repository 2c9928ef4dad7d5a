/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * asked.h - recipes that are explained or compared: one simulator for all, questions, and a simulation each.
 */
#ifndef ASKED_H
#define ASKED_H
#include "tests/documents.h"
#include "tests/golden_text.h"
#include "tests/model_paths.h"
#include "results/study/diff.h"
#include "results/study/explain.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static struct arena a;
static struct err err;

static inline struct simulator *simulator(void)
{
    static struct simulator s;
    if (!s.paths)
        simulator_open(&s, &paths);
    return &s;
}

static inline struct simulation_request ask(const char *recipe, const char *const *sets, size_t n)
{
    return (struct simulation_request){ .recipe = recipe, .overrides = sets, .n_overrides = n, .simulator = simulator() };
}

static inline void run(struct simulation *sim, struct result *r, const char *recipe, const char *override)
{
    if (!simulate(sim, r, recipe, &override, override ? 1 : 0, &paths, simulator()->plans, &err))
        print_error("%s: %s\n", recipe, err.msg);
    assert_true(r->step_time_s > 0);
}

/* "explain_write" and "explained_json" from explain_document(); the caller owns the JSON. */
#define WRITES(name, json_name, type) \
    static inline void name##_write(FILE *f, enum output_format format, const struct type *x) \
    { \
        struct arena scratch = {0}; \
        struct document d = { .arena = &scratch }; \
        name##_document(&d, x); \
        document_write(f, format, &d); \
        arena_free(&scratch); \
    } \
    static inline json_t *json_name##_json(const struct type *x) \
    { \
        struct arena scratch = {0}; \
        struct document d = { .arena = &scratch }; \
        name##_document(&d, x); \
        json_t *json = document_json_read(&d); \
        arena_free(&scratch); \
        return json; \
    }
WRITES(explain, explained, explanation)
WRITES(diff, differing, diff)

/* Progress counts up to the number that `user` gives. */
static size_t n_told;

static inline void count_told(void *user, const char *what, size_t done, size_t of)
{
    assert_string_equal(what, "");
    assert_int_equal(done, ++n_told);
    assert_int_equal(of, *(size_t *)user);
}
#endif
