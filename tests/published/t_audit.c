/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_audit.c - expressions computed by hand and refused, verdicts, and the repository's table of claims. */
#include "tests/golden_text.h"
#include "results/published/check.h"
#include <jansson.h>
#include <math.h>

/* ---- claims ------------------------------------------------------------------------------------------------- */

static void a_relation_allows_its_tolerance_on_one_side(void **state)
{
    (void)state;
    struct claim c = { .value = 200, .tolerance = 0.05 };
    c.relation = RELATION_IS;
    assert_true(claim_meets(&c, 190) && claim_meets(&c, 210) && !claim_meets(&c, 189.9) && !claim_meets(&c, 210.1));
    c.relation = RELATION_AT_LEAST;
    assert_true(claim_meets(&c, 190) && claim_meets(&c, 1e9) && !claim_meets(&c, 189.9));
    c.relation = RELATION_AT_MOST;
    assert_true(claim_meets(&c, 210) && claim_meets(&c, -1e9) && !claim_meets(&c, 210.1));
    c.relation = RELATION_BETWEEN;
    c.high = 400;
    assert_true(claim_meets(&c, 190) && claim_meets(&c, 420) && !claim_meets(&c, 189.9) && !claim_meets(&c, 420.1));
    c = (struct claim){ .value = 0.3, .tolerance = 0.1, .relation = RELATION_IS };
    assert_true(0.33 - 0.3 > 0.1 * 0.3 && claim_meets(&c, 0.33));       /* rounding fails no claim, more than that does */
    assert_false(claim_meets(&c, 0.33 + 1e-11));
    c = (struct claim){ .value = 0, .tolerance = 0.1, .relation = RELATION_IS };
    assert_true(claim_meets(&c, -0.1) && !claim_meets(&c, 0.11));
    for (int r = RELATION_IS; r <= RELATION_BETWEEN; r++) {     /* without a tolerance: the value itself, and nothing beyond it */
        c = (struct claim){ .value = 7, .high = r == RELATION_BETWEEN ? 9 : 0, .relation = (enum relation)r };
        assert_true(claim_meets(&c, 7) && claim_meets(&c, 6.5) == (r == RELATION_AT_MOST));
        assert_true(claim_meets(&c, 9) == (r == RELATION_AT_LEAST || r == RELATION_BETWEEN) && claim_meets(&c, 9.5) == (r == RELATION_AT_LEAST));
    }
}

static const char header[] = "id,kind,documents,claim,relation,value,high,unit,tolerance,expression,reading,reading_expression,simulated_expression,note\n";

static bool load(struct claims *out, const char *lines, struct arena *a, struct err *err)
{
    const char *text = arena_printf(a, "%s%s", header, lines);
    return claims_load(out, arena_strdup(a, temp_file(text, strlen(text), ".csv")), a, err);
}

static char *printed(const struct claims *c, enum output_format format, bool all)
{
    struct arena a = { 0 };
    struct document d = { .arena = &a };
    char *text;
    audit_document(&d, c, all);
    PRINTED(text, document_write(f, format, &d));
    arena_free(&a);
    return text;
}

