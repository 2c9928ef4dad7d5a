/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.c - what the commands that judge share: expected failures, and one --format for all.
 */
#include "harness/judge.h"

bool expect_failures(struct judgements *set, const struct options *o, struct session *s, struct err *err)
{
    return !o->expect || judgements_expect(set, o->expect, &s->arena, err);
}
