/*
 * Shell configs: whatever is read, words have no zero bytes and lines that are
 * in the text; what is refused says where.
 */
#include "conf/read/shell_config.h"

#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_shell_config c;
    struct pr_err err = {0};
    unsigned lines = 1;
    char *text = malloc(bytes ? bytes : 1); /* no NUL after it */

    must(text != NULL);
    if (bytes)
        memcpy(text, data, bytes);
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    if (pr_shell_config_parse(text, bytes, "/nowhere/f.sh", NULL, a, &c,
                              &err)) {
        must(*err.msg && *err.where);
        free(text);
        return 0;
    }
    free(text); /* nothing refers to it */
    for (size_t i = 0; i < c.count; i++) {
        must(*c.vars[i].name && c.vars[i].line >= 1 && c.vars[i].line <= lines);
        for (size_t k = 0; k < c.vars[i].count; k++) {
            const struct pr_shell_word *w = &c.vars[i].words[k];
            must(strlen(w->text) <= bytes * bytes + 1);
            must(w->line >= 1 && w->line <= lines);
            must(!w->key == (c.vars[i].kind != PR_SHELL_MAP));
        }
    }
    return 0;
}
