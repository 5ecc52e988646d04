/*
 * The groups of slots, as the keeper knows them: told of by the runner, removed
 * when everything in them has ended and the keeper does.
 */
#include "base/mem.h"
#include "launch/keeper_impl.h"
#include "launch/slots_impl.h"

#include <string.h>

int pr_keeper_hold(struct pr_keeper *k, const struct pr_slots *slots,
                   struct pr_err *err)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < slots->n_trees && !rc; i++) {
        pr_wire_begin(&k->out, PR_WIRE_HOLD);
        pr_wire_str(&k->out, slots->trees[i].top);
        pr_wire_str(&k->out, slots->trees[i].enabled);
        pr_wire_end(&k->out);
        rc = pr_keeper_send(k, err);
    }
    return rc;
}

bool pr_held_add(struct pr_keeper_state *s, struct pr_wire_msg *m)
{
    const char *top, *enabled;
    struct pr_held *h;
    char *text;
    size_t n;

    if (!pr_wire_get_str(m, &top) || !pr_wire_get_str(m, &enabled) || !top ||
        !enabled)
        return false;
    n = strlen(top) + 1;
    h = pr_alloc(sizeof(*h) + n + strlen(enabled) + 1);
    if (!h)
        return false;
    text = (char *)(h + 1);
    memcpy(text, top, n);
    memcpy(text + n, enabled, strlen(enabled) + 1);
    h->tree = (struct pr_group_tree){text, text + n};
    h->next = s->held;
    s->held = h;
    return true;
}

void pr_held_remove(struct pr_keeper_state *s)
{
    while (s->held) {
        struct pr_held *h = s->held;

        s->held = h->next;
        (void)pr_group_tree_remove(&h->tree);
        pr_free(h);
    }
}
