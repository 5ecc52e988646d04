/* Events to lines and back. */
#include "record/event.h"

#include "values.h"

#include <math.h>

static const struct pr_event samples[] = {
    {.kind = PR_EVENT_RUN_START, .time_ns = 1794780222123456000u, .total = 7},
    {.kind = PR_EVENT_EXPERIMENT_START,
     .time_ns = 1000,
     .id = "0001-ab",
     .attempt = 1,
     .total = 7},
    {.kind = PR_EVENT_EXPERIMENT_RETRY,
     .time_ns = 1794780222999999000u,
     .id = "0001-ab",
     .attempt = 1,
     .status = PR_STATUS_FAILED,
     .elapsed_s = 1.25,
     .reason = "exit status 3: \"no\"\n\tbad \303\274",
     .done = 1,
     .total = 7,
     .failed = 1},
    {.kind = PR_EVENT_EXPERIMENT_END,
     .time_ns = 4102444800000000000u,
     .id = "0002-cd",
     .attempt = 3,
     .status = PR_STATUS_OOM,
     .elapsed_s = 0.000001,
     .done = UINT32_MAX,
     .total = 1u << 31,
     .failed = 5},
    {.kind = PR_EVENT_INTERRUPT,
     .time_ns = 1794780222000000000u,
     .reason = "SIGINT"},
    {.kind = PR_EVENT_RUN_END,
     .time_ns = 1794780222000000000u,
     .done = 7,
     .total = 7},
    {.kind = PR_EVENT_RUN_START,
     .time_ns = 1794780222123456000u,
     .mark = INT32_MAX,
     .group = "/sys/fs/cgroup/\"a\"",
     .total = 7},
    {.kind = PR_EVENT_LEFTOVERS,
     .time_ns = 1794780222123456000u,
     .reason = "ended",
     .total = 7},
};

static void same_text(const char *a, const char *b)
{
    assert_true((a != NULL) == (b != NULL));
    if (a)
        assert_string_equal(a, b);
}

static void every_event_is_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
        const struct pr_event *e = &samples[i];
        struct pr_event got = {0};

        pr_event_write(e, &out);
        assert_true(pr_buf_ok(&out));
        assert_int_equal(out.data[out.len - 1], '\n');
        assert_null(memchr(out.data, '\n', out.len - 1)); /* one line */
        assert_int_equal(pr_event_read(out.data, out.len, a, &got, NULL), 1);
        assert_int_equal(got.kind, e->kind);
        assert_true(got.time_ns == e->time_ns);
        same_text(got.id, e->id);
        same_text(got.reason, e->reason);
        assert_int_equal(got.status, e->status);
        assert_true(got.elapsed_s == e->elapsed_s);
        assert_int_equal(got.attempt, e->attempt);
        assert_true(got.done == e->done && got.total == e->total &&
                    got.failed == e->failed);
        assert_int_equal(got.mark, e->mark);
        same_text(got.group, e->group);
    }
}

static void a_line_looks_like_this(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);

    (void)state;
    pr_event_write(&samples[2], &out);
    assert_string_equal(
        out.data,
        "{\"time\": \"2026-11-15T22:03:42.999999Z\", \"event\": "
        "\"experiment_retry\", \"id\": \"0001-ab\", \"attempt\": 1, "
        "\"status\": \"failed\", \"elapsed_s\": 1.25, \"reason\": "
        "\"exit status 3: \\\"no\\\"\\n\\tbad \303\274\", \"done\": 1, "
        "\"total\": 7, \"failed\": 1}\n");
}

static void other_lines(void **state)
{
    static const struct {
        const char *line;
        int want; /* 1 an event, 0 unknown kind, or an error */
    } rows[] = {
        {"{\"event\": \"run_start\"}", 1},
        {"  {\"event\": \"run_end\", \"new\": [1]}  \n", 1},
        {"{\"event\": \"from_the_future\"}", 0},
        {"{\"event\": \"\"}", 0},
        {"", PR_E_FORMAT},
        {"\n", PR_E_FORMAT},
        {"{}", PR_E_FORMAT},
        {"[]", PR_E_FORMAT},
        {"5", PR_E_FORMAT},
        {"{\"event\": 5}", PR_E_FORMAT},
        {"{\"event\": \"run_start\"", PR_E_FORMAT},
        {"{\"time\": \"2026-11-15T22:03:42.9", PR_E_FORMAT},
        {"{\"ti\n", PR_E_FORMAT},
        {"{\"event\": \"run_start\"} {", PR_E_FORMAT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_event e = {.attempt = 99};
        struct pr_err err = {0};
        int rc = pr_event_read(rows[i].line, strlen(rows[i].line), a, &e, &err);

        if (rc != rows[i].want)
            fail_msg("<%s> gives %d", rows[i].line, rc);
        if (rc != 1)
            assert_int_equal(e.attempt, 99); /* untouched */
    }
}

/* Fields that another program got wrong are taken as missing. */
static void odd_fields_do_no_harm(void **state)
{
    static const char *const lines[] = {
        "{\"event\": \"experiment_end\", \"status\": \"strange\"}",
        "{\"event\": \"experiment_end\", \"status\": 5, \"id\": 5}",
        "{\"event\": \"experiment_end\", \"elapsed_s\": Infinity}",
        "{\"event\": \"experiment_end\", \"elapsed_s\": NaN}",
        "{\"event\": \"experiment_end\", \"elapsed_s\": \"1\"}",
        "{\"event\": \"run_end\", \"done\": -1, \"total\": 1.5}",
        "{\"event\": \"run_end\", \"attempt\": 99999999999}",
        "{\"event\": \"run_end\", \"time\": \"yesterday\"}",
        "{\"event\": \"run_end\", \"time\": \"0000-00-00T00:00:00Z\"}",
        "{\"event\": \"run_end\", \"time\": \"9999-99-99T99:99:99.999999Z\"}",
        "{\"event\": \"run_end\", \"time\": 5}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
        struct pr_event e, again;

        assert_int_equal(pr_event_read(lines[i], strlen(lines[i]), a, &e, NULL),
                         1);
        assert_true(isfinite(e.elapsed_s));
        /* And can be written again. */
        pr_event_write(&e, &out);
        assert_int_equal(pr_event_read(out.data, out.len, a, &again, NULL), 1);
        assert_int_equal(again.kind, e.kind);
    }
}

static void times_are_read_to_the_microsecond(void **state)
{
    static const struct {
        const char *text;
        uint64_t want;
    } rows[] = {
        {"1970-01-01T00:00:00.000001Z", 1000},
        {"2026-11-15T22:03:42.123456Z", 1794780222123456000u},
        {"2000-02-29T23:59:59.999999Z", 951868799999999000u},
        {"2100-03-01T00:00:00Z", 4107542400000000000u},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *line = pr_arena_printf(
            a, "{\"event\": \"run_end\", \"time\": \"%s\"}", rows[i].text);
        struct pr_event e;

        assert_int_equal(pr_event_read(line, strlen(line), a, &e, NULL), 1);
        assert_true(e.time_ns == rows[i].want);
    }
}

static int event_once(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct pr_event e;
    int rc;

    pr_event_write(&samples[2], &out);
    if (!a || !pr_buf_ok(&out))
        return PR_E_NOMEM;
    rc = pr_event_read(out.data, out.len, a, &e, NULL);
    return rc == 1 ? PR_OK : rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    torture(event_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_is_read_back),
        cmocka_unit_test(a_line_looks_like_this),
        cmocka_unit_test(other_lines),
        cmocka_unit_test(odd_fields_do_no_harm),
        cmocka_unit_test(times_are_read_to_the_microsecond),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
