/* Memory of batches. Where all that there is was lent, more is made: whoever
 * keeps batches decides how much that takes. */
#include "base/mem.h"
#include "loader/loader_impl.h"

struct pr_loader_pool *pr_loader_pool_new(size_t bytes, size_t samples)
{
    struct pr_loader_pool *p = pr_alloc_zeroed(sizeof *p);

    if (!p)
        return NULL;
    p->bytes = bytes;
    p->samples = samples;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

static void free_slot(struct pr_loader_slot *s)
{
    if (!s)
        return;
    pr_free(s->b.data);
    pr_free(s->small);
    pr_free(s->labels);
    pr_free(s);
}

static struct pr_loader_slot *make_slot(struct pr_loader_pool *p)
{
    struct pr_loader_slot *s = pr_alloc_zeroed(sizeof *s);

    if (!s)
        return NULL;
    s->pool = p;
    s->b.data = pr_alloc_aligned(64, p->bytes);
    s->small = pr_alloc_zeroed(p->samples * sizeof *s->small);
    s->labels = pr_alloc_zeroed(p->samples * sizeof *s->labels);
    if (s->b.data && s->small && s->labels)
        return s;
    free_slot(s);
    return NULL;
}

struct pr_loader_slot *pr_loader_pool_take(struct pr_loader_pool *p)
{
    struct pr_loader_slot *s;

    pthread_mutex_lock(&p->lock);
    s = p->free;
    if (s)
        p->free = s->next;
    pthread_mutex_unlock(&p->lock);
    if (!s) {
        s = make_slot(p);
        if (!s)
            return NULL;
        pthread_mutex_lock(&p->lock);
        p->made++;
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_lock(&p->lock);
    p->lent++;
    pthread_mutex_unlock(&p->lock);
    return s;
}

static void loader_pool_destroy(struct pr_loader_pool *p)
{
    while (p->free) {
        struct pr_loader_slot *s = p->free;

        p->free = s->next;
        free_slot(s);
    }
    pthread_mutex_destroy(&p->lock);
    pr_free(p);
}

void pr_loader_pool_give(struct pr_loader_slot *s)
{
    struct pr_loader_pool *p = s->pool;
    bool is_last;

    pthread_mutex_lock(&p->lock);
    s->next = p->free;
    p->free = s;
    is_last = --p->lent == 0 && p->is_closed;
    pthread_mutex_unlock(&p->lock);
    if (is_last)
        loader_pool_destroy(p);
}

void pr_loader_pool_close(struct pr_loader_pool *p)
{
    bool is_last;

    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_closed = true;
    is_last = p->lent == 0;
    pthread_mutex_unlock(&p->lock);
    if (is_last)
        loader_pool_destroy(p);
}

uint64_t pr_loader_pool_made(struct pr_loader_pool *p)
{
    uint64_t made;

    pthread_mutex_lock(&p->lock);
    made = p->made;
    pthread_mutex_unlock(&p->lock);
    return made;
}
