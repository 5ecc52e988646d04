/* How far a child says it is, from the last lines of its channel; and the
 * header by which a child says it. */
#include "prony/channel.h"
#include "record/channel.h"

#include "scratch.h"

#include <math.h>
#include <sys/wait.h>

static const struct {
    const char *text;
    double done; /* -2: nothing */
    const char *words;
} far[] = {
    {"", -2, ""},
    {"{\"a\": 1}\n", -2, ""},
    {"{\"progress\": [12, 60]}\n", .2, "12 of 60"},
    {"{\"progress\": [12, 60]}", -2, ""}, /* not at its end yet */
    {"{\"progress\": [1, 60]}\n{\"progress\": [6, 60]}\n{\"a\": 1}\n", .1,
     "6 of 60"},
    {"{\"progress\": 0.25}\n", .25, "25 %"},
    {"{\"progress\": 0.25, \"text\": \"epoch 3\"}\n", .25, "epoch 3"},
    {"{\"progress\": [61, 60]}\n", 1, "61 of 60"},
    {"{\"progress\": [5, 0]}\n", -1, "5"},
    {"{\"progress\": 17}\n", -2, ""},
    {"{\"progress\": 17, \"text\": \"busy\"}\n", -1, "busy"},
    {"{\"progress\": [1, 2, 3]}\n", -2, ""},
    {"{\"rate\": 431.234, \"units\": \"items/s\"}\n", -1, "431.2 items/s"},
    {"{\"rate\": 2}\n", -1, "2 /s"},
    {"{\"rate\": NaN}\n", -2, ""},
    {"{\"progress\": [1, 4]}\n{\"rate\": 3, \"units\": \"x\"}\njunk\n", .25,
     "1 of 4, 3 x"},
    {"{\"event\": \"data\", \"data\": {\"task\": \"early_stop\", "
     "\"progress\": [0, 70]}, \"pipe\": \"data\"}\n",
     0, "0 of 70"},
    {"{\"$event\": \"x\", \"$data\": {\"progress\": 0.5}}\n", -2, ""},
};

static void progress_is_what_the_last_lines_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        double done = -3;
        char words[160] = "";
        bool said;

        spit("c", far[i].text);
        said = pr_channel_progress("c", &done, words);
        if (said != (far[i].done > -2) ||
            (said && (fabs(done - far[i].done) > 1e-9 ||
                      strcmp(words, far[i].words) != 0)))
            fail_msg("%s: %d, %g, '%s'", far[i].text, said, done, words);
    }
}

static void progress_of_a_large_file_is_at_its_end(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    char words[160];
    double done;

    (void)state;
    pr_buf_str(&b, "{\"progress\": [1, 10]}\n");
    for (int i = 0; i < 3000; i++)
        pr_buf_str(&b, "{\"a\": 1}\n");
    spit("c", b.data);
    assert_false(pr_channel_progress("c", &done, words));
    pr_buf_str(&b, "{\"progress\": [5, 10], \"text\": \"");
    for (int i = 0; i < 500; i++)
        pr_buf_str(&b, "\xe2\x82\xac");
    pr_buf_str(&b, "\"}\n{\"rate\": 1e300, \"units\": \"");
    for (int i = 0; i < 500; i++)
        pr_buf_str(&b, "\xe2\x82\xac");
    pr_buf_str(&b, "\"}\n");
    spit("c", b.data);
    assert_true(pr_channel_progress("c", &done, words));
    assert_true(done == .5);
    assert_true(strlen(words) < 160);
    assert_non_null(strstr(words, ", 1e+300 \xe2\x82\xac"));
    assert_string_equal(words + strlen(words) - 3, "\xe2\x82\xac");
}

static void progress_of_no_file_is_none(void **state)
{
    char words[160];
    double done;

    (void)state;
    assert_false(pr_channel_progress("none", &done, words));
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_false(pr_channel_progress("pipe", &done, words));
}

static void nobody_listens(void **state)
{
    (void)state;
    unsetenv("PRONY_CHANNEL");
    setenv("PRONY_FD", "1", 1);
    assert_int_equal(prony_channel_open(), -1);
    assert_int_equal(prony_say(-1, "{}"), 0);
}

static void a_child_says_lines(void **state)
{
    char long_text[5000], number[16], *text;
    int fd;

    (void)state;
    spit("c", "");
    fd = open("c", O_WRONLY | O_APPEND);
    snprintf(number, sizeof number, "%d", fd);
    setenv("PRONY_FD", number, 1);
    setenv("PRONY_CHANNEL", "c", 1);
    assert_int_equal(prony_channel_open(), fd);
    assert_int_equal(prony_say(fd, "{\"rate\": %d}", 7), 0);
    memset(long_text, 'x', sizeof long_text);
    long_text[4001] = '\0';
    assert_int_equal(prony_say(fd, "%s", long_text), -1);
    long_text[4000] = '\0';
    assert_int_equal(prony_say(fd, "%s", long_text), 0);
    close(fd);
    assert_int_equal(prony_say(fd, "{}"), -1);
    text = slurp("c", NULL);
    assert_int_equal(strlen(text), 12 + 4001);
    assert_memory_equal(text, "{\"rate\": 7}\nxxx", 15);
    free(text);
}

/* mpirun and others close what a process inherits, and the number may be
 * another file's by then. */
static void a_number_that_is_another_file_is_not_used(void **state)
{
    char number[16], *text;
    int other, fd;

    (void)state;
    spit("c", "");
    spit("precious", "");
    other = open("precious", O_WRONLY | O_APPEND);
    snprintf(number, sizeof number, "%d", other);
    setenv("PRONY_FD", number, 1);
    setenv("PRONY_CHANNEL", "c", 1);
    fd = prony_channel_open();
    assert_true(fd >= 0 && fd != other);
    assert_int_equal(prony_say(fd, "{\"a\": 1}"), 0);
    close(other);
    close(fd);
    text = slurp("c", NULL);
    assert_string_equal(text, "{\"a\": 1}\n");
    free(text);
    text = slurp("precious", NULL);
    assert_string_equal(text, "");
    free(text);
    setenv("PRONY_CHANNEL", "gone/c", 1);
    assert_int_equal(prony_channel_open(), -1);
}

/* Many at once: every line arrives whole. */
static void lines_do_not_mix(void **state)
{
    enum { CHILDREN = 4, LINES = 500 };
    struct pr_channel_sum sum;
    int fd;

    (void)state;
    spit("c", "");
    unsetenv("PRONY_FD");
    setenv("PRONY_CHANNEL", "c", 1);
    fd = prony_channel_open();
    for (int k = 0; k < CHILDREN; k++)
        if (fork() == 0) {
            for (int i = 0; i < LINES; i++)
                if (prony_say(fd, "{\"task\": \"%d\", \"rate\": %d}", k, i))
                    _exit(1);
            _exit(0);
        }
    for (int k = 0; k < CHILDREN; k++) {
        int status;

        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    close(fd);
    assert_int_equal(pr_channel_collect("c", NULL, NULL, &sum, NULL), PR_OK);
    assert_int_equal(sum.lines, CHILDREN * LINES);
    assert_int_equal(sum.bad, 0);
    pr_buf_free(&sum.rates);
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(progress_is_what_the_last_lines_say),
        IN_SCRATCH(progress_of_a_large_file_is_at_its_end),
        IN_SCRATCH(progress_of_no_file_is_none),
        IN_SCRATCH(nobody_listens),
        IN_SCRATCH(a_child_says_lines),
        IN_SCRATCH(a_number_that_is_another_file_is_not_used),
        IN_SCRATCH(lines_do_not_mix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
