/* What the command line says of parameters: -P, -V, -E, --set-file, hydra. */
#include "base/file.h"
#include "base/json/json.h"
#include "conf/option/alias.h"
#include "conf/option/override.h"
#include "conf/read/literal.h"
#include "plan/plan.h"

#include <string.h>

enum { MAX_VALUE_FILE = 16 << 20 };

struct assignment {
    const char *name, *value, *origin;
    size_t name_len, value_len;
};

/* Cuts blanks off both ends. */
static void assign_trim_blanks(const char **s, size_t *len)
{
    while (*len && strchr(" \t\r\n", (*s)[*len - 1]))
        --*len;
    while (*len && strchr(" \t\r\n", **s)) {
        ++*s;
        --*len;
    }
}

/* name=value, at the first '='. option is "-P" or the like. */
static int assign_split(struct pr_plan *p, const char *option, const char *text,
                        struct assignment *ret, struct pr_err *err)
{
    const char *equals = strchr(text, '=');

    if (equals) {
        ret->name = text;
        ret->name_len = (size_t)(equals - text);
        ret->value = equals + 1;
        ret->value_len = strlen(equals + 1);
        assign_trim_blanks(&ret->name, &ret->name_len);
        assign_trim_blanks(&ret->value, &ret->value_len);
    }
    if (!equals || !ret->name_len || !ret->value_len) {
        pr_fail(err, PR_E_USAGE, option, "expected name=value, got '%s'", text);
        return pr_hint(err,
                       "for example %s exp.num_batches=100; for empty "
                       "text write %s name='\"\"'",
                       option, option);
    }
    ret->origin = pr_arena_printf(p->scope.arena, "%s %.*s", option,
                                  (int)ret->name_len, ret->name);
    if (!ret->origin)
        return pr_fail_nomem(err);
    return PR_OK;
}

static int assign_read_json(struct pr_plan *p, const char *text, size_t len,
                            const char *name, struct pr_value *ret,
                            struct pr_err *err)
{
    const char *copy = pr_arena_copy(p->scope.arena, text, len);
    struct pr_json_in in = {.text = copy, .len = len, .name = name};

    if (!copy)
        return pr_fail_nomem(err);
    return pr_json_read(&in, p->scope.arena, ret, NULL, err);
}

/* Whether text stays text depends on the parameter. NULL: out of memory. */
static const char *todays_name(struct pr_plan *p, const char *name, size_t len)
{
    struct pr_alias_found found;

    if (pr_alias_find(name, len, &found) && found.row && !found.below)
        return pr_arena_str(p->scope.arena, found.name);
    return pr_arena_copy(p->scope.arena, name, len);
}

/* A value that is not JSON is taken as text; a warning when it looks like a
 * slip. */
static int assign_read_value(struct pr_plan *p, const struct assignment *as,
                             struct pr_value *ret, struct pr_err *err)
{
    const char *name = todays_name(p, as->name, as->name_len);
    struct pr_err slip;
    int rc = name ? pr_literal_read(name, as->value, as->value_len,
                                    p->scope.arena, ret, &slip, err)
                  : pr_fail_nomem(err);

    if (rc || !slip.code)
        return rc;
    if (!pr_warn(&p->scope.warnings, as->origin,
                 "quote text and lists for the shell: -P name='\"text\"', "
                 "-V name='[1, 2]'",
                 "%s; taken as the text '%.60s'", slip.msg, ret->s))
        return pr_fail_nomem(err);
    return PR_OK;
}

static int push_op(struct pr_plan *p, enum pr_override_op op,
                   struct pr_err *err)
{
    uint8_t *ops = pr_arena_grow(p->scope.arena, p->cli_ops, p->cli_op_count,
                                 &p->cli_op_cap, 1);

    if (!ops)
        return pr_fail_nomem(err);
    p->cli_ops = ops;
    ops[p->cli_op_count++] = (uint8_t)op;
    return PR_OK;
}

static int push_param(struct pr_plan *p, enum pr_override_op op,
                      const char *name, size_t len,
                      const struct pr_value *value, const char *origin,
                      struct pr_err *err)
{
    struct pr_origin at = {PR_FROM_COMMAND_LINE, origin, 0, 0};
    int rc = pr_config_part_add_param(&p->scope, &p->cli, name, len, value, &at,
                                      err);

    if (rc || p->cli.params.count == p->cli_op_count)
        return rc; /* or an older name's value said nothing */
    return push_op(p, op, err);
}

