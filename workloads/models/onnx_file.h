/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx_file.h - a workload that is a file, with what became of its operators.
 */
#ifndef ONNX_FILE_H
#define ONNX_FILE_H
#include "workloads/models/models.h"
#include "workloads/onnx/onnx.h"

/* o->file is the path. */
bool onnx_file_import(struct graph *g, struct onnx_import *import, const struct model_options *o, struct arena *a, struct err *err);

#endif
