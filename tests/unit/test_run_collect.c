/* Results out of a log: what counts, what only repeats a parameter. */
#include "run/collect.h"
#include "scratch.h"
#include "torture.h"
#include "values.h"

static const char params[] =
    "{\"exp.model\": \"resnet50\", \"exp.title\": \"\", \"exp.batch\": 16, "
    "\"exp.list\": [1, 2.5], \"time\": 5, \"results.x\": 1}";

static void lines_that_repeat_a_parameter_are_no_results(void **state)
{
    static const struct {
        const char *log, *want;
    } rows[] = {
        {"", ""},
        {"__exp.model__=\"resnet50\"\n__exp.batch__= 16\n", ""},
        {"__exp.list__= [1, 2.5]\n__exp.batch__=16.0\n", ""},
        {"__exp.title__=\"\"\n__exp.title__= \"ResNet\"\n",
         "\"exp.title\": \"ResNet\""},
        /* The last one counts, whichever it is. */
        {"__exp.title__= \"ResNet\"\n__exp.title__=\"\"\n", ""},
        {"__exp.other__= 3\n", "\"exp.other\": 3"},
        /* Results are results, whatever they are called. */
        {"__results.time__= 5\n__results.x__= 1\n", "\"time\": 5, \"x\": 1"},
        {"__results.exp.model__= \"resnet50\"\n",
         "\"exp.model\": \"resnet50\""},
        {"__results.time__= 5\n__time__= 5\n", "\"time\": 5"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf results = PR_BUF_INIT(1 << 20);
        PR_AUTO_BUF struct pr_buf warnings = PR_BUF_INIT(1 << 20);
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_value map = json(a, params);
        struct pr_output_paths from = {"log.txt", NULL, &map};
        struct pr_attempt none = {.status = PR_STATUS_OK};

        spit("log.txt", rows[i].log);
        assert_int_equal(
            pr_collect_results(&none, &from, &results, NULL, &warnings, NULL),
            PR_OK);
        assert_string_equal(results.len ? results.data : "", rows[i].want);
        assert_int_equal(warnings.len, 0);
    }
}

static void without_parameters_every_line_counts(void **state)
{
    PR_AUTO_BUF struct pr_buf results = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf warnings = PR_BUF_INIT(1 << 20);
    struct pr_output_paths from = {"log.txt", NULL, NULL};
    struct pr_attempt none = {.status = PR_STATUS_OK};

    (void)state;
    spit("log.txt", "__exp.model__= \"a\"\n__elapsed_s__= 1\n__bad__= x\n"
                    "__results.n__= NaN\n__warning__= \"w\"\n");
    assert_int_equal(
        pr_collect_results(&none, &from, &results, NULL, &warnings, NULL),
        PR_OK);
    assert_string_equal(results.data,
                        "\"exp.model\": \"a\", \"program.elapsed_s\": 1");
    assert_string_equal(
        warnings.data,
        "\"w\", \"metric lines of the log that could not be read: 1, the "
        "first is line 3\", \"metrics that are not finite, left out: 1\"");
}

static void a_log_that_is_not_there_is_fine(void **state)
{
    PR_AUTO_BUF struct pr_buf results = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf warnings = PR_BUF_INIT(1 << 20);
    struct pr_output_paths from = {"none", "none either", NULL};
    struct pr_attempt none = {.status = PR_STATUS_OK};

    (void)state;
    assert_int_equal(
        pr_collect_results(&none, &from, &results, NULL, &warnings, NULL),
        PR_OK);
    assert_int_equal(results.len + warnings.len, 0);
}

/* Appends NAME as often as times says, then the rest. */
static void put_line(FILE *f, const char *start, const char *name,
                     unsigned times, const char *rest)
{
    assert_true(fputs(start, f) >= 0);
    while (times--)
        assert_true(fputs(name, f) >= 0);
    assert_true(fputs(rest, f) >= 0);
}

/* However much a program says, the run goes on, in bounded memory. */
static void too_much_is_left_out(void **state)
{
    PR_AUTO_BUF struct pr_buf results = PR_BUF_INIT(32 << 20);
    PR_AUTO_BUF struct pr_buf warnings = PR_BUF_INIT(1 << 20);
    struct pr_output_paths from = {"log.txt", NULL, NULL};
    struct pr_attempt none = {.status = PR_STATUS_OK};
    FILE *f = fopen("log.txt", "w");
    char name[32];

    (void)state;
    assert_non_null(f);
    put_line(f, "__", "\x01\x01\x01\x01", 400000, "__= 1\n");
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "__results.m%d__= \"", i);
        put_line(f, name, "xxxxxxxxxxxxxxxx", 250000, "\"\n");
    }
    put_line(f, "__results.m9__= ", "3", 1, "\n");
    put_line(f, "__results.last__= ", "4", 1, "\n");
    put_line(f, "__warning__= \"", "\xc3\xa9", 400, "\"\n");
    assert_int_equal(fclose(f), 0);
    assert_int_equal(
        pr_collect_results(&none, &from, &results, NULL, &warnings, NULL),
        PR_OK);
    assert_true(results.len > (12 << 20) && results.len < (17 << 20));
    assert_null(strstr(results.data, "\\u0001"));
    assert_non_null(strstr(results.data, "\"m9\": 3, \"last\": 4"));
    assert_non_null(strstr(warnings.data, "\xc3\xa9\xe2\x80\xa6\""));
    assert_null(strstr(warnings.data, "\xef\xbf\xbd"));
    /* the name, m4 to m7 in the end, m8 at once */
    assert_non_null(strstr(warnings.data, "too large metrics, left out: 6"));
}

