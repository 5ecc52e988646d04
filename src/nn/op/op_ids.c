/* Ids come with each batch, so they are looked at in each step. */
#include "nn/op/op_ids.h"

#include "nn/kernel/kernels_rows.h"

int pr_op_check_ids(const struct pr_net *net, const struct pr_net_step *s,
                    const int32_t *ids, size_t each, int64_t limit,
                    struct pr_err *err)
{
    size_t count = net->opts.batch * each;
    size_t bad = pr_ids_find_bad(ids, count, limit);

    if (bad == count)
        return PR_OK;
    return pr_fail(err, PR_E_FORMAT, pr_op_layer(net, s)->name,
                   "id %d at place %zu of sample %zu is not below %lld",
                   (int)ids[bad], bad % each, bad / each, (long long)limit);
}

int pr_op_check_lengths(const struct pr_net *net, const struct pr_net_step *s,
                        const int32_t *lengths, int64_t most,
                        struct pr_err *err)
{
    for (size_t i = 0; i < net->opts.batch; i++)
        if (lengths[i] < 1 || lengths[i] > most)
            return pr_fail(err, PR_E_FORMAT, pr_op_layer(net, s)->name,
                           "length %d of sample %zu is not between 1 and %lld",
                           (int)lengths[i], i, (long long)most);
    return PR_OK;
}
