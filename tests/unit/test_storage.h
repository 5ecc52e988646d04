/* What the tests of the storages share: a folder of their own, contents that
 * tell where they belong, and objects made and read in one line. */
#ifndef TESTS_UNIT_TEST_STORAGE_H
#define TESTS_UNIT_TEST_STORAGE_H

#include "storage/storage.h"
#include "torture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char test_dir[64]; /* of the test, and the current one */

static inline int enter_dir(const char *below)
{
    snprintf(test_dir, sizeof test_dir, "%s/prony-test-XXXXXX", below);
    return mkdtemp(test_dir) && chdir(test_dir) == 0 ? 0 : -1;
}

static inline int leave_dir(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", test_dir);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* Every byte depends on its offset; blocks and pages differ. */
static inline uint8_t byte_at(uint64_t off)
{
    return (uint8_t)(off * 31 + off / 4096 * 7 + off / 65536 * 13 + 1);
}

static inline void fill(uint8_t *to, uint64_t off, size_t len)
{
    for (size_t i = 0; i < len; i++)
        to[i] = byte_at(off + i);
}

static inline struct pr_storage *open_storage(const struct pr_storage_opts *o)
{
    struct pr_storage *st = NULL;
    struct pr_err err = {0};

    if (pr_storage_open(o, &st, &err))
        fail_msg("%s: %s", err.where, err.msg);
    return st;
}

static inline struct pr_object create(struct pr_storage *st, const char *name,
                                      uint64_t size)
{
    struct pr_object o;
    struct pr_err err = {0};

    if (pr_object_create(st, name, size, &o, &err))
        fail_msg("%s: %s", err.where, err.msg);
    return o;
}

static inline void put(struct pr_object *o, uint64_t off, const void *data,
                       size_t len)
{
    struct pr_err err = {0};

    if (pr_object_write(o, off, data, len, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

static inline void commit(struct pr_object *o)
{
    struct pr_err err = {0};

    if (pr_object_commit(o, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

static inline void make(struct pr_storage *st, const char *name, const void *s,
                        size_t len)
{
    struct pr_object o = create(st, name, len);

    put(&o, 0, s, len);
    commit(&o);
}

static inline struct pr_object open_object(struct pr_storage *st,
                                           const char *name)
{
    struct pr_object o;
    struct pr_err err = {0};

    if (pr_object_open(st, name, &o, &err))
        fail_msg("%s: %s", err.where, err.msg);
    return o;
}

static inline void assert_object(struct pr_storage *st, const char *name,
                                 const void *want, size_t len)
{
    struct pr_object o = open_object(st, name);
    uint8_t *buf = malloc(len + 1);

    assert_non_null(buf);
    memset(buf, 0xee, len + 1); /* nothing may be left from before */
    assert_int_equal(o.size, len);
    assert_int_equal(pr_object_read(&o, 0, len, buf, NULL), PR_OK);
    assert_memory_equal(buf, want, len);
    free(buf);
    pr_object_close(&o);
}

static inline int count_one(void *ctx, const char *name, bool is_folder)
{
    (void)name;
    (void)is_folder;
    ++*(int *)ctx;
    return 0;
}

static inline int count_in(struct pr_storage *st, const char *folder)
{
    int n = 0;

    assert_int_equal(pr_storage_list(st, folder, count_one, &n, NULL), PR_OK);
    return n;
}

/* The message must have these words in it. */
static inline void assert_says(const struct pr_err *err, const char *words)
{
    if (!strstr(err->msg, words))
        fail_msg("'%s' not in '%s'", words, err->msg);
}

#endif
