/* All fuzz targets in one program under libFuzzer; GLS_FUZZ_TARGET names the one that runs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET(name) int fuzz_##name(const uint8_t *data, size_t bytes);
#include "fuzz_targets.def"
#undef TARGET

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t bytes);
} targets[] = {
#define TARGET(name) {#name, fuzz_##name},
#include "fuzz_targets.def"
#undef TARGET
};
static int (*chosen)(const uint8_t *data, size_t bytes);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("GLS_FUZZ_TARGET");
    (void)argc;
    (void)argv;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (name && strcmp(targets[i].name, name) == 0) chosen = targets[i].run;
    if (chosen) return 0;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) fprintf(stderr, "%s\n", targets[i].name);
    fprintf(stderr, "GLS_FUZZ_TARGET names none of these\n");
    exit(1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    return chosen(data, bytes);
}
