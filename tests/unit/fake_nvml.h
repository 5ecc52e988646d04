/*
 * The stand-in for NVIDIA's library (tests/fake_nvml) for a test: FAKE_NVML
 * in the environment is its path, which the build sets.
 */
#ifndef TESTS_UNIT_FAKE_NVML_H
#define TESTS_UNIT_FAKE_NVML_H

#include "skip.h"

#include <stdlib.h>

/* Skips the test where the library was not built. */
#define USE_FAKE_NVML()                                         \
    do {                                                        \
        if (!getenv("FAKE_NVML"))                               \
            skip_because("no FAKE_NVML; run it by meson test"); \
        setenv("PRONY_NVML", getenv("FAKE_NVML"), 1);           \
    } while (0)

/* For a teardown, so that no test sees what another one set. */
static inline int forget_fake_nvml(void **state)
{
    static const char *const names[] = {"PRONY_NVML",     "FAKE_NVML_DEVICES",
                                        "FAKE_NVML_INIT", "FAKE_NVML_COUNT",
                                        "FAKE_NVML_LOST", "FAKE_NVML_FAIL"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    return 0;
}

#endif
