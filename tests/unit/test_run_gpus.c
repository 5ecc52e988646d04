/* The GPUs of this machine are asked for once. */
#include "run/session.h"

#include "torture.h"

#include "fake_nvml.h"

static void asked_once(void **state)
{
    struct pr_gpus g = {0};

    (void)state;
    USE_FAKE_NVML();
    assert_int_equal(pr_gpus_count(&g), 2);
    setenv("FAKE_NVML_DEVICES", "1", 1);
    assert_int_equal(pr_gpus_count(&g), 2);
    assert_string_equal(pr_gpus_get(&g, 0)->name, "Fake GPU 40GB");
    assert_string_equal(pr_gpus_get(&g, 1)->pci, "0000:3c:00.0");
    assert_null(pr_gpus_get(&g, 2));
    assert_null(pr_gpus_get(&g, -1));
}

static void none_is_an_answer(void **state)
{
    struct pr_gpus g = {0};

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_DEVICES", "0", 1);
    assert_null(pr_gpus_get(&g, 0));
    setenv("FAKE_NVML_DEVICES", "2", 1);
    assert_int_equal(pr_gpus_count(&g), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(asked_once, forget_fake_nvml),
        cmocka_unit_test_teardown(none_is_an_answer, forget_fake_nvml),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
