/* Labels that lie apart: a npy file beside each file of samples. */
#include "base/mem.h"
#include "loader/batches_impl.h"

#include <string.h>

int pr_batches_labels_init(struct pr_batches_labels *l,
                           const struct pr_batches_opts *o, struct pr_err *err)
{
    struct pr_read_opts read = {.skip_checksum = !o->reader->checksum,
                                .samples = o->set->spec.samples,
                                .dtype = PR_I64};
    const struct pr_format *npy;
    int rc = PR_OK;

    if (!o->set->has_labels_apart)
        return PR_OK;
    rc = pr_format_find("npy", &npy, err);
    if (!rc)
        rc = pr_storage_open_beside(o->first, &l->st, err);
    if (rc)
        return rc;
    pr_storage_stop_by(l->st, o->stop);
    return pr_reader_new(npy, l->st, &read, &l->reader, err);
}

void pr_batches_labels_done(struct pr_batches_labels *l)
{
    pr_reader_free(l->reader);
    pr_storage_close(l->st);
    pr_free(l->buf);
}

static int batches_labels_open(struct pr_batches_labels *l,
                               const struct pr_batches_opts *o, uint64_t file,
                               struct pr_err *err)
{
    if (l->reader->is_open)
        pr_reader_close(l->reader);
    l->file = file;
    pr_dataset_name(o->set, pr_batches_file(o, file), PR_NAME_LABELS, l->name);
    return pr_reader_open(l->reader, l->name, err);
}

static int batches_labels_grow(struct pr_batches_labels *l, struct pr_err *err)
{
    if (l->cap >= l->reader->need)
        return PR_OK;
    pr_free(l->buf);
    l->buf = pr_alloc_aligned(PR_IO_ALIGN, l->reader->need);
    l->cap = l->buf ? l->reader->need : 0;
    return l->buf ? PR_OK : pr_fail_nomem(err);
}

/* Whole numbers of any size; false: it is something else. */
static bool label_read_integer(const struct pr_sample *s, int64_t *ret)
{
    size_t bytes = pr_dtype_bytes(s->dtype);
    char letter = pr_dtype_letter(s->dtype);
    uint64_t x = 0;

    if (s->size != bytes || (letter != 'i' && letter != 'u' && letter != 'b'))
        return false;
    switch (bytes) {
    case 1:
        x = *(const uint8_t *)s->data;
        break;
    case 2: {
        uint16_t small;
        memcpy(&small, s->data, sizeof small);
        x = small;
        break;
    }
    case 4: {
        uint32_t small;
        memcpy(&small, s->data, sizeof small);
        x = small;
        break;
    }
    default:
        memcpy(&x, s->data, sizeof x);
    }
    if (letter == 'i' && bytes < 8 && x >> (8 * bytes - 1))
        x |= UINT64_MAX << 8 * bytes;
    *ret = (int64_t)x;
    return true;
}

int pr_batches_labels_get(struct pr_batches_labels *l,
                          const struct pr_batches_opts *o, uint64_t sample,
                          int64_t *ret, struct pr_err *err)
{
    uint64_t each = o->set->spec.samples, file = sample / each,
             i = sample % each;
    struct pr_sample s = {0};
    int rc = PR_OK;

    if (!l->reader->is_open || l->file != file)
        rc = batches_labels_open(l, o, file, err);
    if (!rc && i >= l->reader->samples)
        rc = pr_fail(
            err, PR_E_FORMAT, l->name, "has %llu labels, expected %llu",
            (unsigned long long)l->reader->samples, (unsigned long long)each);
    if (!rc)
        rc = batches_labels_grow(l, err);
    if (!rc)
        rc = pr_reader_read(l->reader, i, l->buf, l->cap, &s, err);
    if (!rc && !label_read_integer(&s, ret))
        rc = pr_fail(err, PR_E_FORMAT, l->name, "labels are whole numbers");
    return rc;
}
