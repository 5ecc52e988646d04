/*
 * The modules os, sys and uuid. What they answer depends on where and when
 * they are asked, so using them makes the expression impure.
 */
#include "base/file.h"
#include "conf/expr/expr_call.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

bool pr_expr_getenv(struct pr_expr *x, const struct pr_expr_value *name,
                    struct pr_expr_value *ret, bool *ret_found)
{
    const char *value;
    char *copy;
    size_t len;

    *ret_found = false;
    if (name->kind != EV_STR)
        return pr_expr_fail(x,
                            "the name of an environment variable is text, "
                            "not %s",
                            pr_expr_value_name(name));
    copy = pr_expr_alloc(x, (size_t)name->len + 1);
    if (!copy)
        return false;
    memcpy(copy, name->s, name->len);
    copy[name->len] = '\0';
    value = memchr(name->s, '\0', name->len) ? NULL : getenv(copy);
    if (!value)
        return true;
    len = strlen(value);
    if (len > PR_EXPR_BYTES)
        return pr_expr_fail_too_long(x);
    copy = pr_expr_alloc(x, len + 1);
    if (!copy)
        return false;
    memcpy(copy, value, len + 1);
    *ret = pr_expr_new_str(copy, len);
    *ret_found = true;
    return true;
}

/* os.getenv and os.environ.get: a default instead of an error. */
static bool os_getenv(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    bool found;

    if (!pr_expr_getenv(x, &c->a[0], ret, &found))
        return false;
    if (!found && c->a[1].kind != EV_MISSING)
        *ret = c->a[1];
    else if (!found)
        *ret = (struct pr_expr_value){.kind = EV_NONE};
    return true;
}

static const struct pr_expr_def environ_defs[] = {
    {"get", os_getenv, 1, 2, "key,default"},
};
const struct pr_expr_table pr_expr_environ_methods =
    PR_EXPR_TABLE(environ_defs);

static bool os_getcwd(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    char *cwd = pr_expr_alloc(x, PATH_MAX);

    (void)c;
    if (!cwd)
        return false;
    if (!getcwd(cwd, PATH_MAX))
        return pr_expr_fail(x, "the working directory cannot be found: %s",
                            strerror(errno));
    *ret = pr_expr_new_str(cwd, strlen(cwd));
    return true;
}

static bool os_attr(struct pr_expr *x, const char *name, size_t len,
                    struct pr_expr_value *ret, bool *ret_found)
{
    (void)x;
    *ret_found = true;
    if (pr_expr_is_name(name, len, "path"))
        *ret = (struct pr_expr_value){.kind = EV_MODULE,
                                      .module = &pr_expr_module_os_path};
    else if (pr_expr_is_name(name, len, "environ"))
        *ret = (struct pr_expr_value){.kind = EV_ENVIRON};
    else if (pr_expr_is_name(name, len, "sep"))
        *ret = pr_expr_new_str("/", 1);
    else if (pr_expr_is_name(name, len, "linesep"))
        *ret = pr_expr_new_str("\n", 1);
    else if (pr_expr_is_name(name, len, "pathsep"))
        *ret = pr_expr_new_str(":", 1);
    else
        *ret_found = false;
    return true;
}

static const struct pr_expr_def os_defs[] = {
    {"getenv", os_getenv, 1, 2, "key,default"},
    {"getcwd", os_getcwd, 0, 0, NULL},
};
static const char *const os_attrs[] = {"path", "environ", "sep", "pathsep",
                                       NULL};
static const char *const os_refused[] = {
    "system", "popen",  "listdir", "remove", "mkdir", "makedirs", "stat",
    "walk",   "rename", "kill",    "unlink", "open",  "chdir",    NULL};
const struct pr_expr_module pr_expr_module_os = {
    .name = "os",
    .table = PR_EXPR_TABLE(os_defs),
    .attr = os_attr,
    .attrs = os_attrs,
    .refused = os_refused,
    .refusal = "an expression touches no file and starts no program",
};

static bool sys_attr(struct pr_expr *x, const char *name, size_t len,
                     struct pr_expr_value *ret, bool *ret_found)
{
    char *path;

    if (pr_expr_is_name(name, len, "platform")) {
        *ret = pr_expr_new_str("linux", 5);
        *ret_found = true;
        return true;
    }
    if (!pr_expr_is_name(name, len, "executable"))
        return true;
    path = pr_expr_alloc(x, PATH_MAX);
    if (!path)
        return false;
    if (!pr_which("python3", path) && !pr_which("python", path))
        memcpy(path, "python3", sizeof "python3");
    *ret = pr_expr_new_str(path, strlen(path));
    *ret_found = true;
    return true;
}

static const char *const sys_attrs[] = {"executable", "platform", NULL};
const struct pr_expr_module pr_expr_module_sys = {
    .name = "sys",
    .attr = sys_attr,
    .attrs = sys_attrs,
};

static bool random_bytes(unsigned char *p, size_t len)
{
    while (len) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool uuid_uuid4(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    unsigned char *id = pr_expr_alloc(x, 16);

    (void)c;
    x->pure = false;
    if (!id)
        return false;
    if (!random_bytes(id, 16))
        return pr_expr_fail(x, "no random numbers: %s", strerror(errno));
    id[6] = (unsigned char)((id[6] & 0x0f) | 0x40); /* version 4 */
    id[8] = (unsigned char)((id[8] & 0x3f) | 0x80); /* RFC 4122 */
    *ret = (struct pr_expr_value){.kind = EV_UUID, .uuid = id};
    return true;
}

static const struct pr_expr_def uuid_defs[] = {
    {"uuid4", uuid_uuid4, 0, 0, NULL},
};
const struct pr_expr_module pr_expr_module_uuid = {
    .name = "uuid",
    .table = PR_EXPR_TABLE(uuid_defs),
};

const struct pr_expr_table pr_expr_uuid_methods = {NULL, 0};
