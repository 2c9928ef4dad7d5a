/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.c - what the commands that judge share: expected failures, and one --format for all.
 */
#include "harness/judge.h"

bool expect_failures(struct judgements *set, const struct options *o, struct session *s, struct err *err)
{
    return !o->expect || judgements_expect(set, o->expect, &s->arena, err);
}

bool print_judgements(enum output_format format, const struct judgements *set)
{
    switch (format) {
    case FORMAT_TAP:         judgements_print_tap(stdout, set); return true;
    case FORMAT_JUNIT:       judgements_print_junit(stdout, set); return true;
    case FORMAT_MARKDOWN:    judgements_print_markdown(stdout, set); return true;
    case FORMAT_ANNOTATIONS: judgements_print_annotations(stdout, set); return true;
    default:                 return false;
    }
}
