/*
 * Figures of block devices and processors, once a second, from /proc: what
 * `iostat -mdxtcy -o JSON` prints, in a file of the same form.
 */
#ifndef PR_OBSERVE_IOSTAT_H
#define PR_OBSERVE_IOSTAT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct pr_iostat;

/* proc is "/proc", or another folder in tests. An unknown device is PR_E_CONF
 * and the message lists those there are; "/dev/sda" and links to it will do,
 * too. None: processors only. Samples in a thread of its own; a log that grows
 * large has its intervals doubled. */
int pr_iostat_start(const char *proc, const char *const *devices, size_t count,
                    double interval_s, struct pr_iostat **ret,
                    struct pr_err *err) PR_MUST_CHECK;

/* Stops, and writes the file, whole or not at all. Ends and frees it in any
 * case. NULL is fine. */
int pr_iostat_stop(struct pr_iostat *io, const char *path, struct pr_err *err);

/* The disk that a path is on ("vda", "nvme0n1", also when it is on a partition
 * of it), by /sys/dev/block. False: not known, or not a block device (tmpfs,
 * overlay, btrfs, network). */
bool pr_iostat_find_device(const char *path, char out[static 64]);

#endif
