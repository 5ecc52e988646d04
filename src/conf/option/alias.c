/* Finding today's name for an older one. */
#include "conf/option/alias.h"

#include "conf/option/option.h"

#include <stdio.h>
#include <string.h>

enum { FIRST = true, LATER = false };

static const struct pr_alias rows[] = {
#define ALIAS(form, old, now, since, note) \
    {PR_ALIAS_##form, #old, #now, since, note},
#include "conf/option/aliases.def"
#undef ALIAS
};

enum { ROWS = sizeof rows / sizeof *rows };

const struct pr_alias *pr_alias_at(size_t i)
{
    return i < ROWS ? &rows[i] : NULL;
}

/* Below a section, or the name itself. */
static bool alias_covers_name(const struct pr_alias *a, const char *name)
{
    size_t n = strlen(a->old);

    switch (a->form) {
    case PR_ALIAS_SECTION:
        return strncmp(name, a->old, n) == 0 && name[n] == '.';
    case PR_ALIAS_TOP:
        return false; /* elsewhere such a word is the user's */
    default:          /* train.eval_time.mean is below a name */
        return strncmp(name, a->old, n) == 0 &&
               (name[n] == '\0' || name[n] == '.');
    }
}

/* Puts today's name in place of the older one; false: it does not fit. */
static bool alias_replace_name(const struct pr_alias *a, char name[static 160])
{
    char old[160];
    int n;

    memcpy(old, name, sizeof old);
    n = snprintf(name, 160, "%s%s", a->now, old + strlen(a->old));
    return n > 0 && n < 160;
}

static bool alias_takes_map(const char *name)
{
    const struct pr_opt *opt = pr_opt_find(name, NULL);

    return opt && opt->kind == PR_OPT_ANY && !(opt->flags & PR_OPT_PREFIX);
}

/* "train.computation_time.type": cuts it behind the parameter. */
static const char *cut_below(char *name)
{
    const struct pr_opt_section *section;

    if (pr_opt_find(name, &section) || !section)
        return NULL;
    for (char *dot = strrchr(name, '.'); dot && dot[1];) {
        char *left;

        *dot = '\0';
        if (alias_takes_map(name))
            return dot + 1;
        left = strrchr(name, '.');
        *dot = '.';
        dot = left;
    }
    return NULL;
}

bool pr_alias_find(const char *name, size_t len, struct pr_alias_found *ret)
{
    struct pr_alias_found found = {.row = NULL};

    if (len >= sizeof found.name || memchr(name, '\0', len))
        return false;
    memcpy(found.name, name, len);
    /* Sections stand first: a name is looked up below today's section. */
    for (size_t i = 0; i < ROWS; i++) {
        if (!alias_covers_name(&rows[i], found.name))
            continue;
        if (!alias_replace_name(&rows[i], found.name))
            return false;
        found.row = &rows[i];
        if (rows[i].form != PR_ALIAS_SECTION)
            break;
    }
    *ret = found;
    ret->below = cut_below(ret->name);
    return true;
}

static bool alias_read_truth(const struct pr_value *v, bool *ret)
{
    static const struct pr_opt as_bool = {.kind = PR_OPT_BOOL};
    struct pr_value b;

    if (v->kind != PR_BOOL && v->kind != PR_STR)
        return false; /* a number is a size */
    if (v->kind == PR_STR && (v->s[0] == '0' || v->s[0] == '1'))
        return false;
    if (pr_opt_cast(&as_bool, v, NULL, &b, NULL))
        return false;
    *ret = b.b;
    return true;
}

bool pr_alias_value(const struct pr_alias *row, const struct pr_value *in,
                    struct pr_value *ret)
{
    bool b;

    *ret = *in;
    if (!row || row->form != PR_ALIAS_PREFETCH || !alias_read_truth(in, &b))
        return true;
    *ret = pr_int(0);
    ret->line = in->line;
    ret->col = in->col;
    return !b;
}

const struct pr_alias *pr_alias_top(const char *key)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].form == PR_ALIAS_TOP && strcmp(rows[i].old, key) == 0)
            return &rows[i];
    return NULL;
}

uint32_t pr_alias_find_number(const struct pr_names *names, const char *name,
                              size_t len)
{
    uint32_t number = pr_names_find(names, name, len);
    struct pr_alias_found found;

    if (number != PR_NO_NAME || !pr_alias_find(name, len, &found) || !found.row)
        return number;
    return pr_names_find(names, found.name, strlen(found.name));
}

/* The name with another section in front; false: it is not in that section. */
static bool in_section(const struct pr_alias *a, const char *now,
                       char out[static 160])
{
    size_t n = strlen(a->now);

    return strncmp(now, a->now, n) == 0 && now[n] == '.' &&
           snprintf(out, 160, "%s%s", a->old, now + n) < 160;
}

static bool is_name_of(const struct pr_alias *a, const char *now)
{
    return (a->form == PR_ALIAS_NAME || a->form == PR_ALIAS_PREFETCH) &&
           strcmp(a->now, now) == 0;
}

bool pr_alias_older_name(const char *now, size_t i, char out[static 160])
{
    for (size_t r = 0; r < ROWS; r++)
        if (is_name_of(&rows[r], now) && i-- == 0)
            return snprintf(out, 160, "%s", rows[r].old) < 160;
    for (size_t r = 0; r < ROWS; r++)
        if (rows[r].form == PR_ALIAS_SECTION &&
            in_section(&rows[r], now, out) && i-- == 0)
            return true;
    return false;
}
