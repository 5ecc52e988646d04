/* HDF5 files that are broken, and those with what we do not read. */
#include "format/hdf5/hdf5_impl.h"
#include "hdf5_tool.h"

#include <signal.h>
#include <sys/wait.h>

/* libhdf5 1.10 loses the header that it could not make sense of. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

static pid_t aside_of(const struct reading *x)
{
    return ((const struct pr_hdf5_reader *)x->r->data)->aside.pid;
}

static void says_what_it_cannot_read(void **state)
{
    static const struct {
        const char *name, *text;
    } bad[] = {
        {"uneven", "records_0 has 2 samples but records_1 3"},
        {"vlen", "'x' has elements that are kept elsewhere"},
        {"external", "'x' keeps its elements in other files"},
        {"scalar", "'x' has no axis of samples"},
        {"link", "'records_0' cannot be opened"},
    };
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_seed(&p, bad[i].name);
        assert_int_equal(reading_open(&x, bad[i].name), PR_E_FORMAT);
        if (!strstr(x.err.msg, bad[i].text))
            fail_msg("%s: %s", bad[i].name, x.err.msg);
        assert_string_equal(x.err.where, bad[i].name);
    }
    put_file(&p, "text", "this is not such a file, is it", 30);
    assert_int_equal(reading_open(&x, "text"), PR_E_FORMAT);
    assert_string_equal(x.err.msg, "at byte 0: not an HDF5 file");
    put_file(&p, "empty", "", 0);
    assert_int_equal(reading_open(&x, "empty"), PR_E_FORMAT);
    assert_int_equal(reading_open(&x, "none"), PR_E_IO);
    must_be_rows(&x, (put_seed(&p, "flat_new"), &rows[1]));
    reading_done(&x);
    place_done(&p);
}

/* Of files with checksums no part can be cut off or changed unnoticed, be the
 * sound file known or not; but the times of the root group may change. */
static void cut_and_changed_files(void **state)
{
    enum { TIMES = 48 + 6, SUM = 195 - 4, SETS_END = 731 };
    struct place p;
    struct reading x;
    size_t len;
    uint8_t *data = seed("flat_new", &len);

    (void)state;
    place_init(&p, "memory");
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    put_file(&p, "flat_new", data, len);
    for (size_t cut = 0; cut < len; cut += 1 + cut / 16) {
        put_file(&p, "f", data, cut);
        assert_int_equal(reading_open(&x, "f"), PR_E_FORMAT);
        must_be_rows(&x, &rows[1]);
    }
    for (size_t i = 0; i < SETS_END; i++) {
        bool is_time =
            (i >= TIMES && i < TIMES + 16) || (i >= SUM && i < SUM + 4);

        data[i] ^= 0x10;
        put_file(&p, "f", data, len);
        data[i] ^= 0x10;
        must_be_rows(&x, &rows[1]); /* known now */
        if (reading_open(&x, "f") != (is_time ? PR_OK : PR_E_FORMAT))
            fail_msg("byte %zu: %s", i, x.err.msg);
        if (is_time)
            must_be_row(&x, &rows[1], 1);
    }
    free(data);
    reading_done(&x);
    place_done(&p);
}

static void checksums_of_chunks(void **state)
{
    struct pr_read_opts skip = {.skip_checksum = true};
    struct place p;
    struct reading x, y;
    size_t len, end;
    uint8_t *data = seed("gzip_new", &len);

    (void)state;
    place_init(&p, "memory");
    for (end = len; !data[end - 1]; end--)
        continue;
    data[end - 1] ^= 1; /* the sum of the last chunk */
    put_file(&p, "f", data, len);
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(reading_read(&x, 0), PR_OK);
    assert_int_equal(reading_read(&x, 2), PR_E_FORMAT);
    assert_non_null(strstr(x.err.msg, "Fletcher-32"));
    assert_int_equal(reading_init(&y, &p, "hdf5", &skip), PR_OK);
    assert_int_equal(reading_open(&y, "f"), PR_OK);
    assert_int_equal(reading_read(&y, 2), PR_OK);
    data[end - 8] ^= 1; /* and of what is in it */
    put_file(&p, "f", data, len);
    assert_int_equal(reading_open(&y, "f"), PR_OK);
    assert_int_equal(reading_read(&y, 2), PR_E_FORMAT);
    assert_non_null(strstr(y.err.msg, "deflate"));
    free(data);
    reading_done(&y);
    reading_done(&x);
    place_done(&p);
}

