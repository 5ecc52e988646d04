/* Whether this machine has a GPU, as far as a library says so. */
#include "conf/option/option.h"
#include "machine/nvml.h"

#include "torture.h"

#include "fake_nvml.h"

#include <unistd.h>

static void by_the_library_that_is_named(void **state)
{
    (void)state;
    if (access("/dev/kfd", F_OK) == 0)
        skip_because("an AMD GPU is here; run it without /dev/kfd");
    USE_FAKE_NVML();
    assert_true(pr_machine_has_gpu());
    setenv("FAKE_NVML_DEVICES", "0", 1);
    assert_false(pr_machine_has_gpu());
    setenv("FAKE_NVML_DEVICES", "1", 1);
    assert_true(pr_machine_has_gpu());
    setenv("FAKE_NVML_INIT", "9", 1);
    assert_false(pr_machine_has_gpu());
    setenv("PRONY_NVML", "", 1);
    assert_false(pr_machine_has_gpu());
}

static void by_device_files(void **state)
{
    (void)state;
    if (access("/dev/dxg", F_OK) == 0)
        skip_because("a GPU of WSL is here; run it without /dev/dxg");
    unsetenv("PRONY_NVML");
    if (access("/dev/kfd", F_OK) == 0 || access("/dev/nvidia0", F_OK) == 0)
        assert_true(pr_machine_has_gpu());
    else if (access("/dev/nvidiactl", F_OK) < 0)
        assert_false(pr_machine_has_gpu());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(by_the_library_that_is_named,
                                  forget_fake_nvml),
        cmocka_unit_test_teardown(by_device_files, forget_fake_nvml),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
