/*
 * The live progress with a clock that stands still until told: into pipes, and
 * on a terminal of our own, in its foreground and in its background.
 */
#include "present/live.h"

#include "base/json/json.h"
#include "present/screen.h"

#include "torture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

struct rig {
    int in, out; /* what was written is read from in */
    uint64_t now_ns;
    unsigned columns, asked;
    struct pr_live_line *live;
    char text[65536]; /* of the last read */
};

static uint64_t rig_clock(void *ctx)
{
    return ((struct rig *)ctx)->now_ns;
}

static unsigned rig_width(void *ctx)
{
    struct rig *r = ctx;

    r->asked++;
    return r->columns;
}

static void start(struct rig *r, enum pr_live_mode mode,
                  enum pr_live_chars chars, const char *unit)
{
    struct pr_live_opts opts = {.fd = r->out,
                                .mode = mode,
                                .chars = chars,
                                .unit = unit,
                                .clock_ns = rig_clock,
                                .width = rig_width,
                                .ctx = r};

    r->columns = 80;
    r->now_ns = 5000 * MS;
    r->live = pr_live_new(&opts);
    assert_non_null(r->live);
}

static void open_pipe(struct rig *r)
{
    int fd[2];

    assert_int_equal(pipe(fd), 0);
    assert_int_equal(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
    *r = (struct rig){.in = fd[0], .out = fd[1]};
}

static void start_pipe(struct rig *r, enum pr_live_mode mode,
                       enum pr_live_chars chars)
{
    open_pipe(r);
    start(r, mode, chars, NULL);
}

/* Everything written since the last call. */
static const char *written(struct rig *r)
{
    ssize_t n = read(r->in, r->text, sizeof r->text - 1);

    r->text[n > 0 ? n : 0] = '\0';
    return r->text;
}

static void stop(struct rig *r)
{
    pr_live_free(r->live);
    close(r->in);
    close(r->out);
}

static void at(struct rig *r, uint64_t ms, uint64_t done, uint64_t total)
{
    r->now_ns = (5000 + ms) * MS;
    pr_live_update(r->live, done, total, 0, NULL, NULL);
}

static void paints_after_a_second_and_four_times_in_one(void **state)
{
    struct rig r;
    unsigned paints = 0;

    (void)state;
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_ASCII);
    assert_int_equal(pr_live_wait_ms(r.live), 1000);
    at(&r, 0, 0, 100);
    at(&r, 999, 1, 100);
    assert_string_equal(written(&r), "");
    assert_int_equal(pr_live_wait_ms(r.live), 1);
    at(&r, 1000, 25, 100);
    assert_string_equal(written(&r), "\r ###...........  25%  25/100\x1b[K");
    assert_int_equal(pr_live_wait_ms(r.live), 250);
    for (uint64_t ms = 1001; ms <= 3000; ms++) {
        r.now_ns = (5000 + ms) * MS;
        pr_live_tick(r.live);
        paints += written(&r)[0] != '\0';
    }
    assert_int_equal(paints, 8);
    pr_live_close(r.live);
    assert_string_equal(written(&r), "\r\x1b[K");
    pr_live_tick(r.live);
    at(&r, 9000, 100, 100);
    assert_string_equal(written(&r), "");
    assert_int_equal(pr_live_wait_ms(r.live), -1);
    stop(&r);
}

static void a_short_command_shows_nothing(void **state)
{
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_ASCII);
    at(&r, 900, 100, 100);
    pr_live_close(r.live);
    assert_string_equal(written(&r), "");
    stop(&r);
}

static void nothing_to_tell_before_the_first_update(void **state)
{
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_ASCII);
    r.now_ns += 5000 * MS;
    pr_live_tick(r.live);
    assert_string_equal(written(&r), "");
    stop(&r);
}

