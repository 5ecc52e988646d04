/*
 * Network interfaces, from /proc/net/dev: bytes, packets and errors a second.
 * An interface gets columns when something goes through it. A source of its own
 * is the latency of the network.
 */
#include "monitor/source_net.h"

#include "base/mem.h"
#include "base/text.h"
#include "monitor/monitor_source.h"
#include "monitor/scan.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Fields of a row after the name; the same ones once more for sending. */
enum {
    BYTES,
    PACKETS,
    ERRORS,
    DROPPED,
    SENT = 8,
    FIELDS = 16,
    NAME_BYTES = 32
};

enum { RX_BYTES, TX_BYTES, RX_PACKETS, TX_PACKETS, BAD, COLUMNS };

static const struct {
    const char *ending, *unit;
    enum pr_monitor_column_sum sum;
} kinds[COLUMNS] = {
    {"rx_bytes_s", "bytes/s", PR_SUM_RATE},
    {"tx_bytes_s", "bytes/s", PR_SUM_RATE},
    {"rx_packets_s", "1/s", PR_SUM_NONE},
    {"tx_packets_s", "1/s", PR_SUM_NONE},
    {"errors_s", "1/s", PR_SUM_RATE},
};

struct link {
    char name[NAME_BYTES];
    uint64_t was[FIELDS];
    bool seen, there, watched;
    int column[COLUMNS];
};

struct net {
    struct pr_kernel_file dev;
    struct link *links;
    size_t n, cap;
};

static struct link *find_net_link(struct net *s, const char *name, size_t len)
{
    struct link *more;

    for (size_t i = 0; i < s->n; i++)
        if (pr_text_is(name, len, s->links[i].name))
            return &s->links[i];
    more = pr_monitor_list_reserve(s->links, s->n, &s->cap, SIZE_MAX,
                                   sizeof(*more));
    if (!more)
        return NULL;
    s->links = more;
    more += s->n++;
    *more = (struct link){0};
    memcpy(more->name, name, len);
    return more;
}

static void name_link_columns(struct pr_monitor_sample *l, struct link *k)
{
    char word[NAME_BYTES], name[NAME_BYTES + 32];

    pr_kernel_file_label(word, sizeof(word), k->name);
    for (int i = 0; i < COLUMNS; i++) {
        struct pr_monitor_column c = {
            .name = name, .unit = kinds[i].unit, .sum = kinds[i].sum};

        snprintf(name, sizeof(name), "net.%s.%s", word, kinds[i].ending);
        k->column[i] = pr_monitor_sample_column(l, &c);
    }
    k->watched = true;
}

static void sample_net_link(struct pr_monitor_sample *l, struct link *k,
                            const char *numbers)
{
    uint64_t now[FIELDS] = {0};
    double by[FIELDS], amount[COLUMNS];

    if (pr_scan_all(&numbers, now, FIELDS) < FIELDS)
        return;
    k->there = true;
    /* Counters of 32 bits go round; which they are, the file does not say. */
    for (int i = 0; i < FIELDS; i++)
        by[i] = pr_scan_gain(now[i], k->was[i]);
    memcpy(k->was, now, sizeof(now));
    if (!k->seen || l->dt <= 0) {
        k->seen = true;
        return;
    }
    amount[RX_BYTES] = by[BYTES];
    amount[TX_BYTES] = by[SENT + BYTES];
    amount[RX_PACKETS] = by[PACKETS];
    amount[TX_PACKETS] = by[SENT + PACKETS];
    amount[BAD] =
        by[ERRORS] + by[DROPPED] + by[SENT + ERRORS] + by[SENT + DROPPED];
    if (!k->watched && (amount[RX_PACKETS] > 0 || amount[TX_PACKETS] > 0))
        name_link_columns(l, k);
    for (int i = 0; k->watched && i < COLUMNS; i++)
        pr_monitor_sample_set_rate(l, k->column[i], amount[i] / l->dt,
                                   amount[i]);
}

/* Containers come and go, each with an interface of another name. */
static void forget_gone_links(struct net *s)
{
    size_t left = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->links[i].there) {
            s->links[left] = s->links[i];
            s->links[left++].there = false;
        }
    s->n = left;
}

static void netdev_sample(void *state, struct pr_monitor_sample *l)
{
    struct net *s = state;
    const char *text = pr_kernel_file_read(l, &s->dev, "/proc/net/dev", NULL);

    for (; text && *text; text = pr_scan_line(text)) {
        const char *name = pr_scan_blanks(text);
        size_t len = strcspn(name, ":\n");
        struct link *k;

        if (name[len] != ':' || len >= NAME_BYTES)
            continue; /* the heading */
        k = find_net_link(s, name, len);
        if (k)
            sample_net_link(l, k, name + len + 1);
    }
    forget_gone_links(s);
}

static void netdev_close(void *state)
{
    struct net *s = state;

    pr_kernel_file_close(&s->dev);
    pr_free(s->links);
}

const struct pr_monitor_source pr_source_net = {
    .name = "net",
    .desc = "bytes, packets and errors of each network interface in use: "
            "/proc/net/dev",
    .state_bytes = sizeof(struct net),
    .sample = netdev_sample,
    .close = netdev_close,
};

/* ---- latency: round trips of TCP connections as the kernel measures them for
 * its own use. Asked once a second, by a netlink socket: no file has it. */

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
    /* A kernel without it: the rest stands. */
    if (!query_tcp_connections(s, AF_INET6, &sum))
        tcp_close(s);
    tcp_set_columns(s, l, &sum);
}

const struct pr_monitor_source pr_source_tcp = {
    .name = "tcp",
    .desc = "latency of the network: round trips of TCP connections, from the "
            "kernel by netlink",
    .period_s = 1,
    .state_bytes = sizeof(struct tcp),
    .sample = tcp_sample,
    .close = tcp_close,
};
