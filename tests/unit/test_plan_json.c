/* plan.json: written, read back, and refused when it is not one. */
#include "plan/plan.h"

#include "record/plan_file.h"

#include "plans.h"

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void write_plan(struct pr_plan *p, bool whole, const char *path)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 26);
    uint64_t n = 99, count;

    assert_int_equal(pr_plan_write(p, whole, to_buf, &out, &n, NULL), PR_OK);
    assert_int_equal(pr_plan_count(p, &count, NULL), PR_OK);
    assert_int_equal(n, count);
    assert_int_equal(out.data[out.len - 1], '\n');
    assert_int_equal(pr_file_write(path, out.data, out.len, NULL), PR_OK);
}

/* Every experiment comes back as it went: id, repeat, and its parameters,
 * which with the defaults are all it had. */
static void what_is_written_is_read_back(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_plan_opts opts = {.repeat = 2};
    struct pr_plan_file f, whole;
    struct pr_plan_file_experiment got, all;
    struct pr_experiment e;
    struct pr_plan *p;
    struct pr_walk *w;
    uint64_t n = 0;

    (void)state;
    assert_int_equal(
        make_plan(&opts,
                  ARGS("-V a=[1,\"x\\n\\\"\",null,{\"m\": [1.5]}]",
                       "-P exp.model=\"gr\303\274\303\237\"",
                       "-P exp.args=[1,\"b c\"]", "-P t=\"${a}!\""),
                  &p, NULL),
        PR_OK);
    write_plan(p, false, "plan.json");
    write_plan(p, true, "full.json");
    assert_int_equal(pr_plan_file_open("plan.json", &f, NULL), PR_OK);
    assert_int_equal(pr_plan_file_open("full.json", &whole, NULL), PR_OK);
    assert_int_equal(f.count, 8);
    assert_int_equal(whole.count, 8);
    w = pr_walk_new(p);
    while (pr_walk_next(w, &e, NULL) == 1) {
        assert_int_equal(pr_plan_file_next(&f, a, &got, NULL), 1);
        assert_int_equal(pr_plan_file_next(&whole, a, &all, NULL), 1);
        assert_string_equal(got.id, e.id);
        assert_int_equal(got.repeat, e.repeat);
        assert_int_equal(all.params.len, e.params->count);
        for (uint32_t i = 0; i < e.params->count; i++) {
            uint32_t id = e.params->order[i];
            const char *name = pr_names_text(pr_plan_names(p), id);
            const char *want = json_text(a, pr_expanded_value(e.values, id));
            const struct pr_value *v = pr_get(&got.params, name);
            if (!v)
                v = pr_get(&f.defaults, name);
            assert_non_null(v);
            assert_string_equal(json_text(a, v), want);
            assert_string_equal(json_text(a, pr_get(&all.params, name)), want);
        }
        n++;
    }
    assert_int_equal(n, 8);
    assert_int_equal(pr_plan_file_next(&f, a, &got, NULL), 0);
    assert_int_equal(pr_plan_file_next(&whole, a, &all, NULL), 0);
    pr_walk_free(w);
    pr_plan_file_close(&f);
    pr_plan_file_close(&whole);
    pr_plan_free(p);
}

/* Defaults stand once at the top; an experiment has what was set, derived or
 * read. */
static void an_experiment_stores_no_defaults(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    static const char *const there[] = {"exp.model", "exp.num_gpus", "exp.id",
                                        "mine"};
    static const char *const gone[] = {"exp.phase", "exp.num_batches",
                                       "null.steps"};
    struct pr_plan_file f;
    struct pr_plan_file_experiment e;
    struct pr_plan *p;
    struct pr_plan_opts none = {0};

    (void)state;
    assert_int_equal(
        make_plan(&none, ARGS("-P exp.model=\"x\"", "-P mine=1"), &p, NULL),
        PR_OK);
    write_plan(p, false, "plan.json");
    pr_plan_free(p);
    assert_int_equal(pr_plan_file_open("plan.json", &f, NULL), PR_OK);
    assert_int_equal(pr_plan_file_next(&f, a, &e, NULL), 1);
    assert_int_equal(e.repeat, 1);
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        assert_non_null(pr_get(&e.params, there[i]));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        assert_null(pr_get(&e.params, gone[i]));
        assert_non_null(pr_get(&f.defaults, gone[i]));
    }
    pr_plan_file_close(&f);
}

