/*
 * Wrapper fault: errors made up, to test what meets them. storage.fault is a
 * list of kind:operation:when. An operation that fails does nothing at all. A
 * short read is the end of the file where there was more: engines read on
 * after a short count by themselves, so that is what is left to be seen of it.
 * Calls are counted over all storages beside each other. Probabilities come
 * from a generator with a fixed seed: calls of the same numbers fail in every
 * run, whichever threads make them.
 */
#include "base/mem.h"
#include "base/names.h"
#include "base/units.h"
#include "storage/files.h"
#include "storage/wrapper_trace.h"

#include <errno.h>
#include <string.h>

enum { RULES_MAX = 16, RULE_BYTES = 64 };
enum kind { NO_FAULT, EIO_FAULT, SHORT_FAULT, ENOSPC_FAULT, EACCES_FAULT };
enum op {
    OP_OPEN = 1 << 0,
    OP_READ = 1 << 1,
    OP_WRITE = 1 << 2,
    OP_SYNC = 1 << 3,
    OP_COMMIT = 1 << 4,
    OP_PUBLISH = 1 << 5,
    OPS_OF_WRITERS = OP_WRITE | OP_SYNC | OP_COMMIT | OP_PUBLISH,
};

static const struct {
    const char *name;
    enum kind kind;
    unsigned ops; /* that it can happen to */
} kinds[] = {
    {"eio", EIO_FAULT, OP_OPEN | OP_READ | OPS_OF_WRITERS},
    {"short", SHORT_FAULT, OP_READ},
    {"enospc", ENOSPC_FAULT, OP_OPEN | OPS_OF_WRITERS},
    {"eacces", EACCES_FAULT, OP_OPEN},
};

static const struct {
    const char *name;
    enum op op;
} ops[] = {
    {"open", OP_OPEN}, {"read", OP_READ},     {"write", OP_WRITE},
    {"sync", OP_SYNC}, {"commit", OP_COMMIT}, {"publish", OP_PUBLISH},
};

struct rule {
    enum kind kind;
    enum op op;
    double probability; /* 0: by number */
    uint64_t number;    /* of the call that fails, from 1 */
    uint64_t calls;     /* so far; atomic */
    uint64_t seed;
};

/* Shared by storages beside each other; only refs and calls change. */
struct fault {
    unsigned refs; /* atomic */
    struct rule rules[RULES_MAX];
    size_t count;
};

/* ---- the list */

static int fault_refuse_rule(const char *item, struct pr_err *err,
                             const char *why)
{
    pr_fail(err, PR_E_CONF, "storage.fault", "'%s': %s", item, why);
    return pr_hint(err, "write kind:operation:when, for example eio:read:0.01 "
                        "or enospc:write:100");
}

static int parse_when(const char *item, const char *when, struct rule *r,
                      struct pr_err *err)
{
    int64_t number;
    double p;

    if (pr_parse_int(when, &number) && number > 0) {
        r->number = (uint64_t)number;
        return PR_OK;
    }
    if (pr_parse_float(when, &p) && p > 0 && p < 1) {
        r->probability = p;
        return PR_OK;
    }
    return fault_refuse_rule(
        item, err,
        "the last part is a probability between 0 and 1 or the number "
        "of a call, from 1");
}

/* item is cut into its parts and put together again for messages. */
static int parse_rule(char *item, struct rule *r, struct pr_err *err)
{
    char *op = strchr(item, ':');
    char *when = op ? strchr(op + 1, ':') : NULL;
    unsigned allowed = 0;

    if (!when)
        return fault_refuse_rule(item, err, "expected three parts");
    *op = *when = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(item, kinds[i].name) == 0) {
            r->kind = kinds[i].kind;
            allowed = kinds[i].ops;
        }
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op + 1, ops[i].name) == 0)
            r->op = ops[i].op;
    *op = *when = ':';
    if (!r->kind)
        return fault_refuse_rule(item, err,
                                 "the kinds are eio, short, enospc and eacces");
    if (!r->op)
        return fault_refuse_rule(
            item, err,
            "the operations are open, read, write, sync, commit and "
            "publish");
    if (!(r->op & allowed))
        return fault_refuse_rule(item, err,
                                 "that cannot happen to this operation");
    return parse_when(item, when + 1, r, err);
}

static int fault_parse_rules(const char *list, struct fault *f,
                             struct pr_err *err)
{
    while (*list) {
        char item[RULE_BYTES];
        size_t len = strcspn(list, ",");
        const char *s = list + strspn(list, " ");
        size_t n = s < list + len ? (size_t)(list + len - s) : 0;
        int rc;

        while (n && s[n - 1] == ' ')
            n--;
        if (n >= sizeof item || f->count == RULES_MAX)
            return fault_refuse_rule(list, err, "that is too long");
        memcpy(item, s, n);
        item[n] = '\0';
        rc = parse_rule(item, &f->rules[f->count], err);
        if (rc)
            return rc;
        f->rules[f->count].seed = f->count;
        f->count++;
        list += len + (list[len] == ',');
    }
    return PR_OK;
}

static int fault_start(struct pr_storage *st, struct pr_err *err)
{
    struct fault *f;
    int rc;

    if (st->beside) {
        f = st->beside->data;
        __atomic_add_fetch(&f->refs, 1, __ATOMIC_RELAXED);
        st->data = f;
        return PR_OK;
    }
    f = pr_alloc_zeroed(sizeof *f);
    rc = f ? fault_parse_rules(st->opts->fault, f, err) : pr_fail_nomem(err);
    if (rc) {
        pr_free(f);
        return rc;
    }
    f->refs = 1;
    st->data = f;
    return PR_OK;
}

