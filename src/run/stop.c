/* Signals as data, by signalfd. */
#include "run/stop.h"

#include <stdbool.h>
#include <sys/signalfd.h>
#include <unistd.h>

int pr_stop_init(struct pr_stop *s, struct pr_err *err)
{
    sigset_t mask;

    *s = (struct pr_stop){.fd = -1};
    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGHUP);
    sigaddset(&mask, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mask, &s->old_mask);
    s->fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    if (s->fd < 0) {
        pthread_sigmask(SIG_SETMASK, &s->old_mask, NULL);
        return pr_fail_errno(err, PR_E_IO, "", "cannot watch for signals");
    }
    return PR_OK;
}

void pr_stop_close(struct pr_stop *s)
{
    bool is_known = s->count > 0;

    if (s->fd < 0)
        return;
    pr_stop_read(s); /* or they would strike once unblocked */
    close(s->fd);
    s->fd = -1;
    pthread_sigmask(SIG_SETMASK, &s->old_mask, NULL);
    if (!is_known && s->count) /* nobody will ask any more */
        raise(s->signo);
}

void pr_stop_read(struct pr_stop *s)
{
    struct signalfd_siginfo info;

    while (read(s->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGUSR1) {
            s->after_current = 1;
            continue;
        }
        if (!s->count++)
            s->signo = (int)info.ssi_signo;
    }
}
