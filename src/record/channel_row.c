/* What the members of a line mean. */
#include "record/channel_row.h"

#include <string.h>

static const struct pr_value *channel_row_get_text(const struct pr_value *map,
                                                   const char *key)
{
    const struct pr_value *v = pr_get(map, key);

    return v && v->kind == PR_STR ? v : NULL;
}

/* A child of milabench writes {"$event": "phase", "$data": {…}} for all that
 * is not data; its own files have {"event": "data", "data": {…}}. */
static const struct pr_value *channel_row_unwrap(const struct pr_value *line,
                                                 const char **ret_event)
{
    const struct pr_value *inner = channel_row_get_text(line, "$event");

    if (inner) {
        *ret_event = inner->s;
        return pr_get(line, "$data");
    }
    inner = pr_get(line, "data");
    if (!channel_row_get_text(line, "event") || !inner)
        return line;
    *ret_event = channel_row_get_text(line, "event")->s;
    return inner;
}

static bool is_about_machine(const struct pr_value *data)
{
    static const char *const names[] = {"gpudata", "cpudata", "iodata",
                                        "netdata", "process"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct pr_value *v = pr_get(data, names[i]);

        if (v && v->kind == PR_MAP)
            return true;
    }
    return false;
}

static bool is_progress(const struct pr_value *v)
{
    if (v && v->kind == PR_LIST)
        return v->len == 2 && pr_value_is_number(&v->items[0]) &&
               pr_value_is_number(&v->items[1]);
    return v && pr_value_is_number(v);
}

struct pr_channel_row pr_channel_row_read(const struct pr_value *line)
{
    struct pr_channel_row row = {0};
    const struct pr_value *data = channel_row_unwrap(line, &row.event);

    if (row.event && strcmp(row.event, "data") == 0)
        row.event = NULL;
    if (!data || data->kind != PR_MAP)
        return row;
    row.data = data;
    row.machine = is_about_machine(data);
    row.task = channel_row_get_text(data, "task");
    row.units = channel_row_get_text(data, "units");
    row.text = channel_row_get_text(data, "text");
    row.rate = pr_get(data, "rate");
    if (row.rate && !pr_value_is_number(row.rate))
        row.rate = NULL;
    row.progress = pr_get(data, "progress");
    if (!is_progress(row.progress))
        row.progress = NULL;
    row.stamped = row.task || row.rate || row.progress;
    return row;
}

bool pr_channel_row_owns(const struct pr_channel_row *row, const char *key)
{
    return (row->task && strcmp(key, "task") == 0) ||
           (row->units && strcmp(key, "units") == 0) ||
           (row->rate && strcmp(key, "rate") == 0) ||
           (row->progress && strcmp(key, "progress") == 0) ||
           (row->progress && row->text && strcmp(key, "text") == 0) ||
           (row->stamped && strcmp(key, "time") == 0);
}
