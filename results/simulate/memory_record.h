/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_record.h - how sure a verdict on memory is, by how like the program is to those whose memory is known; and how published runs ended.
 *
 * Known is the memory of a program that was published as too large, or of which bytes were published. That a program ran says little: most have
 * room to spare. Far from these programs the bytes that are not certain are off by a factor whose logarithm has the standard deviation
 *     sqrt(memory_error^2 + (far x distance)^2),
 * with the distance of the nearest by its names. However few or many bytes a program of another kind needs, its chance stays between 1 / (n + 2) and
 * 1 - 1 / (n + 2), where n is the number of known verdicts (Laplace's rule of succession).
 *
 * A published configuration is known to fit or not: it ran, or was out of memory. Its probability is then 1 or 0, and the probability by its bytes
 * alone is shown, too. A change of the recipe's hash, or of a value of the machine, makes it another configuration. A row that is judged is
 * predicted as if its own outcome were not known (options.judges of a simulator).
 */
#ifndef MEMORY_RECORD_H
#define MEMORY_RECORD_H
#include "results/simulate/program_names.h"

struct memory_program { const char *origin; const char *name[N_PROGRAM_NAMES]; };       /* origin: who published it (figure_origin) */
enum memory_outcome { MEMORY_UNKNOWN, MEMORY_RAN, MEMORY_TOO_LARGE, N_MEMORY_OUTCOMES };
extern const char *const memory_outcome_names[N_MEMORY_OUTCOMES + 1];      /* "unknown", "ran", "out of memory" */
struct memory_published { const char *recipe, *hash; int outcome; };    /* hash: recipe_hash(); outcome: an enum memory_outcome */
/* far: the spread that each unit of distance adds; 0 if no program is known. */
struct memory_spread_far { double far; uint64_t n_verdicts; };
struct memory_record {
    struct memory_program *items; size_t n, cap;
    struct memory_spread_far spread;
    struct { struct memory_published *items; size_t n, cap; } published;
};

/* The tables memory-programs.csv, memory-spread.csv and memory-published.csv of results/validity, which podbench validate --out writes. Without the folder, or the first of
 * them in it, nothing is known, and the chip's memory_error holds for all. */
bool memory_record_load(struct memory_record **out, const char *validity_dir, struct arena *a, struct err *err);
void memory_programs_write(FILE *f, const struct memory_record *m);
void memory_spread_write(FILE *f, const struct memory_record *m);
void memory_published_write(FILE *f, const struct memory_record *m);

/* distance: that to the nearest known program; 0 if none is known. error: the standard deviation of what is not certain. least: the smallest
 * chance that is left to either verdict. */
struct memory_doubt { double distance, error, least; };
/* Programs of without_origin, which may be NULL, do not count as known. At distance 0 a verdict has the chip's memory_error and no further doubt. */
struct memory_doubt memory_record_doubt(const struct memory_record *m, const char *const *name, double memory_error, const char *without_origin);
double memory_doubt_probability(const struct memory_doubt *d, double by_bytes);
const struct memory_published *memory_record_published(const struct memory_record *m, const char *recipe);      /* NULL if nothing was published of it */
const char *likely_text(double chance, struct arena *a);     /* "50 % likely", "over 99 % likely": never 0 or 100 % */
const char *memory_chance_text(const char *published, double counted, double distance, struct arena *a);     /* "50 % likely", with the published outcome and how far known programs are */
const char *memory_doubt_reason(double distance);       /* the words that follow a chance; "" if the memory of a similar program is known */
#endif
