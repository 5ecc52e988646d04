/* execve() and posix_spawn() take pointers to non-const for historical reasons
 * only. */
#ifndef PR_LAUNCH_UNCONST_H
#define PR_LAUNCH_UNCONST_H

static inline char *const *pr_unconst(const char *const *list)
{
    union {
        const char *const *in;
        char *const *out;
    } u = {.in = list};

    return u.out;
}

#endif
