/* Bytes of samples that are kept: batches that wait (reader.hold), and whole
 * data sets (reader.read_type=memory). */
#include "base/mem.h"
#include "loader/feed_impl.h"

#include <string.h>

bool pr_feed_bytes_put(struct pr_feed_bytes *h, const void *data, size_t len,
                       size_t as_bytes)
{
    size_t want = as_bytes ? as_bytes : len;
    size_t copy = len < want ? len : want;

    if (want > h->cap) {
        uint8_t *more = pr_alloc(want);

        if (!more)
            return false;
        pr_free(h->data);
        h->data = more;
        h->cap = want;
    }
    if (copy)
        memcpy(h->data, data, copy);
    if (want > copy)
        memset(h->data + copy, 0, want - copy);
    h->len = want;
    return true;
}

void pr_feed_bytes_free(struct pr_feed_bytes *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        pr_free(list[i].data);
    pr_free(list);
}

bool pr_cached_sample_put(pr_cached_sample_slot *slot,
                          const struct pr_sample *s, bool has_head)
{
    size_t head = has_head ? PR_CACHED_SAMPLE_HEAD : 0;
    struct pr_cached_sample *k = pr_alloc(sizeof *k + head + s->size),
                            *none = NULL;

    if (!k)
        return false;
    k->len = s->size;
    if (has_head)
        memcpy(k->data, s, sizeof *s);
    if (s->size)
        memcpy(k->data + head, s->data, s->size);
    if (!atomic_compare_exchange_strong(slot, &none, k))
        pr_free(k);
    return true;
}

void pr_cached_sample_free(pr_cached_sample_slot *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        pr_free(atomic_load(&list[i]));
    pr_free(list);
}
