/* Products of plain matrices. */
#include "nn/engine/dnn_impl.h"

int pr_onednn_gemm(const struct pr_onednn *d, const struct pr_gemm *g,
                   struct pr_err *err)
{
    dnnl_status_t st;

    if (g->m == 0 || g->n == 0)
        return PR_OK;
    st = d->api->dnnl_sgemm(g->turn_a ? 'T' : 'N', g->turn_b ? 'T' : 'N', g->m,
                            g->n, g->k, g->alpha, g->a, g->lda, g->b, g->ldb,
                            g->beta, g->c, g->ldc);
    if (st == dnnl_success)
        return PR_OK;
    if (st == dnnl_out_of_memory)
        return pr_fail_nomem(err);
    return pr_fail(err, PR_E_JOB, "oneDNN",
                   "a product of [%lld, %lld] and [%lld, %lld] failed",
                   (long long)g->m, (long long)g->k, (long long)g->k,
                   (long long)g->n);
}
