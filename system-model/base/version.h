/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * version.h - the program's version, recorded in every answer and file.
 */
#ifndef VERSION_H
#define VERSION_H

#define PODBENCH_VERSION "0.2"

#endif
