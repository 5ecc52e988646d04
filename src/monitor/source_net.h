/* The kernel's list of TCP connections, as its netlink sockets give it. */
#ifndef PR_MONITOR_SOURCE_NET_H
#define PR_MONITOR_SOURCE_NET_H

#include <stddef.h>

/* Of the connections that sent something within the last second: only their
 * round trip has been measured lately. */
struct pr_tcp_sum {
    unsigned connections;
    double rtt_us; /* of all together */
};

/* Adds what is in an answer. 1: there is more to come; 0: that was the end; -1:
 * it is an error, or no such answer. */
int pr_tcp_sum_add(struct pr_tcp_sum *s, const char *data, size_t len);

#endif
