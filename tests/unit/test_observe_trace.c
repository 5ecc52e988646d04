/* Traces: the text is exactly this, the file is whole or not there. */
#include "observe/trace.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "scratch.h"
#include "torture.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>

static const uint64_t no = UINT64_MAX;

static struct pr_trace *open_trace(uint64_t start_ns)
{
    struct pr_trace *t = NULL;

    assert_int_equal(pr_trace_open("t.json", start_ns, &t, NULL), PR_OK);
    return t;
}

static void close_trace(struct pr_trace *t)
{
    struct pr_err err = {0};

    if (pr_trace_close(t, &err))
        fail_msg("%s: %s", err.where, err.msg);
    assert_int_equal(files_in("."), 1);
}

static void one_event_a_line(void **state)
{
    static const char want[] =
        "[\n"
        "{\"name\":\"fetch.iter\",\"cat\":\"dataloader\",\"ph\":\"X\","
        "\"ts\":1.500,\"dur\":2000.007,\"pid\":3,\"tid\":0,"
        "\"args\":{\"epoch\":1,\"step\":12}},\n"
        "{\"name\":\"item\",\"cat\":\"data\",\"ph\":\"X\","
        "\"ts\":0.000,\"dur\":0.099,\"pid\":3,\"tid\":10,"
        "\"args\":{\"epoch\":1,\"sample\":99}},\n"
        "{\"name\":\"ai_root\",\"cat\":\"ai_root\",\"ph\":\"X\","
        "\"ts\":0.000,\"dur\":1.000,\"pid\":0,\"tid\":0},\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,"
        "\"args\":{\"name\":\"accelerator 0\"}},\n"
        "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":0,"
        "\"args\":{\"name\":\"training\"}},\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":3,"
        "\"args\":{\"name\":\"accelerator 3\"}},\n"
        "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":3,\"tid\":0,"
        "\"args\":{\"name\":\"training\"}},\n"
        "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":3,\"tid\":10,"
        "\"args\":{\"name\":\"reader 10\"}}\n"
        "]\n";
    struct pr_trace *t = open_trace(1000);
    struct pr_trace_lane *l = pr_trace_lane(t);
    char *text;

    (void)state;
    assert_non_null(l);
    assert_int_not_equal(access("t.json", F_OK), 0);
    pr_trace_span(l, PR_SPAN_FETCH, 3, 0, 2500, 2002507, 1, 12);
    pr_trace_span(l, PR_SPAN_ITEM, 3, 10, 1000, 1099, 1, 99);
    pr_trace_span(l, PR_SPAN_ROOT, 0, 0, 1000, 2000, no, no);
    close_trace(t);
    text = slurp("t.json", NULL);
    assert_string_equal(text, want);
    free(text);
}

static void times_and_numbers(void **state)
{
    static const struct {
        uint64_t start, end, pid, tid, epoch, step;
        const char *want;
    } rows[] = {
        {0, 0, 0, 0, no, no, "\"ts\":0.000,\"dur\":0.000,\"pid\":0,\"tid\":0}"},
        {1, 10, 9, 10, no, 7,
         "\"ts\":0.001,\"dur\":0.009,\"pid\":9,\"tid\":10,"
         "\"args\":{\"step\":7}}"},
        {999, 1999, 99, 100, 5, no,
         "\"ts\":0.999,\"dur\":1.000,\"pid\":99,\"tid\":100,"
         "\"args\":{\"epoch\":5}}"},
        {1000, 100000, 101, 12345, 0, 0,
         "\"ts\":1.000,\"dur\":99.000,\"pid\":101,\"tid\":12345,"
         "\"args\":{\"epoch\":0,\"step\":0}}"},
        /* backward is nothing, not a huge number */
        {5000, 4000, 1, 1, no, no, "\"ts\":5.000,\"dur\":0.000,"},
        {123456789012, 123456789012 + 10020030040, 1, 1, no, no,
         "\"ts\":123456789.012,\"dur\":10020030.040,"},
        {0, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 1,
         UINT64_MAX - 2,
         "\"ts\":0.000,\"dur\":18446744073709551.615,"
         "\"pid\":18446744073709551615,\"tid\":18446744073709551614,"
         "\"args\":{\"epoch\":18446744073709551614,"
         "\"step\":18446744073709551613}}"},
    };
    struct pr_trace *t = open_trace(0);
    struct pr_trace_lane *l = pr_trace_lane(t);
    char *text, *line;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        pr_trace_span(l, PR_SPAN_COMPUTE, rows[i].pid, rows[i].tid,
                      rows[i].start, rows[i].end, rows[i].epoch, rows[i].step);
    close_trace(t);
    line = text = slurp("t.json", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        line = strchr(line, '\n') + 1;
        assert_non_null(strstr(line, rows[i].want));
        assert_true(strstr(line, rows[i].want) < strchr(line, '\n'));
    }
    free(text);
}

