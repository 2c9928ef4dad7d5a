/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random.h - choices that are the same on every machine. */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H
#include <stdint.h>

/* Below n; Knuth's linear congruence, of which the upper bits are good. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

#endif