static void one_experiment_stands_on_a_line(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    static const char head[] =
        "{\"schema\": \"prony.plan/1\", \"count\": 2, \"variables\": "
        "[\"a\"], \"defaults\": {}, \"experiments\": [\n{\"id\": "
        "\"0001-";
    struct pr_plan_opts bare = {.no_defaults = true};
    struct pr_plan *p;
    const char *line;

    (void)state;
    assert_int_equal(make_plan(&bare, ARGS("-V a=[1,2]"), &p, NULL), PR_OK);
    assert_int_equal(pr_plan_write(p, false, to_buf, &out, NULL, NULL), 0);
    pr_plan_free(p);
    assert_int_equal(strncmp(out.data, head, sizeof head - 1), 0);
    line = strchr(out.data, '\n') + 1;
    assert_non_null(strstr(line, "\", \"params\": {\"a\": 1}},\n{\"id\""));
    assert_non_null(strstr(line, "\", \"params\": {\"a\": 2}}\n]}\n"));
}

static void an_empty_plan_is_a_plan(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_plan_opts bare = {.no_defaults = true};
    struct pr_plan_file f;
    struct pr_plan_file_experiment e;
    struct pr_plan *p;

    (void)state;
    assert_int_equal(make_plan(&bare, ARGS("-V a=[]"), &p, NULL), PR_OK);
    write_plan(p, false, "plan.json");
    pr_plan_free(p);
    assert_int_equal(pr_plan_file_open("plan.json", &f, NULL), PR_OK);
    assert_int_equal(f.count, 0);
    assert_int_equal(pr_plan_file_next(&f, a, &e, NULL), 0);
    pr_plan_file_close(&f);
}

static int refuse(void *ctx, const char *data, size_t len, struct pr_err *err)
{
    (void)ctx;
    (void)data;
    (void)len;
    return pr_fail(err, PR_E_IO, "sink", "is full");
}

static void a_sink_that_fails_ends_it(void **state)
{
    struct pr_plan_opts bare = {.no_defaults = true};
    struct pr_err err = {0};
    struct pr_plan *p;

    (void)state;
    assert_int_equal(make_plan(&bare, ARGS("-V a=[1,2]"), &p, NULL), PR_OK);
    assert_int_equal(pr_plan_write(p, false, refuse, NULL, NULL, &err),
                     PR_E_IO);
    assert_string_equal(err.where, "sink");
    pr_plan_free(p);
}

static void an_experiment_that_fails_is_an_error(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_plan_opts bare = {.no_defaults = true};
    struct pr_err err = {0};
    struct pr_plan *p;

    (void)state;
    assert_int_equal(make_plan(&bare, ARGS("-V a=[1,\"${nobody}\"]"), &p, NULL),
                     PR_OK);
    assert_int_equal(pr_plan_write(p, false, to_buf, &out, NULL, &err),
                     PR_E_CONF);
    assert_string_equal(err.where, "-V a");
    pr_plan_free(p);
}

#define HEAD "{\"schema\": \"prony.plan/1\", \"experiments\": ["

/* How many experiments are read before the error, or -1 and which: in the
 * header. */
