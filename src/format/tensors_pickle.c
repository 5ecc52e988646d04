/*
 * The pickle of torch.save: a program for a small machine with a stack, which
 * builds dicts of tensors. Only what names storages matters: tuples
 *   ("storage", torch.FloatStorage, "0", "cpu", elements)
 * as persistent ids. All else becomes a thing without a value; classes and
 * functions are names, and nothing is called.
 */
#include "format/tensors_found.h"
#include "format/tensors_impl.h"

#include <endian.h>
#include <string.h>

enum kind { OTHER, MARK, NUMBER, TEXT, TYPE, STORAGE };

/* Python's writer sets a thousand items of a dict at a time. */
enum { DEPTH_MAX = 4096, PICKLE_MAX = 4 << 20 };

struct item {
    uint64_t number;    /* of NUMBER; elements of STORAGE */
    uint32_t text, len; /* of TEXT and the key of STORAGE: where it is */
    uint8_t kind;
    uint8_t type; /* of TYPE and STORAGE */
};

struct machine {
    const uint8_t *p, *end, *start;
    const char *name;
    struct pr_arena *a;
    struct item *stack, *memo;
    size_t depth, memo_count, memo_room;
    struct pr_tensor_torch_storage *found;
    size_t count;
    struct pr_err *err;
};

static int pickle_fail(const struct machine *m, const char *what)
{
    return pr_fail(m->err, PR_E_FORMAT, m->name,
                   "at byte %zu of its pickle: %s", (size_t)(m->p - m->start),
                   what);
}

static int cut_short(const struct machine *m)
{
    return pickle_fail(m, "it is cut short");
}

static bool pickle_read_bytes(struct machine *m, size_t len,
                              const uint8_t **ret)
{
    if (len > (size_t)(m->end - m->p))
        return false;
    *ret = m->p;
    m->p += len;
    return true;
}

static bool pickle_read_number(struct machine *m, size_t len, uint64_t *ret)
{
    const uint8_t *p;
    uint64_t n = 0;

    if (len > sizeof n || !pickle_read_bytes(m, len, &p))
        return false;
    memcpy(&n, p, len);
    *ret = le64toh(n);
    return true;
}

static int pickle_push(struct machine *m, struct item item)
{
    if (m->depth == DEPTH_MAX)
        return pickle_fail(m, "it is nested too deep");
    m->stack[m->depth++] = item;
    return PR_OK;
}

static int push_other(struct machine *m)
{
    return pickle_push(m, (struct item){.kind = OTHER});
}

static int pickle_pop(struct machine *m, size_t count)
{
    for (; count; count--)
        if (!m->depth || m->stack[--m->depth].kind == MARK)
            return pickle_fail(m, "it takes what is not there");
    return PR_OK;
}

/* Items above the last mark, which goes as well. */
static int pop_to_mark(struct machine *m, struct item **ret, size_t *ret_count)
{
    size_t at = m->depth;

    while (at && m->stack[at - 1].kind != MARK)
        at--;
    if (!at)
        return pickle_fail(m, "it has no mark");
    *ret = m->stack + at;
    *ret_count = m->depth - at;
    m->depth = at - 1;
    return PR_OK;
}

/* ---- what is pushed */

static int push_number(struct machine *m, size_t len)
{
    uint64_t n;

    if (!pickle_read_number(m, len, &n))
        return cut_short(m);
    return pickle_push(m, (struct item){.kind = NUMBER, .number = n});
}

/* LONG1: so many bytes; those of sizes have a zero on top. */
static int push_long(struct machine *m)
{
    uint64_t len, n = 0, top = 0;

    if (!pickle_read_number(m, 1, &len) ||
        !pickle_read_number(m, len < 8 ? len : 8, &n) ||
        (len > 8 && !pickle_read_number(m, len - 8, &top)))
        return cut_short(m);
    if (top)
        return pickle_fail(m, "it has a number that is too large");
    return pickle_push(m, (struct item){.kind = NUMBER, .number = n});
}

