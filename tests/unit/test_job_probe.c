/* How far a probe says it is: each batch counts once, whatever is done with
 * it. */
#include "job/probe_job.h"

#include "base/json/json.h"
#include "torture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCHES = 5, TRIALS = 3 }; /* of three phases */

struct loop {
    struct pr_progress progress;
    unsigned left;    /* batches until the data ends */
    double last;      /* share that was said last */
    unsigned said;    /* times */
    bool is_negative; /* time left, once */
};

/* Has it said anew at each step, and looks at what was said before. */
static void look(struct loop *l)
{
    char words[320], dir[4096];

    snprintf(dir, sizeof dir, "%s", l->progress.path);
    *strrchr(dir, '/') = '\0';
    l->progress.next_ns = 0;
    if (!pr_progress_read(dir, words))
        return;
    l->said++;
    l->is_negative |= strstr(words, ", -") != NULL;
    assert_true(l->progress.done >= l->last);
    assert_true(l->progress.done <= 1);
    l->last = l->progress.done;
}

static int fetch(void *ctx, void **ret_batch, uint64_t *ret_samples,
                 struct pr_err *err)
{
    struct loop *l = ctx;

    (void)ret_samples;
    (void)err;
    look(l);
    *ret_batch = l;
    return l->left ? (l->left--, 1) : 0;
}

static int use(void *ctx, void *batch, struct pr_err *err)
{
    (void)batch;
    (void)err;
    look(ctx);
    return PR_OK;
}

static int restart(void *ctx, struct pr_err *err)
{
    (void)err;
    ((struct loop *)ctx)->left = 2; /* epochs are shorter than trials */
    return PR_OK;
}

/* Lines of the probe are not the test's. */
static int probe_silently(const struct pr_probe_job *j, struct pr_err *err)
{
    int out = dup(1), rc;

    assert_true(out >= 0 && freopen("/dev/null", "w", stdout));
    rc = pr_probe_job_run(j, err);
    fflush(stdout);
    assert_true(dup2(out, 1) == 1);
    close(out);
    return rc;
}

static void batches_count_once(void **state)
{
    static const char params[] =
        "{\"probe.run\": true, \"probe.batches\": 5, \"probe.trials\": 2, "
        "\"probe.warmup\": 1}";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(4096);
    struct pr_json_in in = {
        .name = "params", .text = params, .len = sizeof params - 1};
    struct loop l = {.left = 2};
    char dir[] = "/tmp/prony-unit.XXXXXX", path[64];
    bool stop = false;
    struct pr_value v;
    struct pr_job job = {.dir = mkdtemp(dir), .params = &v, .arena = a};
    struct pr_probe_job j = {.job = &job,
                             .calls = PR_PROBE_CALLS_INIT,
                             .batch = 1,
                             .ranks = 1,
                             .progress = &l.progress,
                             .stop = &stop,
                             .notes = &notes};
    struct pr_err err = {0};

    (void)state;
    assert_non_null(job.dir);
    assert_int_equal(pr_json_read(&in, a, &v, NULL, &err), PR_OK);
    j.calls.fetch = fetch;
    j.calls.use = use;
    j.calls.restart = restart;
    j.calls.ctx = &l;
    pr_progress_init(&l.progress, dir, NULL);
    assert_int_equal(probe_silently(&j, &err), PR_OK);
    assert_true(l.said > 3 * BATCHES * TRIALS / 2);
    assert_false(l.is_negative);
    /* The last look was before the last batch was done. */
    assert_true(l.last >= 1 - 2.0 / (3 * BATCHES * TRIALS));
    pr_progress_end(&l.progress);
    snprintf(path, sizeof path, "%s/benchy_result.json", dir);
    unlink(path);
    assert_int_equal(rmdir(dir), 0);
}

static void more_than_all_is_all(void **state)
{
    struct pr_progress p;
    char dir[] = "/tmp/prony-unit.XXXXXX", words[320];

    (void)state;
    assert_non_null(mkdtemp(dir));
    pr_progress_init(&p, dir, NULL);
    p.next_ns = 0;
    p.since_ns -= 5000000000;
    pr_progress_write(&p, 1.5, "batch %d", 5);
    assert_true(pr_progress_read(dir, words));
    assert_string_equal(words, "batch 5");
    pr_progress_end(&p);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_count_once),
        cmocka_unit_test(more_than_all_is_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
