/*
 * Suites out of any bytes: a result of milarun's, events of milabench's, a
 * summary, weights, a zip. Whatever they are, every report of them is made,
 * the JSON can be read back, and no control character reaches the text.
 */
#include "analyse/suite/suite.h"
#include "base/file.h"
#include "base/json/json.h"
#include "present/report/report_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/dev/shm/prony-fuzz-suite.XXXXXX";
static char inner[64], paths[3][96];

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void remove_folder(void)
{
    for (int i = 0; i < 3; i++)
        (void)unlink(paths[i]);
    (void)rmdir(inner);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    must(mkdtemp(folder) != NULL);
    snprintf(inner, sizeof inner, "%s/runs", folder);
    must(mkdir(inner, 0700) == 0);
    snprintf(paths[0], sizeof paths[0], "%s/s.a.J0.0.json", folder);
    snprintf(paths[1], sizeof paths[1], "%s/b.D0.data", inner);
    snprintf(paths[2], sizeof paths[2], "%s/plain", folder);
    (void)atexit(remove_folder);
}

static void check_json(const struct pr_buf *b, struct pr_arena *a)
{
    struct pr_json_in in = {.text = b->data, .len = b->len, .name = "json"};
    struct pr_value v;

    must(pr_json_read(&in, a, &v, NULL, NULL) == PR_OK);
}

static void check_text(const struct pr_buf *b)
{
    for (size_t i = 0; i < b->len; i++)
        must((unsigned char)b->data[i] >= ' ' || b->data[i] == '\n');
}

static void report(const struct pr_suite *s, const struct pr_suite_weights *w)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 28);
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(1 << 28);
    PR_AUTO_BUF struct pr_buf table = PR_BUF_INIT(1 << 28);
    PR_AUTO_BUF struct pr_buf summary = PR_BUF_INIT(1 << 28);
    struct pr_suite *bases[1] = {(struct pr_suite *)(uintptr_t)s};
    const char *names[1] = {"itself"};
    struct pr_suite_report_opts o = {.weights = w,
                                     .bases = bases,
                                     .base_names = names,
                                     .base_count = 1,
                                     .price = 5,
                                     .compare_devices = true};
    struct pr_suite_report r;

    must(a && pr_suite_score_report(s, &o, a, &r, NULL) == PR_OK);
    must((s->kind == PR_SUITE_MILABENCH
              ? pr_milabench_text(&r, &text, NULL)
              : pr_suite_text(&r, &text, NULL)) == PR_OK);
    check_text(&text);
    must(pr_suite_json(&r, &json, NULL) == PR_OK);
    check_json(&json, a);
    must(pr_suite_table(&r, PR_TABLE_MARKDOWN, &table, NULL) == PR_OK);
    pr_suite_summary_json(s, &summary);
    must(pr_buf_ok(&summary));
    check_json(&summary, a);
}

static void read_one(const char *path, const struct pr_suite_weights *w)
{
    struct pr_suite_read_opts o = {.threads = 1, .curve = 6};
    struct pr_suite *s = NULL;

    if (pr_suite_read(path, &o, &s, NULL) == PR_OK)
        report(s, w);
    pr_suite_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_json_in in = {
        .text = (const char *)data, .len = bytes, .name = "weights"};
    struct pr_suite_weights w = {0};
    struct pr_value v;

    must(a != NULL);
    if (!inner[0])
        make_folder();
    for (int i = 0; i < 3; i++)
        must(pr_file_write(paths[i], data, bytes, NULL) == PR_OK);
    if (pr_json_read(&in, a, &v, NULL, NULL) != PR_OK ||
        pr_suite_weights_from_value(&v, "weights", a, &w, NULL) != PR_OK)
        w.count = 0;
    read_one(paths[2], &w); /* a summary, or a zip */
    read_one(inner, &w);    /* events */
    (void)unlink(paths[1]); /* else all of it is milabench's */
    read_one(folder, &w);
    return 0;
}
