/* The log file of a launcher: its head, its way into log.txt, its verdict. */
#include "run/attempt.h"
#include "run/contract.h"
#include "scratch.h"
#include "torture.h"
#include "values.h"

#include <sys/stat.h>

#define DIR_OF "run/experiments/id"
#define LOG_TXT DIR_OF "/log.txt"

struct rig {
    struct pr_arena *arena;
    struct pr_value params;
    struct pr_job job;
    struct pr_start start;
};

static const char *argv[] = {"/a b/run.sh", "--x", "it's", NULL};

static int enter_run(void **state)
{
    return enter(state) || mkdir("run", 0755) ||
           mkdir("run/experiments", 0755) || mkdir(DIR_OF, 0755);
}

static void rig_init(struct rig *r, const char *params, const char *log_file)
{
    *r = (struct rig){.arena = pr_arena_new(4096)};
    assert_non_null(r->arena);
    r->params = json(r->arena, params);
    r->start.argv = argv;
    r->start.log_file = log_file;
    assert_int_equal(
        pr_job_init(&r->job, "id", DIR_OF, &r->params, r->arena, NULL), PR_OK);
}

static void holds(const char *path, const char *want)
{
    char *text = slurp(path, NULL);

    assert_string_equal(text, want);
    free(text);
}

static void holds_part(const char *path, const char *want, bool there)
{
    char *text = slurp(path, NULL);

    if ((strstr(text, want) != NULL) != there)
        fail_msg("%s: %s", path, text);
    free(text);
}

/* ---- the head */

static void the_head_is_that_of_dlbs(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct rig r;

    (void)state;
    rig_init(&r,
             "{\"exp.model\": \"re\\\"s\", \"exp.docker\": false, "
             "\"dataset.format\": \"tfrecord\", \"a.b\": [1, null], "
             "\"runtime.env.X\": 3}",
             "/l/a.log");
    pr_contract_write_header(&r.job, &r.start, &out);
    assert_true(pr_buf_ok(&out));
    assert_string_equal(
        out.data,
        "Running subprocess (['/a b/run.sh', '--x', \"it's\"]) with log file "
        "'/l/a.log'\n"
        "\n"
        "--------------------------\n"
        "Variables from python script.\n"
        "--------------------------\n"
        "__exp.model__=\"re\\\"s\"\n"
        "__exp.docker__=false\n"
        "__a.b__=[1, null]\n"
        "__runtime.env.X__=3\n"
        "\n"
        "----------------------------\n"
        "Starting framework launcher.\n"
        "----------------------------\n");
    pr_arena_free(r.arena);
}

static void a_rerun_keeps_no_old_results(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r, "{}", "logs/deep/a.log");
    assert_int_equal(pr_contract_begin(&r.job, &r.start, LOG_TXT, NULL), PR_OK);
    spit("logs/deep/a.log", "__results.time__= 5\n");
    assert_int_equal(pr_contract_begin(&r.job, &r.start, LOG_TXT, NULL), PR_OK);
    holds_part("logs/deep/a.log", "results.time", false);
    holds_part("logs/deep/a.log", "Starting framework launcher.", true);
    assert_true(pr_contract_is_apart(&r.start, LOG_TXT));
    pr_arena_free(r.arena);
}

static void log_txt_may_be_the_file(void **state)
{
    static const char *const names[] = {LOG_TXT, "./" LOG_TXT};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig r;

        rig_init(&r, "{}", names[i]);
        assert_int_equal(pr_contract_begin(&r.job, &r.start, LOG_TXT, NULL),
                         PR_OK);
        holds_part(LOG_TXT, "Running subprocess", true);
        assert_false(pr_contract_is_apart(&r.start, LOG_TXT));
        assert_int_equal(
            pr_contract_gather(&r.job, &r.start, LOG_TXT, NULL, NULL), PR_OK);
        pr_arena_free(r.arena);
    }
}

