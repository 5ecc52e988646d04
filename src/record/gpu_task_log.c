/* Finding a figure among the lines of a task's log, and the end of a run. */
#include "record/gpu_task_log.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

struct span {
    const char *p;
    size_t len;
};

static bool is_end_of_line(char c)
{
    return c == '\n' || c == '\r';
}

/* The line around at; *ret_cut: it begins before the text does. */
static struct span line_at(const char *text, size_t len, const char *at,
                           bool *ret_cut)
{
    const char *from = at, *to = at, *end = text + len;

    while (from > text && !is_end_of_line(from[-1]))
        from--;
    while (to < end && !is_end_of_line(*to))
        to++;
    *ret_cut = from == text;
    return (struct span){from, (size_t)(to - from)};
}

/* Word i of a line, as str.split(' ') has them. */
static bool find_word(struct span line, int i, struct span *ret)
{
    const char *end = line.p + line.len, *p = line.p, *stop;
    int count = 1;

    for (size_t k = 0; i < 0 && k < line.len; k++)
        count += line.p[k] == ' ';
    if (i < 0)
        i += count;
    for (; i > 0 && p; i--) {
        p = memchr(p, ' ', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    if (i < 0 || !p)
        return false;
    stop = memchr(p, ' ', (size_t)(end - p));
    *ret = (struct span){p, (size_t)((stop ? stop : end) - p)};
    return true;
}

/* What Python's float() takes, but for its words for what is not finite: they
 * are no throughput. */
static bool gpu_task_log_read_float(struct span w, double *ret)
{
    const char *p = w.p, *end = w.p + w.len;
    double f;

    while (p < end && isspace((unsigned char)*p))
        p++;
    while (end > p && isspace((unsigned char)end[-1]))
        end--;
    if (p == end ||
        pr_decimal_length(p, (size_t)(end - p)) != (size_t)(end - p))
        return false;
    f = pr_decimal_read(p, (size_t)(end - p));
    if (!isfinite(f))
        return false;
    *ret = f;
    return true;
}

/* ---- rules */

static bool gpu_task_log_read_line(const struct pr_gpu_task_rule *rule,
                                   struct span line, double *ret)
{
    struct span w;

    if (!find_word(line, rule->word, &w))
        return false;
    if (rule->per_step && w.len && *w.p == '(')
        w = (struct span){w.p + 1, w.len - 1};
    return gpu_task_log_read_float(w, ret);
}

bool pr_gpu_task_log_find(const struct pr_gpu_task_rule *rule, const char *text,
                          size_t len, bool is_end, double *ret)
{
    const char *p = text, *end = text + len, *at;
    bool found = false;

    while (rule->text && p < end &&
           (at = memmem(p, (size_t)(end - p), rule->text, rule->len))) {
        bool cut;
        struct span line = line_at(text, len, at, &cut);

        if (!(cut && is_end))
            found |= gpu_task_log_read_line(rule, line, ret);
        p = line.p + line.len;
    }
    return found;
}

void pr_gpu_task_para_read(const char *text, size_t len,
                           struct pr_gpu_task_para *ret)
{
    static const struct pr_gpu_task_rule batch = {"GLOBAL_BATCH ", 13, 1,
                                                  false};
    static const struct pr_gpu_task_rule gpus = {"GPU ", 4, 1, false};
    double f;

    *ret = (struct pr_gpu_task_para){.there = true};
    if (pr_gpu_task_log_find(&batch, text, len, false, &f) && fabs(f) < 1e15) {
        ret->has_batch = true;
        ret->batch = (int64_t)f;
    }
    if (pr_gpu_task_log_find(&gpus, text, len, false, &f) && fabs(f) < 1e15) {
        ret->has_gpus = true;
        ret->gpus = (int64_t)f;
    }
}

/* ---- a whole log */

const char *pr_gpu_task_end_words(enum pr_gpu_task_end end)
{
    static const char *const words[] = {
        [PR_GPU_TASK_OK] = "ok",
        [PR_GPU_TASK_EMPTY] = "the log is empty",
        [PR_GPU_TASK_OOM] = "out of memory",
        [PR_GPU_TASK_ERROR] = "an error",
        [PR_GPU_TASK_TRUNCATED] = "the log stops",
        [PR_GPU_TASK_NO_FIGURE] = "no figure in the log",
        [PR_GPU_TASK_UNREADABLE] = "the log cannot be read",
    };

    return words[end];
}

/* By the rule of one age; 0: it finds nothing that counts. */
static double gpu_task_log_find_measure(const struct pr_gpu_task *task,
                                        enum pr_gpu_task_age age,
                                        struct span log,
                                        const struct pr_gpu_task_para *para)
{
    const struct pr_gpu_task_rule *rule = &task->rules[age];
    double f;

    if (!pr_gpu_task_log_find(rule, log.p, log.len, false, &f) || f <= 0)
        return 0;
    if (!rule->per_step)
        return f;
    return para->has_batch && para->batch > 0 ? (double)para->batch / f : 0;
}

static double gpu_task_log_find_any(const struct pr_gpu_task *task,
                                    struct span log,
                                    const struct pr_gpu_task_para *para)
{
    static const enum pr_gpu_task_age newest[] = {
        PR_GPU_TASK_NEW, PR_GPU_TASK_MID, PR_GPU_TASK_OLD};
    static const enum pr_gpu_task_age oldest[] = {
        PR_GPU_TASK_MID, PR_GPU_TASK_OLD, PR_GPU_TASK_NEW};
    const enum pr_gpu_task_age *order =
        task->by_para && !para->there ? oldest : newest;

    for (int i = 0; i < PR_GPU_TASK_AGES; i++) {
        double f = gpu_task_log_find_measure(task, order[i], log, para);
        if (f > 0)
            return f;
    }
    return 0;
}

enum { MAX_BAR = 400 };

/* "… | 35/35 [00:13<": the 35 before the stroke; -1: it is no such bar. */
static int64_t bar_place(const char *p, const char *end)
{
    const char *from = NULL;
    int64_t n = 0;

    for (; p < end && *p != '[' && !is_end_of_line(*p); p++)
        if (*p == '|')
            from = p + 1;
    if (!from || p == end || *p != '[')
        return -1;
    while (*from == ' ')
        from++;
    if (!isdigit((unsigned char)*from))
        return -1;
    for (; isdigit((unsigned char)*from) && n < 1000000000; from++)
        n = n * 10 + (*from - '0');
    return *from == '/' ? n : -1;
}

/* Steps that the bars went through; a bar that falls back is a new epoch. */
static uint64_t count_steps(const char *bar, struct span log)
{
    const char *p = log.p, *end = log.p + log.len;
    int64_t all = 0, last = 0;

    while (p < end && (p = memmem(p, (size_t)(end - p), bar, strlen(bar)))) {
        const char *stop = end - p > MAX_BAR ? p + MAX_BAR : end;
        int64_t n = bar_place(p, stop);

        if (n >= 0 && n < last)
            all += last;
        last = n >= 0 ? n : last;
        p += strlen(bar);
    }
    return (uint64_t)(all + last);
}

/* The number that follows the last such text. */
static bool number_after(struct span log, const char *text, double *ret)
{
    const char *p = log.p, *end = log.p + log.len, *last = NULL;
    struct span word;

    while (p < end && (p = memmem(p, (size_t)(end - p), text, strlen(text))))
        last = p += strlen(text);
    while (last && last < end && *last == ' ')
        last++;
    if (!last || last == end ||
        !find_word((struct span){last, (size_t)(end - last)}, 0, &word))
        return false;
    return gpu_task_log_read_float(word, ret) && *ret > 0;
}

static void gpu_task_log_correct_steps(const struct pr_gpu_task *task,
                                       struct span log,
                                       const struct pr_gpu_task_para *para,
                                       struct pr_gpu_task_reading *r)
{
    double seconds;

    r->value = r->printed;
    if (!task->steps_bar || r->printed <= 0)
        return;
    r->steps = count_steps(task->steps_bar, log);
    if (r->steps && para->has_batch && para->batch > 0 &&
        number_after(log, task->steps_seconds, &seconds))
        r->value = (double)r->steps * (double)para->batch / seconds;
}

static void gpu_task_log_copy_words(struct span line,
                                    struct pr_gpu_task_reading *r)
{
    size_t n = line.len < sizeof r->words ? line.len : sizeof r->words - 1;

    memcpy(r->words, line.p, n);
    r->words[n] = '\0';
}

/* The last line that says so; one that repeats the command does not. */
static bool gpu_task_log_has_text(struct span log, const char *text,
                                  struct pr_gpu_task_reading *r)
{
    const char *p = log.p, *end = log.p + log.len;
    bool found = false;

    while (p < end && (p = memmem(p, (size_t)(end - p), text, strlen(text)))) {
        bool cut;
        struct span line = line_at(log.p, log.len, p, &cut);

        gpu_task_log_copy_words(line, r);
        found = true;
        p = line.p + line.len;
    }
    return found;
}

static bool gpu_task_log_is_blank(struct span log)
{
    for (size_t i = 0; i < log.len; i++)
        if (!isspace((unsigned char)log.p[i]))
            return false;
    return true;
}

static enum pr_gpu_task_end
gpu_task_log_judge_end(struct span log, bool done,
                       struct pr_gpu_task_reading *r)
{
    static const char *const oom[] = {"out of memory", "OutOfMemoryError",
                                      "CUDNN_STATUS_ALLOC_FAILED"};
    static const char *const errors[] = {"RuntimeError", "SIGABRT",
                                         "Error: ",      "Error:",
                                         "No such file", "Traceback"};

    if (gpu_task_log_is_blank(log))
        return PR_GPU_TASK_EMPTY;
    for (size_t i = 0; i < sizeof oom / sizeof *oom; i++)
        if (gpu_task_log_has_text(log, oom[i], r))
            return PR_GPU_TASK_OOM;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (gpu_task_log_has_text(log, errors[i], r))
            return PR_GPU_TASK_ERROR;
    return done ? PR_GPU_TASK_NO_FIGURE : PR_GPU_TASK_TRUNCATED;
}

/* Whether the last line that is not blank says DONE!. */
static bool is_done(struct span log)
{
    bool cut;
    struct span line;

    while (log.len && isspace((unsigned char)log.p[log.len - 1]))
        log.len--;
    line = line_at(log.p, log.len, log.p + log.len, &cut);
    return log.len && memmem(line.p, line.len, "DONE!", 5);
}

void pr_gpu_task_log_read(const struct pr_gpu_task *task, const char *text,
                          size_t len, const struct pr_gpu_task_para *para,
                          struct pr_gpu_task_reading *ret)
{
    struct span log = {text, len};

    *ret = (struct pr_gpu_task_reading){.done = is_done(log)};
    ret->printed = gpu_task_log_find_any(task, log, para);
    gpu_task_log_correct_steps(task, log, para, ret);
    if (ret->printed <= 0)
        ret->end = gpu_task_log_judge_end(log, ret->done, ret);
}
