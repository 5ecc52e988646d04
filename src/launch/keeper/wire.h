/*
 * What the runner asks of the keeper, as bytes: a header of two numbers (length
 * of the rest, type), then numbers and strings one after another. Both ends are
 * the same program on the same machine, so numbers are in native order; strings
 * keep their NUL, so that the reader can use them where they lie.
 */
#ifndef PR_LAUNCH_WIRE_H
#define PR_LAUNCH_WIRE_H

#include "base/buf.h"

#include <stdint.h>

/* Above what execve() takes for arguments and environment together. */
#define PR_KEEPER_MESSAGE_MAX (16u << 20)

enum pr_keeper_message_type {
    PR_KEEPER_MESSAGE_SPAWN = 1, /* tag, log, channel, cwd, body_arg, cpus,
                          memory group, argc, envc, groupc, argv, env, groups */
    PR_KEEPER_MESSAGE_SIGNAL,    /* tag, signo */
    PR_KEEPER_MESSAGE_HOLD,      /* folder of a tree of groups */
    PR_KEEPER_MESSAGE_GOODBYE,   /* the last one */
};

/* Writing: begin empties the buffer, end fills in the length. Check pr_buf_ok
 * after end. */
void pr_keeper_message_begin(struct pr_buf *b,
                             enum pr_keeper_message_type type);
void pr_keeper_message_put_u32(struct pr_buf *b, uint32_t v);
void pr_keeper_message_put_str(struct pr_buf *b,
                               const char *s); /* NULL is kept as NULL */
void pr_keeper_message_end(struct pr_buf *b);

/* Sends all of it, waiting for room where needed; 0, or a negative errno. */
int pr_keeper_message_send(int fd, const char *data, size_t len);

struct pr_keeper_message {
    uint32_t type;
    const char *pos, *end; /* what has not been read yet; borrowed */
};

/* The message at the start of data. 1 and the bytes it takes, 0 when it has
 * not arrived in full, -1 when it is none. */
int pr_keeper_message_read(const char *data, size_t len,
                           struct pr_keeper_message *ret_msg, size_t *ret_used);

/* False when the message has no such thing at its cursor. */
bool pr_keeper_message_get_u32(struct pr_keeper_message *m, uint32_t *ret_v);
bool pr_keeper_message_get_str(struct pr_keeper_message *m,
                               const char **ret_s); /* borrowed */

#endif
