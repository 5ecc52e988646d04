/* Messages between runner and keeper: writing, sending, taking apart. */
#include "launch/keeper/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define HEADER_BYTES (2 * sizeof(uint32_t))
#define NO_STRING UINT32_MAX

void pr_keeper_message_begin(struct pr_buf *b, enum pr_keeper_message_type type)
{
    pr_buf_clear(b);
    pr_keeper_message_put_u32(b, 0);
    pr_keeper_message_put_u32(b, type);
}

void pr_keeper_message_put_u32(struct pr_buf *b, uint32_t v)
{
    pr_buf_add(b, &v, sizeof(v));
}

void pr_keeper_message_put_str(struct pr_buf *b, const char *s)
{
    size_t len;

    if (!s) {
        pr_keeper_message_put_u32(b, NO_STRING);
        return;
    }
    len = strlen(s);
    if (len >= PR_KEEPER_MESSAGE_MAX) {
        b->failed = true;
        return;
    }
    pr_keeper_message_put_u32(b, (uint32_t)len);
    pr_buf_add(b, s, len + 1);
}

void pr_keeper_message_end(struct pr_buf *b)
{
    uint32_t len;

    if (!pr_buf_ok(b))
        return;
    len = (uint32_t)(b->len - HEADER_BYTES);
    memcpy(b->data, &len, sizeof(len));
}

int pr_keeper_message_send(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n >= 0) {
            data += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};

            if (poll(&p, 1, -1) < 0 && errno != EINTR)
                return -errno;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

int pr_keeper_message_read(const char *data, size_t len,
                           struct pr_keeper_message *ret_msg, size_t *ret_used)
{
    uint32_t head[2];

    if (len < HEADER_BYTES)
        return 0;
    memcpy(head, data, HEADER_BYTES);
    if (head[0] > PR_KEEPER_MESSAGE_MAX)
        return -1;
    if (len - HEADER_BYTES < head[0])
        return 0;
    ret_msg->type = head[1];
    ret_msg->pos = data + HEADER_BYTES;
    ret_msg->end = ret_msg->pos + head[0];
    *ret_used = HEADER_BYTES + head[0];
    return 1;
}

bool pr_keeper_message_get_u32(struct pr_keeper_message *m, uint32_t *ret_v)
{
    if ((size_t)(m->end - m->pos) < sizeof(*ret_v))
        return false;
    memcpy(ret_v, m->pos, sizeof(*ret_v));
    m->pos += sizeof(*ret_v);
    return true;
}

bool pr_keeper_message_get_str(struct pr_keeper_message *m, const char **ret_s)
{
    uint32_t len;

    if (!pr_keeper_message_get_u32(m, &len))
        return false;
    if (len == NO_STRING) {
        *ret_s = NULL;
        return true;
    }
    if ((size_t)(m->end - m->pos) <= len || m->pos[len] != '\0')
        return false;
    *ret_s = m->pos;
    m->pos += (size_t)len + 1;
    return true;
}
