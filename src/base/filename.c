/* What may be the name of a file. */
#include "base/filename.h"

#include <string.h>

/* How many bytes at s are a control character; 0: it is none. */
static size_t control_at(const char *s, size_t len)
{
    unsigned char c = (unsigned char)s[0];
    unsigned char next = len > 1 ? (unsigned char)s[1] : 0;

    if (c < 0x20 || c == 0x7f)
        return 1;
    return c == 0xc2 && next >= 0x80 && next < 0xa0 ? 2 : 0;
}

bool pr_filename_has_control(const char *s)
{
    for (size_t len = strlen(s); len; s++, len--)
        if (control_at(s, len))
            return true;
    return false;
}

bool pr_filename_is_safe(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') &&
           !pr_filename_has_control(name);
}

void pr_filename_clean(char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        size_t n = control_at(name + i, len - i);

        if (n || name[i] == '/' || (i == 0 && name[i] == '.'))
            memset(name + i, '_', n ? n : 1);
    }
}