static void the_bar_has_eighths(void **state)
{
    static const struct {
        uint64_t done, total;
        const char *want;
    } rows[] = {
        {0, 112, "\r                  0%  0/112\x1b[K"},
        {1, 112, "\r ▏                0%  1/112\x1b[K"},
        {12, 112, "\r █▌              10%  12/112\x1b[K"},
        {111, 112, "\r █████████████▉  99%  111/112\x1b[K"},
        {112, 112, "\r ██████████████ 100%  112/112\x1b[K"},
        {200, 112, "\r ██████████████ 100%  200/112\x1b[K"},
        {UINT64_MAX / 2, UINT64_MAX,
         "\r ██████▉         49%  9223372036854775807/18446744073709551615"
         "\x1b[K"},
        {7, 0, "\r 7 done\x1b[K"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig r;
        start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_UTF8);
        at(&r, 1000, rows[i].done, rows[i].total);
        assert_string_equal(written(&r), rows[i].want);
        stop(&r);
    }
}

static void the_line_fits_whatever_the_width(void **state)
{
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_UTF8);
    for (unsigned width = 1; width < 120; width++) {
        const char *text;
        size_t len;

        r.columns = width;
        r.now_ns += 1000 * MS;
        pr_live_update(r.live, 58, 100, 2, "日本語 resnet50 \x1b[31m epoch 2/5",
                       "812 img/s");
        text = written(&r);
        len = strlen(text);
        assert_true(len > 4 && text[0] == '\r');
        assert_string_equal(text + len - 3, "\x1b[K");
        assert_null(strstr(text, "\x1b[3"));
        assert_true(pr_screen_columns(text + 1, len - 4) <=
                    (width > 1 ? width - 1 : 1));
    }
    assert_string_equal(r.text, "\r 日本語 resnet50 \\x1b[31m epoch 2/5  "
                                "████████        58%  58/100  2 failed  "
                                "812 img/s\x1b[K");
    r.columns = 45;
    r.now_ns += 1000 * MS;
    pr_live_tick(r.live);
    assert_string_equal(written(&r), "\r 日本語 …   58%  58/100  2 failed  "
                                     "812 img/s\x1b[K");
    stop(&r);
}

static void ascii_terminals_get_ascii(void **state)
{
    struct rig r;
    const char *p;

    (void)state;
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_ASCII);
    r.now_ns += 1000 * MS;
    r.columns = 30;
    pr_live_update(r.live, 1, 2, 0, "日本語 with a long label", "µ");
    for (p = written(&r); *p; p++)
        assert_true((unsigned char)*p < 0x80);
    assert_string_equal(r.text, "\r ??? with a ...   50%  1/2  ?\x1b[K");
    stop(&r);
}

static void the_locale_decides(void **state)
{
    static const struct {
        const char *all, *ctype, *lang;
        bool utf8;
    } rows[] = {
        {NULL, NULL, NULL, false},     {NULL, NULL, "C", false},
        {NULL, NULL, "C.UTF-8", true}, {"C", NULL, "en_US.UTF-8", false},
        {"", "de_DE.utf8", "C", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const v[][2] = {{"LC_ALL", rows[i].all},
                                    {"LC_CTYPE", rows[i].ctype},
                                    {"LANG", rows[i].lang}};
        struct rig r;
        for (int k = 0; k < 3; k++)
            assert_int_equal(
                v[k][1] ? setenv(v[k][0], v[k][1], 1) : unsetenv(v[k][0]), 0);
        start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_AUTO);
        at(&r, 1000, 1, 1);
        assert_int_equal(strstr(written(&r), "█") != NULL, rows[i].utf8);
        stop(&r);
    }
}

static void the_eta_waits_until_it_means_something(void **state)
{
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_ASCII);
    at(&r, 0, 0, 100);
    at(&r, 10000, 1, 100);
    assert_null(strstr(written(&r), "eta"));
    at(&r, 20000, 2, 100); /* 10 s each, 98 to go */
    assert_non_null(strstr(written(&r), "  2/100  eta 16 min 20 s\x1b"));
    at(&r, 24000, 2, 100);
    assert_non_null(strstr(written(&r), "eta 16 min 16 s\x1b"));
    /* The third takes very long: the others will still take their 10 s. */
    at(&r, 90000, 2, 100);
    assert_non_null(strstr(written(&r), "eta 16 min 10 s\x1b"));
    at(&r, 91000, 99, 100);
    written(&r);
    at(&r, 120000, 100, 100);
    assert_null(strstr(written(&r), "eta"));
    stop(&r);
}

