/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_suggest.c - the known names nearest to one that is not: edits counted by hand. */
#include "tests/check.h"
#include "system-model/base/base.h"

static const char *const names[] = { "run", "bench", "compare", "timeline", "ipu-pod16", "ipu-pod64" };
enum { N = sizeof names / sizeof *names };

static void a_slip_finds_its_name(void **state)
{
    struct arena a = {0};
    (void)state;
    assert_string_equal(names_suggestion(names, N, "rnu", &a), "did you mean 'run'? ");         /* one swap, 4 */
    assert_string_equal(names_suggestion(names, N, "bnch", &a), "did you mean 'bench'? ");      /* a letter left out, 1 */
    assert_string_equal(names_suggestion(names, N, "compere", &a), "did you mean 'compare'? "); /* one wrong, 4 */
    assert_string_equal(names_suggestion(names, N, "pod64", &a), "did you mean 'ipu-pod64'? "); /* four left out: 4 against 12 for pod16 */
    assert_string_equal(names_suggestion(names, N, "bananas", &a), "");
    assert_string_equal(names_suggestion(names, 0, "run", &a), "");
    arena_free(&a);
}

static void nearest_come_first_and_ties_keep_their_order(void **state)
{
    const char *out[3];
    (void)state;
    assert_int_equal(names_nearest(out, 3, names, N, "ipu-pod6"), 3);       /* both: one letter left out, 1 */
    assert_string_equal(out[0], "ipu-pod16");
    assert_string_equal(out[1], "ipu-pod64");
    assert_int_equal(names_nearest(out, 3, (const char *const[]){ "run", "rum", "run" }, 3, "run"), 2);     /* run is there twice, and offered once */
    assert_true(text_is(out[0], "run") && text_is(out[1], "rum"));
    assert_int_equal(names_nearest(out, 3, names, 2, "x"), 2);
    assert_string_equal(out[0], "run");                                     /* 2 left out and a wrong one: 6; bench: 4 and a wrong one */
}

/* A swap of the first two letters, 4, is nearer than five left out; so is one of the last two. */
static void letters_are_swapped_at_either_end(void **state)
{
    static const char *const first[] = { "ebrtabcde", "bert" }, *const last[] = { "betrabcde", "bert" };
    const char *out[2];
    (void)state;
    assert_int_equal(names_nearest(out, 2, first, 2, "ebrt"), 2);
    assert_string_equal(out[0], "bert");
    assert_int_equal(names_nearest(out, 2, last, 2, "betr"), 2);
    assert_string_equal(out[0], "bert");
}

/* A wrong letter is worth four that are left out: equal names keep their order. A second slip of a short name is one too many. */
static void what_slips_are_worth(void **state)
{
    static const char *const one_way[] = { "rux", "runabcd" }, *const other_way[] = { "runabcd", "rux" };
    struct arena a = {0};
    const char *out[9];
    char longer[130], known[130];
    const char *const long_name[] = { known };
    (void)state;
    names_nearest(out, 2, one_way, 2, "run");
    assert_string_equal(out[0], "rux");
    names_nearest(out, 2, other_way, 2, "run");
    assert_string_equal(out[0], "runabcd");
    assert_string_equal(names_suggestion(one_way, 1, "rua", &a), "did you mean 'rux'? ");       /* 4, at most 4 x (1 + 3 / 4) */
    assert_string_equal(names_suggestion(one_way, 1, "raa", &a), "");                           /* 8 */
    assert_string_equal(names_suggestion(&other_way[0], 1, "runaxxd", &a), "did you mean 'runabcd'? ");    /* 8, at most 4 x (1 + 7 / 4) */
    assert_string_equal(names_suggestion(&other_way[0], 1, "runxxxd", &a), "");
    assert_int_equal(names_nearest(out, 9, (const char *const[]){ "a", "b", "c", "d", "e", "f", "g", "h", "i" }, 9, "i"), 8);
    assert_string_equal(out[0], "i");
    assert_string_equal(out[7], "g");                                                           /* the last of equals has no room */
    memset(longer, 'x', sizeof longer);
    memset(known, 'x', sizeof known);
    longer[129] = known[129] = '\0';
    longer[125] = 'y';                                                                          /* past the letters that are compared */
    assert_int_equal(strlen(names_suggestion(long_name, 1, longer, &a)), strlen("did you mean ''? ") + 129);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(letters_are_swapped_at_either_end), cmocka_unit_test(a_slip_finds_its_name), cmocka_unit_test(nearest_come_first_and_ties_keep_their_order), cmocka_unit_test(what_slips_are_worth),
};
TAP_MAIN(tests)
