/* Round trips of TCP connections: the kernel's answers, made up and real. */
#include "monitor/source_net.h"

#include "monitor_tool.h"
#include "skip.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* An answer of the kernel as it grows. */
struct answer {
    char data[4096];
    size_t len;
};

static void put_head(struct answer *a, unsigned short type, size_t body)
{
    struct nlmsghdr h = {.nlmsg_len = (unsigned)(sizeof h + body),
                         .nlmsg_type = type};

    memcpy(a->data + a->len, &h, sizeof h);
    a->len += sizeof h;
}

static void put_connection(struct answer *a, unsigned rtt_us, unsigned ago_ms)
{
    struct tcp_info info = {.tcpi_rtt = rtt_us, .tcpi_last_data_sent = ago_ms};
    struct inet_diag_msg m = {.idiag_family = AF_INET};
    struct rtattr other = {.rta_len = 5, .rta_type = INET_DIAG_SHUTDOWN};
    struct rtattr head = {.rta_len = sizeof head + sizeof info,
                          .rta_type = INET_DIAG_INFO};

    put_head(a, SOCK_DIAG_BY_FAMILY, sizeof m + 8 + sizeof head + sizeof info);
    memcpy(a->data + a->len, &m, sizeof m);
    memcpy(a->data + a->len + sizeof m, &other, sizeof other);
    memcpy(a->data + a->len + sizeof m + 8, &head, sizeof head);
    memcpy(a->data + a->len + sizeof m + 8 + sizeof head, &info, sizeof info);
    a->len += sizeof m + 8 + sizeof head + sizeof info;
}

static void answers_are_added_up(void **state)
{
    struct answer a = {.len = 0};
    struct pr_tcp_sum s = {0};

    (void)state;
    put_connection(&a, 250, 3);
    put_connection(&a, 750, 999);
    put_connection(&a, 90000, 1000); /* silent for a second */
    put_connection(&a, 0, 3);        /* never measured */
    assert_int_equal(pr_tcp_sum_add(&s, a.data, a.len), 1);
    assert_int_equal(s.connections, 2);
    assert_true(s.rtt_us == 1000);
    put_head(&a, NLMSG_DONE, 0);
    assert_int_equal(pr_tcp_sum_add(&s, a.data, a.len), 0);
    assert_int_equal(s.connections, 4);
}

static void what_is_no_answer_is_told(void **state)
{
    struct pr_tcp_sum s = {0};
    struct answer whole = {.len = 0}, error = {.len = 0};

    (void)state;
    put_connection(&whole, 250, 3);
    for (size_t n = 0; n < whole.len; n++) /* cut anywhere */
        assert_int_equal(pr_tcp_sum_add(&s, whole.data, n), -1);
    assert_int_equal(s.connections, 0);
    put_head(&error, NLMSG_ERROR, 0);
    assert_int_equal(pr_tcp_sum_add(&s, error.data, error.len), -1);
    /* An attribute longer than its message. */
    whole.data[sizeof(struct nlmsghdr) + sizeof(struct inet_diag_msg)] = 127;
    whole.data[sizeof(struct nlmsghdr) + sizeof(struct inet_diag_msg) + 1] = 9;
    assert_int_equal(pr_tcp_sum_add(&s, whole.data, whole.len), 1);
    assert_int_equal(s.connections, 0);
}

/* Two ends of a connection over loopback; false: there is none here. */
static bool connect_both(int ends[2])
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    socklen_t len = sizeof to;
    int door = socket(AF_INET, SOCK_STREAM, 0);
    bool ok;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    ok = door >= 0 && ends[0] >= 0 &&
         bind(door, (struct sockaddr *)&to, sizeof to) == 0 &&
         listen(door, 1) == 0 &&
         getsockname(door, (struct sockaddr *)&to, &len) == 0 &&
         connect(ends[0], (struct sockaddr *)&to, sizeof to) == 0;
    ends[1] = ok ? accept(door, NULL, NULL) : -1;
    close(door);
    return ends[1] >= 0;
}

static void a_real_connection_has_a_round_trip(void **state)
{
    struct rig r = rig_open(PR_SOURCE_tcp);
    struct pr_monitor_sample l = {
        .root = "", .columns = &r.columns, .text = &r.text, .rescan = true};
    int ends[2];
    char c;

    (void)state;
    if (!connect_both(ends))
        skip_because("no TCP over loopback; bring up the interface lo");
    for (int i = 0; i < 100 && isnan(value(&r, "tcp.rtt_ms")); i++) {
        /* On a busy machine a second may pass before the look. */
        assert_int_equal(send(ends[0], "x", 1, 0), 1);
        assert_int_equal(recv(ends[1], &c, 1, 0), 1);
        pr_monitor_columns_begin_source(&r.columns, 0);
        r.source->sample(r.state, &l);
        if (!r.columns.n)
            break; /* this kernel does not tell */
    }
    if (r.columns.n) {
        assert_true(value(&r, "tcp.connections") >= 1);
        assert_true(value(&r, "tcp.rtt_ms") > 0);
    }
    close(ends[0]);
    close(ends[1]);
    if (!r.columns.n) {
        rig_close(&r);
        skip_because("the kernel tells nothing about TCP; it needs "
                     "CONFIG_INET_TCP_DIAG (modprobe tcp_diag)");
    }
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_added_up),
        cmocka_unit_test(what_is_no_answer_is_told),
        cmocka_unit_test(a_real_connection_has_a_round_trip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