/* A rate that changes is followed, not jumped after. */
static void the_eta_is_smooth(void **state)
{
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_ASCII);
    at(&r, 0, 0, 100);
    for (uint64_t i = 1; i <= 10; i++)
        at(&r, i * 2000, i, 100); /* 2 s each */
    written(&r);
    at(&r, 20000 + 12000, 11, 100); /* 0.7 * 2 + 0.3 * 12 = 5 s each */
    assert_non_null(strstr(written(&r), "11/100  eta 7 min 25 s\x1b"));
    stop(&r);
}

static void fast_items_are_measured_over_a_second(void **state)
{
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_ASCII);
    /* A thousand a second, coming in bursts. */
    for (uint64_t ms = 0; ms <= 5000; ms += 10)
        at(&r, ms, ms / 500 * 500, 20000);
    assert_non_null(strstr(written(&r), "5000/20000  eta 15 s\x1b"));
    stop(&r);
}

static void what_was_done_before_does_not_count(void **state)
{
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_ASCII);
    at(&r, 0, 90, 100);
    at(&r, 10000, 91, 100);
    at(&r, 20000, 92, 100);
    written(&r);
    at(&r, 20250, 92, 100);
    assert_non_null(strstr(written(&r), "eta 1 min 20 s\x1b"));
    stop(&r);
}

static void messages_stand_above_the_line(void **state)
{
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_ASCII);
    at(&r, 0, 0, 2);
    pr_live_message(r.live, "early");
    assert_string_equal(written(&r), "early\n");
    at(&r, 1000, 1, 2);
    written(&r);
    pr_live_message(r.live, "warning: x\n");
    assert_string_equal(written(&r), "\r\x1b[Kwarning: x\n"
                                     "\r #######.......  50%  1/2\x1b[K");
    pr_live_hide(r.live);
    assert_string_equal(written(&r), "\r\x1b[K");
    pr_live_message(r.live, "hidden");
    assert_string_equal(written(&r), "hidden\n");
    at(&r, 1250, 1, 2);
    assert_string_equal(written(&r), "\r #######.......  50%  1/2\x1b[K");
    pr_live_close(r.live);
    assert_string_equal(written(&r), "\r\x1b[K");
    pr_live_message(r.live, "late");
    assert_string_equal(written(&r), "late\n");
    stop(&r);
}

static void off_a_terminal_a_line_every_half_minute(void **state)
{
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_AUTO, PR_LIVE_CHARS_UTF8);
    at(&r, 0, 0, 100);
    for (uint64_t s = 1; s < 30; s++)
        at(&r, s * 1000, s / 3, 100);
    assert_string_equal(written(&r), "");
    r.now_ns = 35000 * MS;
    pr_live_update(r.live, 12, 100, 1, NULL, NULL);
    assert_non_null(strstr(written(&r), "12 of 100 done, 1 failed, eta "));
    assert_int_equal(strchr(r.text, '\n') - r.text + 1, strlen(r.text));
    at(&r, 59999, 13, 100);
    assert_string_equal(written(&r), "");
    r.now_ns = (5000 + 60000) * MS;
    pr_live_update(r.live, 14, 0, 0, "vae\n", "9 img/s");
    assert_string_equal(written(&r), "14 done, now vae\\n, 9 img/s\n");
    pr_live_message(r.live, "hello");
    assert_string_equal(written(&r), "hello\n");
    pr_live_close(r.live);
    assert_string_equal(written(&r), "");
    assert_int_equal(r.asked, 0);
    stop(&r);
}

static void plain_lines_know_their_unit(void **state)
{
    struct rig r;

    (void)state;
    open_pipe(&r);
    start(&r, PR_LIVE_PLAIN, PR_LIVE_CHARS_UTF8, "experiments");
    at(&r, 30000, 12, 100);
    assert_string_equal(written(&r), "12 of 100 experiments done\n");
    stop(&r);
}

