/* Reading --devices, and counting what is there. */
#include "plan/devices.h"

#include "base/nvml.h"

#include <stdlib.h>
#include <string.h>

static int bad(const char *text, struct pr_err *err)
{
    pr_fail(err, PR_E_USAGE, "", "--devices: '%.100s' is not a list of devices",
            text);
    return pr_hint(err, "auto, how many (4), or which: 0,2 or 0-3; at most %d",
                   PR_DEVICES_MAX);
}

/* A whole number, and where it ends; false: there is none. */
static bool number(const char **p, int64_t *ret)
{
    char *end;

    if (**p < '0' || **p > '9')
        return false;
    *ret = strtol(*p, &end, 10);
    *p = end;
    return *ret <= 1000000;
}

static bool push(struct pr_scope *s, int64_t device)
{
    for (size_t i = 0; i < s->device_count; i++)
        if (s->devices[i] == device)
            return false;
    if (s->device_count == PR_DEVICES_MAX)
        return false;
    s->devices[s->device_count++] = device;
    return true;
}

/* "A" or "A-B", with the comma after it. */
static bool take_part(struct pr_scope *s, const char **p)
{
    int64_t from, to;

    if (!number(p, &from))
        return false;
    to = from;
    if (**p == '-') {
        (*p)++;
        if (!number(p, &to) || to < from)
            return false;
    }
    for (; from <= to; from++)
        if (!push(s, from))
            return false;
    if (**p == ',')
        (*p)++;
    else if (**p)
        return false;
    return true;
}

static int64_t count_here(void)
{
    struct pr_nvml *n = pr_nvml_open(NULL);
    unsigned count = n ? pr_nvml_count(n) : 0;

    pr_nvml_close(n);
    return count ? count : 1;
}

int pr_devices_set(struct pr_scope *s, const char *text, struct pr_err *err)
{
    bool is_auto = strcmp(text, "auto") == 0;
    const char *p = text;
    int64_t n = 0;

    s->devices = PR_ARENA_ARRAY(s->arena, int64_t, PR_DEVICES_MAX);
    s->device_count = 0;
    if (!s->devices)
        return pr_fail_nomem(err);
    if (is_auto)
        n = count_here();
    if (is_auto || (number(&p, &n) && !*p)) {
        if (n < 1 || n > PR_DEVICES_MAX)
            return bad(text, err);
        for (int64_t i = 0; i < n; i++)
            (void)push(s, i);
        return PR_OK;
    }
    for (p = text; *p;)
        if (!take_part(s, &p))
            return bad(text, err);
    return s->device_count ? PR_OK : bad(text, err);
}
