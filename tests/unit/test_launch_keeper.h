/*
 * What the tests of the keeper share: a scratch folder with a keeper in it,
 * waiting for events with a deadline, and looking for processes by the marker
 * in their environment (by other code than the keeper's own).
 */
#ifndef TESTS_UNIT_TEST_LAUNCH_KEEPER_H
#define TESTS_UNIT_TEST_LAUNCH_KEEPER_H

#include "launch/keeper/keeper.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define DEADLINE_MS 30000

struct scratch {
    char dir[64];
    char id[64];
    char log[128];
    struct pr_keeper *k;
    struct pr_err err;
};

static inline uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Reads a file, as far as it fits; "" when there is none. */
static inline char *slurp(const char *path)
{
    static char text[1 << 16];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;

    if (fd >= 0) {
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* A scratch folder, an id that no other test has, no keeper yet. */
static inline void scratch_open(struct scratch *t)
{
    memset(t, 0, sizeof(*t));
    strcpy(t->dir, "/tmp/prony-keeper-XXXXXX");
    assert_non_null(mkdtemp(t->dir));
    snprintf(t->id, sizeof(t->id), "id-%s", t->dir + strlen(t->dir) - 6);
    snprintf(t->log, sizeof(t->log), "%s/log", t->dir);
}

static inline void scratch_close(struct scratch *t)
{
    char cmd[128];

    pr_keeper_free(t->k);
    snprintf(cmd, sizeof(cmd), "rm -rf %s", t->dir);
    assert_int_equal(system(cmd), 0);
}

static inline int setup(void **state)
{
    static struct scratch t;

    scratch_open(&t);
    assert_int_equal(pr_keeper_new(NULL, &t.k, &t.err), PR_OK);
    *state = &t;
    return 0;
}

static inline int teardown(void **state)
{
    scratch_close(*state);
    return 0;
}

static inline void spawn_id(struct scratch *t, uint32_t tag,
                            const char *const *argv, const char *id)
{
    struct pr_spawn s = {
        .tag = tag, .argv = argv, .log_path = t->log, .id = id};

    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
}

/* Runs a script; $D is the scratch folder. */
static inline void spawn_sh_id(struct scratch *t, uint32_t tag,
                               const char *script, const char *id)
{
    char text[4096];
    const char *argv[] = {"sh", "-c", text, NULL};

    snprintf(text, sizeof(text), "D=%s; %s", t->dir, script);
    spawn_id(t, tag, argv, id);
}

static inline void spawn_sh(struct scratch *t, uint32_t tag, const char *script)
{
    spawn_sh_id(t, tag, script, t->id);
}

/* One event for each time that the descriptor polls readable. */
static inline int next_event(struct scratch *t, struct pr_child_event *ev)
{
    struct pollfd p = {.fd = pr_keeper_fd(t->k), .events = POLLIN};
    int rc;

    do {
        assert_int_equal(poll(&p, 1, DEADLINE_MS), 1);
        rc = pr_keeper_next(t->k, ev, &t->err);
    } while (rc == 0);
    return rc;
}

static inline struct pr_child_event expect(struct scratch *t, uint32_t tag,
                                           enum pr_child_event_kind kind)
{
    struct pr_child_event ev;

    assert_int_equal(next_event(t, &ev), 1);
    assert_int_equal(ev.tag, tag);
    assert_int_equal(ev.kind, kind);
    return ev;
}

static inline struct pr_child_event expect_end(struct scratch *t, uint32_t tag)
{
    struct pr_child_event started = expect(t, tag, PR_CHILD_STARTED);
    struct pr_child_event ended = expect(t, tag, PR_CHILD_ENDED);

    assert_int_equal(started.pid, ended.pid);
    return ended;
}

static inline int has_marker(const char *pid, const char *id)
{
    static char text[1 << 17];
    char path[300], want[128];
    size_t len =
        (size_t)snprintf(want, sizeof(want), "PRONY_EXPERIMENT=%s", id) + 1;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%s/environ", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof(text));
    close(fd);
    for (ssize_t i = 0; i + (ssize_t)len <= n; i++)
        if (!memcmp(text + i, want, len))
            return 1;
    return 0;
}

/* How many processes of an experiment are alive. */
static inline int alive(const char *id)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    int n = 0;

    assert_non_null(d);
    while ((e = readdir(d)))
        if (isdigit((unsigned char)e->d_name[0]))
            n += has_marker(e->d_name, id);
    closedir(d);
    return n;
}

static inline void wait_alive(const char *id, int want, int deadline_ms)
{
    uint64_t end = now_ms() + (uint64_t)deadline_ms;

    while (alive(id) != want) {
        if (now_ms() > end)
            assert_int_equal(alive(id), want);
        poll(NULL, 0, 2);
    }
}

/* Waits until the file holds the word so many times. */
static inline void wait_word(const char *path, const char *word, int times)
{
    uint64_t end = now_ms() + DEADLINE_MS;

    for (;;) {
        int n = 0;

        for (const char *at = slurp(path); (at = strstr(at, word)); at++)
            n++;
        if (n >= times)
            return;
        if (now_ms() > end)
            fail_msg("'%s' holds '%s' %d times", path, word, n);
        poll(NULL, 0, 2);
    }
}

static inline void touch(struct scratch *t, const char *name)
{
    char path[128];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", t->dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    close(fd);
}

static inline pid_t parent_of(pid_t pid)
{
    char path[64], *rest;
    int ppid = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    rest = strrchr(slurp(path), ')');
    assert_non_null(rest);
    assert_int_equal(sscanf(rest, ") %*c %d", &ppid), 1);
    return ppid;
}

#endif