static int pickle_push_text(struct machine *m)
{
    const uint8_t *text;
    uint64_t len;

    if (!pickle_read_number(m, 4, &len) ||
        !pickle_read_bytes(m, (size_t)len, &text))
        return cut_short(m);
    return pickle_push(m, (struct item){.kind = TEXT,
                                        .text = (uint32_t)(text - m->start),
                                        .len = (uint32_t)len});
}

static bool pickle_read_line(struct machine *m, const uint8_t **ret,
                             size_t *ret_len)
{
    const uint8_t *end = memchr(m->p, '\n', (size_t)(m->end - m->p));

    if (!end)
        return false;
    *ret = m->p;
    *ret_len = (size_t)(end - m->p);
    m->p = end + 1;
    return true;
}

static bool pickle_is_text(const uint8_t *text, size_t len, const char *want)
{
    return len == strlen(want) && memcmp(text, want, len) == 0;
}

static int push_global(struct machine *m)
{
    const uint8_t *module, *name;
    size_t module_len, len;

    if (!pickle_read_line(m, &module, &module_len) ||
        !pickle_read_line(m, &name, &len))
        return cut_short(m);
    for (int t = 0; t < PR_TENSOR_TYPE_COUNT; t++)
        if (pickle_is_text(module, module_len, "torch") &&
            pickle_is_text(name, len,
                           pr_tensor_type_torch_name((enum pr_tensor_type)t)))
            return pickle_push(m,
                               (struct item){.kind = TYPE, .type = (uint8_t)t});
    return push_other(m);
}

static int pickle_push_tuple(struct machine *m, const struct item *in,
                             size_t count)
{
    struct item item = {.kind = OTHER};

    if (count == 5 && in[0].kind == TEXT &&
        pickle_is_text(m->start + in[0].text, in[0].len, "storage") &&
        in[1].kind == TYPE && in[2].kind == TEXT && in[4].kind == NUMBER)
        item = (struct item){in[4].number, in[2].text, in[2].len, STORAGE,
                             in[1].type};
    return pickle_push(m, item);
}

static int push_small_tuple(struct machine *m, size_t count)
{
    int rc = pickle_pop(m, count);

    return rc ? rc : push_other(m);
}

/* ---- what is remembered */

static int grow_memo(struct machine *m)
{
    size_t room = m->memo_room ? 2 * m->memo_room : 256;
    struct item *more = PR_ARENA_ARRAY(m->a, struct item, room);

    if (!more)
        return PR_E_NOMEM;
    if (m->memo_count)
        memcpy(more, m->memo, m->memo_count * sizeof *more);
    m->memo = more;
    m->memo_room = room;
    return PR_OK;
}

/* Python's writer numbers them as they come. */
static int pickle_memo_put(struct machine *m, size_t len)
{
    uint64_t at;

    if (!pickle_read_number(m, len, &at))
        return cut_short(m);
    if (at > m->memo_count || !m->depth)
        return pickle_fail(m, "it remembers what is not there");
    if (at == m->memo_room && grow_memo(m))
        return pr_fail_nomem(m->err);
    m->memo[at] = m->stack[m->depth - 1];
    m->memo_count += at == m->memo_count;
    return PR_OK;
}

static int pickle_memo_get(struct machine *m, size_t len)
{
    uint64_t at;

    if (!pickle_read_number(m, len, &at))
        return cut_short(m);
    if (at >= m->memo_count)
        return pickle_fail(m, "it recalls what it did not remember");
    return pickle_push(m, m->memo[at]);
}

/* ---- storages */

static bool pickle_parse_key(const uint8_t *text, uint32_t len, uint64_t *ret)
{
    *ret = 0;
    for (uint32_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || len > 10)
            return false;
        *ret = *ret * 10 + (uint64_t)(text[i] - '0');
    }
    return len > 0;
}

