/* Edit distance (with swaps of neighbours) over short names. */
#include "base/nearest.h"

#include <string.h>

enum { MAX_NAME = 64 };

static size_t min_of_three(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

static size_t edit_distance(const char *a, size_t la, const char *b, size_t lb)
{
    size_t rows[3][MAX_NAME + 1];

    for (size_t j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *row = rows[i % 3], *up = rows[(i + 2) % 3];
        size_t *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            row[j] = min_of_three(up[j] + 1, row[j - 1] + 1,
                                  up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && up2[j - 2] + 1 < row[j])
                row[j] = up2[j - 2] + 1;
        }
    }
    return rows[la % 3][lb];
}

void pr_nearest_init(struct pr_nearest *n, const char *typed)
{
    size_t len = strlen(typed), most = 1 + len / 3;

    /* Something of the name must be left. */
    *n = (struct pr_nearest){typed, NULL,
                             most < len ? most
                             : len      ? len - 1
                                        : 0};
}

void pr_nearest_offer(struct pr_nearest *n, const char *candidate)
{
    size_t lt = strlen(n->typed), lc = strlen(candidate), d;

    if (lt > MAX_NAME || lc > MAX_NAME)
        return;
    d = edit_distance(n->typed, lt, candidate, lc);
    if (d < n->distance || (d == n->distance && !n->best)) {
        n->best = candidate;
        n->distance = d;
    }
}
