/*
 * Being asked to stop: the first SIGINT, SIGTERM or SIGHUP stops cleanly, a
 * second one at once; SIGUSR1 stops after the experiment that is running.
 */
#ifndef PR_RUN_STOP_H
#define PR_RUN_STOP_H

#include "base/err.h"

#include <signal.h>

struct pr_stop {
    int fd; /* polls readable when a signal waits */
    sigset_t old_mask;
    int count;         /* of signals that stop */
    int signo;         /* the first of them */
    int after_current; /* SIGUSR1 came */
};

int pr_stop_init(struct pr_stop *s, struct pr_err *err) PR_MUST_CHECK;
void pr_stop_close(struct pr_stop *s);

/* Takes in what came; does not block. */
void pr_stop_read(struct pr_stop *s);

#endif
