/*
 * Whether a compressed file is whole does not depend on how well it was
 * compressed: a library may make another size of the same text, and igzip does
 * so with small ones, now and then.
 */
#include "generate/generate.h"
#include "scratch.h"
#include "values.h"

static struct pr_arena *arena;

static const struct pr_storage_opts storage = {.engine = "pread",
                                               .storage_type = "local_fs",
                                               .storage_root = ".",
                                               .block_size = 1 << 20,
                                               .queue_depth = 8,
                                               .fault = "",
                                               .trace = ""};

static int begin(void **state)
{
    arena = pr_arena_new(65536);
    return !arena || enter(state);
}

static int end(void **state)
{
    pr_arena_free(arena);
    return leave(state);
}

static const char *const kinds[][2] = {{"csv", "gzip"},
                                       {"tfrecord", "gzip"},
                                       {"tfrecord", "zlib"},
                                       {"npz", "zip"}};

static void make(const char *const kind[2], int level, int length,
                 struct pr_dataset *ret)
{
    struct pr_generate_opts opts = {.threads = 1, .force = true};
    struct pr_generate_result r;
    struct pr_err err = {0};
    struct pr_value params;
    char text[512];

    snprintf(text, sizeof text,
             "{\"dataset.data_folder\": \"%d\", \"dataset.num_files_train\": 1,"
             "\"dataset.num_samples_per_file\": 3, \"dataset.format\": \"%s\","
             "\"dataset.record_length_bytes\": %d, "
             "\"dataset.compression\": \"%s\", "
             "\"dataset.compression_level\": %d}",
             level, kind[0], length, kind[1], level);
    params = json(arena, text);
    if (pr_dataset_init(ret, &params, arena, &err) ||
        pr_generate(ret, &storage, &opts, NULL, NULL, &r, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

/* The file of a set becomes these bytes: whether it is whole then. */
static int look(const struct pr_dataset *d, const uint8_t *data, size_t len)
{
    struct pr_generate_worker w;
    char name[PR_NAME_BYTES];
    struct pr_err err = {0};
    FILE *f;
    int rc;

    pr_dataset_name(d, 0, PR_NAME_DATA, name);
    f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(pr_generate_worker_init(&w, d, &storage, NULL, NULL, &err),
                     PR_OK);
    rc = pr_generate_worker_has_file(&w, 0, &err);
    pr_generate_worker_done(&w);
    return rc;
}

static size_t contents(const struct pr_dataset *d, uint8_t *out, size_t cap)
{
    char name[PR_NAME_BYTES];
    FILE *f;
    size_t n;

    pr_dataset_name(d, 0, PR_NAME_DATA, name);
    f = fopen(name, "rb");
    assert_non_null(f);
    n = fread(out, 1, cap, f);
    fclose(f);
    assert_true(n && n < cap);
    return n;
}

static void another_size_is_whole_and_a_part_is_not(void **state)
{
    enum { CAP = 1 << 20 };
    uint8_t *fast = malloc(CAP), *small = malloc(CAP);

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int length = 40; length < 60000; length *= 9) {
            struct pr_dataset d, other;
            size_t n, m;

            make(kinds[k], 1, length, &d);
            make(kinds[k], 9, length, &other);
            n = contents(&d, fast, CAP);
            m = contents(&other, small, CAP - 8);
            if (look(&d, fast, n) != 1 || look(&d, small, m) != 1)
                fail_msg("%s %s of %d: %zu bytes instead of %zu are not whole",
                         kinds[k][0], kinds[k][1], length, m, n);
            for (size_t cut = 1; cut <= 24; cut++)
                if (m - cut != n) /* of the right size, a look is enough */
                    assert_int_equal(look(&d, small, m - cut), 0);
            memset(small + m, 'x', 8);
            if (m + 8 != n)
                assert_int_equal(look(&d, small, m + 8), 0);
            small[m / 2] ^= 0x40;
            assert_int_equal(look(&d, small, m), m == n);
        }
    free(fast);
    free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(another_size_is_whole_and_a_part_is_not,
                                        begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
