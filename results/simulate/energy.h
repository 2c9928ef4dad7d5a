/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * energy.h - the energy and money of a result: modelled, never measured.
 */
#ifndef ENERGY_H
#define ENERGY_H
#include "system-model/machine/power.h"

struct result;
void energy_print(FILE *f, const struct power *p, const struct result *r);      /* one line, with energy, source and money */
struct json_t *energy_json(const struct power *p, const struct result *r);
struct json_t *money_json(const struct result *r);

#endif
