/* Messages between runner and keeper: whole, in parts, and damaged. */
#include "launch/keeper/keeper.h"

#include "torture.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void put(struct pr_buf *b)
{
    pr_keeper_message_begin(b, PR_KEEPER_MESSAGE_SPAWN);
    pr_keeper_message_put_u32(b, 7);
    pr_keeper_message_put_str(b, "text");
    pr_keeper_message_put_str(b, NULL);
    pr_keeper_message_put_str(b, "");
    pr_keeper_message_put_u32(b, UINT32_MAX);
    pr_keeper_message_end(b);
}

static void what_is_written_is_read(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1000);
    struct pr_keeper_message m;
    const char *s;
    size_t used;
    uint32_t v;

    (void)state;
    put(&b);
    assert_true(pr_buf_ok(&b));
    assert_int_equal(pr_keeper_message_read(b.data, b.len, &m, &used), 1);
    assert_int_equal(used, b.len);
    assert_int_equal(m.type, PR_KEEPER_MESSAGE_SPAWN);
    assert_true(pr_keeper_message_get_u32(&m, &v));
    assert_int_equal(v, 7);
    assert_true(pr_keeper_message_get_str(&m, &s));
    assert_string_equal(s, "text");
    assert_true(pr_keeper_message_get_str(&m, &s));
    assert_null(s);
    assert_true(pr_keeper_message_get_str(&m, &s));
    assert_string_equal(s, "");
    assert_true(pr_keeper_message_get_u32(&m, &v));
    assert_int_equal(v, UINT32_MAX);
    assert_false(pr_keeper_message_get_u32(&m, &v));
    assert_false(pr_keeper_message_get_str(&m, &s));
}

static void part_of_a_message_is_none(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1000);
    struct pr_keeper_message m;
    size_t used;

    (void)state;
    put(&b);
    for (size_t n = 0; n < b.len; n++) {
        char *copy = malloc(n + 1); /* its end is watched */

        memcpy(copy, b.data, n);
        assert_int_equal(pr_keeper_message_read(copy, n, &m, &used), 0);
        free(copy);
    }
}

static void damage_is_noticed(void **state)
{
    static const uint32_t rows[][4] = {
        /* payload length, type, string length, bytes of it */
        {8, PR_KEEPER_MESSAGE_SPAWN, 4, 0x64636261},    /* no NUL within */
        {8, PR_KEEPER_MESSAGE_SPAWN, 1000, 0x64636261}, /* beyond the end */
        {8, PR_KEEPER_MESSAGE_SPAWN, 3, 0x64636261},    /* NUL elsewhere */
        {8, PR_KEEPER_MESSAGE_SPAWN, UINT32_MAX - 1, 0},
    };
    uint32_t giant[2] = {PR_KEEPER_MESSAGE_MAX + 1, PR_KEEPER_MESSAGE_SPAWN};
    struct pr_keeper_message m;
    const char *s = NULL;
    size_t used;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(pr_keeper_message_read((const char *)rows[i],
                                                sizeof(rows[i]), &m, &used),
                         1);
        assert_false(pr_keeper_message_get_str(&m, &s));
        assert_null(s);
    }
    assert_int_equal(
        pr_keeper_message_read((const char *)giant, sizeof(giant), &m, &used),
        -1);
}

static void more_than_the_maximum_fails(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(20);

    (void)state;
    put(&b);
    assert_false(pr_buf_ok(&b));
}

static int attempt(void)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1000);

    put(&b);
    return pr_buf_ok(&b) ? PR_OK : PR_E_NOMEM;
}

static void running_out_of_memory_is_noticed(void **state)
{
    (void)state;
    torture(attempt);
}

struct reader {
    int fd;
    size_t got;
};

static void *drain(void *arg)
{
    struct reader *r = arg;
    char chunk[1000];
    ssize_t n;

    while ((n = read(r->fd, chunk, sizeof(chunk))) > 0)
        r->got += (size_t)n;
    return NULL;
}

static void sending_waits_for_room(void **state)
{
    enum { BYTES = 4 << 20 };
    char *data = calloc(1, BYTES);
    struct reader r = {0};
    pthread_t thread;
    int fd[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    r.fd = fd[1];
    assert_int_equal(pthread_create(&thread, NULL, drain, &r), 0);
    assert_int_equal(pr_keeper_message_send(fd[0], data, BYTES), 0);
    close(fd[0]);
    pthread_join(thread, NULL);
    assert_int_equal(r.got, BYTES);
    close(fd[1]);
    free(data);
}

static void sending_to_nobody_is_an_error_not_a_signal(void **state)
{
    int fd[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    close(fd[1]);
    assert_int_equal(pr_keeper_message_send(fd[0], "x", 1), -EPIPE);
    close(fd[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(part_of_a_message_is_none),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(more_than_the_maximum_fails),
        cmocka_unit_test(running_out_of_memory_is_noticed),
        cmocka_unit_test(sending_waits_for_room),
        cmocka_unit_test(sending_to_nobody_is_an_error_not_a_signal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
