/*
 * Overrides: no argument may crash or leak; the name of an accepted one obeys
 * the rules, and a value that is written back in quotes is the same text.
 */
#include "conf/option/override.h"

#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Any text can be said in single quotes. */
static void quote_again(struct pr_arena *a, const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf arg = PR_BUF_INIT((size_t)1 << 24);
    struct pr_override o;
    size_t slashes = 0;

    pr_buf_str(&arg, "x='");
    for (uint32_t i = 0; i <= v->len; i++) {
        bool quote = i == v->len || v->s[i] == '\'';
        for (; quote && slashes; slashes--)
            pr_buf_char(&arg, '\\');
        if (i == v->len)
            break;
        if (quote)
            pr_buf_char(&arg, '\\');
        pr_buf_char(&arg, v->s[i]);
        slashes = v->s[i] == '\\' ? slashes + 1 : 0;
    }
    pr_buf_char(&arg, '\'');
    must(pr_buf_ok(&arg));
    must(pr_override_read(arg.data, a, &o, NULL) == PR_OK);
    must(pr_value_equal(&o.value, v));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_override o;
    struct pr_err err = {0};
    char *arg = malloc(bytes + 1);
    int rc;

    must(a && arg);
    memcpy(arg, data, bytes);
    arg[bytes] = '\0';
    (void)pr_override_is_likely(arg);
    rc = pr_override_read(arg, a, &o, &err);
    must(rc == err.code);
    if (rc) {
        must(rc == PR_E_USAGE && err.msg[0]);
    } else {
        must(o.name[0] && !strstr(o.name, "..") && !strchr(o.name, '='));
        if (o.value.kind == PR_STR)
            quote_again(a, &o.value);
    }
    free(arg);
    return 0;
}
