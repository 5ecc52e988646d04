/* DLBS's series: which lists are understood, and what they say. */
#include "monitor/monitor.h"

#include "monitor_tool.h"
#include "torture.h"

#define DLBS                                                        \
    "time:str:1,mem_virt:float:2,mem_res:float:3,mem_shrd:float:4," \
    "cpu:float:5,mem:float:6,power:float:7,gpus:float:8:"

static void lists_are_checked(void **state)
{
    static const struct {
        const char *text, *want; /* "": it is one */
    } rows[] = {
        {DLBS, ""},
        {"a:int:0", ""},
        {" a:int:0 , b:bool:5:2 ", ""},
        {"gpus:float:8:", ""},
        {"all:str:0:", ""},
        {"", "'' in monitor.timeseries has no name that can be used"},
        {"a:int:0,", "'' in monitor.timeseries has no name that can be used"},
        {"a b:int:0",
         "'a b:int:0' in monitor.timeseries has no name that can be used"},
        {"a", "'a' in monitor.timeseries has none of the types str, int, "
              "float, bool"},
        {"a:double:1", "'a:double:1' in monitor.timeseries has none of the "
                       "types str, int, float, bool"},
        {"a:int", "'a:int' in monitor.timeseries has no index into the line"},
        {"a:int:", "'a:int:' in monitor.timeseries has no index into the line"},
        {"a:int:x",
         "'a:int:x' in monitor.timeseries has no index into the line"},
        {"a:int:-1",
         "'a:int:-1' in monitor.timeseries has no index into the line"},
        {"a:int:9999",
         "'a:int:9999' in monitor.timeseries has no index into the line"},
        {"a:int:5:x",
         "'a:int:5:x' in monitor.timeseries has a count that is not a number"},
        {"a:int:5:0",
         "'a:int:5:0' in monitor.timeseries has a count that is not a number"},
        {"a:int:5:1:2", "'a:int:5:1:2' in monitor.timeseries has a count that "
                        "is not a number"},
        {"a:int:5,a:int:6",
         "'a:int:6' in monitor.timeseries has the name of a series before it"},
        {"t:float:1", "'t:float:1' in monitor.timeseries takes the time, which "
                      "is text, for a number"},
        {"t:float:0:2", "'t:float:0:2' in monitor.timeseries takes the time, "
                        "which is text, for a number"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_timeseries *t = NULL;
        struct pr_err err = {0};
        int rc = pr_timeseries_new(rows[i].text, &t, &err);

        assert_int_equal(rc, *rows[i].want ? PR_E_CONF : PR_OK);
        assert_string_equal(err.msg, rows[i].want);
        pr_timeseries_free(t);
    }
}

static struct pr_monitor_columns columns;
static struct pr_monitor_sample look = {.columns = &columns};

static void see(const char *name, double v, unsigned flags)
{
    struct pr_monitor_column c = {name, "", PR_SUM_NONE, 3, flags, NULL};

    pr_monitor_sample_set(&look, pr_monitor_sample_column(&look, &c), v);
}

static void assert_log(const char *list, int lines, const char *want)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct pr_timeseries *t = NULL;

    assert_int_equal(pr_timeseries_new(list, &t, NULL), PR_OK);
    for (int i = 0; i < lines; i++)
        pr_timeseries_add_line(t, &columns, 4711,
                               1700000000123000000 + (uint64_t)i * 100000000);
    pr_timeseries_write_log(t, &out);
    pr_timeseries_free(t);
    assert_string_equal(out.len ? out.data : "", want);
}

static void series_are_written(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    assert_true(pr_monitor_columns_init(&columns));
    assert_log(DLBS, 3, ""); /* no process, no line */
    see("job.rss_bytes", 2048, 0);
    see("job.virt_bytes", 1024 * 1024, 0);
    see("job.shared_bytes", 512, 0);
    see("job.cpu", 1.5, 0);
    see("mem.total_bytes", 4096, 0);
    assert_log(DLBS, 2,
               "__results.use.time__=[\"2023-11-14:22:13:20:123\", "
               "\"2023-11-14:22:13:20:223\"]\n"
               "__results.use.mem_virt__=[1024.0, 1024.0]\n"
               "__results.use.mem_res__=[2.0, 2.0]\n"
               "__results.use.mem_shrd__=[0.5, 0.5]\n"
               "__results.use.cpu__=[150.0, 150.0]\n"
               "__results.use.mem__=[50.0, 50.0]\n"
               "__results.use.power__=[-1.0, -1.0]\n"
               "__results.use.gpus__=[[-1.0], [-1.0]]\n");
    assert_log("p:int:0,s:str:5,b:bool:3,l:int:5:3", 1,
               "__results.use.p__=[4711]\n"
               "__results.use.s__=[\"150\"]\n"
               "__results.use.b__=[true]\n"
               "__results.use.l__=[[150, 50, -1]]\n");
    /* To the end of the line, however many there are; one is lost. */
    see("gpu.0.power_w", 70.5, 0);
    see("gpu.1.power_w", NAN, 0);
    see("gpu.2.power_w", 30, 0);
    see("power.package-0_w", 10, PR_MONITOR_COLUMN_ENERGY);
    see("power.package-1_w", 11, PR_MONITOR_COLUMN_ENERGY);
    see("power.psys_w", 99, 0);
    assert_log("gpus:float:8:,three:float:8:4,power:float:7", 1,
               "__results.use.gpus__=[[70.5, -1.0, 30.0]]\n"
               "__results.use.three__=[[70.5, -1.0, 30.0, -1.0]]\n"
               "__results.use.power__=[21.0]\n");
    see("power.power_meter.power1_w", 250, 0);
    assert_log("power:float:7", 1, "__results.use.power__=[250.0]\n");
    pr_monitor_columns_close(&columns);
}

static int attempt(void)
{
    struct pr_timeseries *t = NULL;
    int rc = pr_timeseries_new(DLBS, &t, NULL);

    pr_timeseries_free(t);
    return rc;
}

static void out_of_memory_is_survived(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_checked),
        cmocka_unit_test(series_are_written),
        cmocka_unit_test(out_of_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