static void what_was_before_the_start_is_at_0(void **state)
{
    struct pr_trace *t = open_trace(5000);
    char *text;

    (void)state;
    pr_trace_span(pr_trace_lane(t), PR_SPAN_EPOCH, 0, 0, 4000, 6000, 1, no);
    close_trace(t);
    text = slurp("t.json", NULL);
    assert_non_null(strstr(text, "\"ts\":0.000,\"dur\":2.000,"));
    free(text);
}

/* As DLIO's tests count: lines without brackets that have both. */
static int count(const char *text, const char *category, const char *name)
{
    char cat[64], called[64];
    int n = 0;

    snprintf(cat, sizeof cat, "\"cat\":\"%s\"", category);
    snprintf(called, sizeof called, "\"name\":\"%s\"", name);
    while (*text) {
        size_t len = strcspn(text, "\n");
        char line[1024];

        assert_true(len < sizeof line);
        memcpy(line, text, len);
        line[len] = '\0';
        n += !strpbrk(line, "[]") && strstr(line, cat) && strstr(line, called);
        text += len + (text[len] == '\n');
    }
    return n;
}

static void every_kind_has_its_names(void **state)
{
    static const struct {
        enum pr_trace_span_kind kind;
        const char *category, *name;
    } rows[] = {
        {PR_SPAN_ROOT, "ai_root", "ai_root"},
        {PR_SPAN_EPOCH, "pipeline", "epoch.block"},
        {PR_SPAN_TRAIN, "pipeline", "train"},
        {PR_SPAN_EVALUATE, "pipeline", "evaluate"},
        {PR_SPAN_FETCH, "dataloader", "fetch.iter"},
        {PR_SPAN_COMPUTE, "compute", "compute"},
        {PR_SPAN_ITEM, "data", "item"},
        {PR_SPAN_PREPROCESS, "data", "preprocess"},
    };
    struct pr_trace *t = open_trace(0);
    struct pr_trace_lane *l = pr_trace_lane(t);
    char *text;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k <= i; k++)
            pr_trace_span(l, rows[i].kind, 0, 0, k, k + 1, 1, k);
    close_trace(t);
    text = slurp("t.json", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(count(text, rows[i].category, rows[i].name), i + 1);
    free(text);
}

/* ---- many threads */

enum { THREADS = 4, SPANS = 6000, PIDS = 50 };

struct worker {
    struct pr_trace *t;
    uint64_t number;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    struct pr_trace_lane *l = pr_trace_lane(w->t);

    for (uint64_t i = 0; i < SPANS; i++)
        pr_trace_span(l, PR_SPAN_ITEM, i % PIDS, w->number, i * 10, i * 10 + 5,
                      1, w->number * SPANS + i);
    return NULL;
}

static const struct pr_value *member(const struct pr_value *v, const char *key)
{
    const struct pr_value *m = pr_get(v, key);

    assert_non_null(m);
    return m;
}

