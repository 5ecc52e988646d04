/*
 * Results out of any bytes: a log, JSON, events, a table, gzip, an archive.
 * Whatever they are, one thread and the rows it finds, two reports of these,
 * and an end.
 */
#include "analyse/series/pivot.h"
#include "analyse/series/scaling.h"
#include "present/report/report_pivot.h"
#include "present/report/report_results.h"
#include "present/report/report_scaling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/prony-fuzz-bench.XXXXXX";
static char task[64], paths[3][96];

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void remove_folder(void)
{
    (void)unlink(paths[0]);
    (void)unlink(paths[1]);
    (void)unlink(paths[2]);
    (void)rmdir(task);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    must(mkdtemp(folder) != NULL);
    snprintf(task, sizeof task, "%s/PyTorch_SSD_FP32", folder);
    must(mkdir(task, 0700) == 0);
    snprintf(paths[0], sizeof paths[0], "%s/any", folder);
    snprintf(paths[1], sizeof paths[1], "%s/1.txt", task);
    snprintf(paths[2], sizeof paths[2], "%s/a.csv", folder);
    (void)atexit(remove_folder);
}

static void check_rows(const struct pr_results *b)
{
    for (size_t i = 0; i < pr_results_size(b); i++) {
        const struct pr_value *p = &pr_results_row_at(b, i)->params;

        must(p->kind == PR_MAP && p->len > 0);
        for (uint32_t k = 0; k < p->len; k++)
            must(p->members[k].key != NULL);
    }
}

static void report(const struct pr_results *b)
{
    static const char *const reports[] = {"regular", "weak", "strong",
                                          "exploration"};

    for (int type = 0; type <= PR_SCALING_EXPLORATION; type++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 26);
        struct pr_scaling_opts o = {.type = (enum pr_scaling_type)type,
                                    .target = "results.time"};
        struct pr_scaling s;

        must(a != NULL);
        if (pr_scaling_build(b, &o, a, &s, NULL) == PR_OK) {
            pr_scaling_text(&s, &out);
            pr_scaling_json(&s, &out);
        }
    }
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 26);
        struct pr_pivot_spec spec;
        struct pr_pivot p;

        must(a && pr_pivot_spec_read(reports[i], a, &spec, NULL) == PR_OK);
        if (pr_pivot_build(b, &spec, a, &p, NULL) == PR_OK)
            (void)!pr_pivot_text(&p, a, &out, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const struct pr_results_opts opts = {.threads = 1};
    static bool made;

    if (!made)
        make_folder();
    made = true;
    for (int i = 0; i < 3; i++) {
        const char *path = paths[i];
        FILE *f = fopen(path, "w");
        struct pr_results *b;

        must(f && fwrite(data, 1, bytes, f) == bytes && !fclose(f));
        must(pr_results_read(&path, 1, &opts, &b, NULL) == PR_OK);
        check_rows(b);
        report(b);
        pr_results_free(b);
    }
    return 0;
}
