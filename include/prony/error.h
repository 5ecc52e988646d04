/*
 * Errors as every Prony function reports them: a negative code as the return
 * value, and the words in a struct the caller owns. The struct has a fixed
 * size, lives on the stack, needs no free and survives running out of memory.
 */
#ifndef PRONY_ERROR_H
#define PRONY_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PR_API __attribute__((visibility("default")))
#define PR_MUST_CHECK __attribute__((warn_unused_result))
#define PR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define PR_API
#define PR_MUST_CHECK
#define PR_PRINTF(fmt, args)
#endif

/* X(name, value, process exit status, short text) */
#define PR_CODES(X)                                               \
    X(OK, 0, 0, "success")                                        \
    X(E_USAGE, -1, 2, "bad command line")                         \
    X(E_CONF, -2, 3, "bad configuration")                         \
    X(E_UNAVAIL, -3, 4, "feature not built in or device missing") \
    X(E_IO, -4, 5, "input or output failed")                      \
    X(E_FORMAT, -5, 5, "malformed data")                          \
    X(E_JOB, -6, 1, "a job failed")                               \
    X(E_PARTIAL, -7, 6, "some jobs failed, the rest were kept")   \
    X(E_THRESHOLD, -8, 7, "a required result was missed")         \
    X(E_TIMEOUT, -9, 124, "ran out of time")                      \
    X(E_INTR, -10, 130, "interrupted")                            \
    X(E_NOMEM, -11, 71, "out of memory")                          \
    X(E_BUG, -12, 70, "internal error")

enum pr_code {
#define X(name, value, status, text) PR_##name = value,
    PR_CODES(X)
#undef X
};

struct pr_err {
    int code;        /* enum pr_code */
    int sys_errno;   /* 0 when no system call was involved */
    char where[256]; /* "run.yaml:12:7", a path, or an option; may be empty */
    char msg[384];   /* lower case, no full stop, subject quoted */
    char hint[256];  /* what to try next; may be empty */
};

/* The exit status of a process that ends with this code. */
PR_API int pr_code_exit_status(int code);

/* A few words for a code, for example "bad configuration". Never NULL. */
PR_API const char *pr_code_text(int code);

#ifdef __cplusplus
}
#endif
#endif
