/* How much of a file is in the page cache, by its descriptor. */
#ifndef PR_STORAGE_PAGE_CACHE_H
#define PR_STORAGE_PAGE_CACHE_H

#include <stdint.h>

struct pr_page_cache_use {
    uint64_t bytes; /* in the cache */
    uint64_t dirty; /* of these not yet on the disk, or on their way */
};

/* Of the first size bytes. 1: known; 0: the kernel does not tell (before 6.5,
 * or the file is another user's); then *ret is untouched. */
int pr_page_cache_stat(int fd, uint64_t size, struct pr_page_cache_use *ret);

/* The older way, which does not know what is dirty (0). */
int pr_page_cache_stat_by_map(int fd, uint64_t size,
                              struct pr_page_cache_use *ret);

#endif
