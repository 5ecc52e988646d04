/* Why something cannot be held by a group, and what helps. */
#include "launch/slots/slots_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DELEGATE                                                  \
    "start it in a group of its own: systemd-run --user --scope " \
    "-p Delegate=yes prony …"

static const struct {
    int why;
    const char *words, *remedy;
} reasons[] = {
    {-ENODEV, "no such controller was given to our group",
     "systemd gives users no cpuset unless user@.service has "
     "'Delegate=cpu cpuset io memory pids'; or run as root"},
    {-ENODATA, "there is too little memory to share out", "use fewer slots"},
    {-EROFS, "the control groups are mounted read-only",
     "containers need a writable /sys/fs/cgroup: podman run --privileged, or "
     "--security-opt unmask=/sys/fs/cgroup"},
    {-EACCES, "we may not make groups there", DELEGATE "; or run as root"},
    {-EPERM, "we may not make groups there", DELEGATE "; or run as root"},
    {-EBUSY, "processes that are not ours are in our group", DELEGATE},
    {-ENOSPC, "no more groups are allowed there",
     "raise cgroup.max.descendants, or remove groups"},
};

void pr_slots_warn_not_held(struct pr_slots *s, const char *what, int why,
                            const char *where)
{
    bool cpu = strcmp(what, "cpuset") == 0;
    const char *words = strerror(-why), *remedy = DELEGATE "; or run as root";
    char text[1024];

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].why == why) {
            words = reasons[i].words;
            remedy = reasons[i].remedy;
        }
    if (why == -ENODEV && !where) {
        words = "no control groups are mounted";
        remedy = "mount them at /sys/fs/cgroup";
    }
    snprintf(text, sizeof text, "%s: %s%s%.600s%s",
             cpu ? "CPUs are held by affinity alone, which a program can change"
                 : "memory is not limited",
             words, where ? " (" : "", where ? where : "", where ? ")" : "");
    pr_slots_add_warning(s, text, remedy);
}
