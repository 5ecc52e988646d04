/*
 * The groups of slots, as the keeper knows them: told of by the runner, removed
 * when everything in them has ended and the keeper does.
 */
#include "base/mem.h"
#include "launch/keeper/keeper_impl.h"
#include "launch/slots/slots_impl.h"

#include <string.h>

int pr_keeper_hold_cgroups(struct pr_keeper *k, const struct pr_slots *slots,
                           struct pr_err *err)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < slots->n_trees && !rc; i++) {
        pr_keeper_message_begin(&k->out, PR_KEEPER_MESSAGE_HOLD);
        pr_keeper_message_put_str(&k->out, slots->trees[i].top);
        pr_keeper_message_end(&k->out);
        rc = pr_keeper_send(k, err);
    }
    return rc;
}

bool pr_keeper_cgroups_add(struct pr_keeper_state *s,
                           struct pr_keeper_message *m)
{
    struct pr_keeper_cgroups *h;
    const char *top;
    size_t bytes;

    if (!pr_keeper_message_get_str(m, &top) || !top)
        return false;
    bytes = strlen(top) + 1;
    h = pr_alloc(sizeof(*h) + bytes);
    if (!h)
        return false;
    h->tree.top = memcpy(h + 1, top, bytes);
    h->next = s->held;
    s->held = h;
    return true;
}

void pr_keeper_cgroups_remove(struct pr_keeper_state *s)
{
    while (s->held) {
        struct pr_keeper_cgroups *h = s->held;

        s->held = h->next;
        (void)pr_cgroup_tree_remove(&h->tree);
        pr_free(h);
    }
}
