/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readings.h - what an answer would be with the other readings of what a recipe leaves open, and the interval of all of them.
 */
#ifndef READINGS_H
#define READINGS_H
#include "results/study/inputs.h"
#include "results/study/interval.h"

struct open_reading {
    const char *key, *taken, *alternative;
    double throughput_ratio;            /* with the alternative, to that of the answer; NAN: not simulated */
    double half_width;                  /* of an interval of its own, as a logarithm */
    bool fits;
    const char *refused;                /* why it cannot be simulated; NULL: it can, or was not tried */
};
/* One key at a time, those of one key together. unset_call_share: of the step, where hosts.steps_per_call is one of them because nobody has set
 * it; 0: it is not. */
struct open_readings { struct open_reading *items; size_t n; double unset_call_share; const char *unset_taken_from; };

/* Those of the recipe's [open], and one call for the whole run where calls take more than a twentieth of the step and the framework's sheet alone
 * says how many steps they make: a program has its own. */
void open_readings_list(struct open_readings *out, const struct simulation *sim, struct arena *a);
void open_readings_try(struct open_readings *o, const struct track_record *by, const struct result *base, const struct question *q, struct arena *a);
/* Of the mixture, in equal parts, of the answer and of all readings that were simulated and differ from it, as logarithms of the ratio to the
 * answer, whose own is +- half. */
struct log_interval { double low, high; };
struct log_interval open_readings_interval(const struct open_readings *o, double half);
void open_readings_print(FILE *f, const struct open_readings *o);
struct json_t *open_readings_json(const struct open_readings *o);
struct json_t *not_set_json(const struct open_readings *o);     /* an array: what a program has to say, and a sheet said */

#endif