static void files_of_the_run_are_not_overwritten(void **state)
{
    static const char *const names[] = {"run/plan.json", DIR_OF "/params.json",
                                        "run/logs/x.log"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pr_err err = {0};
        struct rig r;

        spit("run/plan.json", "plan");
        rig_init(&r, "{}", names[i]);
        assert_int_equal(pr_contract_begin(&r.job, &r.start, LOG_TXT, &err),
                         PR_E_CONF);
        assert_non_null(strstr(err.msg, "run directory"));
        holds("run/plan.json", "plan");
        pr_arena_free(r.arena);
    }
}

static void a_device_is_left_alone(void **state)
{
    struct pr_buf more = PR_BUF_INIT(100);
    struct rig r;

    (void)state;
    rig_init(&r, "{}", "/dev/null");
    assert_int_equal(pr_contract_begin(&r.job, &r.start, LOG_TXT, NULL), PR_OK);
    holds_part(LOG_TXT, "Running subprocess", true);
    assert_int_equal(truncate(LOG_TXT, 0), 0);
    pr_buf_str(&more, "more\n");
    assert_int_equal(pr_contract_gather(&r.job, &r.start, LOG_TXT, &more, NULL),
                     PR_OK);
    holds(LOG_TXT, "more\n");
    pr_buf_free(&more);
    pr_arena_free(r.arena);
}

static void a_place_that_cannot_be_is_an_error(void **state)
{
    static const char *const names[] = {"file/a.log", "run", "/proc/x/a.log"};

    (void)state;
    spit("file", "x");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rig r;

        rig_init(&r, "{}", names[i]);
        if (pr_contract_begin(&r.job, &r.start, LOG_TXT, NULL) != PR_E_IO)
            fail_msg("%s", names[i]);
        pr_arena_free(r.arena);
    }
}

/* ---- gathering */

static void what_it_wrote_comes_after_what_it_printed(void **state)
{
    static const struct {
        const char *printed, *wrote, *more, *want, *want_file;
    } rows[] = {
        {"out\n", "a\nb\n", "", "out\na\nb\n", "a\nb\n"},
        {"out", "a", "c\n", "out\na\nc\n", "a\nc\n"},
        {"", "a\n", "c\n", "a\nc\n", "a\nc\n"},
        {"out", "", "", "out\n", ""},
    };
    struct rig r;

    (void)state;
    rig_init(&r, "{}", "own.log");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf more = PR_BUF_INIT(100);

        spit(LOG_TXT, rows[i].printed);
        spit("own.log", rows[i].wrote);
        pr_buf_str(&more, rows[i].more);
        assert_int_equal(
            pr_contract_gather(&r.job, &r.start, LOG_TXT, &more, NULL), PR_OK);
        holds(LOG_TXT, rows[i].want);
        holds("own.log", rows[i].want_file);
    }
    pr_arena_free(r.arena);
}

