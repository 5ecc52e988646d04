/*
 * What run directories tell over time, whoever wrote it: the bytes are the
 * monitor's file, the channel, and the options of a chart. Whatever comes of
 * them must be drawn, at places that are numbers, and read back as JSON.
 */
#include "analyse/series/plot_data.h"
#include "base/file.h"
#include "base/json/json.h"
#include "present/chart/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPERIMENT "/experiments/0001-aaaaaaaa"

static char root[64];
static struct pr_results *set;

static void remove_root(void)
{
    char command[128];

    pr_results_free(set);
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    if (system(command))
        abort();
}

static void put(const char *name, const void *data, size_t len)
{
    char path[256];

    snprintf(path, sizeof(path), "%s%s", root, name);
    if (pr_file_write(path, data, len, NULL))
        abort();
}

static void make_root(void)
{
    static const char plan[] =
        "{\"schema\": \"prony.plan/1\", \"defaults\": {}, \"experiments\": [\n"
        "{\"id\": \"0001-aaaaaaaa\", \"params\": {\"n\": 1}}\n]}\n";
    const char *input = root;
    struct pr_results_opts o = {.threads = 1};
    char path[256];

    snprintf(root, sizeof(root), "/dev/shm/fuzz-plotdata-XXXXXX");
    if (!mkdtemp(root))
        abort();
    atexit(remove_root);
    snprintf(path, sizeof(path), "%s/experiments", root);
    if (mkdir(path, 0700))
        abort();
    snprintf(path, sizeof(path), "%s" EXPERIMENT, root);
    if (mkdir(path, 0700))
        abort();
    put("/plan.json", plan, strlen(plan));
    if (pr_results_read(&input, 1, &o, &set, NULL) || pr_results_size(set) != 1)
        abort();
}

/* In text quotes are escaped: these are places. */
static void check_places(const char *p)
{
    while ((p = strstr(p, "=\""))) {
        const char *end = strchr(p + 2, '"');

        for (p += 2; p < end; p++)
            if (strncmp(p, "nan", 3) == 0 || strncmp(p, "inf", 3) == 0)
                abort();
    }
}

static void draw(const struct pr_plot_data *d, const struct pr_plot_opts *o,
                 struct pr_arena *a)
{
    struct pr_buf text = PR_BUF_INIT(1 << 28);
    struct pr_json_in in = {0};
    struct pr_value v;

    if (pr_plot_draw(d, o, pr_canvas_kind("svg"), &text, NULL) == PR_OK)
        check_places(text.data);
    pr_buf_clear(&text);
    if (pr_plot_data_write_json(d, &text, NULL))
        abort();
    in.text = text.data;
    in.len = text.len;
    if (pr_json_read(&in, a, &v, NULL, NULL))
        abort();
    pr_buf_free(&text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len)
{
    const struct pr_json_in in = {
        .text = (const char *)data, .len = len, .flags = PR_JSON_PREFIX};
    const char *all[] = {NULL};
    struct pr_plot_opts o = {0};
    struct pr_plot_data d;
    struct pr_arena *a;

    if (!set)
        make_root();
    a = pr_arena_new(65536);
    put(EXPERIMENT "/monitor.ndjson", data, len);
    put(EXPERIMENT "/channel.ndjson", data, len);
    if (pr_json_read(&in, a, &o.chart, NULL, NULL) || pr_plot_check(&o, NULL))
        o.chart = pr_null();
    o.kind = (enum pr_plot_kind)(len % (PR_PLOT_SPREAD + 1));
    if (pr_plot_data_read_monitor(set, all, a, &d, NULL) == PR_OK)
        draw(&d, &o, a);
    if (pr_plot_data_read_rates(set, all, a, &d, NULL) == PR_OK)
        draw(&d, &o, a);
    pr_arena_free(a);
    return 0;
}
