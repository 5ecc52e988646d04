/*
 * Latency of the network: the round trip of TCP connections as the kernel
 * measures it for its own use. Asked once a second, by a netlink socket: no
 * file has it.
 */
#include "monitor/source.h"
#include "monitor/tcp_diag.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    LATELY_MS = 1000,
    ANSWER_BYTES = 32 << 10,
    PATIENCE_US = 100000,
};

struct tcp {
    int fd_plus_1;
    bool refused; /* not to be asked again in this experiment: each time the
                     kernel might look for a module */
    bool named;
    int rtt, connections;
    char answer[ANSWER_BYTES];
};

/* ---- answers */

static void tcp_add_info(struct pr_tcp_sum *s, const char *data, size_t len)
{
    struct tcp_info info = {0};

    memcpy(&info, data, len < sizeof(info) ? len : sizeof(info));
    if (info.tcpi_rtt == 0 || info.tcpi_last_data_sent >= LATELY_MS)
        return;
    s->connections++;
    s->rtt_us += info.tcpi_rtt;
}

/* One connection: a struct inet_diag_msg, and attributes. */
static void tcp_add_connection(struct pr_tcp_sum *s, const char *data,
                               size_t len)
{
    size_t at = NLMSG_ALIGN(sizeof(struct inet_diag_msg));

    while (at + sizeof(struct rtattr) <= len) {
        struct rtattr a;

        memcpy(&a, data + at, sizeof(a));
        if (a.rta_len < sizeof(a) || a.rta_len > len - at)
            return;
        if (a.rta_type == INET_DIAG_INFO)
            tcp_add_info(s, data + at + sizeof(a), a.rta_len - sizeof(a));
        at += RTA_ALIGN(a.rta_len);
    }
}

int pr_tcp_sum_add(struct pr_tcp_sum *s, const char *data, size_t len)
{
    struct nlmsghdr h;

    if (len < sizeof(h))
        return -1;
    while (len >= sizeof(h)) {
        size_t step;

        memcpy(&h, data, sizeof(h));
        if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > len)
            return -1;
        if (h.nlmsg_type == NLMSG_DONE)
            return 0;
        if (h.nlmsg_type != SOCK_DIAG_BY_FAMILY)
            return -1;
        tcp_add_connection(s, data + sizeof(h), h.nlmsg_len - sizeof(h));
        step = NLMSG_ALIGN(h.nlmsg_len);
        data += step < len ? step : len;
        len -= step < len ? step : len;
    }
    return 1;
}

/* ---- questions */

static bool open_tcp_socket(struct tcp *s)
{
    struct timeval patience = {.tv_usec = PATIENCE_US};
    int fd;

    if (s->fd_plus_1)
        return true;
    fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return false;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    s->fd_plus_1 = fd + 1;
    return true;
}

/* All established connections of a family. */
static bool query_tcp_connections(struct tcp *s, int family,
                                  struct pr_tcp_sum *sum)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } question = {
        .head = {.nlmsg_len = sizeof(question),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.sdiag_family = (unsigned char)family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_ext = 1 << (INET_DIAG_INFO - 1),
                 .idiag_states = 1 << TCP_ESTABLISHED},
    };
    int fd = s->fd_plus_1 - 1, rc = 1;

    if (send(fd, &question, sizeof(question), 0) < 0)
        return false;
    while (rc == 1) {
        ssize_t n = recv(fd, s->answer, sizeof(s->answer), 0);

        rc = n < 0 ? -1 : pr_tcp_sum_add(sum, s->answer, (size_t)n);
    }
    return rc == 0;
}

static void tcp_close(void *state)
{
    struct tcp *s = state;

    if (s->fd_plus_1)
        close(s->fd_plus_1 - 1);
    s->fd_plus_1 = 0;
}

static void tcp_set_columns(struct tcp *s, struct pr_monitor_sample *l,
                            const struct pr_tcp_sum *sum)
{
    static const struct pr_monitor_column
        rtt = {"tcp.rtt_ms", "ms", PR_SUM_MEAN, 3, 0, NULL},
        connections = {
            "tcp.connections", "connections", PR_SUM_MEAN, 2, 0, NULL};

    /* A machine that talks to nobody has no column for it. */
    if (!s->named && sum->connections) {
        s->rtt = pr_monitor_sample_column(l, &rtt);
        s->connections = pr_monitor_sample_column(l, &connections);
        s->named = true;
    }
    if (!s->named)
        return;
    pr_monitor_sample_set(l, s->connections, sum->connections);
    if (sum->connections)
        pr_monitor_sample_set(l, s->rtt, sum->rtt_us / sum->connections / 1e3);
}

static void tcp_sample(void *state, struct pr_monitor_sample *l)
{
    struct pr_tcp_sum sum = {0};
    struct tcp *s = state;

    if (l->dt <= 0)
        s->refused = false;
    if (*l->root || s->refused)
        return;
    if (!open_tcp_socket(s) || !query_tcp_connections(s, AF_INET, &sum)) {
        s->refused = true;
        tcp_close(s);
        return;
    }
    if (!query_tcp_connections(s, AF_INET6,
                               &sum)) /* a kernel without it; the rest stands */
        tcp_close(s);
    tcp_set_columns(s, l, &sum);
}

const struct pr_monitor_source pr_source_tcp = {
    .name = "tcp",
    .desc = "latency of the network: round trips of TCP connections, from the "
            "kernel by netlink",
    .period_s = 1,
    .state_bytes = sizeof(struct tcp),
    .look = tcp_sample,
    .close = tcp_close,
};