static void a_buffer_can_be_too_small(void **state)
{
    struct place p;
    struct reading x;
    uint8_t buf[8];

    (void)state;
    place_init(&p, "memory");
    put_seed(&p, "flat_new");
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    assert_int_equal(reading_open(&x, "flat_new"), PR_OK);
    assert_int_equal(pr_reader_read(x.r, 0, buf, sizeof buf, &x.s, &x.err),
                     PR_E_CONF);
    assert_non_null(strstr(x.err.msg, "8 bytes"));
    assert_int_equal(reading_read(&x, 2), PR_E_FORMAT);
    reading_done(&x);
    place_done(&p);
}

/* The nth read fails, for every n that there is: in our reads as in those of
 * libhdf5. */
static void failing_reads_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (int n = 1, rc = PR_E_IO; rc; n++) {
            struct pr_storage *plain;
            struct place p;
            struct reading x;
            char fault[32];

            place_init(&p, "pread");
            put_seed(&p, rows[i].name);
            plain = p.st;
            snprintf(fault, sizeof fault, "eio:read:%d", n);
            p.opts.fault = fault;
            assert_int_equal(pr_storage_open(&p.opts, &p.st, NULL), PR_OK);
            assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
            rc = reading_open(&x, rows[i].name);
            for (uint64_t k = 0; !rc && k < rows[i].samples; k++)
                rc = reading_read(&x, k);
            if (rc)
                assert_int_equal(rc, PR_E_IO);
            reading_done(&x);
            pr_storage_close(p.st);
            p.st = plain;
            place_done(&p);
        }
}

/* What makes libhdf5 crash ends a process of its own: the file has an error,
 * and the next one is read. */
static void crash_is_an_error(void **state)
{
    static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    put_seed(&p, "compact");
    put_seed(&p, "flat_old");
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        char want[64];

        assert_int_equal(reading_open(&x, "compact"), PR_OK);
        must_be_row(&x, &rows[9], 0);
        assert_true(aside_of(&x) > 0);
        assert_int_equal(kill(aside_of(&x), signals[i]), 0);
        assert_int_equal(reading_read(&x, 1), PR_E_FORMAT);
        snprintf(want, sizeof want, "libhdf5 crashed on it (signal %d)",
                 signals[i]);
        assert_string_equal(x.err.msg, want);
        assert_string_equal(x.err.where, "compact");
        assert_int_equal(aside_of(&x), 0);
        must_be_row(&x, &rows[9], 2);
        must_be_rows(&x, &rows[0]);
        must_be_rows(&x, &rows[9]);
    }
    reading_done(&x);
    place_done(&p);
}

/* Files that made libhdf5 1.10 divide by zero and go astray in memory. */
static void files_that_make_it_crash(void **state)
{
    static const char *const names[] = {"crash_divide", "crash_memory"};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int rc = (put_seed(&p, names[i]), reading_open(&x, names[i]));

        if (!rc)
            rc = reading_read(&x, 0);
        assert_int_equal(rc, PR_E_FORMAT);
        assert_string_equal(x.err.where, names[i]);
    }
    must_be_rows(&x, (put_seed(&p, "flat_new"), &rows[1]));
    reading_done(&x);
    place_done(&p);
}

/* A reader that has a process aside. */
static void with_aside(struct place *p, struct reading *x)
{
    place_init(p, "pread");
    put_seed(p, "compact");
    assert_int_equal(reading_init(x, p, "hdf5", NULL), PR_OK);
    assert_int_equal(reading_open(x, "compact"), PR_OK);
    must_be_row(x, &rows[9], 0);
    assert_true(aside_of(x) > 0);
}

/* It holds nothing of the program's open, and is gone with the reader. */
static void nothing_is_left_of_it(void **state)
{
    char path[64], link[256];
    struct place p;
    struct reading x;
    pid_t pid;

    (void)state;
    with_aside(&p, &x);
    pid = aside_of(&x);
    for (int fd = 0; fd < 64; fd++) {
        ssize_t n;

        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
        n = readlink(path, link, sizeof link - 1);
        if (fd)
            assert_int_equal(n, -1);
        else
            assert_memory_equal(link, "socket:", 7);
    }
    reading_done(&x);
    assert_int_equal(kill(pid, 0), -1);
    place_done(&p);
}

