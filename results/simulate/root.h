/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * root.h - where the data stands: spec sheets, recipes, published figures, rules.
 */
#ifndef ROOT_H
#define ROOT_H
#include "system-model/base/base.h"

/* The folder that is given, else PODBENCH_ROOT, else what belongs to the program (the folder above its own in a source tree,
 * ../share/podbench where it is installed), else the current folder, else what is installed below a usual prefix. NULL: none holds
 * system-model/specs; given_as names the option in the message. */
const char *root_find(const char *given, const char *given_as, struct arena *a, struct err *err);
/* FOLDER in the root; as it stands where the root is the current folder. */
const char *root_path(const char *root, const char *folder, struct arena *a);
bool root_is_installed(const char *root);       /* no source tree: nothing is written there */

#endif