/* torch.save numbers them as they come; one that comes again is the same. */
static int note_storage(struct machine *m)
{
    struct item item = {0};
    uint64_t key;
    int rc;

    if (m->depth)
        item = m->stack[m->depth - 1];
    rc = pickle_pop(m, 1);
    if (rc)
        return rc;
    if (item.kind != STORAGE ||
        !pickle_parse_key(m->start + item.text, item.len, &key) ||
        key > m->count)
        return pickle_fail(
            m, "it holds what is not a tensor of a type that checkpoints "
               "have");
    if (key == m->count)
        m->found[m->count++] = (struct pr_tensor_torch_storage){
            (enum pr_tensor_type)item.type, item.number};
    else if (m->found[key].type != item.type ||
             m->found[key].elements != item.number)
        return pickle_fail(m, "it names a storage twice, with two sizes");
    return push_other(m);
}

/* ---- the program */

static int after_mark(struct machine *m, uint8_t op)
{
    struct item *items = NULL;
    size_t count = 0;
    int rc = pop_to_mark(m, &items, &count);

    if (rc || op != 't') /* SETITEMS, APPENDS: onto what is below */
        return rc;
    return pickle_push_tuple(m, items, count);
}

static int pickle_reduce(struct machine *m)
{
    int rc = pickle_pop(m, 2);

    return rc ? rc : push_other(m);
}

static int pickle_run_op(struct machine *m, uint8_t op)
{
    const uint8_t *skipped;

    switch (op) {
    case 0x80: /* PROTO */
        return pickle_read_bytes(m, 1, &skipped) ? PR_OK : cut_short(m);
    case 'G':
        return pickle_read_bytes(m, 8, &skipped) ? push_other(m) : cut_short(m);
    case '}':
    case ']':
    case ')':
    case 'N':
    case 0x88:
    case 0x89:
        return push_other(m);
    case '(':
        return pickle_push(m, (struct item){.kind = MARK});
    case 'K':
        return push_number(m, 1);
    case 'M':
        return push_number(m, 2);
    case 'J':
        return push_number(m, 4);
    case 0x8a:
        return push_long(m);
    case 'X':
        return pickle_push_text(m);
    case 'c':
        return push_global(m);
    case 0x85:
    case 0x86:
    case 0x87:
        return push_small_tuple(m, op - 0x84u);
    case 'q':
        return pickle_memo_put(m, 1);
    case 'r':
        return pickle_memo_put(m, 4);
    case 'h':
        return pickle_memo_get(m, 1);
    case 'j':
        return pickle_memo_get(m, 4);
    case 't':
    case 'u':
    case 'e':
        return after_mark(m, op);
    case 's':
        return pickle_pop(m, 2);
    case 'a':
    case 'b':
        return pickle_pop(m, 1);
    case 'R':
        return pickle_reduce(m);
    case 'Q':
        return note_storage(m);
    default:
        m->p--;
        return pickle_fail(m, "it does what no checkpoint needs");
    }
}

int pr_tensor_find_pickle(const void *pickle, size_t len, const char *name,
                          struct pr_arena *a,
                          struct pr_tensor_torch_storage **ret,
                          size_t *ret_count, struct pr_err *err)
{
    struct machine m = {
        .p = pickle, .start = pickle, .name = name, .a = a, .err = err};
    int rc = PR_OK;

    if (len > PICKLE_MAX)
        return pr_fail(err, PR_E_FORMAT, name,
                       "its pickle has %zu bytes, %d are read at most", len,
                       PICKLE_MAX);
    m.end = m.p + len;
    m.stack = PR_ARENA_ARRAY(a, struct item, DEPTH_MAX);
    /* A key has a text of its own, of six bytes at least. */
    m.found = PR_ARENA_ARRAY(a, struct pr_tensor_torch_storage, len / 6 + 1);
    if (!m.stack || !m.found)
        return pr_fail_nomem(err);
    while (!rc) {
        if (m.p == m.end)
            return cut_short(&m);
        if (*m.p == '.') {
            *ret = m.found;
            *ret_count = m.count;
            return PR_OK;
        }
        rc = pickle_run_op(&m, *m.p++);
    }
    return rc;
}
