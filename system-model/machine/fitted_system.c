/*
 * fitted_system.c - the table of the system's fitted constants, and the sheet that holds their values.
 *
 * host_call_s   between two calls of a session the host fetches results, checks the run and starts the program again;
 *               the chips wait. No source gives its length; unfitted it is 0.
 * streaming_efficiency  of DDR behind a gateway, with its own software in between. No measurement is published; unfitted it is
 *               what refresh and turnaround of DDR4 leave.
 * throughput_error   no constant: how far throughputs stay from the published ones when the fit has not seen them.
 */
#include "system-model/machine/fitted_system.h"
#include "system-model/machine/machine.h"

#include <unistd.h>

const struct system_constant system_constants[N_SYSTEM_CONSTANTS] = {
    { { "host_call_s", "s", FIELD_F64, offsetof(struct fitted_system, host_call_s), 0, 1, NULL, false,
        "the chips wait for the host between two calls" }, 0 },
    { { "streaming_efficiency", "share", FIELD_F64, offsetof(struct fitted_system, streaming_efficiency), 0.05, 1, NULL, false,
        "of the peak rate of streaming memory" }, 0.8 },
};

const struct field throughput_error_field = {
    "throughput_error", "share", FIELD_F64, offsetof(struct fitted_system, throughput_error), 0, 10, NULL, false,
    "spread of ln(simulated / published), rows left out of the fit" };

void fitted_system_defaults(struct fitted_system *out)
{
    *out = (struct fitted_system){0};
    for (int i = 0; i < N_SYSTEM_CONSTANTS; i++)
        *(double *)((char *)out + system_constants[i].field.offset) = system_constants[i].unfitted_value;
}

static bool set_row(struct fitted_system *out, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err)
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
    return fail(err, "%s: not a fitted constant of the system; known: %s, %s, %s", where, system_constants[0].field.name,
                system_constants[1].field.name, throughput_error_field.name);
}

bool fitted_system_load(struct fitted_system *out, const char *specs_dir, const struct what_ifs *changes, struct arena *a,
                        struct err *err)
{
    const char *path = arena_printf(a, "%s/fitted-system.csv", specs_dir);
    fitted_system_defaults(out);
    struct sheet *s = &out->sheet;
    if (access(path, R_OK) != 0)
        return true;
    if (!sheet_load(s, path, a, err))
        return false;
    what_ifs_replace(s, changes, a);
    for (size_t i = 0; i < s->n_rows; i++)
        if (!set_row(out, s, &s->rows[i], a, err))
            return false;
    return true;
}
