/*
 * Logs of Lambda's tasks. A figure is a word of the last line that has some
 * text, counted from the front or, negative, from the back; blanks one by one
 * part words. Newer containers print other lines than older ones: what the
 * newer rule finds counts, but for SSD, whose newer line means another thing
 * in older logs. Those that benchmark.para lies beside are new.
 */
#include "analyse/bench_lines.h"
#include "base/decimal.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    const char *text;
    int word;
};

struct pr_bench_task {
    const char *part; /* of the task's name */
    const char *title;
    struct rule newer, older;
    bool by_para;
};

static const struct pr_bench_task tasks[] = {
    {"SSD",
     "ssd",
     {"Average images/sec:", -1},
     {"Training performance =", -2},
     true},
    {"resnet50",
     "resnet50",
     {"Summary: train.loss", 11},
     {"Summary: train.loss", -2},
     false},
    {"maskrcnn",
     "maskrcnn",
     {"Training perf is:", -2},
     {"Training perf is:", -2},
     false},
    {"gnmt", "gnmt", {"Training:", 4}, {"Training:", -4}, false},
    {"ncf",
     "ncf",
     {"best_train_throughput", 7},
     {"best_train_throughput:", -1},
     false},
    {"transformerxlbase",
     "transformerxlbase",
     {"Training throughput:", -2},
     {"Training throughput:", -2},
     false},
    {"transformerxllarge",
     "transformerxllarge",
     {"Training throughput:", -2},
     {"Training throughput:", -2},
     false},
    {"tacotron2",
     "tacotron2",
     {"train_items_per_sec :", -2},
     {"train_epoch_avg_items/sec:", -1},
     false},
    {"waveglow",
     "waveglow",
     {"train_items_per_sec :", -2},
     {"train_epoch_avg_items/sec:", -1},
     false},
    {"bert_base_squad",
     "bert_base_squad",
     {"training_sequences_per_second :", -6},
     {"training throughput:", -1},
     false},
    {"bert_large_squad",
     "bert_large_squad",
     {"training_sequences_per_second :", -6},
     {"training throughput:", -1},
     false},
};

/* The folder that path is in, count levels up; its name in out. */
static void folder_name(const char *path, unsigned count, char out[static 256])
{
    const char *end = strrchr(path, '/'), *start;

    out[0] = '\0';
    for (; end && count > 1; count--) {
        const char *p = end;
        while (p > path && p[-1] != '/')
            p--;
        end = p > path ? p - 1 : NULL;
    }
    if (!end)
        return;
    for (start = end; start > path && start[-1] != '/'; start--)
        ;
    snprintf(out, 256, "%.*s", (int)(end - start < 255 ? end - start : 255),
             start);
}

bool pr_bench_is_task(const char *path)
{
    size_t n = strlen(path);
    char name[256];

    folder_name(path, 1, name);
    return strncmp(name, "PyTorch_", 8) == 0 && n > 4 &&
           strcmp(path + n - 4, ".txt") == 0;
}

void pr_bench_lambda_init(struct pr_bench_lambda *l, const char *path)
{
    char name[256];

    *l = (struct pr_bench_lambda){.path = path};
    folder_name(path, 1, name);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (strcasestr(name, tasks[i].part))
            l->task = &tasks[i];
}

/* Word i of a line, as str.split(' ') has them. */
static bool find_word(const char *line, size_t len, int i, char out[static 64])
{
    const char *end = line + len, *p = line, *stop;
    int count = 1;

    for (size_t k = 0; k < len; k++)
        count += line[k] == ' ';
    if (i < 0)
        i += count;
    if (i < 0 || i >= count)
        return false;
    for (; i > 0; i--)
        p = (const char *)memchr(p, ' ', (size_t)(end - p)) + 1;
    stop = memchr(p, ' ', (size_t)(end - p));
    if (!stop)
        stop = end;
    return snprintf(out, 64, "%.*s", (int)(stop - p > 64 ? 64 : stop - p), p) <
           64;
}

/* "905.44": a figure as these logs have it. */
static bool read_figure(const char *word, double *ret)
{
    size_t n = strspn(word, "0123456789"), all;

    all = n;
    if (word[all] == '.')
        all += 1 + strspn(word + all + 1, "0123456789");
    if (!n || word[all])
        return false;
    *ret = pr_decimal_read(word, all);
    return *ret > 0;
}

static void try_rule(const struct rule *r, const char *line, size_t len,
                     double *value)
{
    char word[64];
    double f;

    if (memmem(line, len, r->text, strlen(r->text)) &&
        find_word(line, len, r->word, word) && read_figure(word, &f))
        *value = f;
}

int pr_bench_lambda_line(void *ctx, const char *line, size_t len,
                         struct pr_err *err)
{
    struct pr_bench_lambda *l = ctx;

    (void)err;
    l->done = memmem(line, len, "DONE!", 5) != NULL;
    if (l->task && len < 65536) {
        try_rule(&l->task->newer, line, len, &l->newer);
        try_rule(&l->task->older, line, len, &l->older);
    }
    return PR_OK;
}

/* "GLOBAL_BATCH 2048", "GPU 8". 1: the file is there. */
static int put_para(const char *path, struct pr_bench_reader *r,
                    struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    const char *slash = strrchr(path, '/'), *text, *at;
    const char *para = a ? pr_arena_printf(a, "%.*sbenchmark.para",
                                           (int)(slash + 1 - path), path)
                         : NULL;
    size_t len;
    int rc;

    if (!para)
        return pr_fail_nomem(err);
    rc = pr_file_read(para, 4096, a, &text, &len, NULL);
    if (rc)
        return rc == PR_E_NOMEM ? pr_fail_nomem(err) : 0;
    at = strstr(text, "GLOBAL_BATCH ");
    if (at) {
        struct pr_value v = pr_int(strtol(at + 13, NULL, 10));
        rc = pr_bench_put(r, "exp.effective_batch", 19, &v, err);
    }
    at = strstr(text, "GPU ");
    if (at && !rc) {
        struct pr_value v = pr_int(strtol(at + 4, NULL, 10));
        rc = pr_bench_put(r, "exp.num_gpus", 12, &v, err);
    }
    return rc ? rc : 1;
}

static const char *precision(const char *task)
{
    return strstr(task, "FP32")   ? "fp32"
           : strstr(task, "AMP")  ? "amp"
           : strstr(task, "FP16") ? "fp16"
                                  : "";
}

int pr_bench_lambda_put(struct pr_bench_lambda *l, struct pr_bench_reader *r,
                        struct pr_err *err)
{
    char system[256], task[256];
    double rate;
    int rc, para;

    folder_name(l->path, 1, task);
    folder_name(l->path, 2, system);
    rc = pr_bench_put_str(r, "exp.name", task, err);
    if (!rc && l->task)
        rc = pr_bench_put_str(r, "exp.model_title", l->task->title, err);
    if (!rc)
        rc = pr_bench_put_str(r, "exp.node_title", system, err);
    if (!rc)
        rc = pr_bench_put_str(r, "exp.dtype", precision(task), err);
    if (!rc)
        rc = pr_bench_put_str(r, "exp.status", l->done ? "ok" : "failed", err);
    para = rc ? rc : put_para(l->path, r, err);
    if (para < 0)
        return para;
    rate = l->newer;
    if (rate <= 0 || (l->task && l->task->by_para && !para && l->older > 0))
        rate = l->older;
    return rate > 0 ? pr_bench_put_float(r, "results.throughput", rate, err)
                    : PR_OK;
}
