/*
 * A made-up machine: files below a temporary root, and rows of what is wanted
 * from a JSON document about it.
 */
#ifndef TESTS_UNIT_MADE_UP_ROOT_H
#define TESTS_UNIT_MADE_UP_ROOT_H

#include "base/file.h"
#include "base/json/json.h"
#include "machine/describe/env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static inline int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/prony_envinfo.XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *st, int type,
                             struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void put_bytes(const char *path, const char *text, size_t len)
{
    char full[512], *slash;
    FILE *f;

    snprintf(full, sizeof full, "%s%s", root, path);
    slash = strrchr(full, '/');
    *slash = '\0';
    assert_int_equal(pr_make_dirs(full, NULL), PR_OK);
    *slash = '/';
    /* not pr_file_write, which waits for the disk */
    f = fopen(full, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static inline void put(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

static inline void put_link(const char *path, const char *to)
{
    char full[512];

    put(path, "");
    snprintf(full, sizeof full, "%s%s", root, path);
    assert_int_equal(unlink(full), 0);
    assert_int_equal(symlink(to, full), 0);
}

/* Captures and reads back; every document must be strict JSON. */
static inline struct pr_value capture(const struct pr_machine_env_opts *opts,
                                      struct pr_arena *a)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_json_in in = {.name = "env", .flags = PR_JSON_UNIQUE_KEYS};
    struct pr_value v;
    struct pr_err err = {0};

    pr_buf_str(&out, "x");
    assert_int_equal(pr_machine_env_capture(opts, &out, &err), PR_OK);
    assert_true(out.data[0] == 'x' && out.data[out.len - 1] == '\n');
    assert_null(strstr(out.data, "\": -1"));
    in.text = out.data + 1;
    in.len = out.len - 1;
    if (pr_json_read(&in, a, &v, NULL, &err) != PR_OK)
        fail_msg("%s: %s", err.where, err.msg);
    return v;
}

static const char *const no_variables[] = {NULL};

static inline struct pr_value capture_root(struct pr_arena *a)
{
    struct pr_machine_env_opts opts = {
        .root = root, .cwd = root, .environment = no_variables};

    return capture(&opts, a);
}

/* The value at "cpu.caches.0.level", or NULL. */
static inline const struct pr_value *at(const struct pr_value *v,
                                        const char *path)
{
    char key[64];

    while (v && *path) {
        size_t n = strcspn(path, ".");
        memcpy(key, path, n);
        key[n] = '\0';
        if (v->kind == PR_LIST)
            v = strtoul(key, NULL, 10) < v->len
                    ? &v->items[strtoul(key, NULL, 10)]
                    : NULL;
        else
            v = pr_get(v, key);
        path += n + (path[n] == '.');
    }
    return v;
}

struct want {
    const char *path, *json; /* json NULL: not there */
};

static inline void check(const struct pr_value *v, const struct want *rows,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PR_AUTO_BUF struct pr_buf got = PR_BUF_INIT(1 << 16);
        const struct pr_value *found = at(v, rows[i].path);

        if (!found && rows[i].json)
            fail_msg("no %s", rows[i].path);
        if (!found)
            continue;
        pr_json_write(&got, found);
        if (!rows[i].json || strcmp(got.data, rows[i].json) != 0)
            fail_msg("%s is %s, not %s", rows[i].path, got.data,
                     rows[i].json ? rows[i].json : "absent");
    }
}
#define CHECK(v, rows) check(v, rows, sizeof rows / sizeof *rows)

#endif
