/* fuzz_sheet.c - any bytes as a spec sheet: a machine, or refused with a message. */
#include "tests/fuzz/fuzz.h"
#include "system-model/machine/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    struct err err = {0};
    struct machine m;
    const char *path = fuzz_file(data, n, ".csv");
    if (!machine_load(&m, path, "system-model/specs", &a, &err) && !*err.msg)
        abort();
    arena_free(&a);
    unlink(path);
    return 0;
}
