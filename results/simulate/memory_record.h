/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_record.h - how sure a verdict on memory is: the less so, the less a program is like all whose memory is known.
 *
 * Known is the memory of a program that was published as too large, or of which bytes were published. That a program ran says little: most have
 * room to spare. Far from these programs the bytes that are not certain are off by a factor whose logarithm has the standard deviation
 *     sqrt(memory_error^2 + (far x distance)^2),
 * with the distance of the nearest by its names. However few bytes a program of another kind needs, and however many, its chance stays
 * between 1 / (n + 2) and 1 less this, by n verdicts that are known (Laplace's rule of succession).
 */
#ifndef MEMORY_RECORD_H
#define MEMORY_RECORD_H
#include "results/simulate/program_names.h"

struct memory_program { const char *origin; const char *name[N_PROGRAM_NAMES]; };       /* origin: who published it (figure_origin) */
/* far: for each unit of distance; 0 without programs. */
struct memory_spread_far { double far; uint64_t n_verdicts; };
struct memory_record { struct memory_program *items; size_t n, cap; struct memory_spread_far spread; };

/* The tables memory-programs.csv and memory-spread.csv of results/validity, which podbench validate --out writes. Without the folder, or the first of
 * them in it, nothing is known, and the chip's memory_error holds for all. */
bool memory_record_load(struct memory_record **out, const char *validity_dir, struct arena *a, struct err *err);
void memory_programs_write(FILE *f, const struct memory_record *m);
void memory_spread_write(FILE *f, const struct memory_record *m);

/* distance: to the nearest program; 0 if none is known. error: of what is not certain. least: the chance that is left to either verdict. */
struct memory_doubt { double distance, error, least; };
/* Programs of without_origin, which may be NULL, do not count as known. At distance 0 a verdict has the chip's memory_error and no further doubt. */
struct memory_doubt memory_record_doubt(const struct memory_record *m, const char *const *name, double memory_error, const char *without_origin);
double memory_doubt_probability(const struct memory_doubt *d, double by_bytes);
const char *memory_doubt_reason(double distance);       /* the words that follow a chance; "" if the memory of a similar program is known */
#endif
