/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework_options.h - a configuration in the words of its framework: the keys of the recipe under the names that PopART, PopTorch,
 * TensorFlow, PaddlePaddle, PopRT, PopXL, and the configuration files of Graphcore's published programs use.
 */
#ifndef FRAMEWORK_OPTIONS_H
#define FRAMEWORK_OPTIONS_H
#include "results/simulate/simulate.h"

/* `place` is "code" for a line of Python, "settings" for the published program that the source names, or "command line". The first lines of
 * code have no key. */
struct framework_option { const char *option, *key, *place, *source; };

/* Sets the option that corresponds to "section.key=value" in the framework. False, with *out unchanged, if no name is known or if the option
 * depends on more than the value. */
bool framework_option_of(struct framework_option *out, const char *framework, const char *setting, struct arena *a);

/* The options for everything that the recipe sets and its framework has a name for, with the IPU of each stage. Rows are struct
 * framework_option. Lines of code come first and parse as one piece of Python. The table is empty if the recipe names no framework. Texts live
 * in `a`. */
struct table framework_options(const struct simulation *sim, struct arena *a);
/* The framework's name among the options. Programs of PopART that cut layers over IPUs, or run them in phases, are written in PopXL. */
const char *framework_options_name(const struct simulation *sim);
/* Writes the options as Python, in which lines that are no code are comments. If no name is known, it says so. */
void framework_options_document(struct document *d, const char *framework, const struct table *options);

#endif