/* Every sample once, every row named once, no line torn. */
static void lanes_of_threads_become_one_array(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 20);
    static uint8_t seen[THREADS * SPANS];
    struct pr_trace *t = open_trace(0);
    struct worker w[THREADS];
    pthread_t id[THREADS];
    struct pr_value all;
    struct pr_err err = {0};
    size_t len, names = 0;
    char *text;

    (void)state;
    memset(seen, 0, sizeof seen);
    for (uint64_t i = 0; i < THREADS; i++) {
        w[i] = (struct worker){t, i};
        assert_int_equal(pthread_create(&id[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    close_trace(t);
    text = slurp("t.json", &len);
    assert_int_equal(count(text, "data", "item"), THREADS * SPANS);
    if (pr_json_read(&(struct pr_json_in){.text = text, .len = len}, a, &all,
                     NULL, &err))
        fail_msg("%s: %s", err.where, err.msg);
    assert_int_equal(all.kind, PR_LIST);
    for (size_t i = 0; i < all.len; i++) {
        const struct pr_value *e = &all.items[i];

        if (strcmp(member(e, "ph")->s, "M") == 0)
            names++;
        else
            seen[member(member(e, "args"), "sample")->i]++;
    }
    for (size_t i = 0; i < sizeof seen; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(names, PIDS + PIDS * THREADS);
    free(text);
}

/* ---- failures */

static void an_empty_trace_is_an_array(void **state)
{
    struct pr_trace *t = open_trace(0);
    char *text;

    (void)state;
    close_trace(t);
    text = slurp("t.json", NULL);
    assert_string_equal(text,
                        "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,"
                        "\"args\":{\"name\":\"accelerator 0\"}}\n]\n");
    free(text);
}

static void nothing_is_fine(void **state)
{
    (void)state;
    pr_trace_span(NULL, PR_SPAN_ITEM, 0, 0, 0, 1, 1, 1);
    assert_int_equal(pr_trace_close(NULL, NULL), PR_OK);
}

static void a_folder_that_is_not_there(void **state)
{
    struct pr_err err = {0};
    struct pr_trace *t = NULL;

    (void)state;
    assert_int_equal(pr_trace_open("no/t.json", 0, &t, &err), PR_E_IO);
    assert_null(t);
    assert_string_equal(err.where, "no/t.json");
}

/* spans: the failure is met while running, or only at the end. There may be
 * room again by then: the file would have a hole. */
static void fill_the_disk(uint64_t spans, bool room_again)
{
    struct pr_err err = {0};
    struct pr_trace *t = open_trace(0);
    struct pr_trace_lane *l = pr_trace_lane(t);

    limit_files(50000);
    for (uint64_t i = 0; i < spans; i++)
        pr_trace_span(l, PR_SPAN_FETCH, 0, 0, i, i + 1, 1, i);
    if (room_again)
        limit_files(RLIM_INFINITY);
    assert_int_equal(pr_trace_close(t, &err), PR_E_IO);
    limit_files(RLIM_INFINITY);
    assert_int_not_equal(err.sys_errno, 0);
    assert_string_equal(err.where, "t.json");
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    char *text;

    (void)state;
    spit("t.json", "old");
    fill_the_disk(500, false);
    fill_the_disk(50000, false);
    fill_the_disk(50000, true);
    assert_int_equal(files_in("."), 1);
    text = slurp("t.json", NULL);
    assert_string_equal(text, "old");
    free(text);
}

static void a_killed_process_leaves_no_file_of_that_name(void **state)
{
    pid_t pid = fork();
    int status;

    (void)state;
    if (pid == 0) {
        struct pr_trace *t = NULL;

        if (pr_trace_open("t.json", 0, &t, NULL))
            _exit(1);
        for (uint64_t i = 0; i < 5000; i++)
            pr_trace_span(pr_trace_lane(t), PR_SPAN_ITEM, 0, 0, 0, 1, 1, i);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_not_equal(access("t.json", F_OK), 0);
}

static int attempt(void)
{
    struct pr_trace *t;
    struct pr_trace_lane *l;
    int rc = pr_trace_open("t.json", 0, &t, NULL);

    if (rc)
        return rc;
    l = pr_trace_lane(t);
    for (uint64_t i = 0; i < 100; i++)
        pr_trace_span(l, PR_SPAN_ITEM, i, 0, i, i + 1, 1, i);
    rc = pr_trace_close(t, NULL);
    return l ? rc : PR_E_NOMEM;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
    assert_int_equal(files_in("."), 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(one_event_a_line),
        TEST(times_and_numbers),
        TEST(what_was_before_the_start_is_at_0),
        TEST(every_kind_has_its_names),
        TEST(lanes_of_threads_become_one_array),
        TEST(an_empty_trace_is_an_array),
        TEST(nothing_is_fine),
        TEST(a_folder_that_is_not_there),
        TEST(a_full_disk_leaves_the_old_file),
        TEST(a_killed_process_leaves_no_file_of_that_name),
        TEST(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
