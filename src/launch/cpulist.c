/* Sets of CPUs: lists in and out, and what is done with sets. */
#include "launch/cpulist.h"

#include "base/sysfile.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    WORDS = PR_CPUS_MAX / PR_CPUS_WORD,
    LIST_BYTES = 5 * PR_CPUS_MAX, /* every other CPU of the largest machine */
};

void pr_cpus_set(struct pr_cpus *s, unsigned cpu)
{
    if (cpu < PR_CPUS_MAX)
        s->word[cpu / PR_CPUS_WORD] |= UINT64_C(1) << cpu % PR_CPUS_WORD;
}

bool pr_cpus_has(const struct pr_cpus *s, unsigned cpu)
{
    return cpu < PR_CPUS_MAX &&
           (s->word[cpu / PR_CPUS_WORD] >> cpu % PR_CPUS_WORD & 1);
}

static bool number(const char **at, unsigned *ret)
{
    unsigned v = 0;

    if (!isdigit((unsigned char)**at))
        return false;
    for (; isdigit((unsigned char)**at) && v < PR_CPUS_MAX; (*at)++)
        v = v * 10 + (unsigned)(**at - '0');
    *ret = v;
    return v < PR_CPUS_MAX;
}

/* "3" or "3-5". */
static bool range(const char **at, struct pr_cpus *s)
{
    unsigned from, to;

    if (!number(at, &from))
        return false;
    to = from;
    if (**at == '-') {
        (*at)++;
        if (!number(at, &to) || to < from)
            return false;
    }
    for (; from <= to; from++)
        pr_cpus_set(s, from);
    return true;
}

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

bool pr_cpus_parse(const char *text, struct pr_cpus *ret)
{
    struct pr_cpus s = {0};
    const char *at = skip_blanks(text);

    while (*at) {
        if (!range(&at, &s))
            return false;
        if (*at != ',')
            break;
        at++;
        if (!isdigit((unsigned char)*at))
            return false;
    }
    if (*skip_blanks(at))
        return false;
    *ret = s;
    return true;
}

bool pr_cpus_read(struct pr_cpus *ret, const char *fmt, ...)
{
    char text[LIST_BYTES];
    va_list ap;
    bool found;

    va_start(ap, fmt);
    found = pr_sysfile_vread(text, sizeof text, fmt, ap);
    va_end(ap);
    return found && pr_cpus_parse(text, ret);
}

bool pr_cpus_print(const struct pr_cpus *s, char *out, size_t bytes)
{
    size_t len = 0;

    if (bytes)
        out[0] = '\0';
    for (unsigned i = 0; i < PR_CPUS_MAX; i++) {
        unsigned from = i;
        int n;

        if (!pr_cpus_has(s, i))
            continue;
        while (pr_cpus_has(s, i + 1))
            i++;
        n = snprintf(out + len, bytes - len, i > from ? "%s%u-%u" : "%s%u",
                     len ? "," : "", from, i);
        if (n < 0 || (size_t)n >= bytes - len)
            return false;
        len += (size_t)n;
    }
    return bytes > 0;
}

unsigned pr_cpus_count(const struct pr_cpus *s)
{
    unsigned n = 0;

    for (size_t i = 0; i < WORDS; i++)
        n += (unsigned)__builtin_popcountll(s->word[i]);
    return n;
}

int pr_cpus_first(const struct pr_cpus *s)
{
    for (size_t i = 0; i < WORDS; i++)
        if (s->word[i])
            return (int)(i * PR_CPUS_WORD) + __builtin_ctzll(s->word[i]);
    return -1;
}

void pr_cpus_join(struct pr_cpus *s, const struct pr_cpus *more)
{
    for (size_t i = 0; i < WORDS; i++)
        s->word[i] |= more->word[i];
}

void pr_cpus_keep(struct pr_cpus *s, const struct pr_cpus *only)
{
    for (size_t i = 0; i < WORDS; i++)
        s->word[i] &= only->word[i];
}

void pr_cpus_drop(struct pr_cpus *s, const struct pr_cpus *out)
{
    for (size_t i = 0; i < WORDS; i++)
        s->word[i] &= ~out->word[i];
}

bool pr_cpus_meet(const struct pr_cpus *a, const struct pr_cpus *b)
{
    for (size_t i = 0; i < WORDS; i++)
        if (a->word[i] & b->word[i])
            return true;
    return false;
}
