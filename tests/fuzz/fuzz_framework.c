/*
 * Files of frameworks: no text may crash, leak or take long. What is accepted
 * has names that a parameter may have, and defaults of their types.
 */
#include "catalog/framework.h"
#include "conf/option/option.h"
#include "conf/option/parameters.h"

#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool is_name(const char *s)
{
    return *s &&
           strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(s);
}

/* FAMILY.name or NAME.name, and only once. */
static void check_param(const struct pr_framework *f, size_t i)
{
    static const char *const types[] = {"bool", "int",  "float",
                                        "str",  "list", "any"};
    const struct pr_framework_param *p = &f->params[i];
    const char *dot = strchr(p->name, '.');
    size_t n = (size_t)(dot - p->name), t = 0;

    must(dot && is_name(dot + 1));
    must((strncmp(p->name, f->name, n) == 0 && !f->name[n]) ||
         (strncmp(p->name, f->family, n) == 0 && !f->family[n]));
    while (t < 6 && strcmp(types[t], p->type) != 0)
        t++;
    must(t < 6);
    if (!pr_is_dynamic(&p->def) && p->def.kind != PR_NULL)
        must(t == 5 || (t == 0 && p->def.kind == PR_BOOL) ||
             (t == 1 && p->def.kind == PR_INT) ||
             (t == 2 && pr_value_is_number(&p->def)) ||
             (t == 3 && p->def.kind == PR_STR) ||
             (t == 4 && p->def.kind == PR_LIST));
    must(p->help && p->line);
    for (size_t k = 0; k < i && k < 50; k++)
        must(strcmp(f->params[k].name, p->name) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_framework *f = NULL;
    struct pr_err err = {0};
    int rc = pr_framework_parse((const char *)data, bytes, "toy", "d/toy.yaml",
                                a, &f, &err);

    must(rc == err.code);
    if (rc) {
        must((rc == PR_E_CONF || rc == PR_E_FORMAT) && err.msg[0] && !f);
        must(strncmp(err.where, "d/toy.yaml", 10) == 0);
        return 0;
    }
    must(strcmp(f->name, "toy") == 0 && is_name(f->family));
    must(f->title && f->desc && f->path);
    must((f->trains || f->infers) && (f->bare || f->contained));
    must((f->kind == PR_FRAMEWORK_PYTHON) == (f->program && f->module));
    for (size_t i = 0; i < f->param_count; i++)
        check_param(f, i);
    return 0;
}
