/* Saying how far a workload is. */
#include "job/progress.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EVERY_NS = 500000000, MAX_BYTES = 4096 };

static const char file_name[] = "progress.json";

void pr_progress_init(struct pr_progress *p, const char *dir,
                      struct pr_clock *clock)
{
    p->clock = clock;
    snprintf(p->path, sizeof p->path, "%s/%s", dir, file_name);
    p->next_ns = pr_now(p->clock) + EVERY_NS;
    pr_progress_start(p);
}

void pr_progress_start(struct pr_progress *p)
{
    p->since_ns = pr_now(p->clock);
}

bool pr_progress_is_due(const struct pr_progress *p)
{
    return pr_now(p->clock) >= p->next_ns;
}

void pr_progress_write(struct pr_progress *p, double done, const char *fmt, ...)
{
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(1024);
    char text[256];
    va_list ap;

    if (done > 1) /* more came than was counted on */
        done = 1;
    p->done = done;
    if (!pr_progress_is_due(p))
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pr_buf_str(&json, "{\"text\": ");
    pr_json_write_string(&json, text, strlen(text));
    pr_buf_printf(&json, ", \"done\": %.4f", done);
    if (done > 0)
        pr_buf_printf(&json, ", \"left_s\": %.1f",
                      (double)(pr_now(p->clock) - p->since_ns) / 1e9 *
                          (1 - done) / done);
    pr_buf_str(&json, "}\n");
    if (pr_buf_ok(&json))
        (void)!pr_file_write_later(p->path, json.data, json.len, NULL);
    p->next_ns = pr_now(p->clock) + EVERY_NS;
}

void pr_progress_end(struct pr_progress *p)
{
    (void)unlink(p->path);
}

bool pr_progress_read(const char *dir, char out[static 320])
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(MAX_BYTES);
    const char *text;
    struct pr_json_in in = {.name = file_name};
    struct pr_value v;
    char path[4096], time[24];
    double left_s;

    snprintf(path, sizeof path, "%s/%s", dir, file_name);
    if (!a || pr_file_read(path, MAX_BYTES, a, &in.text, &in.len, NULL) ||
        pr_json_read(&in, a, &v, NULL, NULL))
        return false;
    text = pr_text_at(&v, "text", NULL);
    left_s = pr_number_at(&v, "left_s", 0);
    if (!text)
        return false;
    if (left_s > 0)
        snprintf(out, 320, "%s, %s left", text,
                 pr_format_seconds(time, left_s));
    else
        snprintf(out, 320, "%s", text);
    return true;
}
