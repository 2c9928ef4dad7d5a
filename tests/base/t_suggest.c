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
    assert_int_equal(names_nearest(out, 3, names, 2, "x"), 2);
    assert_string_equal(out[0], "run");                                     /* 2 left out and a wrong one: 6; bench: 4 and a wrong one */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_slip_finds_its_name), cmocka_unit_test(nearest_come_first_and_ties_keep_their_order),
};
TAP_MAIN(tests)