static void what_is_no_plan_is_refused(void **state)
{
    static const struct {
        const char *text;
        int read; /* experiments before the end; -1: not opened */
        int rc;   /* at the end */
    } rows[] = {
        {"", -1, PR_E_FORMAT},
        {"{}", -1, PR_E_FORMAT},
        {"[]", -1, PR_E_FORMAT},
        {"x", -1, PR_E_FORMAT},
        {"{\"experiments\": []}", -1, PR_E_FORMAT},
        {"{\"schema\": \"prony.plan/1\"}", -1, PR_E_FORMAT},
        {"{\"schema\": \"prony.plan/2\", \"experiments\": []}", -1,
         PR_E_FORMAT},
        {"{\"schema\": 1, \"experiments\": []}", -1, PR_E_FORMAT},
        {"{\"schema\": \"prony.plan/1\", \"experiments\": {}}", -1,
         PR_E_FORMAT},
        {"{\"schema\": \"prony.plan/1\", \"experiments\"", -1, PR_E_FORMAT},
        {HEAD, 0, PR_E_FORMAT},
        {HEAD "]", 0, 0},
        {HEAD "]}", 0, 0},
        {HEAD "{\"id\": \"a\", \"params\": {}}]}", 1, 0},
        {HEAD "{\"id\": \"a\", \"params\": {}, \"new\": [1]}]}", 1, 0},
        {HEAD "{\"id\": \"a\", \"params\": {}},", 1, PR_E_FORMAT},
        {HEAD "{\"id\": \"a\", \"params\": {}},]}", 1, PR_E_FORMAT},
        {HEAD "{\"id\": \"a\", \"params\": {}} {", 1, PR_E_FORMAT},
        {HEAD "{\"id\": \"a\", \"par", 0, PR_E_FORMAT},
        {HEAD "5]}", 0, PR_E_FORMAT},
        {HEAD "{\"id\": \"a\"}]}", 0, PR_E_FORMAT},
        {HEAD "{\"params\": {}}]}", 0, PR_E_FORMAT},
        {HEAD "{\"id\": 5, \"params\": {}}]}", 0, PR_E_FORMAT},
        {HEAD "{\"id\": \"a\", \"params\": []}]}", 0, PR_E_FORMAT},
        /* an id names a folder below ours */
        {HEAD "{\"id\": \"\", \"params\": {}}]}", 0, PR_E_FORMAT},
        {HEAD "{\"id\": \"..\", \"params\": {}}]}", 0, PR_E_FORMAT},
        {HEAD "{\"id\": \".x\", \"params\": {}}]}", 0, PR_E_FORMAT},
        {HEAD "{\"id\": \"a/b\", \"params\": {}}]}", 0, PR_E_FORMAT},
        {HEAD "{\"id\": \"a\\u0000b\", \"params\": {}}]}", 0, PR_E_FORMAT},
        {HEAD "{\"id\": \"a b\", \"params\": {}}]}", 0, PR_E_FORMAT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_err err = {0};
        struct pr_plan_file f;
        struct pr_plan_file_experiment e;
        int read = -1;
        int rc;

        put_file("p", rows[i].text);
        rc = pr_plan_file_open("p", &f, &err);
        if (!rc) {
            read = 0;
            while ((rc = pr_plan_file_next(&f, a, &e, &err)) == 1)
                read++;
            pr_plan_file_close(&f);
        }
        if (read != rows[i].read || rc != rows[i].rc)
            fail_msg("<%s>: %d read, then %d %s", rows[i].text, read, rc,
                     err.msg);
        if (rc)
            assert_int_equal(strncmp(err.where, "p", 1), 0);
    }
}

static int read_once(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    struct pr_plan_file f;
    struct pr_plan_file_experiment e;
    int rc = a ? pr_plan_file_open("plan.json", &f, NULL) : PR_E_NOMEM;

    if (rc)
        return rc;
    while ((rc = pr_plan_file_next(&f, a, &e, NULL)) == 1)
        ;
    pr_plan_file_close(&f);
    return rc;
}

static void out_of_memory(void **state)
{
    struct pr_plan_opts none = {0};
    struct pr_plan *p;

    (void)state;
    assert_int_equal(make_plan(&none, ARGS("-V a=[1,2]"), &p, NULL), PR_OK);
    write_plan(p, false, "plan.json");
    pr_plan_free(p);
    torture(read_once);
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, enter_dir, leave_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HERE(what_is_written_is_read_back),
        HERE(an_experiment_stores_no_defaults),
        HERE(one_experiment_stands_on_a_line),
        HERE(an_empty_plan_is_a_plan),
        HERE(a_sink_that_fails_ends_it),
        HERE(an_experiment_that_fails_is_an_error),
        HERE(what_is_no_plan_is_refused),
        HERE(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
