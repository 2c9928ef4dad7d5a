/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fitted_system.c - the table of the system's fitted constants, and the sheet that holds their values.
 *
 * call_s        between two calls of a session the host fetches results, checks the run and starts the program again; the chips
 *               wait. No source gives its length; unfitted it is 0.
 * output_reduction_s  processes of one run average a number (Horovod, which looks for such work once a cycle); unfitted one cycle.
 * remote_access_s     a transfer to or from streaming memory is a sync with the host's side and a request; unfitted it is the latency
 *               of a word from the host (arXiv:1912.03413 Table 4.19).
 * loader_s_per_byte  a loader starts its threads or processes, reads and puts together the batch of the first step; the chips wait. Later
 *               batches are made beside the work. No source gives its length; unfitted it is 0.
 * throughput_error   no constant: how far throughputs stay from the published ones when the fit has not seen them.
 */
#include "system-model/machine/fitted_system.h"
#include "system-model/machine/machine.h"

const struct system_constant system_constants[N_SYSTEM_CONSTANTS] = {
#define C(member, unit, low, high, unfitted, start, source, help) \
    { { #member, unit, FIELD_F64, offsetof(struct fitted_system, member), low, high, NULL, false, help }, unfitted, start, source }
    C(call_s, "s", 0, 1, 0, 0.03, "no source",
      "the chips wait for the host between two calls of a session"),
    C(output_reduction_s, "s", 0, 1, 0.005, 0.01, "assumed: one cycle of Horovod, 5 ms by default before release 0.21 (HOROVOD_CYCLE_TIME)",
      "one number averaged over a run's processes"),
    C(remote_access_s, "s", 0, 0.01, 8.83e-6, 5e-5, "GC2: latency of a word from the host (arXiv:1912.03413 Table 4.19)",
      "one transfer to or from streaming memory, beside its bytes"),
    C(loader_s_per_byte, "s/B", 0, 1e-6, 0, 1e-8, "no source", "a loader that has just been started makes the first step's batch"),
#undef C
};

const struct field throughput_error_field = {
    "throughput_error", "share", FIELD_F64, offsetof(struct fitted_system, throughput_error), 0, 10, NULL, false,
    "spread of ln(simulated / published), rows left out of the fit" };

void fitted_system_names(const char **out)
{
    for (int i = 0; i < N_SYSTEM_CONSTANTS; i++)
        out[i] = system_constants[i].field.name;
    out[N_SYSTEM_CONSTANTS] = throughput_error_field.name;
}

void fitted_system_defaults(struct fitted_system *out)
{
    *out = (struct fitted_system){0};
    for (int i = 0; i < N_SYSTEM_CONSTANTS; i++)
        *(double *)((char *)out + system_constants[i].field.offset) = system_constants[i].unfitted_value;
}

static bool set_row(void *out, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err)
{
    const char *where = sheet_row_place(s, row, a);
    for (int i = 0; i <= N_SYSTEM_CONSTANTS; i++) {
        const struct field *f = i < N_SYSTEM_CONSTANTS ? &system_constants[i].field : &throughput_error_field;
        if (!text_is(f->name, row->key))
            continue;
        if (!text_is(row->unit, f->unit))
            return fail(err, "%s: is in '%s', want '%s'", where, row->unit, f->unit);
        return field_set(out, f, row->value, where, err);
    }
    const char *names[N_FITTED_SYSTEM_NAMES];
    fitted_system_names(names);
    return fail(err, "%s: not a fitted constant of the system; known: %s", where, names_list(names, sizeof names / sizeof *names, a));
}

bool fitted_system_load(struct fitted_system *out, const char *specs_dir, const struct what_ifs *changes, struct arena *a,
                        struct err *err)
{
    fitted_system_defaults(out);
    return what_ifs_load(&out->sheet, changes, arena_printf(a, "%s/fitted-system.csv", specs_dir), set_row, out, a, err);
}
