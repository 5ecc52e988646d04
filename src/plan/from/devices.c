/* Reading --devices, and counting what is there. */
#include "plan/from/devices.h"

#include "machine/nvml.h"

#include <stdlib.h>
#include <string.h>

static int devices_fail(const char *text, struct pr_err *err)
{
    pr_fail(err, PR_E_USAGE, "", "--devices: '%.100s' is not a list of devices",
            text);
    return pr_hint(err, "auto, how many (4), or which: 0,2 or 0-3; at most %d",
                   PR_DEVICES_MAX);
}

/* A whole number, and where it ends; false: there is none. */
static bool devices_parse_number(const char **p, int64_t *ret)
{
    char *end;

    if (**p < '0' || **p > '9')
        return false;
    *ret = strtol(*p, &end, 10);
    *p = end;
    return *ret <= 1000000;
}

static bool devices_add(struct pr_plan_scope *s, int64_t device)
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
static bool devices_parse_part(struct pr_plan_scope *s, const char **p)
{
    int64_t from, to;

    if (!devices_parse_number(p, &from))
        return false;
    to = from;
    if (**p == '-') {
        (*p)++;
        if (!devices_parse_number(p, &to) || to < from)
            return false;
    }
    for (; from <= to; from++)
        if (!devices_add(s, from))
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

int pr_devices_set(struct pr_plan_scope *s, const char *text,
                   struct pr_err *err)
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
    if (is_auto || (devices_parse_number(&p, &n) && !*p)) {
        if (n < 1 || n > PR_DEVICES_MAX)
            return devices_fail(text, err);
        for (int64_t i = 0; i < n; i++)
            (void)devices_add(s, i);
        return PR_OK;
    }
    for (p = text; *p;)
        if (!devices_parse_part(s, &p))
            return devices_fail(text, err);
    return s->device_count ? PR_OK : devices_fail(text, err);
}