static void append(const char *path, const char *text)
{
    FILE *f = fopen(path, "a");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* A script that dies before it writes to its file leaves its last words at the
 * end of log.txt, not the head of that file. */
static void the_head_comes_once_and_first(void **state)
{
    static const struct {
        bool emptied; /* by the launcher */
        const char *wrote, *want_end;
    } rows[] = {
        {false, "", "\nno python\n"},
        {false, "mine\n", "\nno python\nmine\n"},
        {true, "mine\n", "\nno python\nmine\n"},
        {true, "", "\nno python\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *end, *head;
        struct rig r;
        char *text;

        rig_init(&r, "{\"x.y\": 1}", "logs/own.log");
        assert_int_equal(pr_contract_begin(&r.job, &r.start, LOG_TXT, NULL),
                         PR_OK);
        append(LOG_TXT, "no python\n");
        if (rows[i].emptied)
            assert_int_equal(truncate("logs/own.log", 0), 0);
        append("logs/own.log", rows[i].wrote);
        assert_int_equal(
            pr_contract_gather(&r.job, &r.start, LOG_TXT, NULL, NULL), PR_OK);
        text = slurp(LOG_TXT, NULL);
        head = strstr(text, "__x.y__=1\n");
        end = text + strlen(text) - strlen(rows[i].want_end);
        assert_non_null(head);
        assert_null(strstr(head + 1, "__x.y__=1\n"));
        assert_string_equal(end, rows[i].want_end);
        free(text);
        pr_arena_free(r.arena);
    }
}

static void any_start_may_be_gathered(void **state)
{
    struct pr_start none = {0};
    struct rig gone;
    PR_AUTO_BUF struct pr_buf more = PR_BUF_INIT(100);

    (void)state;
    rig_init(&gone, "{}", "gone.log");
    pr_buf_str(&more, "m\n");
    spit(LOG_TXT, "out\n");
    assert_int_equal(pr_contract_begin(&gone.job, &none, LOG_TXT, NULL), PR_OK);
    assert_int_equal(pr_contract_gather(&gone.job, &none, LOG_TXT, NULL, NULL),
                     PR_OK);
    assert_int_equal(pr_contract_gather(&gone.job, &none, LOG_TXT, &more, NULL),
                     PR_OK);
    assert_int_equal(
        pr_contract_gather(&gone.job, &gone.start, LOG_TXT, &more, NULL),
        PR_OK);
    holds(LOG_TXT, "out\nm\nm\n");
    assert_int_equal(access("gone.log", F_OK), -1);
    pr_arena_free(gone.arena);
}

static void a_large_log_comes_whole(void **state)
{
    FILE *f = fopen("own.log", "w");
    size_t len = 0, i = 0;
    struct rig r;
    char *text;

    (void)state;
    rig_init(&r, "{}", "own.log");
    assert_non_null(f);
    for (int k = 0; k < 40000; k++)
        assert_true(fprintf(f, "line %05d\n", k) > 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(pr_contract_gather(&r.job, &r.start, LOG_TXT, NULL, NULL),
                     PR_OK);
    text = slurp(LOG_TXT, &len);
    assert_int_equal(len, 40000 * 11);
    for (; i < 40000; i++)
        assert_int_equal(atoi(text + i * 11 + 5), i);
    free(text);
    pr_arena_free(r.arena);
}

/* ---- the verdict */

#define TIME "__results.time__= 1.5\n"
#define SKIPPED "__exp.status__= \"skipped\"\n"
#define MSG "__exp.status_msg__= \"too large\"\n"

static void the_log_has_a_say(void **state)
{
    static const struct {
        const char *log;
        int status; /* of the exit */
        enum pr_status want;
        const char *reason;
    } rows[] = {
        {TIME, 0, PR_STATUS_OK, ""},
        {"", 0, PR_STATUS_FAILED, "no results.time in the log"},
        {"__results.time__= 0\n", 0, PR_STATUS_FAILED, "no results.time"},
        {"__results.time__= \n", 0, PR_STATUS_FAILED, "no results.time"},
        {"__results.time__= \"1\"\n", 0, PR_STATUS_FAILED, "no results.time"},
        {TIME "__results.time__= -1\n", 0, PR_STATUS_FAILED, "no results.time"},
        {TIME "__x__= broken\n", 0, PR_STATUS_OK, ""},
        {TIME, 3, PR_STATUS_FAILED, "exit status 3"},
        {TIME MSG, 3, PR_STATUS_FAILED, "too large"},
        {SKIPPED MSG, 1, PR_STATUS_SKIPPED, "too large"},
        {SKIPPED, 0, PR_STATUS_SKIPPED, "says skipped"},
        {SKIPPED "__exp.status_message__= \"big\"\n", 1, PR_STATUS_SKIPPED,
         "big"},
        {SKIPPED "__exp.status__= \"success\"\n" TIME, 0, PR_STATUS_OK, ""},
        {TIME "__exp.status__= \"failure\"\n", 0, PR_STATUS_FAILED,
         "says failure"},
        {TIME "__results.status__= \"failure\"\n" MSG, 0, PR_STATUS_FAILED,
         "too large"},
        /* The head repeats what the user set. */
        {"__exp.status__=\"mine\"\n__exp.status_msg__=\"a note\"\n", 3,
         PR_STATUS_FAILED, "exit status 3"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_attempt a = {.status = rows[i].status ? PR_STATUS_FAILED
                                                        : PR_STATUS_OK};
        struct rig r;

        a.end.kind = PR_CHILD_ENDED;
        a.end.wait_status = rows[i].status << 8;
        if (rows[i].status)
            snprintf(a.reason, sizeof a.reason, "exit status %d",
                     rows[i].status);
        rig_init(&r,
                 "{\"exp.status\": \"mine\", \"exp.status_msg\": \"a note\"}",
                 LOG_TXT);
        spit(LOG_TXT, rows[i].log);
        pr_contract_judge(&r.job, LOG_TXT, NULL, &a);
        if (a.status != rows[i].want || !strstr(a.reason, rows[i].reason) ||
            (!*rows[i].reason && *a.reason))
            fail_msg("%s: %s '%s'", rows[i].log, pr_status_word(a.status),
                     a.reason);
        pr_arena_free(r.arena);
    }
}

static void the_status_that_was_set_is_no_verdict(void **state)
{
    struct pr_attempt a = {.status = PR_STATUS_OK};
    struct rig r;

    (void)state;
    a.end.kind = PR_CHILD_ENDED;
    rig_init(&r, "{\"exp.status\": \"failure\"}", LOG_TXT);
    spit(LOG_TXT, "__exp.status__=\"failure\"\n" TIME);
    pr_contract_judge(&r.job, LOG_TXT, NULL, &a);
    assert_int_equal(a.status, PR_STATUS_OK);
    pr_arena_free(r.arena);
}

static void what_ended_it_counts_more(void **state)
{
    static const struct pr_attempt rows[] = {
        {.status = PR_STATUS_TIMEOUT, .reason = "r"},
        {.status = PR_STATUS_OOM, .reason = "r"},
        {.status = PR_STATUS_INTERRUPTED, .reason = "r"},
        {.status = PR_STATUS_FAILED,
         .reason = "r",
         .end = {.wait_status = SIGSEGV}},
        {.status = PR_STATUS_FAILED,
         .reason = "r",
         .end = {.kind = PR_CHILD_FAILED}},
    };

    (void)state;
    spit(LOG_TXT, SKIPPED MSG);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_attempt a = rows[i];
        struct rig r;

        if (i < 4)
            a.end.kind = PR_CHILD_ENDED;
        rig_init(&r, "{}", LOG_TXT);
        pr_contract_judge(&r.job, LOG_TXT, NULL, &a);
        assert_int_equal(a.status, rows[i].status);
        assert_string_equal(a.reason, "r");
        pr_arena_free(r.arena);
    }
}

/* Open MPI 5 breaks the line in which it tells of a killed replica. */
static void words_of_mpirun_are_a_sentence(void **state)
{
    static const char *const rows[] = {
        "---\nmpirun noticed that process rank 0 exited on signal 9.\n---\n",
        "---\nprterun noticed that process rank 0 exited on\nsignal 9.\n---\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_attempt a = {
            .status = PR_STATUS_FAILED,
            .end = {.kind = PR_CHILD_ENDED, .wait_status = 137 << 8}};

        spit(LOG_TXT, rows[i]);
        pr_attempt_read_reason(LOG_TXT, 20, &a);
        assert_string_equal(a.reason, "process rank 0 exited on signal 9.");
    }
}

#define IN_RUN(f) cmocka_unit_test_setup_teardown(f, enter_run, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_RUN(words_of_mpirun_are_a_sentence),
        IN_RUN(the_head_is_that_of_dlbs),
        IN_RUN(a_rerun_keeps_no_old_results),
        IN_RUN(log_txt_may_be_the_file),
        IN_RUN(files_of_the_run_are_not_overwritten),
        IN_RUN(a_device_is_left_alone),
        IN_RUN(a_place_that_cannot_be_is_an_error),
        IN_RUN(what_it_wrote_comes_after_what_it_printed),
        IN_RUN(the_head_comes_once_and_first),
        IN_RUN(any_start_may_be_gathered),
        IN_RUN(a_large_log_comes_whole),
        IN_RUN(the_log_has_a_say),
        IN_RUN(the_status_that_was_set_is_no_verdict),
        IN_RUN(what_ended_it_counts_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
