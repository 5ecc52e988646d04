/*
 * Figures of block devices and processors, once a second, from /proc: what
 * `iostat -mdxtcy -o JSON` prints, in a file of the same form.
 */
#ifndef PR_OBSERVE_IOSTAT_H
#define PR_OBSERVE_IOSTAT_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* ---- its parts. Counters are kept as the kernel gives them, from the start of
 * the machine on: any two snapshots have a difference, so a log that grows too
 * long can leave out every other one. */

/* Requests of one kind; times are in ms and wrap at 32 bits in the kernel. */
struct pr_iostat_io {
    uint64_t ios, merges, sectors;
};

enum pr_iostat_kind { PR_IOSTAT_R, PR_IOSTAT_W, PR_IOSTAT_D, PR_IOSTAT_KINDS };

struct pr_iostat_disk {
    struct pr_iostat_io io[PR_IOSTAT_KINDS]; /* read, write, discard */
    uint64_t flushes;
    uint32_t ms[PR_IOSTAT_KINDS], flush_ms;
    uint32_t busy_ms, queue_ms; /* with requests; summed over requests */
    bool there;
};

struct pr_iostat_cpu {
    uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
};

struct pr_iostat_snap {
    uint64_t clock_ns, wall_ns;
    struct pr_iostat_cpu cpu;
    struct pr_iostat_disk disk[];
};

/* ---- reading */

typedef int pr_iostat_each(void *ctx, const char *name,
                           const struct pr_iostat_disk *d);

/* Every line of a text like /proc/diskstats, until one returns not 0; that is
 * returned. The text is changed meanwhile. */
int pr_iostat_each_disk(char *text, pr_iostat_each *each, void *ctx);

/* From a text like /proc/stat; *ret_count: processors that are on. */
bool pr_iostat_read_cpu(const char *text, struct pr_iostat_cpu *ret,
                        unsigned *ret_count);

/* "sda" of "/dev/sda", and what a link in /dev leads to. */
void pr_iostat_device_name(const char *given, char out[static 64]);

/* The whole disk with these numbers, by SYS/dev/block. */
bool pr_iostat_disk_name(const char *sys, unsigned major, unsigned minor,
                         char out[static 64]);

/* ---- snapshots in memory, all of one size */

struct pr_iostat_log {
    char *data;
    size_t count, cap;    /* snapshots */
    size_t stride, max;   /* bytes of one; snapshots at most, at least 4 */
    uint64_t interval_ns; /* between two: doubles when the log is full */
};

/* Devices of a snapshot, most bytes of memory. */
void pr_iostat_log_init(struct pr_iostat_log *log, size_t devices,
                        size_t max_bytes, uint64_t interval_ns);
void pr_iostat_log_free(struct pr_iostat_log *log);

/* Copies it. False: there is no memory for even the first two. */
bool pr_iostat_log_add(struct pr_iostat_log *log,
                       const struct pr_iostat_snap *snap);
const struct pr_iostat_snap *pr_iostat_log_at(const struct pr_iostat_log *log,
                                              size_t i);

/* ---- the file */

struct pr_iostat_text {
    const struct pr_iostat_log *log;
    const char (*names)[64]; /* of devices */
    size_t devices;
    unsigned cpus;
};

/* One interval: `"avg-cpu":  {…}`, and a device's `{"disk_device": …}`. */
void pr_iostat_put_cpu(struct pr_buf *b, const struct pr_iostat_cpu *then,
                       const struct pr_iostat_cpu *now);
void pr_iostat_put_disk(struct pr_buf *b, const char *name,
                        const struct pr_iostat_disk *then,
                        const struct pr_iostat_disk *now, double seconds);

#endif