int pr_plan_param(struct pr_plan *p, const char *assignment, struct pr_err *err)
{
    struct assignment as;
    struct pr_value v;
    int rc = assign_split(p, "-P", assignment, &as, err);

    if (!rc)
        rc = assign_read_value(p, &as, &v, err);
    if (rc)
        return rc;
    return push_param(p, PR_OVERRIDE_FORCE, as.name, as.name_len, &v, as.origin,
                      err);
}

int pr_plan_param_value(struct pr_plan *p, const char *name,
                        const struct pr_value *value, const char *from,
                        struct pr_err *err)
{
    struct pr_value copy;

    if (!pr_value_copy(p->scope.arena, value, &copy))
        return pr_fail_nomem(err);
    return push_param(p, PR_OVERRIDE_FORCE, name, strlen(name), &copy, from,
                      err);
}

int pr_plan_param_text(struct pr_plan *p, const char *name, const char *text,
                       const char *from, struct pr_err *err)
{
    struct pr_value v = pr_str(text);

    return pr_plan_param_value(p, name, &v, from, err);
}

int pr_plan_param_file(struct pr_plan *p, const char *assignment,
                       struct pr_err *err)
{
    struct assignment as;
    const char *path, *text;
    struct pr_value v;
    size_t len;
    int rc = assign_split(p, "--set-file", assignment, &as, err);

    if (rc)
        return rc;
    path = pr_arena_copy(p->scope.arena, as.value, as.value_len);
    if (!path)
        return pr_fail_nomem(err);
    rc = pr_file_read(path, MAX_VALUE_FILE, p->scope.arena, &text, &len, err);
    if (rc)
        return rc;
    while (len && text[len - 1] == '\n')
        len--;
    v = pr_strn(text, len);
    return push_param(p, PR_OVERRIDE_FORCE, as.name, as.name_len, &v, path,
                      err);
}

/* ++workload.framework=pytorch means the key of a DLIO file; the word alone
 * may be anybody's. */
static bool in_workload(const char *arg)
{
    return strncmp(arg + strspn(arg, "+~"), "workload.", 9) == 0;
}

int pr_plan_override(struct pr_plan *p, const char *arg, struct pr_err *err)
{
    struct pr_override o;
    int rc = pr_override_read(arg, p->scope.arena, &o, err);
    const struct pr_alias *top;
    const char *origin;

    if (rc)
        return rc;
    origin = pr_arena_str(p->scope.arena, arg);
    if (!origin)
        return pr_fail_nomem(err);
    top = in_workload(arg) && o.value.kind != PR_MAP ? pr_alias_top(o.name)
                                                     : NULL;
    if (top)
        o.name = top->now;
    return push_param(p, o.op, o.name, strlen(o.name), &o.value, origin, err);
}

int pr_plan_variable(struct pr_plan *p, const char *assignment,
                     struct pr_err *err)
{
    struct assignment as;
    struct pr_value v;
    int rc = assign_split(p, "-V", assignment, &as, err);

    if (rc)
        return rc;
    rc = assign_read_json(p, as.value, as.value_len, as.origin, &v, err);
    if (rc == PR_E_FORMAT) {
        pr_fail(err, PR_E_USAGE, as.origin,
                "expected a list of values as JSON, got '%.*s'",
                (int)as.value_len, as.value);
        return pr_hint(err, "for example -V %.*s='[1, 2, 4]'", (int)as.name_len,
                       as.name);
    }
    if (rc)
        return rc;
    struct pr_origin at = {PR_FROM_VARIABLE, as.origin, 0, 0};
    return pr_config_part_add_variable(&p->scope, &p->cli_vars, as.name,
                                       as.name_len, &v, &at, err);
}

int pr_plan_extension(struct pr_plan *p, const char *json, struct pr_err *err)
{
    struct pr_origin at = {PR_FROM_EXTENSION, "-E", 0, 0};
    struct pr_value *v = PR_ARENA_NEW(p->scope.arena, struct pr_value);
    int rc;

    if (!v)
        return pr_fail_nomem(err);
    rc = assign_read_json(p, json, strlen(json), "-E", v, err);
    if (rc == PR_E_FORMAT) {
        if (err)
            err->code = PR_E_USAGE;
        pr_hint(err, "for example -E '{\"condition\": {\"exp.model\": "
                     "\"resnet.*\"}, \"parameters\": {\"x\": 1}}'");
        return PR_E_USAGE;
    }
    if (rc)
        return rc;
    return pr_config_part_add_extension(&p->scope, &p->cli_vars, v, &at, err);
}
