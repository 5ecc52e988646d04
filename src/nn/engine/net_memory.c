/*
 * What a program is put together from: tensors, which lie in one mapping that
 * is planned ahead, steps, and the updates of parameters.
 */
#include "base/units.h"
#include "machine/cgroup.h"
#include "nn/engine/net_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 64, HUGE_PAGE = 2 << 20 };

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
        .bytes = pr_round_up(lay ? pr_layout_bytes(lay) : bytes, ALIGN)};
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

/* Placed ones are kept sorted by place, so that gaps are found in one walk. */
static size_t lowest_place(struct pr_net_tensor_memory *const *placed,
                           size_t count, const struct pr_net_tensor_memory *t,
                           size_t from)
{
    size_t at = from;

    for (size_t i = 0; i < count; i++) {
        if (placed[i]->first > t->last || t->first > placed[i]->last)
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
    return pr_round_up(net->bytes + HUGE_PAGE, HUGE_PAGE);
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

/* ---- adding steps to a program */

struct pr_net_step *pr_net_step_new(struct pr_net *net, pr_net_step_fn *run)
{
    struct pr_net_step *all = pr_arena_grow(
        net->arena, net->steps, net->step_count, &net->step_cap, sizeof *all);

    if (!all)
        return NULL;
    net->steps = all;
    all[net->step_count] = (struct pr_net_step){
        .run = run, .layer = net->layer, .stage = net->stage};
    return &all[net->step_count++];
}

void pr_net_step_use(struct pr_net *net, struct pr_net_step *s, int arg,
                     int tensor)
{
    unsigned at = (unsigned)(s - net->steps);
    struct pr_net_tensor_memory *t = &net->tensors[tensor];

    s->tensors[s->count] = tensor;
    s->args[s->count++] = arg;
    if (!t->is_used)
        t->first = at;
    t->is_used = true;
    t->last = at;
}

static int run_prim(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    (void)net;
    return pr_primitive_run(s->prim, err);
}

struct pr_net_step *pr_net_step_primitive(struct pr_net *net,
                                          struct pr_primitive *prim)
{
    struct pr_net_step *s = pr_net_step_new(net, run_prim);
    size_t bytes = pr_primitive_scratch_bytes(prim);

    if (!s)
        return NULL;
    s->prim = prim;
    if (bytes) {
        if (net->tensors[net->scratch].bytes < bytes)
            net->tensors[net->scratch].bytes = (bytes + 63) / 64 * 64;
        pr_net_step_use(net, s, PR_ARG_SCRATCH, net->scratch);
    }
    return s;
}

int pr_net_step_reorder(struct pr_net *net, const struct pr_layout *from,
                        int src, const struct pr_layout *to, int dst,
                        struct pr_err *err)
{
    struct pr_primitive *prim;
    struct pr_net_step *s;
    int rc = from && to ? pr_primitive_reorder(net->dnn, from, to, &prim, err)
                        : pr_fail_nomem(err);

    if (rc)
        return rc;
    s = pr_net_step_primitive(net, prim);
    if (!s)
        return pr_fail_nomem(err);
    s->is_reorder = true;
    pr_net_step_use(net, s, PR_ARG_SRC, src);
    pr_net_step_use(net, s, PR_ARG_DST, dst);
    return PR_OK;
}

int pr_net_tensor_in_layout(struct pr_net *net, int tensor,
                            const struct pr_layout *lay, int *ret,
                            struct pr_err *err)
{
    int copy, rc;

    if (!lay)
        return pr_fail_nomem(err);
    *ret = tensor;
    if (pr_layout_is_same(pr_net_tensor_layout(net, tensor), lay))
        return PR_OK;
    copy = pr_net_tensor_new(net, lay, 0, err);
    if (copy < 0)
        return PR_E_NOMEM;
    rc = pr_net_step_reorder(net, pr_net_tensor_layout(net, tensor), tensor,
                             lay, copy, err);
    if (!rc)
        *ret = copy;
    return rc;
}

/* ---- how parameters change. A gradient is taken as soon as all layers that
 * have the parameter gave theirs; where gradients are clipped together, or
 * summed over several nets, all wait for the end of the turn. */

bool pr_net_param_is_updated(const struct pr_net *net, unsigned layer)
{
    return net->model->layers[layer].learns == (int)net->turn;
}

static bool needs_all_gradients(const struct pr_net *net)
{
    return net->opts.reduce || net->opts.optimizer.clip > 0;
}

int pr_net_param_gradient(struct pr_net *net, unsigned layer, unsigned i,
                          const struct pr_layout *lay, int *ret,
                          struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    const struct pr_net_param *p = &net->params[n->params[i]];
    int t =
        lay && !pr_layout_is_same(lay, p->lay)
            ? pr_net_tensor_new(net, lay, 0, err)
            : pr_net_tensor_new(net, NULL, p->elements * sizeof(float), err);

    if (t < 0)
        return PR_E_NOMEM;
    if (!net->tensors[t].lay)
        net->tensors[t].lay = p->lay;
    n->grads[i] = *ret = t;
    return PR_OK;
}

static int run_update(struct pr_net *net, struct pr_net_step *s,
                      struct pr_err *err)
{
    const struct pr_optimizer_opts *o = &net->opts.optimizer;
    const struct pr_net_param *p = &net->params[s->param];
    float *w = pr_net_tensor_data(net, p->value);
    const float *g = pr_net_tensor_data(net, s->tensors[0]);

    (void)err;
    if (o->kind == PR_ADAM) {
        struct pr_adam a = {.rate = o->learning_rate,
                            .beta1 = o->beta1,
                            .beta2 = o->beta2,
                            .epsilon = o->epsilon,
                            .decay = o->weight_decay,
                            .step = net->step_number + 1};

        pr_kernel_adam(net->par, p->elements, &a, w, g,
                       pr_net_tensor_data(net, p->first),
                       pr_net_tensor_data(net, p->second));
    } else {
        pr_kernel_sgd(net->par, p->elements, (float)o->learning_rate,
                      (float)o->momentum, (float)o->weight_decay,
                      net->step_number == 0, w, g,
                      pr_net_tensor_data(net, p->first));
    }
    return PR_OK;
}

static int emit_update(struct pr_net *net, unsigned param, struct pr_err *err)
{
    struct pr_net_param *p = &net->params[param];
    struct pr_net_step *s = pr_net_step_new(net, run_update);

    if (!s)
        return pr_fail_nomem(err);
    s->layer = p->layer;
    s->param = param;
    pr_net_step_use(net, s, 0, p->gradient);
    if (net->opts.keep_gradients)
        net->tensors[p->gradient].is_kept = true;
    return PR_OK;
}

static int run_gradient_sum(struct pr_net *net, struct pr_net_step *s,
                            struct pr_err *err)
{
    const float *both[] = {pr_op_data(net, s, 0), pr_op_data(net, s, 1)};

    (void)err;
    pr_kernel_sum(net->par, net->params[s->param].elements, both, 2, false,
                  pr_op_data(net, s, 0));
    return PR_OK;
}

/* One more layer's gradient of the parameter. */
static int join_param_gradient(struct pr_net *net, unsigned param, int gradient,
                               struct pr_err *err)
{
    struct pr_net_param *p = &net->params[param];
    int rc = p->is.dims > 1 ? pr_net_tensor_in_layout(net, gradient, p->lay,
                                                      &gradient, err)
                            : PR_OK;

    if (rc)
        return rc;
    if (p->gradient < 0) {
        p->gradient = gradient;
        return PR_OK;
    }
    rc = PR_OP_STEP(net, run_gradient_sum, err, p->gradient, gradient);
    if (!rc)
        pr_net_last_step(net)->param = param;
    return rc;
}

int pr_net_param_update(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int rc = PR_OK;

    net->stage = PR_STAGE_UPDATE;
    for (unsigned i = 0; i < PR_LAYER_TENSORS && !rc; i++) {
        struct pr_net_param *p =
            n->params[i] < 0 ? NULL : &net->params[n->params[i]];

        if (!p || !p->is.is_learned || p->is_sparse)
            continue;
        rc = join_param_gradient(net, (unsigned)n->params[i], n->grads[i], err);
        n->grads[i] = PR_NO_TENSOR;
        if (!rc && --p->uses == 0 && !needs_all_gradients(net))
            rc = emit_update(net, (unsigned)n->params[i], err);
    }
    net->stage = PR_STAGE_BACKWARD;
    return rc;
}

/* ---- what waits for all gradients of a turn */

/* A parameter learns in one turn alone, so its gradient is that turn's. */
static bool is_gradient_of_turn(const struct pr_net *net,
                                const struct pr_net_param *p, unsigned turn)
{
    return p->gradient >= 0 && !p->is_sparse &&
           net->model->layers[p->layer].learns == (int)turn;
}

static int run_reduce(struct pr_net *net, struct pr_net_step *s,
                      struct pr_err *err)
{
    const struct pr_net_turn *t = &net->turns[s->param];
    const struct pr_net_reduce *r = net->opts.reduce;

    return r->mean(r->ctx, (float *)(void *)(net->memory + t->flat),
                   t->flat_bytes / sizeof(float), err);
}

/* What fills up a vector at the end of a bias may be anything. */
static size_t count_gradient_numbers(const struct pr_net_param *p)
{
    return p->is.dims == 1 ? (size_t)p->is.at[0] : p->elements;
}

/* Tensors: all gradients of the turn. */
static int run_clip(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    double clip = net->opts.optimizer.clip, squares = 0, norm;

    (void)err;
    for (size_t i = 0; i < net->param_count; i++)
        if (is_gradient_of_turn(net, &net->params[i], s->param))
            squares += pr_kernel_squares(
                net->par, count_gradient_numbers(&net->params[i]),
                pr_net_tensor_data(net, net->params[i].gradient));
    norm = sqrt(squares) + 1e-6;
    if (norm <= clip)
        return PR_OK;
    for (size_t i = 0; i < net->param_count; i++)
        if (is_gradient_of_turn(net, &net->params[i], s->param)) {
            float *g = pr_net_tensor_data(net, net->params[i].gradient);

            pr_kernel_scale(net->par, net->params[i].elements,
                            (float)(clip / norm), g, g);
        }
    return PR_OK;
}

/* A step at which all gradients of the turn must be there. */
static int emit_turn_step(struct pr_net *net, pr_net_step_fn *run,
                          struct pr_err *err)
{
    struct pr_net_step *s = pr_net_step_new(net, run);

    if (!s)
        return pr_fail_nomem(err);
    s->param = net->turn;
    for (size_t i = 0; i < net->param_count; i++) {
        struct pr_net_tensor_memory *t;

        if (!is_gradient_of_turn(net, &net->params[i], net->turn))
            continue;
        t = &net->tensors[net->params[i].gradient];
        t->last = (unsigned)(s - net->steps);
        if (net->opts.reduce) {
            t->is_kept = true;
            t->flat = net->turn + 1;
        }
    }
    return PR_OK;
}

int pr_net_compile_updates(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    if (!needs_all_gradients(net))
        return PR_OK;
    net->stage = PR_STAGE_UPDATE;
    if (net->opts.reduce)
        rc = emit_turn_step(net, run_reduce, err);
    if (!rc && net->opts.optimizer.clip > 0)
        rc = emit_turn_step(net, run_clip, err);
    for (size_t i = 0; i < net->param_count && !rc; i++)
        if (is_gradient_of_turn(net, &net->params[i], net->turn))
            rc = emit_update(net, (unsigned)i, err);
    return rc;
}