static void what_is_wrong_with_a_channel_is_said(void **state)
{
    PR_AUTO_BUF struct pr_buf many = PR_BUF_INIT(1 << 20);
    const struct {
        const char *text, *want; /* NULL text: it is a folder */
    } rows[] = {
        {"{\"a\": 1}\n[]\n", "\"lines of the channel that could not be read: "
                             "1, the first is line 2: not a JSON object\""},
        {NULL, "\"the channel could not be read: it is not a file any more\""},
        {"many", "\"rates of too many tasks, left out: 2\""},
    };

    (void)state;
    for (int i = 0; i < 66; i++)
        pr_buf_printf(&many, "{\"task\": \"%d\", \"rate\": 1}\n", i);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf results = PR_BUF_INIT(1 << 20);
        PR_AUTO_BUF struct pr_buf warnings = PR_BUF_INIT(1 << 20);
        struct pr_output_paths from = {"none", rows[i].text ? "c" : "/", NULL};
        struct pr_attempt none = {.status = PR_STATUS_OK};

        if (rows[i].text)
            spit("c", i == 2 ? many.data : rows[i].text);
        assert_int_equal(
            pr_collect_results(&none, &from, &results, NULL, &warnings, NULL),
            PR_OK);
        assert_string_equal(warnings.data, rows[i].want);
    }
}

/* ---- exp.log_file and exp.rerun */

static void a_log_of_before_makes_a_run_needless(void **state)
{
    static const struct {
        const char *file, *rerun;
        bool want;
    } rows[] = {
        {"good.log", "never", true},   {"good.log", "onfail", true},
        {"good.log", "always", false}, {"bad.log", "never", true},
        {"bad.log", "onfail", false},  {"torn.log", "onfail", false},
        {"none.log", "never", false},  {"none.log", "onfail", false},
        {"", "never", false},          {"/dev/null", "never", false},
    };

    (void)state;
    spit("good.log", "x\n__results.time__= 1.5\n__x__=bad\n");
    spit("bad.log", "__results.time__= 1.5\n__results.time__= 0\n");
    spit("torn.log", "__results.time__= \n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pr_collect_is_done_before(rows[i].file, rows[i].rerun) !=
            rows[i].want)
            fail_msg("%s %s", rows[i].file, rows[i].rerun);
}

static void folders_are_compared_as_they_are(void **state)
{
    static const struct {
        const char *path, *dir;
        bool want;
    } rows[] = {
        {"a/b/x", "a", true},        {"a/x", "a", true}, {"ab/x", "a", false},
        {"x", "a", false},           {"x", ".", true},   {"l/x", "a", true},
        {"a/b/../../x", "a", false}, {"/x", "/", true},  {"none/x", "a", false},
    };

    (void)state;
    assert_int_equal(system("mkdir -p a/b ab && ln -s a/b l"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pr_collect_is_inside(rows[i].path, rows[i].dir) != rows[i].want)
            fail_msg("%s in %s", rows[i].path, rows[i].dir);
}

static int once(void)
{
    PR_AUTO_BUF struct pr_buf results = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf warnings = PR_BUF_INIT(1 << 20);
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_json_in in = {.text = params, .len = sizeof params - 1};
    struct pr_output_paths from = {"log.txt", NULL, NULL};
    struct pr_attempt none = {.status = PR_STATUS_OK};
    struct pr_value map;
    int rc;

    if (!a)
        return PR_E_NOMEM;
    rc = pr_json_read(&in, a, &map, NULL, NULL);
    from.params = &map;
    if (!rc)
        rc = pr_collect_results(&none, &from, &results, NULL, &warnings, NULL);
    if (!rc)
        assert_string_equal(results.data, "\"exp.title\": \"R\"");
    return rc;
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    spit("log.txt", "__exp.model__=\"resnet50\"\n__exp.title__=\"R\"\n");
    torture(once);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(lines_that_repeat_a_parameter_are_no_results),
        IN_FOLDER(without_parameters_every_line_counts),
        IN_FOLDER(a_log_that_is_not_there_is_fine),
        IN_FOLDER(too_much_is_left_out),
        IN_FOLDER(what_is_wrong_with_a_channel_is_said),
        IN_FOLDER(a_log_of_before_makes_a_run_needless),
        IN_FOLDER(folders_are_compared_as_they_are),
        IN_FOLDER(lack_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
