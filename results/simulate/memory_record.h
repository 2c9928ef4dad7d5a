/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_record.h - how sure a verdict on memory is, judged by how similar the program is to those whose memory is known; and how published
 * runs ended.
 *
 * The memory of a program is known if it was published as too large, or if bytes of it were published. That a program ran says little, because
 * most programs have room to spare. The uncertain bytes of other programs are off by a factor whose logarithm has the standard deviation
 *     sqrt(memory_error^2 + (far x distance)^2),
 * where distance is that to the nearest known program by its names. The chance of a program of another kind always stays between 1 / (n + 2)
 * and 1 - 1 / (n + 2), where n is the number of known verdicts (Laplace's rule of succession).
 *
 * Whether a published configuration fits is known: it ran, or was out of memory. Its probability is then 1 or 0, and the probability by its
 * bytes alone is shown, too. A change of the recipe's hash, or of a value of the machine, makes it another configuration. A row that is judged
 * is predicted as if its own outcome were not known (options.judges of a simulator).
 */
#ifndef MEMORY_RECORD_H
#define MEMORY_RECORD_H
#include "results/simulate/program_names.h"

struct memory_program { const char *origin; const char *name[N_PROGRAM_NAMES]; };       /* origin is the publisher (figure_origin) */
enum memory_outcome { MEMORY_UNKNOWN, MEMORY_RAN, MEMORY_TOO_LARGE, N_MEMORY_OUTCOMES };
extern const char *const memory_outcome_names[N_MEMORY_OUTCOMES + 1];      /* names such as "unknown", "ran" and "out of memory" */
struct memory_published { const char *recipe, *hash; int outcome; };    /* hash is recipe_hash(); outcome is an enum memory_outcome */
/* How certainty falls with distance: `far` is the spread that each unit of distance adds; 0 if no program is known. */
struct memory_spread_far { double far; uint64_t n_verdicts; };
struct memory_record {
    struct memory_program *items; size_t n, cap;
    struct memory_spread_far spread;
    struct { struct memory_published *items; size_t n, cap; } published;
};

/* Loads memory-programs.csv, memory-spread.csv and memory-published.csv from the folder that `podbench validate --out` writes. If the folder
 * or its first table is missing, no program is known, and the chip's memory_error applies to all. */
bool memory_record_load(struct memory_record **out, const char *validity_dir, struct arena *a, struct err *err);
void memory_programs_write(FILE *f, const struct memory_record *m);
void memory_spread_write(FILE *f, const struct memory_record *m);
void memory_published_write(FILE *f, const struct memory_record *m);

/* distance is that to the nearest known program, 0 if none is known; error is the standard deviation of the uncertain bytes; least is the
 * smallest chance that either verdict may have. */
struct memory_doubt { double distance, error, least; };
/* Programs published by without_origin, unless that is NULL, count as unknown. At distance 0 the error is memory_error and no doubt is added. */
struct memory_doubt memory_record_doubt(const struct memory_record *m, const char *const *name, double memory_error, const char *without_origin);
double memory_doubt_probability(const struct memory_doubt *d, double by_bytes);
/* NULL if no outcome of the recipe, or of one with this hash, was published */
const struct memory_published *memory_record_published(const struct memory_record *m, const char *recipe);
const struct memory_published *memory_record_of_hash(const struct memory_record *m, const char *hash);
const char *likely_text(double chance, struct arena *a);     /* the chance as text, such as "50 % likely" or "over 99 % likely"; never 0 or 100 % */
/* The text of likely_text() and the published outcome after it; where none is published, a remark if the memory of no similar program is known */
const char *memory_chance_text(const char *published, double counted, double distance, struct arena *a);
const char *memory_doubt_reason(double distance);       /* the remark that follows a probability; "" if the memory of a similar program is known */
#endif