static void json_is_one_object_a_line(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_json_in in = {.name = "live", .flags = PR_JSON_UNIQUE_KEYS};
    struct pr_value v;
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_JSON, PR_LIVE_CHARS_UTF8);
    at(&r, 0, 0, 10);
    at(&r, 999, 1, 10);
    assert_string_equal(written(&r), "");
    at(&r, 3000, 2, 10);
    assert_string_equal(written(&r),
                        "{\"event\": \"progress\", \"done\": 2, \"total\": 10, "
                        "\"failed\": 0, \"elapsed_s\": 3.0, \"eta_s\": "
                        "12.0}\n");
    at(&r, 3999, 2, 10);
    assert_string_equal(written(&r), "");
    pr_live_message(r.live, "a \"b\"\n");
    assert_string_equal(written(&r), "{\"event\": \"message\", \"text\": \"a "
                                     "\\\"b\\\"\\n\"}\n");
    pr_live_update(r.live, 10, 0, 1, "x\x1b", NULL);
    pr_live_close(r.live);
    in.text = written(&r);
    in.len = strlen(in.text);
    assert_int_equal(pr_json_read(&in, a, &v, NULL, NULL), PR_OK);
    assert_string_equal(pr_get(&v, "event")->s, "done");
    assert_int_equal(pr_get(&v, "done")->i, 10);
    assert_null(pr_get(&v, "total"));
    assert_null(pr_get(&v, "eta_s"));
    stop(&r);
}

static void never_means_never_but_messages_pass(void **state)
{
    struct rig r;

    (void)state;
    start_pipe(&r, PR_LIVE_NEVER, PR_LIVE_CHARS_UTF8);
    at(&r, 0, 0, 10);
    at(&r, 60000, 5, 10);
    assert_string_equal(written(&r), "");
    pr_live_message(r.live, "x");
    assert_string_equal(written(&r), "x\n");
    assert_int_equal(pr_live_wait_ms(r.live), -1);
    stop(&r);
}

static void a_reader_that_is_gone_is_left_alone(void **state)
{
    struct rig r;

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    start_pipe(&r, PR_LIVE_ALWAYS, PR_LIVE_CHARS_UTF8);
    close(r.in);
    at(&r, 1000, 5, 10);
    assert_int_equal(pr_live_wait_ms(r.live), -1);
    at(&r, 2000, 6, 10);
    r.in = dup(r.out);
    stop(&r);
}

static void open_terminal(struct rig *r)
{
    struct termios t;
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);

    assert_true(fd >= 0);
    assert_int_equal(grantpt(fd) || unlockpt(fd), 0);
    *r = (struct rig){.in = fd, .out = open(ptsname(fd), O_RDWR | O_NOCTTY)};
    assert_true(r->out >= 0);
    assert_int_equal(tcgetattr(r->out, &t), 0);
    cfmakeraw(&t);
    assert_int_equal(tcsetattr(r->out, TCSANOW, &t), 0);
    assert_int_equal(setenv("TERM", "xterm", 1), 0);
}

static void auto_paints_on_a_terminal(void **state)
{
    struct winsize size = {.ws_col = 20, .ws_row = 5};
    struct rig r;

    (void)state;
    open_terminal(&r);
    assert_int_equal(ioctl(r.out, TIOCSWINSZ, &size), 0);
    {
        struct pr_live_opts opts = {.fd = r.out,
                                    .chars = PR_LIVE_CHARS_ASCII,
                                    .clock_ns = rig_clock,
                                    .ctx = &r};
        r.now_ns = 5000 * MS;
        r.live = pr_live_new(&opts);
    }
    at(&r, 1000, 5, 10);
    assert_string_equal(written(&r), "\r  50%  5/10\x1b[K");
    size.ws_col = 10;
    assert_int_equal(ioctl(r.out, TIOCSWINSZ, &size), 0);
    at(&r, 2000, 5, 10);
    assert_string_equal(written(&r), "\r  50% ...\x1b[K");
    stop(&r);
}

