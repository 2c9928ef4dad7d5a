/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework_options.h - a configuration as a program of its framework states it: keys of recipes under the names of PopART, PopTorch,
 * TensorFlow, PaddlePaddle and PopRT, and of the configuration files of Graphcore's published programs.
 */
#ifndef FRAMEWORK_OPTIONS_H
#define FRAMEWORK_OPTIONS_H
#include "results/simulate/simulate.h"

/* place: "code", a line of Python; "settings" of the published program that the source names; or "command line". The first lines of code have no key. */
struct framework_option { const char *option, *key, *place, *source; };

/* The option that sets "section.key=value" in a program of the framework; false, with *out unchanged, where no name is known, or where it takes more
 * than the value to write it. */
bool framework_option_of(struct framework_option *out, const char *framework, const char *setting, struct arena *a);

/* Everything that the simulation's recipe sets and its framework has a name for, with the IPU of each stage: rows of struct framework_option. None
 * where the recipe names no framework. Lines of code come first, and parse as one piece of Python. Texts live in a. */
struct table framework_options(const struct simulation *sim, struct arena *a);
/* Prints the options as Python, and what is no code as comments; or says that no name is known. */
void framework_options_document(struct document *d, const char *framework, const struct table *options);

#endif
