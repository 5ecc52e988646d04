/*
 * Hydra's overrides: what to do with which name. The value after the '=' is
 * read by override_value.c.
 */
#include "conf/option/override.h"

#include "base/text.h"
#include "conf/option/override_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int pr_override_fail(struct pr_err *err, const char *arg, const char *fmt, ...)
{
    enum { SHOWN = 100 };
    char msg[sizeof err->msg];
    size_t shown = strlen(arg);
    va_list ap;

    if (shown > SHOWN) { /* not in the middle of a character */
        for (shown = SHOWN; ((unsigned char)arg[shown] & 0xc0) == 0x80;)
            shown--;
    }
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return pr_fail(err, PR_E_USAGE, "command line", "'%.*s%s': %.240s",
                   (int)shown, arg, arg[shown] ? "..." : "", msg);
}

bool pr_override_is_likely(const char *arg)
{
    size_t name = strcspn(arg, "=/");
    bool path = arg[name] == '/' || arg[0] == '.';

    if (arg[0] == '~' || arg[0] == '+')
        return !path;
    return !path && name > 0 && arg[name] == '=';
}

static bool override_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_char(char c)
{
    return override_is_letter(c) || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
}

static int override_check_name(const char *arg, const char *name, size_t len,
                               struct pr_err *err)
{
    if (!len)
        return pr_override_fail(err, arg, "a name is missing");
    if (memchr(name, '@', len))
        return pr_override_fail(err, arg,
                                "hydra's packages ('@') are not known here");
    if (memchr(name, '/', len))
        return pr_override_fail(err, arg,
                                "hydra's config groups ('/') are not known "
                                "here, but for workload=NAME");
    if (!override_is_letter(name[0]))
        return pr_override_fail(err, arg, "a name starts with a letter");
    for (size_t i = 0; i < len; i++) {
        if (!is_name_char(name[i]))
            return pr_override_fail(err, arg,
                                    "a name has letters, digits, '_', '-' "
                                    "and '.'");
        if (name[i] == '.' && (i + 1 == len || name[i + 1] == '.'))
            return pr_override_fail(err, arg, "a part of the name is missing");
    }
    return PR_OK;
}

static int override_check_utf8(const char *arg, struct pr_err *err)
{
    size_t len = strlen(arg), n;

    for (size_t i = 0; i < len; i += n) {
        n = pr_utf8_len(arg + i, len - i);
        if (!n)
            return pr_fail(err, PR_E_USAGE, "command line",
                           "an argument is not UTF-8 (byte %zu)", i + 1);
    }
    return PR_OK;
}

static enum pr_override_op read_op(const char **p)
{
    if (**p == '~') {
        ++*p;
        return PR_OVERRIDE_DELETE;
    }
    if (**p != '+')
        return PR_OVERRIDE_SET;
    if (*++*p != '+')
        return PR_OVERRIDE_ADD;
    ++*p;
    return PR_OVERRIDE_FORCE;
}

/* "workload." in front says where hydra keeps it; we need no such root. */
static int override_read_name(const char *arg, const char *name, size_t len,
                              struct pr_arena *a, const char **ret_name,
                              struct pr_err *err)
{
    static const char root[] = "workload.";
    size_t n = sizeof root - 1;
    int rc = override_check_name(arg, name, len, err);

    if (rc == PR_OK && len > n && memcmp(name, root, n) == 0) {
        name += n;
        len -= n;
        rc = override_check_name(arg, name, len, err);
    }
    if (rc)
        return rc;
    *ret_name = pr_arena_copy(a, name, len);
    return *ret_name ? PR_OK : pr_fail_nomem(err);
}

int pr_override_read(const char *arg, struct pr_arena *a,
                     struct pr_override *ret, struct pr_err *err)
{
    const char *p = arg;
    struct pr_override o = {.op = read_op(&p)};
    size_t len = strcspn(p, "=");
    int rc = override_check_utf8(arg, err);

    if (rc == PR_OK)
        rc = override_read_name(arg, p, len, a, &o.name, err);
    if (rc)
        return rc;
    if (p[len] == '=')
        rc = pr_override_read_value(p + len + 1, arg, o.name, a, &o.value, err);
    else if (o.op != PR_OVERRIDE_DELETE)
        rc = pr_override_fail(err, arg, "a '=' and a value are missing");
    if (rc)
        return rc;
    *ret = o;
    return PR_OK;
}
