/* Status words. */
#include "record/status.h"

#include <string.h>

static const char *const status_words_table[] = {
#define X(name, word) word,
    PR_STATUSES(X)
#undef X
};

const char *pr_status_word(enum pr_status s)
{
    return s < PR_STATUS_COUNT ? status_words_table[s] : "unknown";
}

enum pr_status pr_status_from_word(const char *word)
{
    int s = 0;

    while (s < PR_STATUS_COUNT && strcmp(status_words_table[s], word) != 0)
        s++;
    return (enum pr_status)s;
}

bool pr_status_is_failure(enum pr_status s)
{
    return s == PR_STATUS_FAILED || s == PR_STATUS_TIMEOUT ||
           s == PR_STATUS_OOM;
}