static void a_dumb_terminal_gets_plain_lines(void **state)
{
    struct rig r;

    (void)state;
    open_terminal(&r);
    assert_int_equal(setenv("TERM", "dumb", 1), 0);
    start(&r, PR_LIVE_AUTO, PR_LIVE_CHARS_UTF8, NULL);
    at(&r, 1000, 5, 10);
    assert_string_equal(written(&r), "");
    at(&r, 30000, 5, 10);
    assert_string_equal(written(&r), "5 of 10 done\n");
    stop(&r);
}

/* In a session of its own, whose terminal is r->out: paints once in the
 * foreground or the background, then leaves. */
static void paint_in_session(struct rig *r, bool background)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        if (setsid() < 0 || ioctl(r->out, TIOCSCTTY, 0) < 0)
            _exit(1);
        pid = fork();
        if (pid == 0) {
            if (background && setpgid(0, 0) < 0)
                _exit(2);
            start(r, PR_LIVE_AUTO, PR_LIVE_CHARS_ASCII, NULL);
            at(r, 1000, 5, 10);
            pr_live_close(r->live);
            _exit(0);
        }
        _exit(waitpid(pid, &status, 0) == pid ? status != 0 : 3);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void the_background_is_silent(void **state)
{
    struct rig r;

    (void)state;
    open_terminal(&r);
    paint_in_session(&r, false);
    assert_non_null(strstr(written(&r), "5/10"));
    close(r.in);
    close(r.out);
    open_terminal(&r);
    paint_in_session(&r, true);
    assert_string_equal(written(&r), "");
    close(r.in);
    close(r.out);
}

static int attempt(void)
{
    struct rig r = {.out = open("/dev/null", O_WRONLY)};
    struct pr_live_opts opts = {.fd = r.out,
                                .mode = PR_LIVE_ALWAYS,
                                .clock_ns = rig_clock,
                                .width = rig_width,
                                .ctx = &r};
    struct pr_live_line *l;

    r.columns = 80;
    l = pr_live_new(&opts);
    r.now_ns = 2000 * MS;
    pr_live_update(l, 1, 2, 0, "label", "extra");
    pr_live_message(l, "text");
    pr_live_free(l);
    close(r.out);
    return PR_OK;
}

static void out_of_memory_costs_only_the_line(void **state)
{
    (void)state;
    torture(attempt);
    pr_live_update(NULL, 0, 0, 0, NULL, NULL);
    pr_live_close(NULL);
    pr_live_hide(NULL);
    assert_int_equal(pr_live_wait_ms(NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paints_after_a_second_and_four_times_in_one),
        cmocka_unit_test(a_short_command_shows_nothing),
        cmocka_unit_test(nothing_to_tell_before_the_first_update),
        cmocka_unit_test(the_bar_has_eighths),
        cmocka_unit_test(the_line_fits_whatever_the_width),
        cmocka_unit_test(ascii_terminals_get_ascii),
        cmocka_unit_test(the_locale_decides),
        cmocka_unit_test(the_eta_waits_until_it_means_something),
        cmocka_unit_test(the_eta_is_smooth),
        cmocka_unit_test(fast_items_are_measured_over_a_second),
        cmocka_unit_test(what_was_done_before_does_not_count),
        cmocka_unit_test(messages_stand_above_the_line),
        cmocka_unit_test(off_a_terminal_a_line_every_half_minute),
        cmocka_unit_test(plain_lines_know_their_unit),
        cmocka_unit_test(json_is_one_object_a_line),
        cmocka_unit_test(never_means_never_but_messages_pass),
        cmocka_unit_test(a_reader_that_is_gone_is_left_alone),
        cmocka_unit_test(auto_paints_on_a_terminal),
        cmocka_unit_test(a_dumb_terminal_gets_plain_lines),
        cmocka_unit_test(the_background_is_silent),
        cmocka_unit_test(out_of_memory_costs_only_the_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
