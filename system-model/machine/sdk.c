/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sdk.c - loads the sheet of a software release. */
#include "system-model/machine/sdk.h"
#include "system-model/machine/machine.h"

#include <ctype.h>
#include <stdlib.h>
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

static bool set_row(void *out, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err)
{
    const struct field *f = field_find(fields, N_FIELDS, row->key);
    const char *where = sheet_row_place(s, row, a);
    if (!f)
        return fail(err, "%s: unknown key; known: checkpoint_start_s, eval_switch_s, eval_load_s, checkpoint_save_s, checkpoint_restore_s", where);
    if (!text_is(row->unit, f->unit))
        return fail(err, "%s: is in '%s', want '%s'", where, row->unit, f->unit);
    return field_set(out, f, row->value, where, err);
}

int compare_releases(const char *a, const char *b)
{
    while (*a || *b) {
        char *a_end, *b_end;
        unsigned long x = strtoul(a, &a_end, 10), y = strtoul(b, &b_end, 10);
        if (x != y)
            return x < y ? -1 : 1;
        a = a_end + (*a_end == '.');
        b = b_end + (*b_end == '.');
        if ((*a && !isdigit((unsigned char)*a)) || (*b && !isdigit((unsigned char)*b)))
            break;
    }
    return 0;
}

bool is_release(const char *text)
{
    do {
        size_t n = strspn(text, "0123456789");
        if (!n)
            return false;
        text += n;
    } while (*text == '.' && *++text);
    if (text[-1] == '.' || !*text)
        return text[-1] != '.';
    return (*text == '+' || *text == '-') && text[strcspn(text, "/")] == '\0';      /* it becomes a file's name */
}

static bool find_others(struct sdk *out, const char *folder, struct arena *a, struct err *err)
{
    char **names;
    size_t n;
    if (access(folder, F_OK) != 0)
        return true;
    if (!list_folder(&names, &n, folder, ".csv", a, err))
        return false;
    out->others = names_list((const char *const *)names, n, a);
    out->is_newest = out->name != NULL;
    for (size_t i = 0; i < n && out->is_newest; i++)
        out->is_newest = compare_releases(names[i], out->name) < 0;
    return true;
}

bool sdk_load(struct sdk *out, const char *name, const char *specs_dir, const struct what_ifs *changes, struct arena *a, struct err *err)
{
    const char *folder = arena_printf(a, "%s/sdk", specs_dir);
    *out = (struct sdk){ .name = name };
    if (name && !what_ifs_load(&out->sheet, changes, arena_printf(a, "%s/%s.csv", folder, name), set_row, out, a, err))
        return false;
    return out->sheet.path || find_others(out, folder, a, err);
}
