/* Loading and saving the tensors of a net. */
#include "native/native_tensors.h"

#include "base/mem.h"
#include "format/tensor_file_io.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char grad_prefix[] = "grad.";

/* Room for the largest tensor. NULL: out of memory. */
static float *alloc_largest(const struct pr_net *net)
{
    struct pr_net_tensor t;
    uint64_t most = 1;

    for (unsigned i = 0; i < pr_net_tensor_count(net); i++) {
        pr_net_tensor(net, i, &t);
        most = t.elements > most ? t.elements : most;
    }
    return pr_alloc(most * sizeof(float));
}

/* ---- loading */

static bool same_shape(const struct pr_tensor_stored *s, unsigned dims,
                       const int64_t *at)
{
    bool same = s->dims == dims;

    for (unsigned i = 0; same && i < dims; i++)
        same = s->at[i] == (uint64_t)at[i];
    return same;
}

/* The shape that is wanted, as text. */
static int wrong_shape(const struct pr_tensor_file *f,
                       const struct pr_tensor_stored *s, unsigned dims,
                       const int64_t *at, struct pr_err *err)
{
    struct pr_tensor_stored want = {.dims = dims};
    char has[192], wants[192];

    for (unsigned i = 0; i < dims; i++)
        want.at[i] = (uint64_t)at[i];
    return pr_fail(err, PR_E_FORMAT, f->path,
                   "tensor '%.80s' has the shape %.60s, %.60s is wanted",
                   s->name, pr_tensor_stored_shape(s, has),
                   pr_tensor_stored_shape(&want, wants));
}

static int native_load_tensor(const struct pr_tensor_file *f,
                              struct pr_net *net, unsigned i, float *room,
                              unsigned *found, struct pr_err *err)
{
    struct pr_net_tensor t;
    const struct pr_tensor_stored *s;
    int rc;

    pr_net_tensor(net, i, &t);
    s = pr_tensor_file_find(f, t.name);
    if (!s)
        return PR_OK;
    if (!same_shape(s, t.dims, t.at))
        return wrong_shape(f, s, t.dims, t.at, err);
    rc = pr_tensor_file_floats(f, s, room, err);
    if (!rc)
        rc = pr_net_set(net, i, room, err);
    *found += !rc;
    return rc;
}

static int native_check_ids(const struct pr_native *n,
                            const struct pr_tensor_file *f,
                            const struct pr_layer *l, const int32_t *ids,
                            uint64_t count, struct pr_err *err)
{
    for (uint64_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= l->ids)
            return pr_fail(err, PR_E_FORMAT, f->path,
                           "number %llu of '%s' is %d, '%s' has %lld of them",
                           (unsigned long long)i, l->name, ids[i],
                           n->model->name, (long long)l->ids);
    return PR_OK;
}

/* [batch, shape…]; a shape of [1] may be left out. */
static int load_input(const struct pr_native *n, const struct pr_tensor_file *f,
                      unsigned i, const struct pr_tensor_stored *s, void *out,
                      struct pr_err *err)
{
    const struct pr_layer *l = &n->model->layers[i];
    int64_t at[1 + PR_LAYER_DIMS] = {(int64_t)n->batch};
    unsigned dims = l->shape.dims + 1;
    int rc;

    for (unsigned k = 0; k < l->shape.dims; k++)
        at[k + 1] = l->shape.at[k];
    if (dims == 2 && at[1] == 1 && s->dims == 1)
        dims = 1;
    if (!same_shape(s, dims, at))
        return wrong_shape(f, s, dims, at, err);
    if (!l->ids)
        return pr_tensor_file_floats(f, s, out, err);
    rc = pr_tensor_file_ints(f, s, out, err);
    return rc ? rc : native_check_ids(n, f, l, out, s->elements, err);
}

/* All inputs together are a batch; for inference the first is. */
static int load_batch(const struct pr_native *n, const struct pr_tensor_file *f,
                      struct pr_net *net, bool *ret_batch, struct pr_err *err)
{
    const struct pr_model *m = n->model;
    int rc = PR_OK;

    *ret_batch = false;
    for (unsigned i = 0; i < m->input_count; i++)
        if (!pr_tensor_file_find(f, m->layers[i].name) &&
            (n->net.training || i == 0))
            return PR_OK;
    for (unsigned i = 0; i < m->input_count && !rc; i++) {
        const struct pr_tensor_stored *s =
            pr_tensor_file_find(f, m->layers[i].name);

        if (s)
            rc = load_input(n, f, i, s, pr_net_input(net, i), err);
    }
    *ret_batch = !rc;
    return rc;
}

static int load_all(const struct pr_native *n, const struct pr_tensor_file *f,
                    struct pr_net *net, float *room, bool *ret_batch,
                    struct pr_buf *notes, struct pr_err *err)
{
    unsigned count = pr_net_tensor_count(net), found = 0;
    int rc = load_batch(n, f, net, ret_batch, err);

