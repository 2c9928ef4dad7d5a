/* sdk.c - loads the sheet of a software release. */
#include "system-model/machine/sdk.h"
#include "system-model/machine/machine.h"

#include <string.h>
#include <unistd.h>

#define F(member, help) { #member, "s", FIELD_F64, offsetof(struct sdk, member), 0, 1e5, NULL, true, help }
static const struct field fields[] = {
    F(checkpoint_start_s, "start of the clock to the first step, from a given checkpoint"),
    F(eval_switch_s, "end of training to the first evaluation"),
    F(eval_load_s, "loading the evaluation program"),
    F(checkpoint_save_s, "writing a checkpoint"),
    F(checkpoint_restore_s, "reading back a checkpoint that is evaluated at the end"),
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static bool set_row(struct sdk *out, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err)
{
    const struct field *f = field_find(fields, N_FIELDS, row->key);
    const char *where = sheet_row_place(s, row, a);
    if (!f)
        return fail(err, "%s: unknown key; known: checkpoint_start_s, eval_switch_s, eval_load_s, checkpoint_save_s, checkpoint_restore_s", where);
    if (!text_is(row->unit, f->unit))
        return fail(err, "%s: is in '%s', want '%s'", where, row->unit, f->unit);
    return field_set(out, f, row->value, where, err);
}

/* The release stands at the name's end, after the framework: "PopART, Poplar SDK 2.3.0". */
static const char *sheet_path(const char *name, const char *specs_dir, struct arena *a)
{
    const char *release = strrchr(name, ' ');
    const char *path = arena_printf(a, "%s/sdk/%s.csv", specs_dir, release ? release + 1 : name);
    return access(path, R_OK) == 0 ? path : NULL;
}

bool sdk_load(struct sdk *out, const char *name, const char *specs_dir, const struct what_ifs *changes, struct arena *a, struct err *err)
{
    *out = (struct sdk){ .name = name };
    const char *path = name ? sheet_path(name, specs_dir, a) : NULL;
    if (!path)
        return true;
    struct sheet *s = &out->sheet;
    if (!what_ifs_sheet(s, changes, path, a, err))
        return false;
    what_ifs_replace(s, changes, a);
    for (size_t i = 0; i < s->n_rows; i++)
        if (!set_row(out, s, &s->rows[i], a, err))
            return false;
    out->known = true;
    return true;
}