static void hang_is_an_error(void **state)
{
    int patience = pr_hdf5_patience_s;
    struct place p;
    struct reading x;

    (void)state;
    with_aside(&p, &x);
    pr_hdf5_patience_s = 1;
    assert_int_equal(kill(aside_of(&x), SIGSTOP), 0);
    assert_int_equal(reading_read(&x, 1), PR_E_FORMAT);
    pr_hdf5_patience_s = patience;
    assert_string_equal(x.err.msg, "libhdf5 timed out after 1 s over it");
    assert_string_equal(x.err.where, "compact");
    must_be_row(&x, &rows[9], 2);
    reading_done(&x);
    place_done(&p);
}

/* A chunk of 4 GB that is 65 bytes in the file. */
static void its_memory_has_a_limit(void **state)
{
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    put_seed(&p, "huge_chunk");
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    assert_int_equal(reading_open(&x, "huge_chunk"), PR_OK);
    assert_int_equal(reading_read(&x, 0), PR_E_FORMAT);
    if (!strstr(x.err.msg, "memory allocation failed") &&
        !strstr(x.err.msg, "filter returned failure") && /* HDF5 1.14 */
        !strstr(x.err.msg, "crashed")) /* as a sanitizer has it */
        fail_msg("%s", x.err.msg);
    assert_string_equal(x.err.where, "huge_chunk");
    must_be_rows(&x, (put_seed(&p, "flat_new"), &rows[1]));
    reading_done(&x);
    place_done(&p);
}

/* A fork of the program neither asks nor ends what is its parent's. */
static void forks_leave_it_alone(void **state)
{
    struct place p;
    struct reading x;
    int status = -1;
    pid_t pid, child;

    (void)state;
    with_aside(&p, &x);
    pid = aside_of(&x);
    child = fork();
    if (!child) {
        bool good = reading_read(&x, 1) == PR_OK && aside_of(&x) != pid;

        reading_done(&x);
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    must_be_row(&x, &rows[9], 1);
    assert_int_equal(aside_of(&x), pid);
    reading_done(&x);
    place_done(&p);
}

/* Gone, or waiting for whoever is its parent by now. */
static bool is_gone(pid_t pid)
{
    char path[64], text[256] = "";
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return true;
    (void)!fread(text, 1, sizeof text - 1, f);
    fclose(f);
    return strstr(text, ") Z ") || strstr(text, ") X ");
}

/* However the program ends, also while a fork of it holds the line. */
static void it_ends_with_the_program(void **state)
{
    (void)state;
    for (int held = 0; held < 2; held++) {
        pid_t pids[2] = {0, 0}, child;
        int ends[2];

        assert_int_equal(pipe(ends), 0);
        child = fork();
        if (!child) {
            struct place p;
            struct reading x;

            with_aside(&p, &x);
            pids[0] = aside_of(&x);
            pids[1] = held ? fork() : 0;
            if ((!held || pids[1]) && write(ends[1], pids, sizeof pids) < 0)
                _exit(1);
            pause();
        }
        assert_int_equal(read(ends[0], pids, sizeof pids), sizeof pids);
        assert_false(is_gone(pids[0]));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        for (int i = 0; i < 1000 && !is_gone(pids[0]); i++)
            usleep(20000);
        assert_true(is_gone(pids[0]));
        if (held)
            assert_int_equal(kill(pids[1], SIGKILL), 0);
        close(ends[0]);
        close(ends[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_it_cannot_read),
        cmocka_unit_test(crash_is_an_error),
        cmocka_unit_test(files_that_make_it_crash),
        cmocka_unit_test(nothing_is_left_of_it),
        cmocka_unit_test(hang_is_an_error),
        cmocka_unit_test(its_memory_has_a_limit),
        cmocka_unit_test(forks_leave_it_alone),
        cmocka_unit_test(it_ends_with_the_program),
        cmocka_unit_test(cut_and_changed_files),
        cmocka_unit_test(checksums_of_chunks),
        cmocka_unit_test(a_buffer_can_be_too_small),
        cmocka_unit_test(failing_reads_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
