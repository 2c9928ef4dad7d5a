/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * suggest.c - finds the known names nearest to one that was typed.
 *
 * Nearness is the optimal string alignment distance (Damerau 1964, Levenshtein 1966): letters to insert, drop, replace, or swap with
 * their neighbour. A name that holds the typed text as a word is nearer than its letters say. A letter that the user left out costs a quarter of a wrong one, so that "pod16-bert" finds the long name that holds it.
 */
#include "system-model/base/base.h"
#include <string.h>

enum { COMPARED_BYTES = 120, COST_LEFT_OUT = 1, COST_WRONG = 4 };

static size_t min_of_three(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Compares the first COMPARED_BYTES bytes. */
static size_t name_distance(const char *typed, const char *name)
{
    size_t row[3][COMPARED_BYTES + 1], n = strnlen(typed, COMPARED_BYTES), m = strnlen(name, COMPARED_BYTES);
    size_t *before = row[0], *last = row[1], *now = row[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j * COST_LEFT_OUT;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i * COST_WRONG;
        for (size_t j = 1; j <= m; j++) {
            now[j] = min_of_three(last[j] + COST_WRONG, now[j - 1] + COST_LEFT_OUT, last[j - 1] + (typed[i - 1] == name[j - 1] ? 0 : COST_WRONG));
            if (i > 1 && j > 1 && typed[i - 1] == name[j - 2] && typed[i - 2] == name[j - 1])
                now[j] = min_of_three(now[j], before[j - 2] + COST_WRONG, SIZE_MAX);
        }
        size_t *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

/* True if the name holds the text as whole words. */
static bool holds_word(const char *name, const char *text)
{
    static const char between[] = "-_. /";
    for (const char *at = strstr(name, text); *text && at; at = strstr(at + 1, text))
        if ((at == name || strchr(between, at[-1])) && strchr(between, at[strlen(text)]))
            return true;
    return false;
}

/* The distance of a name from the typed text. A name that holds the text as a word is near; shorter names are nearer. */
static size_t suggestion_distance(const char *typed, const char *name)
{
    enum { BYTES_A_LETTER = 16 };
    size_t d = name_distance(typed, name), n = strlen(typed);
    return n > 2 && holds_word(name, typed) ? min_of_three(d, (strlen(name) - n) / BYTES_A_LETTER, SIZE_MAX) : d;
}

size_t names_nearest(const char **out, size_t most, const char *const *names, size_t n, const char *typed)
{
    size_t n_out = 0, found[8];
    most = most < 8 ? most : 8;
    for (size_t i = 0; i < n; i++) {
        size_t d = suggestion_distance(typed, names[i]), at = n_out;
        while (at > 0 && found[at - 1] > d)
            at--;
        for (size_t k = 0; k < n_out; k++)
            at = text_is(out[k], names[i]) ? most : at;         /* a name that occurs twice is offered once */
        if (at == most)
            continue;
        n_out += n_out < most;
        for (size_t k = n_out - 1; k > at; k--) {
            found[k] = found[k - 1];
            out[k] = out[k - 1];
        }
        found[at] = d;
        out[at] = names[i];
    }
    return n_out;
}

const char *names_within(const char *const *names, size_t n, const char *typed, size_t most_distance)
{
    const char *nearest;
    return names_nearest(&nearest, 1, names, n, typed) && suggestion_distance(typed, nearest) <= most_distance ? nearest : NULL;
}

const char *names_suggestion(const char *const *names, size_t n, const char *typed, struct arena *a)
{
    const char *nearest;
    if (!*typed || !names_nearest(&nearest, 1, names, n, typed) || suggestion_distance(typed, nearest) > COST_WRONG * (1 + strlen(typed) / 5))
        return "";
    return arena_printf(a, "did you mean '%s'? ", nearest);
}
