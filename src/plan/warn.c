/* A list of warnings in an arena. */
#include "plan/warn.h"

#include <stdarg.h>
#include <stdio.h>

bool pr_warn(struct pr_warnings *w, const char *where, const char *remedy,
             const char *fmt, ...)
{
    struct pr_warning *new = PR_ARENA_NEW(w->arena, struct pr_warning);
    char text[512];
    va_list ap;

    if (!new)
        return false;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    new->where = pr_arena_str(w->arena, where ? where : "");
    new->text = pr_arena_str(w->arena, text);
    new->remedy = pr_arena_str(w->arena, remedy ? remedy : "");
    if (!new->where || !new->text || !new->remedy)
        return false;
    if (w->last)
        w->last->next = new;
    else
        w->first = new;
    w->last = new;
    return true;
}
