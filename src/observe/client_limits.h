/*
 * What the client has left while it trains: processors, memory, the block
 * devices under the data folder, the network. Looked at when a training phase
 * begins and when it ends, so it costs nothing between. What cannot be known
 * is NAN.
 */
#ifndef PR_OBSERVE_CLIENT_LIMITS_H
#define PR_OBSERVE_CLIENT_LIMITS_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PR_CLIENT_LIMITS_DEVICES = 16, PR_CLIENT_LIMITS_NETS = 16 };

struct pr_clock;

/* Where the kernel tells; others for tests. Borrowed. */
struct pr_client_limits_roots {
    const char *proc, *sys;
};

/* A disk. Counters at the begin of a phase, and sums over phases. */
struct pr_client_limits_device {
    unsigned major, minor;
    uint64_t was_ms, was_bytes;
    uint64_t busy_ms, bytes;
};

struct pr_client_limits_net {
    char name[32];
    double speed; /* bytes a second; 0: not known */
    uint64_t was_bytes, bytes;
};

struct pr_client_limits {
    struct pr_client_limits_roots roots;
    struct pr_clock *clock; /* NULL: the machine's */
    const char *kind;       /* "local disk", "network", …; "": not known */
    double processors;
    uint64_t memory; /* bytes; 0: not known */
    struct pr_client_limits_device devices[PR_CLIENT_LIMITS_DEVICES];
    size_t device_count;
    struct pr_client_limits_net nets[PR_CLIENT_LIMITS_NETS];
    size_t net_count;
    bool is_open, has_devices, has_nets; /* at the begin of this phase */
    bool has_delay, has_steal;
    uint64_t was_ns, was_cpu_ns, was_delay_ns, was_steal[2];
    double seconds, cpu_s;  /* of all phases that ended */
    double delay_s;         /* runnable, without a processor: of all threads */
    double steal[2];        /* ticks: taken by the hypervisor, and all */
    double device_s, net_s; /* of those with figures of devices, of nets */
};

/* engine is the storage's; folder is where the data is, as open(2) takes it,
 * and is there already. Nothing is to be freed. */
void pr_client_limits_init(struct pr_client_limits *l, const char *engine,
                           const char *folder);
void pr_client_limits_init_at(struct pr_client_limits *l, const char *engine,
                              const char *folder,
                              const struct pr_client_limits_roots *roots);

/* A training phase. Its figures are added to those of earlier ones; an end
 * without a begin adds nothing. */
void pr_client_limits_begin(struct pr_client_limits *l);
void pr_client_limits_end(struct pr_client_limits *l);

/* ---- figures; NAN: not known, or no phase has ended */

/* CPU time of this process, of all that its processors could give. */
double pr_client_limits_cpu_share(const struct pr_client_limits *l);

/* Seconds that its threads, taken together, could have run and had no
 * processor. */
double pr_client_limits_delay_s(const struct pr_client_limits *l);

/* Of the machine's processor time: what a hypervisor gave to others. */
double pr_client_limits_steal_share(const struct pr_client_limits *l);

/* Processors it may use: its affinity, or less by a quota (1.5). */
double pr_client_limits_processors(const struct pr_client_limits *l);

/* Time during which the busiest of the devices had something to do. One that
 * works at several requests at once can be busy all the time and still have
 * more to give. */
double pr_client_limits_device_busy_share(const struct pr_client_limits *l);

/* Read and written by all devices together, for whomever. */
double pr_client_limits_device_mb_per_s(const struct pr_client_limits *l);

/* Received, without lo; and of the speed of the fullest interface. */
double pr_client_limits_network_mb_per_s(const struct pr_client_limits *l);
double pr_client_limits_network_share(const struct pr_client_limits *l);

/* The most memory this process had, of what there is for it. */
double pr_client_limits_memory_share(const struct pr_client_limits *l);

/* "local disk", "network", "fuse", "memory", "none"; "": not known. */
const char *pr_client_limits_storage_kind(const struct pr_client_limits *l);

/* The kind of storage by statfs's f_type. */
const char *pr_client_limits_filesystem_kind(uint64_t f_type);

#endif
