/* Events to lines and back, and the words for how experiments end. */
#include "record/event.h"

#include "base/clock.h"
#include "base/json/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- status words */

static const char *const status_words[] = {
#define X(name, word) word,
    PR_STATUSES(X)
#undef X
};

const char *pr_status_word(enum pr_status s)
{
    return s < PR_STATUS_COUNT ? status_words[s] : "unknown";
}

enum pr_status pr_status_from_word(const char *word)
{
    int s = 0;

    while (s < PR_STATUS_COUNT && strcmp(status_words[s], word) != 0)
        s++;
    return (enum pr_status)s;
}

bool pr_status_is_failure(enum pr_status s)
{
    return s == PR_STATUS_FAILED || s == PR_STATUS_TIMEOUT ||
           s == PR_STATUS_OOM;
}

/* ---- events */

static const char *const words[] = {
#define X(name, word) word,
    PR_EVENTS(X)
#undef X
};

static bool event_is_of_experiment(enum pr_event_kind kind)
{
    return kind == PR_EVENT_EXPERIMENT_START ||
           kind == PR_EVENT_EXPERIMENT_RETRY || kind == PR_EVENT_EXPERIMENT_END;
}

static void put_end(const struct pr_event *e, struct pr_buf *out)
{
    pr_buf_printf(out, ", \"status\": \"%s\", \"elapsed_s\": ",
                  pr_status_word(e->status));
    pr_float_write_repr(out, round(e->elapsed_s * 1e6) / 1e6);
}

void pr_event_write(const struct pr_event *e, struct pr_buf *out)
{
    char time[32];

    pr_buf_printf(out, "{\"time\": \"%s\", \"event\": \"%s\"",
                  pr_time_text(time, e->time_ns), words[e->kind]);
    if (e->id) {
        pr_buf_str(out, ", \"id\": ");
        pr_json_write_string(out, e->id, strlen(e->id));
    }
    if (event_is_of_experiment(e->kind))
        pr_buf_printf(out, ", \"attempt\": %u", e->attempt);
    if (event_is_of_experiment(e->kind) && e->kind != PR_EVENT_EXPERIMENT_START)
        put_end(e, out);
    if (e->reason && *e->reason) {
        pr_buf_str(out, ", \"reason\": ");
        pr_json_write_string(out, e->reason, strlen(e->reason));
    }
    if (e->mark)
        pr_buf_printf(out, ", \"mark\": %u", (unsigned)e->mark);
    if (e->group && *e->group) {
        pr_buf_str(out, ", \"group\": ");
        pr_json_write_string(out, e->group, strlen(e->group));
    }
    pr_buf_printf(out, ", \"done\": %llu, \"total\": %llu, \"failed\": %llu}\n",
                  (unsigned long long)e->done, (unsigned long long)e->total,
                  (unsigned long long)e->failed);
}

static uint64_t event_read_uint(const struct pr_value *map, const char *key)
{
    const struct pr_value *v = pr_get(map, key);

    return v && v->kind == PR_INT && v->i >= 0 ? (uint64_t)v->i : 0;
}

static uint64_t parse_time(const char *s)
{
    struct tm t = {0};
    unsigned micros = 0;
    time_t seconds;

    if (!s || sscanf(s, "%4d-%2d-%2dT%2d:%2d:%2d.%6uZ", &t.tm_year, &t.tm_mon,
                     &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec, &micros) < 6)
        return 0;
    if (t.tm_year < 1970 || t.tm_year > 9999)
        return 0;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    seconds = timegm(&t);
    return seconds < 0 ? 0 : (uint64_t)seconds * 1000000000u + micros * 1000u;
}

static enum pr_event_kind event_find_kind(const char *word)
{
    int k = 0;

    while (k < PR_EVENT_COUNT && strcmp(words[k], word) != 0)
        k++;
    return (enum pr_event_kind)k;
}

int pr_event_read(const char *line, size_t len, struct pr_arena *a,
                  struct pr_event *ret, struct pr_err *err)
{
    struct pr_json_in in = {.text = line, .len = len, .name = "events.ndjson"};
    const char *word, *status;
    const struct pr_value *elapsed;
    struct pr_value v;
    struct pr_event e = {0};
    int rc = pr_json_read(&in, a, &v, NULL, err);

    if (rc)
        return rc;
    word = pr_text_at(&v, "event", NULL);
    if (!word)
        return pr_fail(err, PR_E_FORMAT, "events.ndjson",
                       "a line without an \"event\"");
    e.kind = event_find_kind(word);
    if (e.kind == PR_EVENT_COUNT)
        return 0;
    status = pr_text_at(&v, "status", NULL);
    elapsed = pr_get(&v, "elapsed_s");
    e.time_ns = parse_time(pr_text_at(&v, "time", NULL));
    e.id = pr_text_at(&v, "id", NULL);
    e.reason = pr_text_at(&v, "reason", NULL);
    e.status = status ? pr_status_from_word(status) : PR_STATUS_OK;
    if (elapsed && pr_value_is_number(elapsed) &&
        isfinite(pr_value_number(elapsed)))
        e.elapsed_s = pr_value_number(elapsed);
    e.attempt = (unsigned)event_read_uint(&v, "attempt");
    e.done = event_read_uint(&v, "done");
    e.total = event_read_uint(&v, "total");
    e.failed = event_read_uint(&v, "failed");
    e.mark = (uint32_t)event_read_uint(&v, "mark");
    e.group = pr_text_at(&v, "group", NULL);
    *ret = e;
    return 1;
}