static void fault_stop(struct pr_storage *st)
{
    struct fault *f = st->data;

    if (__atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL) == 0)
        pr_free(f);
}

/* ---- making up */

static bool fault_is_due(struct rule *r)
{
    uint64_t before = __atomic_fetch_add(&r->calls, 1, __ATOMIC_RELAXED);
    uint64_t random = pr_hash_mix(r->seed * UINT64_C(0x9e3779b97f4a7c15) +
                                  before * UINT64_C(0xd1342543de82ef95));

    if (r->number)
        return before + 1 == r->number;
    return (double)(random >> 11) * 0x1p-53 < r->probability;
}

/* Every rule counts every call, whatever the others do. */
static enum kind next_fault(struct pr_storage *st, enum op op)
{
    struct fault *f = st->data;
    enum kind kind = NO_FAULT;

    for (size_t i = 0; i < f->count; i++)
        if (f->rules[i].op == op && fault_is_due(&f->rules[i]) && !kind)
            kind = f->rules[i].kind;
    return kind;
}

static int errno_of(enum kind kind)
{
    return kind == ENOSPC_FAULT ? ENOSPC : kind == EACCES_FAULT ? EACCES : EIO;
}

static int made_up(struct pr_err *err)
{
    return pr_hint(err, "this error was made up by storage.fault");
}

/* For operations that can only fail in one way. */
static int fail_op(struct pr_storage *st, enum op op, const char *name,
                   const char *what, struct pr_err *err)
{
    enum kind kind = next_fault(st, op);

    if (!kind)
        return PR_OK;
    errno = errno_of(kind);
    pr_files_fail(st, name, err, "%s", what);
    return made_up(err);
}

static int fail_read(struct pr_storage *st, const struct pr_object *o,
                     uint64_t off, size_t len, struct pr_err *err)
{
    enum kind kind = next_fault(st, OP_READ);

    if (!kind)
        return PR_OK;
    errno = errno_of(kind);
    if (kind == SHORT_FAULT)
        pr_files_cut_short(st, o, off + len / 2, err);
    else
        pr_files_read_failed(st, o, off, len, err);
    return made_up(err);
}

static int fault_open(struct pr_storage *st, struct pr_object *o,
                      struct pr_err *err)
{
    int rc = fail_op(st, OP_OPEN, o->name, "cannot open", err);

    return rc ? rc : pr_wrap_open(st, o, err);
}

static int fault_create(struct pr_storage *st, struct pr_object *o,
                        uint64_t size, struct pr_err *err)
{
    int rc = fail_op(st, OP_OPEN, o->name, "cannot create", err);

    return rc ? rc : st->inner->engine->create(st->inner, o, size, err);
}

static int fault_fetch(struct pr_storage *st, struct pr_object *o, uint64_t off,
                       size_t len, void *buf, size_t cap, const uint8_t **ret,
                       struct pr_err *err)
{
    int rc = fail_read(st, o, off, len, err);

    return rc ? rc
              : st->inner->engine->fetch(st->inner, o, off, len, buf, cap, ret,
                                         err);
}

static int fault_read(struct pr_storage *st, struct pr_object *o, uint64_t off,
                      size_t len, void *buf, struct pr_err *err)
{
    int rc = fail_read(st, o, off, len, err);

    return rc ? rc : st->inner->engine->read(st->inner, o, off, len, buf, err);
}

static int fault_write(struct pr_storage *st, struct pr_object *o, uint64_t off,
                       const void *data, size_t len, struct pr_err *err)
{
    enum kind kind = next_fault(st, OP_WRITE);

    if (!kind)
        return st->inner->engine->write(st->inner, o, off, data, len, err);
    errno = errno_of(kind);
    pr_files_write_failed(st, o, off, len, err);
    return made_up(err);
}

static int fault_sync(struct pr_storage *st, struct pr_object *o,
                      struct pr_err *err)
{
    int rc = fail_op(st, OP_SYNC, o->name, "cannot bring to the device", err);

    return rc ? rc : pr_wrap_sync(st, o, err);
}

/* A commit that fails leaves nothing. */
static int fault_commit(struct pr_storage *st, struct pr_object *o,
                        struct pr_err *err)
{
    int rc = fail_op(st, OP_COMMIT, o->name, "cannot put in place", err);

    if (!rc)
        return pr_wrap_commit(st, o, err);
    pr_wrap_discard(st, o);
    return rc;
}

static int fault_publish(struct pr_storage *st, const char *from,
                         const char *to, bool sync, bool *ret_swapped,
                         struct pr_err *err)
{
    int rc = fail_op(st, OP_PUBLISH, from, "cannot put in place", err);

    return rc ? rc : pr_wrap_publish(st, from, to, sync, ret_swapped, err);
}

const struct pr_engine pr_wrapper_fault = {
    .name = "fault",
    .desc = "errors made up (storage.fault)",
    .start = fault_start,
    .stop = fault_stop,
    .open = fault_open,
    .fetch = fault_fetch,
    .read = fault_read,
    .close = pr_wrap_close,
    .create = fault_create,
    .write = fault_write,
    .sync = fault_sync,
    .commit = fault_commit,
    .discard = pr_wrap_discard,
    .stat = pr_wrap_stat,
    .make_folder = pr_wrap_make_folder,
    .remove = pr_wrap_remove,
    .publish = fault_publish,
    .list = pr_wrap_list,
    .space = pr_wrap_space,
};
