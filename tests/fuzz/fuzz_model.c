/*
 * Definitions of models: no text may crash, leak or take long. What is
 * accepted adds up, and its layers refer backwards only.
 */
#include "base/json.h"
#include "nn/model.h"

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

static void check(const struct pr_model *m)
{
    const struct pr_layer *last = &m->layers[m->output];
    uint64_t params = 0, flops = 0;

    must(m->layer_count > 1 && m->layers[0].op == PR_LAYER_INPUT);
    must(last->shape.dims == 1 && last->shape.at[0] == m->classes);
    for (unsigned i = 0; i < m->layer_count; i++) {
        const struct pr_layer *l = &m->layers[i];

        must((i == 0) == (l->input_count == 0));
        for (unsigned k = 0; k < l->input_count; k++)
            must(l->inputs[k] < i);
        for (unsigned d = 0; d < l->shape.dims; d++)
            must(l->shape.at[d] > 0);
        for (unsigned d = 0; d < 4; d++)
            must(l->pad[d] >= 0);
        must(l->params == learned(m, l));
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
    struct pr_jb jb;
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
    pr_jb_init(&jb, &out, 0);
    pr_model_json(m, &jb);
    must(pr_buf_ok(&out));
    struct pr_json_in in = {out.data, out.len, "json", PR_JSON_UNIQUE_KEYS, 0};
    must(pr_json_read(&in, a, &v, NULL, NULL) == PR_OK);
    must(pr_get(&v, "layers")->len == m->layer_count);
    return 0;
}
