/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_evaluate.c - labels found: ties, blanks, and the distance of two texts, by hand. */
#include "tests/check.h"
#include "results/train/train.h"
#include <string.h>

static uint64_t distance(const char *a, const char *b)
{
    float x[MOST_LABELS], y[MOST_LABELS];
    for (size_t i = 0; a[i]; i++)
        x[i] = (float)a[i];
    for (size_t i = 0; b[i]; i++)
        y[i] = (float)b[i];
    return edit_distance(x, strlen(a), y, strlen(b));
}

/* Levenshtein's own kind of cases: kitten to sitting replaces two letters and adds one. */
static void distances_by_hand(void **state)
{
    static const struct { const char *a, *b; uint64_t distance; } cases[] = {
        { "", "", 0 }, { "", "abc", 3 }, { "abc", "", 3 }, { "abc", "abc", 0 }, { "kitten", "sitting", 3 }, { "abc", "ac", 1 }, { "ac", "abc", 1 },
        { "abc", "axc", 1 }, { "ab", "ba", 2 }, { "saturday", "sunday", 3 }, { "aaaa", "a", 3 }, { "xabc", "abcx", 2 }, { "abcd", "wxyz", 4 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(distance(cases[i].b, cases[i].a), cases[i].distance);
    }
}

static void the_first_of_equal_classes_wins(void **state)
{
    static const float scores[] = { 1, 3, 3, -2, 3 }, falling[] = { 5, 4, 3 }, last[] = { -3, -2, -1 };
    (void)state;
    assert_int_equal(training_best_class(scores, 5), 1);
    assert_int_equal(training_best_class(falling, 3), 0);
    assert_int_equal(training_best_class(last, 3), 2);
    assert_int_equal(training_best_class(scores, 1), 0);
}

/* Three steps, room for two labels, four classes of which class 3 is the blank: scores[step][labels so far]. After no label step 0 is blank and step 1
 * says 2; after one label step 1 says 0; after two there is no room, whatever the scores say. */
static void labels_are_read_until_the_steps_end(void **state)
{
    enum { STEPS = 3, ROOM = 2, CLASSES = 4 };
    static const int best[STEPS][ROOM + 1] = { { 3, 1, 1 }, { 2, 0, 1 }, { 1, 1, 1 } };
    float scores[STEPS][ROOM + 1][CLASSES] = { 0 };
    struct decoded d = { .t = 0 };
    (void)state;
    for (int t = 0; t < STEPS; t++)
        for (int n = 0; n <= ROOM; n++)
            scores[t][n][best[t][n]] = 1.5F;
    assert_true(decode_on(&d, scores[0][0], STEPS, ROOM, CLASSES));
    assert_true(d.t == 1 && d.n == 1 && d.labels[0] == 2);
    assert_true(decode_on(&d, scores[0][0], STEPS, ROOM, CLASSES));
    assert_true(d.t == 1 && d.n == 2 && d.labels[1] == 0);
    assert_false(decode_on(&d, scores[0][0], STEPS, ROOM, CLASSES));
    assert_true(d.t == STEPS && d.n == 2);
    assert_false(decode_on(&d, scores[0][0], STEPS, ROOM, CLASSES));
}

static void blanks_alone_are_no_label(void **state)
{
    float scores[2 * 2 * 3] = { 0 };
    struct decoded d = { .t = 0 };
    (void)state;
    for (int i = 0; i < 4; i++)
        scores[3 * i + 2] = 1;
    assert_false(decode_on(&d, scores, 2, 1, 3));
    assert_true(d.t == 2 && d.n == 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(distances_by_hand), cmocka_unit_test(the_first_of_equal_classes_wins), cmocka_unit_test(labels_are_read_until_the_steps_end),
    cmocka_unit_test(blanks_alone_are_no_label),
};
TAP_MAIN(tests)