    for (unsigned i = 0; !rc && i < count; i++)
        rc = native_load_tensor(f, net, i, room, &found, err);
    if (rc)
        return rc;
    if (!found && !*ret_batch) {
        pr_fail(err, PR_E_FORMAT, f->path, "it has no tensor of '%s'",
                n->model->name);
        return pr_hint(err, "names are those of the model's layers: "
                            "LAYER.weight, LAYER.bias, …");
    }
    if (found && found < count)
        pr_buf_printf(notes,
                      "nn.load: %u of the model's %u tensors are in the file, "
                      "the others start at random\n",
                      found, count);
    return PR_OK;
}

int pr_native_load_tensors(const struct pr_native *n, struct pr_net *net,
                           bool *ret_batch, struct pr_buf *notes,
                           struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_tensor_file f;
    float *room;
    int rc =
        a ? pr_tensor_file_open(n->nn.load, a, &f, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    room = alloc_largest(net);
    rc = room ? load_all(n, &f, net, room, ret_batch, notes, err)
              : pr_fail_nomem(err);
    pr_free(room);
    pr_tensor_file_close(&f);
    return rc;
}

/* ---- saving */

int pr_native_check_save(const struct pr_native *n, struct pr_err *err)
{
    const char *slash = strrchr(n->nn.save, '/');
    char folder[4096] = ".";

    if (!*n->nn.save)
        return PR_OK;
    if (slash && (size_t)(slash - n->nn.save) < sizeof folder - 1)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - n->nn.save + 1),
                 n->nn.save);
    if (access(folder, W_OK | X_OK) < 0)
        return pr_fail_errno(err, PR_E_IO, n->nn.save,
                             "it could not be written at the end");
    return PR_OK;
}

static void native_add_tensors(const struct pr_native *n,
                               const struct pr_net *net,
                               struct pr_tensor_writer *w)
{
    const struct pr_layer_shape *out =
        &n->model->layers[n->model->output].shape;
    int64_t output[1 + PR_LAYER_DIMS] = {(int64_t)n->batch};
    struct pr_net_tensor t;
    char name[sizeof t.name + sizeof grad_prefix];

    for (unsigned i = 0; i < pr_net_tensor_count(net); i++) {
        pr_net_tensor(net, i, &t);
        pr_tensor_writer_add(w, t.name, t.dims, t.at);
    }
    for (unsigned i = 0; n->net.keep_gradients && i < pr_net_tensor_count(net);
         i++) {
        pr_net_tensor(net, i, &t);
        snprintf(name, sizeof name, "%s%s", grad_prefix, t.name);
        if (t.is_learned)
            pr_tensor_writer_add(w, name, t.dims, t.at);
    }
    for (unsigned i = 0; i < out->dims; i++)
        output[1 + i] = out->at[i];
    pr_tensor_writer_add(w, "output", 1 + out->dims, output);
}

typedef int get_tensor(struct pr_net *net, unsigned i, float *out,
                       struct pr_err *err);

static int put_tensors(struct pr_net *net, struct pr_tensor_writer *w,
                       get_tensor *get, bool only_learned, float *room,
                       struct pr_err *err)
{
    struct pr_net_tensor t;
    int rc = PR_OK;

    for (unsigned i = 0; !rc && i < pr_net_tensor_count(net); i++) {
        pr_net_tensor(net, i, &t);
        if (only_learned && !t.is_learned)
            continue;
        rc = get(net, i, room, err);
        if (!rc)
            rc = pr_tensor_writer_put(w, room, t.elements, err);
    }
    return rc;
}

static uint64_t output_numbers(const struct pr_native *n)
{
    return n->batch *
           pr_shape_numbers(&n->model->layers[n->model->output].shape);
}

static int native_put_tensors(const struct pr_native *n, struct pr_net *net,
                              struct pr_tensor_writer *w, float *room,
                              struct pr_err *err)
{
    int rc = pr_tensor_writer_open(w, n->nn.save, err);

    if (!rc)
        rc = put_tensors(net, w, pr_net_get, false, room, err);
    if (!rc && n->net.keep_gradients)
        rc = put_tensors(net, w, pr_net_gradient, true, room, err);
    if (!rc)
        rc =
            pr_tensor_writer_put(w, pr_net_output(net), output_numbers(n), err);
    return rc ? rc : pr_tensor_writer_commit(w, err);
}

int pr_native_save_tensors(const struct pr_native *n, struct pr_net *net,
                           struct pr_err *err)
{
    struct pr_tensor_writer w = PR_TENSOR_WRITER_INIT;
    float *room = alloc_largest(net);
    int rc;

    native_add_tensors(n, net, &w);
    rc = room ? native_put_tensors(n, net, &w, room, err) : pr_fail_nomem(err);
    pr_tensor_writer_done(&w);
    pr_free(room);
    return rc;
}