/* 1,216 tiles of 64 flop a cycle at 1.6 GHz are 124.5 Tflop/s: the verdict follows from that alone. */
static void verdicts_follow_from_values(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct claims c;
    struct figures figures = { 0 };
    struct csv_table facts = { 0 };
    struct model_paths paths = { .specs_dir = "system-model/specs" };
    struct audit_values values = { &figures, &facts, &facts, NULL, &paths, &a };
    const char peak[] = "1216*64*sheet[gc2.clock_hz]/1e12";
    assert_true(load(&c, arena_printf(&a, "A,spec,d:1,x,is,124.5,,TFLOPS,0.01,%s,,,,\nB,spec,d:1,x,is,250,,TFLOPS,0.01,%s,of two,2*%s,,\n"
                                          "C,spec,d:1,x,is,300,,TFLOPS,0.01,%s,of two,2*%s,7,\nD,spec,d:1,x,is,9,,TFLOPS,0.01,,,,,lost\n"
                                          "E,spec,d:1,x,at least,200,,TFLOPS,0,,of two,2*%s,,\n", peak, peak, peak, peak, peak, peak), &a, &err));
    assert_true(audit_run(&c, &values, NULL, &err));
    const enum audit_verdict want[] = { AUDIT_HOLDS, AUDIT_READING, AUDIT_FAILS, AUDIT_UNCHECKED, AUDIT_READING };
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(c.items[i].verdict, want[i]);
    assert_near(c.items[2].found_as_read, 2 * 1216 * 64 * 1.6e9 / 1e12, 1e-9);
    char *text = printed(&c, FORMAT_TEXT, false);
    assert_string_equal(text, "5 claims; holds: 1, holds under a stated reading: 2, does not hold: 1, cannot be checked here: 1\n\n"
                              "C  does not hold  x: claimed 300 TFLOPS, found 124.518; read as of two: 249.037; simulated 7\n");
    free(text);
    text = printed(&c, FORMAT_CSV, false);
    assert_non_null(strstr(text, "\nE,spec,d:1,x,at least,200,,TFLOPS,0,,of two,249.0368,,holds under a stated reading,\n"));
    free(text);
    text = printed(&c, FORMAT_JSON, false);
    json_t *json = json_loads(text, 0, NULL);
    free(text);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "verdicts"), "does not hold")), 1);
    assert_int_equal(json_array_size(json_object_get(json, "audit")), 5);
    json_decref(json);
    arena_free(&a);
}

