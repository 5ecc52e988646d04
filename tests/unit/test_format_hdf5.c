/* HDF5 files that h5py and DLIO wrote. */
#include "hdf5_tool.h"

#include <pthread.h>

/* Each after itself, when it is known, and after others. */
static void reads_what_h5py_writes(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        struct place p;
        struct reading x;

        place_init(&p, engines[e]);
        assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
        for (size_t i = 0; i < ROWS; i++)
            put_seed(&p, rows[i].name);
        for (size_t i = 0; i < ROWS; i++) {
            must_be_rows(&x, &rows[i]);
            must_be_rows(&x, &rows[i]);
            must_be_rows(&x, &rows[i * 5 % ROWS]);
        }
        reading_done(&x);
        place_done(&p);
    }
}

static void gives_what_has_no_type_of_ours(void **state)
{
    static const uint16_t half[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    put_seed(&p, "half");
    put_seed(&p, "compound");
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    assert_int_equal(reading_open(&x, "half"), PR_OK);
    assert_int_equal(reading_read(&x, 0), PR_OK);
    assert_int_equal(x.s.dtype, PR_F16);
    assert_memory_equal(x.s.data, half, sizeof half);
    assert_int_equal(reading_read(&x, 1), PR_OK);
    assert_int_equal(x.s.label, 1);
    assert_int_equal(reading_open(&x, "compound"), PR_OK);
    assert_int_equal(reading_read(&x, 1), PR_OK);
    assert_int_equal(x.s.dtype, PR_U8);
    assert_int_equal(x.s.shape.ndim, 2);
    assert_int_equal(x.s.shape.dim[1], 12);
    reading_done(&x);
    place_done(&p);
}

static void chunks_never_written_have_the_fill_value(void **state)
{
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    put_seed(&p, "missing");
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    assert_int_equal(reading_open(&x, "missing"), PR_OK);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(reading_read(&x, i), PR_OK);
        for (size_t k = 0; k < 8; k++)
            assert_true(value_at(&x.s, k) == (i == 0 && k < 4 ? k : 7.0));
    }
    reading_done(&x);
    place_done(&p);
}

static void stored_bytes_without_decoding(void **state)
{
    struct pr_read_opts opts = {.skip_decode = true};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    put_seed(&p, "gzip_new");
    put_seed(&p, "flat_new");
    assert_int_equal(reading_init(&x, &p, "hdf5", &opts), PR_OK);
    assert_int_equal(reading_open(&x, "gzip_new"), PR_OK);
    assert_int_equal(reading_read(&x, 2), PR_OK);
    assert_true(x.s.size > 16 && x.s.size < 160);
    assert_memory_equal(x.s.data, "\x78\x5e", 2); /* zlib */
    assert_int_equal(reading_open(&x, "flat_new"), PR_OK);
    assert_int_equal(reading_read(&x, 1), PR_OK);
    assert_int_equal(x.s.size, 24);
    reading_done(&x);
    place_done(&p);
}

/* ---- threads, memory, DLIO */

static void *many_opens(void *failures)
{
    struct place p;
    struct reading x;

    place_init(&p, "memory");
    if (reading_init(&x, &p, "hdf5", NULL))
        __atomic_add_fetch((int *)failures, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < ROWS; i++)
        put_seed(&p, rows[i].name);
    for (size_t n = 0; n < 20 * ROWS; n++)
        if (reading_open(&x, rows[n % ROWS].name) || reading_read(&x, 1))
            __atomic_add_fetch((int *)failures, 1, __ATOMIC_RELAXED);
    reading_done(&x);
    place_done(&p);
    return NULL;
}

static void threads_read_at_once(void **state)
{
    pthread_t t[4];
    int failures = 0;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, many_opens, &failures), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(failures, 0);
}

static struct place tortured;

static int read_all(void)
{
    struct reading x;
    int rc = reading_init(&x, &tortured, "hdf5", NULL);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < ROWS; i++) {
        rc = reading_open(&x, rows[i].name);
        for (uint64_t k = 0; !rc && k < rows[i].samples; k++)
            rc = reading_read(&x, k);
    }
    reading_done(&x);
    return rc;
}

static void survives_without_memory(void **state)
{
    (void)state;
    place_init(&tortured, "memory");
    for (size_t i = 0; i < ROWS; i++)
        put_seed(&tortured, rows[i].name);
    torture(read_all);
    place_done(&tortured);
}

static void reads_what_dlio_writes(void **state)
{
    static const struct {
        const char *file;
        uint64_t samples;
        struct pr_shape shape;
    } want[] = {
        {"hdf5/train/img_0_of_3.hdf5", 1, {2, {64, 64}}},
        {"hdf5_multi/train/img_1_of_3.hdf5", 4, {2, {32, 32}}},
        {"hdf5_2dset/train/img_0_of_3.hdf5", 1, {3, {4, 16, 16}}},
        {"hdf5_chunk_gzip/valid/img_0_of_1.hdf5", 1, {2, {64, 64}}},
    };
    struct place p;
    struct reading x;
    char path[4096];

    (void)state;
    find_dlio("hdf5", path);
    place_init(&p, "pread");
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char real[4096];

        find_dlio(want[i].file, path);
        assert_non_null(realpath(path, real));
        if (reading_open(&x, real))
            fail_msg("%s: %s", path, x.err.msg);
        assert_int_equal(x.r->samples, want[i].samples);
        assert_int_equal(reading_read(&x, want[i].samples - 1), PR_OK);
        assert_int_equal(x.s.dtype, PR_U8);
        assert_memory_equal(&x.s.shape, &want[i].shape, sizeof x.s.shape);
        assert_true(x.s.has_label && x.s.label == 0);
    }
    reading_done(&x);
    place_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_h5py_writes),
        cmocka_unit_test(gives_what_has_no_type_of_ours),
        cmocka_unit_test(chunks_never_written_have_the_fill_value),
        cmocka_unit_test(stored_bytes_without_decoding),
        cmocka_unit_test(threads_read_at_once),
        cmocka_unit_test(survives_without_memory),
        cmocka_unit_test(reads_what_dlio_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
