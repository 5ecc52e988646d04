/* Sleeping until a counter changes: a futex with an absolute deadline, so that
 * the time of sleeping does not add to the time slept. */
#include "loader/feed_impl.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void pr_sleep_on(_Atomic uint32_t *word, uint32_t seen, uint64_t until_ns)
{
    struct timespec at = {(time_t)(until_ns / 1000000000),
                          (long)(until_ns % 1000000000)};

    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen,
            until_ns ? &at : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

void pr_wake(_Atomic uint32_t *word, uint32_t count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE,
            count < INT_MAX ? (int)count : INT_MAX, NULL, NULL, 0);
}
