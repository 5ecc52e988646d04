/*
 * Definitions of models: no text may crash, leak or take long. What is
 * accepted adds up, and its layers refer backwards only.
 */
#include "base/json/json.h"
#include "nn/model/model.h"

#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

static uint64_t learned(const struct pr_model *m, const struct pr_layer *l)
{
    struct pr_layer_tensor t[PR_LAYER_TENSORS];
    unsigned n = pr_layer_tensors(m, l, t);
    uint64_t sum = 0;

    for (unsigned i = 0; i < n; i++) {
        uint64_t elements = 1;

        for (unsigned d = 0; d < t[i].dims; d++)
            elements *= (uint64_t)t[i].at[d];
        sum += t[i].is_learned ? elements : 0;
    }
    return sum;
}

/* What it shares is of the same size, and owned by one before. */
static void check_tensors(const struct pr_model *m, unsigned i)
{
    const struct pr_layer *l = &m->layers[i], *owner = &m->layers[l->like];

    must(l->like <= i && owner->like == l->like);
    must(learned(m, l) == owner->params);
    must(l->like == i || (!l->params && l->learns == owner->learns));
    must(l->learns >= PR_FROZEN && l->learns < (int)m->turn_count);
    must(l->turn < m->turn_count);
    for (unsigned k = 0; k < l->input_count; k++)
        must(m->layers[l->inputs[k]].turn <= l->turn);
}

static void check_losses(const struct pr_model *m)
{
    must(m->loss_count && m->loss_count <= PR_LOSSES);
    for (unsigned i = 0; i < m->loss_count; i++) {
        const struct pr_loss *l = &m->losses[i];

        must(l->turn < m->turn_count);
        must(!i || l->turn >= m->losses[i - 1].turn);
        for (unsigned k = 0; k < l->of_count; k++)
            must(m->layers[l->of[k]].turn <= l->turn);
        for (unsigned k = 0; k < l->target_count; k++)
            must(m->layers[l->targets[k]].turn <= l->turn);
        must(l->weights < (int)m->input_count);
        must(l->lengths < (int)m->input_count);
    }
}

static void check(const struct pr_model *m)
{
    const struct pr_layer_shape *last = &m->layers[m->output].shape;
    uint64_t params = 0, flops = 0;

    must(m->layer_count > m->input_count && m->input_count);
    must(m->input_count <= PR_MODEL_INPUTS);
    must(!m->classes || last->at[last->dims - 1] == m->classes);
    check_losses(m);
    for (unsigned i = 0; i < m->layer_count; i++) {
        const struct pr_layer *l = &m->layers[i];

        must((i < m->input_count) == (l->input_count == 0));
        must((i < m->input_count) == (l->op == PR_LAYER_INPUT));
        for (unsigned k = 0; k < l->input_count; k++)
            must(l->inputs[k] < i);
        for (unsigned d = 0; d < l->shape.dims; d++)
            must(l->shape.at[d] > 0);
        for (unsigned d = 0; d < 4; d++)
            must(l->pad[d] >= 0);
        check_tensors(m, i);
        params += l->params;
        flops += l->flops;
    }
    must(params == m->params && flops == m->flops);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 24);
    struct pr_model *m = NULL;
    struct pr_err err = {0};
    struct pr_value v;
    struct pr_json_writer jb;
    int rc = pr_model_parse((const char *)data, bytes, "in", NULL, a, &m, &err);

    must(rc == err.code);
    if (rc) {
        must((rc == PR_E_CONF || rc == PR_E_FORMAT) && err.msg[0] && !m);
        must(strncmp(err.where, "in", 2) == 0);
        return 0;
    }
    check(m);
    if (m->layer_count > 1000) /* reading that much back takes long */
        return 0;
    pr_json_writer_init(&jb, &out, 0);
    pr_model_write_json(m, &jb);
    must(pr_buf_ok(&out));
    struct pr_json_in in = {out.data, out.len, "json", PR_JSON_UNIQUE_KEYS, 0};
    must(pr_json_read(&in, a, &v, NULL, NULL) == PR_OK);
    must(pr_get(&v, "layers")->len == m->layer_count);
    must(pr_get(&v, "losses")->len == m->loss_count);
    return 0;
}
