/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * roofline.c - a baseline for predictors: throughput from data sheets, as one would estimate it on a page; see predictions.h. It is not
 * podbench's model, nothing in it is fitted, and its rows enter no headline.
 *     step_s = kernels * launch_s + max(flop / peak, bytes / memory_bandwidth) + all_reduce_s
 *     all_reduce_s = 2 (n - 1) * launch_s + 2 (n - 1) / n * 2 * parameters / link_bandwidth      fp16 gradients, a ring
 *
 * flop and bytes are those of one accelerator's samples. Within a node the bandwidth is that of the accelerator's own links, beyond it that of
 * its share of the network. Work by benchmark is in workloads/convergence/roofline.csv. Open divisions may train another model, so only closed
 * results are predicted.
 */
#include "results/rounds/predictions.h"

static const double launch_s = 5e-6;    /* assumed: launches of CUDA kernels are reported to take 3 to 10 us */

struct roofline_work { double flop_per_sample, bytes_per_sample, parameters, kernels; };

static double ring_s(const struct roofline_work *w, const struct accelerator *x, double n, bool one_node)
{
    double bytes_per_s = one_node ? x->link_bytes_per_s : fmin(x->link_bytes_per_s, x->network_bytes_per_s);
    return n > 1 ? 2 * (n - 1) * launch_s + 2 * (n - 1) / n * 2 * w->parameters / bytes_per_s : 0;
}

static double roofline_samples_per_s(const struct roofline_work *w, const struct accelerator *x, const struct round_result *r)
{
    double n = r->accelerators, local = r->global_batch / n;
    double work_s = fmax(local * w->flop_per_sample / x->peak_flop_per_s, local * w->bytes_per_sample / x->memory_bytes_per_s);
    return r->global_batch / (w->kernels * launch_s + work_s + ring_s(w, x, n, r->nodes == 1));
}

#define WORK(member) FIELD_OF(struct roofline_work, member, .min = 1, .max = 1e18, .required = true)
static const struct field work_fields[] = { WORK(flop_per_sample), WORK(bytes_per_sample), WORK(parameters), WORK(kernels) };
#undef WORK

bool roofline_predict(struct predictions *out, const struct round_results *r, const struct accelerator_table *accelerators, const char *data_dir,
                      struct arena *a, struct err *err)
{
    struct csv_table t;
    if (!fields_load(&t, arena_printf(a, "%s/roofline.csv", data_dir), work_fields, N_FIELDS(work_fields), a, err))
        return false;
    for (size_t i = 0; i < r->n; i++) {
        const struct round_result *x = &r->items[i];
        const struct accelerator *chip = accelerator_find(accelerators, x->accelerator);
        const struct csv_row *row = csv_row_named(&t, x->benchmark);
        struct roofline_work w;
        if (!text_is(x->division, "closed") || !row || !chip || isnan(chip->network_bytes_per_s) || !(x->accelerators > 0) || !(x->global_batch > 0) || isnan(x->samples_per_s))
            continue;
        if (!fields_from_row(&w, work_fields, N_FIELDS(work_fields), &t, row, err))
            return false;
        prediction_add(out, x, false, roofline_samples_per_s(&w, chip, x), NAN, NAN, USE_SEEN, false, a);
    }
    return out->n > 0 || fail(err, "no closed result is of resnet, bert or llama2_70b_lora on A100 or H100");
}
