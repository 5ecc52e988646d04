/* Tensors of a program and where they lie: one mapping, planned ahead. */
#include "base/units.h"
#include "machine/cgroup.h"
#include "nn/engine/net_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 64, HUGE_PAGE = 2 << 20 };

static size_t align_tensor_bytes(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

int pr_net_tensor_new(struct pr_net *net, const struct pr_layout *lay,
                      size_t bytes, struct pr_err *err)
{
    struct pr_net_tensor_memory *all =
        pr_arena_grow(net->arena, net->tensors, net->tensor_count,
                      &net->tensor_cap, sizeof *all);

    if (!all || (!lay && !bytes)) {
        pr_fail_nomem(err);
        return PR_NO_TENSOR;
    }
    net->tensors = all;
    all[net->tensor_count] = (struct pr_net_tensor_memory){
        .lay = lay,
        .bytes = align_tensor_bytes(lay ? pr_layout_bytes(lay) : bytes, ALIGN)};
    return (int)net->tensor_count++;
}

int pr_net_tensor_new_kept(struct pr_net *net, const struct pr_layout *lay,
                           size_t bytes, struct pr_err *err)
{
    int t = pr_net_tensor_new(net, lay, bytes, err);

    if (t >= 0)
        net->tensors[t].is_kept = net->tensors[t].is_used = true;
    return t;
}

size_t pr_net_tensor_elements(const struct pr_net *net, int t)
{
    return pr_layout_bytes(net->tensors[t].lay) / sizeof(float);
}

/* ---- the plan: the largest first, each at the lowest place where nothing
 * lies that lives at the same time. */

static int compare_tensor_sizes(const void *a, const void *b)
{
    const struct pr_net_tensor_memory *x =
        *(struct pr_net_tensor_memory *const *)a;
    const struct pr_net_tensor_memory *y =
        *(struct pr_net_tensor_memory *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static bool lives_overlap(const struct pr_net_tensor_memory *a,
                          const struct pr_net_tensor_memory *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Placed ones are kept sorted by place, so that gaps are found in one walk. */
static size_t lowest_place(struct pr_net_tensor_memory *const *placed,
                           size_t count, const struct pr_net_tensor_memory *t,
                           size_t from)
{
    size_t at = from;

    for (size_t i = 0; i < count; i++) {
        if (!lives_overlap(placed[i], t))
            continue;
        if (placed[i]->at >= at + t->bytes)
            break;
        if (placed[i]->at + placed[i]->bytes > at)
            at = placed[i]->at + placed[i]->bytes;
    }
    return at;
}

static void insert_by_place(struct pr_net_tensor_memory **placed, size_t count,
                            struct pr_net_tensor_memory *t)
{
    size_t i = count;

    for (; i && placed[i - 1]->at > t->at; i--)
        placed[i] = placed[i - 1];
    placed[i] = t;
}

/* Kept ones of a turn's gradients, or with 0 all others. */
static size_t place_flat(struct pr_net *net, unsigned flat, size_t at)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        struct pr_net_tensor_memory *t = &net->tensors[i];

        if (!t->is_kept || t->flat != flat)
            continue;
        t->at = at;
        at += t->bytes;
    }
    return at;
}

static size_t place_kept(struct pr_net *net)
{
    size_t at = place_flat(net, 0, 0);

    for (unsigned t = 0; net->opts.training && t < net->model->turn_count;
         t++) {
        net->turns[t].flat = at;
        at = place_flat(net, t + 1, at);
        net->turns[t].flat_bytes = at - net->turns[t].flat;
    }
    return at;
}

static int plan_memory(struct pr_net *net, struct pr_err *err)
{
    struct pr_net_tensor_memory **order = PR_ARENA_ARRAY(
        net->arena, struct pr_net_tensor_memory *, 2 * net->tensor_count + 1);
    struct pr_net_tensor_memory **placed;
    size_t count = 0, from = place_kept(net);

    if (!order)
        return pr_fail_nomem(err);
    placed = order + net->tensor_count;
    net->kept_bytes = net->bytes = from;
    for (size_t i = 0; i < net->tensor_count; i++)
        if (!net->tensors[i].is_kept && net->tensors[i].is_used)
            order[count++] = &net->tensors[i];
    qsort(order, count, sizeof *order, compare_tensor_sizes);
    for (size_t i = 0; i < count; i++) {
        struct pr_net_tensor_memory *t = order[i];

        t->at = lowest_place(placed, i, t, from);
        insert_by_place(placed, i, t);
        if (t->at + t->bytes > net->bytes)
            net->bytes = t->at + t->bytes;
    }
    return PR_OK;
}

/* ---- what the machine has left */

static int check_memory_limit(const struct pr_net *net, struct pr_err *err)
{
    uint64_t limit = net->opts.memory_limit ? net->opts.memory_limit
                                            : pr_memory_remaining("");
    char need[16], have[16];

    if (net->bytes <= limit)
        return PR_OK;
    pr_fail(err, PR_E_NOMEM, net->model->name,
            "a batch of %" PRIu64 " needs %s of memory, %s are left",
            net->opts.batch, pr_format_bytes(need, net->bytes),
            pr_format_bytes(have, limit));
    return pr_hint(err, "try a smaller exp.replica_batch");
}

static size_t mapped_bytes(const struct pr_net *net)
{
    return align_tensor_bytes(net->bytes + HUGE_PAGE, HUGE_PAGE);
}

int pr_net_place_memory(struct pr_net *net, struct pr_err *err)
{
    int rc = plan_memory(net, err);
    void *p;

    if (!rc)
        rc = check_memory_limit(net, err);
    if (rc || net->opts.plan_only)
        return rc;
    p = mmap(NULL, mapped_bytes(net), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return pr_fail_errno(err, PR_E_NOMEM, net->model->name,
                             "cannot map %zu bytes", net->bytes);
    /* Where it is refused, small pages do as well, a little slower. */
    madvise(p, mapped_bytes(net), MADV_HUGEPAGE);
    net->memory = p;
    return PR_OK;
}

void pr_net_unmap_memory(struct pr_net *net)
{
    if (net->memory)
        munmap(net->memory, mapped_bytes(net));
}

static int bind_step(struct pr_net *net, struct pr_net_step *s,
                     struct pr_err *err)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < s->count && !rc; i++)
        rc = pr_primitive_bind(s->prim, s->args[i],
                               pr_net_tensor_data(net, s->tensors[i]), err);
    return rc ? rc : pr_primitive_make_ready(s->prim, err);
}

int pr_net_bind_memory(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < net->step_count && !rc; i++)
        if (net->steps[i].prim)
            rc = bind_step(net, &net->steps[i], err);
    return rc;
}
