/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_sheet.c - any bytes as a spec sheet: of a machine, of a software release, of fitted constants; or refused with a message. */
#include "tests/fuzz/fuzz.h"
#include "system-model/base/base.h"
#include "system-model/machine/fitted.h"
#include "system-model/machine/machine.h"
#include "system-model/machine/framework.h"

static void put(const char *path, const uint8_t *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n)
        abort();
    fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    struct err err = { "" };
    struct machine m;
    struct sdk sdk;
    struct fitted_system fitted;
    const char *folder = fuzz_folder(), *path = fuzz_file(data, n, ".csv");
    const char *sdk_path = arena_printf(&a, "%s/sdk/9.9.csv", folder), *fitted_path = arena_printf(&a, "%s/fitted-system.csv", folder);
    if (!machine_load(&m, path, "system-model/specs", &a, &err) && !*err.msg)
        abort();
    make_folders(arena_printf(&a, "%s/sdk", folder), NULL);
    put(sdk_path, data, n);
    put(fitted_path, data, n);
    *err.msg = 0;
    if (!sdk_load(&sdk, "9.9", folder, NULL, &a, &err) && !*err.msg)
        abort();
    *err.msg = 0;
    if (!fitted_system_load(&fitted, folder, NULL, &a, &err) && !*err.msg)
        abort();
    unlink(sdk_path);
    unlink(fitted_path);
    unlink(path);
    arena_free(&a);
    return 0;
}