static void bad_claims_are_refused(void **state)
{
    static const struct { const char *line, *message; } refusals[] = {
        { "A,s,d:1,x,about,1,,,0,1,,,,", ":2: relation: 'about' is not one of: is, at least, at most, between" },
        { "A,s,d:1,x,is,1,,,0,,,,,", ":2: has neither an expression nor a note; say in the note why it cannot be checked" },
        { "A,s,d:1,x,is,1,,,0,1,so,,,", ":2: reading and reading_expression: want both or neither" },
        { "A,s,d:1,x,between,2,1,,0,1,,,,", ":2: high: 1 is not above 2" }, { "A,s,,x,is,1,,,0,1,,,,", ":2: id, documents or claim is empty" },
        { "A,s,d:1,x,is,one,,,0,1,,,,", ":2: value: 'one' is not a number" },
        { "A,s,d:1,x,is,1,,,0,1,,,,\nA,s,d:1,x,is,1,,,0,1,,,,", ":3: id: 'A' is already in line 2" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct arena a = { 0 };
        struct err err = { "" };
        struct claims c;
        assert_false(load(&c, arena_printf(&a, "%s\n", refusals[i].line), &a, &err));
        assert_non_null(strstr(err.msg, refusals[i].message));
        arena_free(&a);
    }
}

static void what_is_named_is_found_or_missed(void **state)
{
    static const struct { const char *kind, *argument; double value; } found[] = {
        { "sheet", "c2.ipus_per_board", 2 }, { "has", "c2.streaming_bytes", 0 }, { "has", "ipu-m2000.streaming_bytes", 1 },
        { "recipe", "vendor-ipu-pod16-bert-large-ph1-popart/parallel.layers_per_ipu#2", 7 }, { "logged", "nothing", 0 },
        { "logged", "first", 1 }, { "logged", "last", 1 }, { "figure", "first", 37 }, { "figure", "last", 41 }, { "fact", "n", 7 }, { "fact", "m", 9 },
        { "recipe", "vendor-ipu-pod16-bert-large-ph1-popart/data.sequence_length", 128 },
        { "recipe", "vendor-ipu-pod16-bert-large-ph1-popart/parallel.layers_per_ipu", 3 }, { "workload", "resnet50/parameters", 25557032 },
        { "run", "mlperf-v1.1-closed-ipu-pod16-resnet50/ipus", 16 }, { "run", "mlperf-v1.1-closed-ipu-pod16-resnet50;parallel.replicas=7;parallel.micro_batch=3/ipus", 7 },
        { "run", "mlperf-v1.1-closed-ipu-pod16-resnet50;parallel.micro_batch=60/fits", 0 }, { "run", "mlperf-v1.1-closed-ipu-pod16-resnet50/fits", 1 },
    }, missed[] = { { "sheet", "c2.bananas", 0 }, { "sheet", "c2", 0 }, { "sheet", "nothing.n_tiles", 0 }, { "figure", "nothing", 0 },
                    { "recipe", "vendor-ipu-pod16-bert-large-ph1-popart/parallel.layers_per_ipu#9", 0 }, { "recipe", "nothing/a.b", 0 },
                    { "workload", "bert-large/price", 0 }, { "bananas", "x", 0 } };
    (void)state;
    struct arena a = { 0 };
    struct err why = { "" };
    struct figure published[] = { { .id = "first", .value = 37 }, { .id = "last", .value = 41 } };
    struct figures figures = { .items = published, .n = 2 };
    struct csv_table facts;
    struct model_paths paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes" };
    assert_true(csv_load(&facts, temp_file("name,value\nn,7\nm,9\n", 19, ".csv"), &a, &why));
    struct simulator simulator;
    paths.data_dir = "workloads/convergence";
    simulator_open(&simulator, &paths);
    struct audit_values values = { &figures, &facts, &facts, &simulator, &paths, &a };
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        struct err err = { "" };
        double x = -1;
        audit_lookup(&x, &values, found[i].kind, found[i].argument, &err);
        assert_string_equal(err.msg, "");
        assert_near(x, found[i].value, 0);
    }
    for (size_t i = 0; i < sizeof missed / sizeof *missed; i++) {
        struct err err = { "" };
        double x;
        assert_false(audit_lookup(&x, &values, missed[i].kind, missed[i].argument, &err));
        assert_true(*err.msg);
    }
    static const struct { const char *kind, *argument, *message; } refused[] = {
        { "recipe", "nothing", "lacks a slash; want RECIPE/section.key" }, { "run", "nothing", "lacks a slash; want RECIPE/metric" },
        { "workload", "nothing", "lacks a slash; want WORKLOAD/parameters" },
        { "recompute", "nothing", "lacks a slash; want WORKLOAD/memory_share" }, { "workload", "resnet50/price", "'price' is not one of: parameters, forward_mac" },
        { "recompute", "resnet50/price", "'price' is not one of: memory_share, extra_work_share" },
        { "recipe", "vendor-ipu-pod16-bert-large-ph1-popart/parallel.layers_per_ipu#x", "'x' is no place in the list; want a number from 1" },
        { "recipe", "vendor-ipu-pod16-bert-large-ph1-popart/recipe.workload", "'bert-large' is not a number" },      /* its second line, after the name */
        { "recipe", "vendor-ipu-pod16-bert-large-ph1-popart/recipe.id", "'vendor-ipu-pod16-bert-large-ph1-popart' is not a number" },
        { "run", "mlperf-v1.1-closed-ipu-pod16-resnet50/price", "the result has no number price" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct err err = { "" };
        double x;
        assert_false(audit_lookup(&x, &values, refused[i].kind, refused[i].argument, &err));
        assert_string_equal(err.msg, refused[i].message);
    }
    double memory, work;
    assert_true(audit_lookup(&memory, &values, "recompute", "resnet50/memory_share", &why) && audit_lookup(&work, &values, "recompute", "resnet50/extra_work_share", &why));
    assert_true(memory > 0.05 && memory < 0.5 && work > 0.15 && work < 1 / 3.0);        /* all forward work again is a third of forward and backward */
    simulator_close(&simulator);
    arena_free(&a);
}

/* Every document that a claim names is listed, and every listed document has a claim. */
static void claims_stand_in_listed_documents(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct claims c;
    struct csv_table documents;
    assert_true(claims_load(&c, "results/published/claims/claims.csv", &a, &err));
    assert_true(csv_load(&documents, "results/published/claims/documents.csv", &a, &err));
    assert_int_equal(c.n, 139);
    bool *used = ARENA_ARRAY(&a, bool, documents.n_rows);
    for (size_t i = 0; i < c.n; i++) {
        char *rest = arena_strdup(&a, c.items[i].documents), *place;
        while ((place = strsep(&rest, ";"))) {
            place += strspn(place, " ");
            size_t n = strcspn(place, ":"), k = 0;
            assert_true(place[n] == ':' && place[n + 1] >= '0' && place[n + 1] <= '9');
            place[n] = '\0';
            while (k < documents.n_rows && !text_is(documents.rows[k].cells[0], place))
                k++;
            assert_true(k < documents.n_rows);
            used[k] = true;
        }
    }
    for (size_t k = 0; k < documents.n_rows; k++)
        assert_true(used[k]);
    arena_free(&a);
}

/* Four made-up claims, one for each verdict, with a bar and a reading, in every format. */
static void claims_as_text(void **state)
{
    struct claim items[] = {
        { .id = "C1", .kind = "rate", .documents = "doc:7", .text = "so | much", .unit = "GB/s", .expression = "sheet[a.b]", .reading = "", .reading_expression = "",
          .simulated_expression = "", .note = "", .relation = RELATION_IS, .value = 12.5, .tolerance = 0.01, .line = 2, .verdict = AUDIT_HOLDS, .has_found = true,
          .found = 12.375 },
        { .id = "C2", .kind = "rate", .documents = "doc:9; other:3", .text = "more", .unit = "", .expression = "1 + 1", .reading = "as three",
          .reading_expression = "3", .simulated_expression = "", .note = "n", .relation = RELATION_IS, .value = 3, .tolerance = 0.05, .line = 3,
          .verdict = AUDIT_READING, .has_found = true, .found = 2, .has_reading = true, .found_as_read = 3 },
        { .id = "C3", .kind = "time", .documents = "doc:11", .text = "wrong", .unit = "s", .expression = "4", .reading = "", .reading_expression = "",
          .simulated_expression = "b", .note = "", .relation = RELATION_IS, .value = 5, .tolerance = 0.1, .line = 4, .verdict = AUDIT_FAILS, .has_found = true,
          .found = 4, .has_simulated = true, .simulated = 4.5 },
        { .id = "C4", .kind = "word", .documents = "doc:12", .text = "not a number", .unit = "", .expression = "", .reading = "", .reading_expression = "",
          .simulated_expression = "", .note = "no number", .line = 5, .verdict = AUDIT_UNCHECKED },
    };
    const struct claims c = { .items = items, .n = 4, .path = "claims.csv" };
    struct arena a = { 0 };
    char *text;
    (void)state;
    char *parts[] = { printed(&c, FORMAT_TEXT, false), printed(&c, FORMAT_TEXT, true), printed(&c, FORMAT_CSV, false), printed(&c, FORMAT_MARKDOWN, false) };
    PRINTED(text, fprintf(f, "%s--\n%s--\n%s--\n%s", parts[0], parts[1], parts[2], parts[3]));
    for (size_t i = 0; i < 4; i++)
        free(parts[i]);
    assert_golden(text, "tests/golden/audit_text.txt", &a);
    free(text);
    text = printed(&(struct claims){ items + 2, 1, "claims.csv" }, FORMAT_TEXT, false);         /* the first one fails */
    assert_non_null(strstr(text, "\nC3  does not hold"));
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_relation_allows_its_tolerance_on_one_side), cmocka_unit_test(verdicts_follow_from_values),
    cmocka_unit_test(bad_claims_are_refused), cmocka_unit_test(what_is_named_is_found_or_missed),
    cmocka_unit_test(claims_stand_in_listed_documents), cmocka_unit_test(claims_as_text),
};
TAP_MAIN(tests)
