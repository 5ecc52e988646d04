/* Network interfaces, from /proc/net/dev: bytes, packets and errors a second.
 * An interface gets columns when something goes through it. */
#include "base/mem.h"
#include "monitor/scan.h"
#include "monitor/source.h"

#include <stdio.h>

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
        if (strncmp(s->links[i].name, name, len) == 0 && !s->links[i].name[len])
            return &s->links[i];
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;

        more = pr_realloc(s->links, cap * sizeof(*more));
        if (!more)
            return NULL;
        s->links = more;
        s->cap = cap;
    }
    more = &s->links[s->n++];
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
        by[i] = now[i] > k->was[i] ? (double)(now[i] - k->was[i]) : 0;
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
    .look = netdev_sample,
    .close = netdev_close,
};
