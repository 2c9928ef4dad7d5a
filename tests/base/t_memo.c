/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_memo.c - artefacts are made once for equal bytes, failures every time; bytes that are owned have one address. */
#include "tests/check.h"
#include "system-model/base/memo.h"

MEMO_INPUT(area_input, uint64_t width; uint32_t height, colour;);

struct world { struct arena arena; uint32_t n_asked; };

static const void *make_area(void *world, const void *input, struct err *err)
{
    struct world *w = world;
    const struct area_input *q = input;
    w->n_asked++;
    if (!q->width) {
        fail(err, "no width");
        return NULL;
    }
    uint64_t *out = ARENA_NEW(&w->arena, uint64_t);
    *out = q->width * q->height;
    return out;
}

static const void *make_edge(void *world, const void *input, struct err *err)
{
    const struct area_input *q = input;
    struct world *w = world;
    (void)err;
    uint64_t *out = ARENA_NEW(&w->arena, uint64_t);
    *out = 2 * (q->width + q->height);
    return out;
}

static uint64_t asked(struct memo *m, memo_maker *maker, uint64_t width, uint32_t height, uint32_t colour)
{
    const struct area_input q = { width, height, colour };
    return *(const uint64_t *)memo_get(m, maker, &q, sizeof q, NULL).at;
}

static void made_once_for_equal_bytes(void **state)
{
    struct world w = { .n_asked = 0 };
    struct memo m;
    (void)state;
    memo_start(&m, &w, &w.arena);
    assert_int_equal(asked(&m, make_area, 7, 13, 1), 91);
    assert_int_equal(asked(&m, make_area, 7, 13, 1), 91);
    assert_int_equal(w.n_asked, 1);
    assert_int_equal(asked(&m, make_area, 7, 13, 2), 91);       /* the maker does not read the colour, but the key has it */
    assert_int_equal(asked(&m, make_area, 13, 5, 1), 65);
    assert_int_equal(w.n_asked, 3);
    assert_int_equal(asked(&m, make_edge, 7, 13, 1), 40);       /* another artefact of the same input */
    assert_int_equal(asked(&m, make_area, 7, 13, 1), 91);
    assert_int_equal(w.n_asked, 3);
    assert_int_equal(m.n_made, 4);
    memo_forget(&m);
    assert_int_equal(asked(&m, make_area, 7, 13, 1), 91);
    assert_int_equal(w.n_asked, 4);
    arena_free(&w.arena);
}

static void failures_are_told_each_time(void **state)
{
    struct world w = { .n_asked = 0 };
    struct memo m;
    const struct area_input none = { 0, 3, 1 };
    (void)state;
    memo_start(&m, &w, &w.arena);
    for (uint32_t i = 1; i <= 2; i++) {
        struct err err = { "" };
        assert_null(memo_get(&m, make_area, &none, sizeof none, &err).at);
        assert_string_equal(err.msg, "no width");
        assert_int_equal(w.n_asked, i);
    }
    arena_free(&w.arena);
}

static void owned_bytes_have_one_address(void **state)
{
    struct world w = { .n_asked = 0 };
    struct memo m;
    uint32_t a[] = { 3, 5, 8 }, b[] = { 3, 5, 8 };
    (void)state;
    memo_start(&m, &w, &w.arena);
    const uint32_t *first = memo_own(&m, a, sizeof a).at;
    assert_ptr_equal(memo_own(&m, b, sizeof b).at, first);
    assert_ptr_not_equal(memo_own(&m, b, 2 * sizeof *b).at, first);
    assert_null(memo_own(&m, b, 0).at);
    a[1] = 9;
    assert_int_equal(first[1], 5);
    assert_ptr_not_equal(memo_own(&m, a, sizeof a).at, first);
    arena_free(&w.arena);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(made_once_for_equal_bytes), cmocka_unit_test(failures_are_told_each_time),
                                           cmocka_unit_test(owned_bytes_have_one_address) };
TAP_MAIN(tests)
