/* Splitting the machine as suite.* says, once for all experiments alike. */
#include "run/slot_sets.h"

#include "base/json/json_write.h"
#include "base/mem.h"

#include <string.h>

enum { MAX_SLOTS = 1024 };

struct pr_slot_set {
    char *key;
    struct pr_slots *slots;
    struct pr_slot_set *next;
};

/* What makes a set another one. */
static void slot_set_write_key(struct pr_buf *out,
                               const struct pr_suite_opts *suite)
{
    /* Slots 0 and 1 are not both devices on the whole machine. */
    pr_buf_printf(out, "%d %s %s ", suite->isolate, suite->cgroup,
                  suite->slots->len ? "slots" : "devices");
    pr_value_write_repr(out, suite->slots->len ? suite->slots : suite->devices);
}

static const char *slot_set_device_text(struct pr_arena *a,
                                        const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    for (uint32_t i = 0; v->kind == PR_LIST && i < v->len; i++) {
        pr_buf_str(&text, i ? "," : "");
        pr_value_write_text(&text, &v->items[i]);
    }
    if (v->kind != PR_LIST)
        pr_value_write_text(&text, v);
    return pr_buf_ok(&text)
               ? pr_arena_copy(a, text.data ? text.data : "", text.len)
               : NULL;
}

/* Where the GPU is, so that its slot gets the processors near it. */
static const char *slot_set_device_pci(struct pr_gpus *gpus,
                                       const struct pr_value *v,
                                       struct pr_arena *a)
{
    const struct pr_gpu *g = v->kind == PR_INT ? pr_gpus_get(gpus, v->i) : NULL;

    return g && *g->pci ? pr_arena_str(a, g->pci) : NULL;
}

static int slot_set_make_slots(const struct pr_suite_opts *suite,
                               struct pr_gpus *gpus, struct pr_arena *a,
                               struct pr_slots **ret, struct pr_err *err)
{
    bool apart = suite->slots->len > 0;
    unsigned n = apart ? suite->slots->len : 1;
    struct pr_slot_device *d = PR_ARENA_ARRAY(a, struct pr_slot_device, n);
    struct pr_slots_opts opts = {.count = n,
                                 .isolate = apart && suite->isolate,
                                 .devices = d,
                                 .group = apart ? suite->cgroup : ""};
    bool ok = d != NULL;

    /* Without slots it has several devices and the whole machine. */
    for (unsigned i = 0; ok && i < n; i++) {
        const struct pr_value *v =
            apart ? &suite->slots->items[i] : suite->devices;

        d[i].id = slot_set_device_text(a, v);
        d[i].pci = apart ? slot_set_device_pci(gpus, v, a) : NULL;
        ok = d[i].id != NULL;
    }
    return ok ? pr_slots_new(&opts, ret, err) : pr_fail_nomem(err);
}

static struct pr_slot_set *slot_sets_find(const struct pr_slot_sets *s,
                                          const char *key)
{
    struct pr_slot_set *x = s->first;

    while (x && strcmp(x->key, key) != 0)
        x = x->next;
    return x;
}

static int slot_sets_add(struct pr_slot_sets *s, struct pr_keeper *keeper,
                         const char *key, const struct pr_suite_opts *suite,
                         struct pr_slot_set **ret, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_slot_set *x = pr_alloc_zeroed(sizeof *x);
    int rc = a && x ? PR_OK : pr_fail_nomem(err);

    if (!rc)
        x->key = pr_alloc_zeroed(strlen(key) + 1);
    if (!rc && !x->key)
        rc = pr_fail_nomem(err);
    if (!rc)
        rc = slot_set_make_slots(suite, s->gpus, a, &x->slots, err);
    if (!rc)
        rc = pr_keeper_hold_cgroups(keeper, x->slots, err);
    if (rc) {
        pr_slots_free(x ? x->slots : NULL);
        pr_free(x ? x->key : NULL);
        pr_free(x);
        return rc;
    }
    memcpy(x->key, key, strlen(key));
    x->next = s->first;
    s->first = x;
    *ret = x;
    return PR_OK;
}

int pr_slot_sets_get(struct pr_slot_sets *s, struct pr_keeper *keeper,
                     const struct pr_suite_opts *suite,
                     const struct pr_slot **ret,
                     const struct pr_slots **ret_set, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf key = PR_BUF_INIT(1 << 16);
    struct pr_slot_set *x;
    int rc = PR_OK;

    *ret = NULL;
    *ret_set = NULL;
    if (!suite->slots->len && !suite->devices->len)
        return PR_OK;
    if (suite->slots->len > MAX_SLOTS ||
        (suite->slots->len && suite->slot >= (int64_t)suite->slots->len))
        return pr_fail(err, PR_E_CONF, "suite.slot",
                       "there is no slot %lld of %u", (long long)suite->slot,
                       (unsigned)suite->slots->len);
    slot_set_write_key(&key, suite);
    if (!pr_buf_ok(&key))
        return pr_fail_nomem(err);
    x = slot_sets_find(s, key.data);
    if (!x)
        rc = slot_sets_add(s, keeper, key.data, suite, &x, err);
    if (rc)
        return rc;
    *ret =
        pr_slots_get(x->slots, suite->slots->len ? (unsigned)suite->slot : 0);
    *ret_set = x->slots;
    return PR_OK;
}

void pr_slot_sets_write_slot(const struct pr_slot *slot,
                             const struct pr_slots *set, struct pr_buf *results)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &text, 0);
    pr_json_open_object(&jb, NULL);
    pr_json_put_uint(&jb, "index", slot->index);
    pr_json_put_str(&jb, "cpus", slot->cpus);
    if (slot->n_cores)
        pr_json_put_uint(&jb, "cores", slot->n_cores);
    if (slot->memory_bytes)
        pr_json_put_uint(&jb, "memory_bytes", slot->memory_bytes);
    pr_json_put_str(&jb, "cpus_held_by",
                    pr_slots_hold_name(pr_slots_cpu_hold(set)));
    pr_json_put_str(&jb, "memory_held_by",
                    pr_slots_hold_name(pr_slots_memory_hold(set)));
    pr_json_close(&jb);
    pr_buf_str(results, results->len ? ", " : "");
    pr_buf_str(results, "\"suite.slot\": ");
    pr_buf_add(results, text.data, text.len);
}

void pr_slot_sets_close(struct pr_slot_sets *s)
{
    struct pr_slot_set *next;

    for (struct pr_slot_set *x = s->first; x; x = next) {
        next = x->next;
        pr_slots_free(x->slots);
        pr_free(x->key);
        pr_free(x);
    }
    s->first = NULL;
}
