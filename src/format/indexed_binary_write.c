/* Writing indexed binary files: the samples and both indexes, side by side. */
#include "format/indexed_binary.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

const char *const pr_index_endings[] = {".off.idx", ".sz.idx", NULL};

static uint64_t indexed_count_bytes(const struct pr_file_spec *spec)
{
    uint64_t each = pr_spec_sample_bytes(spec), n = spec->samples, index;

    if (__builtin_mul_overflow(each, n, &each) ||
        __builtin_mul_overflow(n, 8u * PR_INDEX_COUNT, &index) ||
        __builtin_add_overflow(each, index, &each))
        return UINT64_MAX;
    return each;
}

int pr_indexed_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    if (spec->compression != PR_PLAIN)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "indexed binary files are not compressed");
    if (indexed_count_bytes(spec) > INT64_MAX)
        return pr_fail(err, PR_E_CONF, "dataset.num_samples_per_file",
                       "%llu samples are too many for a file",
                       (unsigned long long)spec->samples);
    return PR_OK;
}

uint64_t pr_indexed_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    *ret_exact = true;
    return indexed_count_bytes(spec);
}

static int indexed_check_stop(const struct pr_writer *w, struct pr_err *err)
{
    return pr_writer_is_stopped(w) ? pr_fail(err, PR_E_INTR, "", "interrupted")
                                   : PR_OK;
}

/* Numbers first, first + step and so on. */
static int indexed_put_index(struct pr_writer *w, struct pr_out *out,
                             uint64_t n, uint64_t first, uint64_t step,
                             struct pr_err *err)
{
    int rc = PR_OK;

    for (uint64_t v = first; !rc && n; n--, v += step) {
        uint64_t le = htole64(v);

        if (n % 4096 == 0)
            rc = indexed_check_stop(w, err);
        if (!rc)
            rc = pr_out_put(out, &le, sizeof le, err);
    }
    return rc;
}

static int indexed_put_contents(struct pr_writer *w,
                                const struct pr_file_spec *spec,
                                struct pr_err *err)
{
    struct pr_indexed_writer *t = w->data;
    uint64_t each = pr_spec_sample_bytes(spec), n = spec->samples;
    int rc = indexed_put_index(w, &t->index[PR_INDEX_OFFSETS], n, 0, each, err);

    if (!rc)
        rc = indexed_put_index(w, &t->index[PR_INDEX_SIZES], n, each, 0, err);
    for (uint64_t i = 0; !rc && i < n; i++)
        rc = pr_content_put_sample(w, &t->out, &t->piece, spec, i, NULL, NULL,
                                   err);
    return rc;
}

static int indexed_create_file(struct pr_writer *w, struct pr_out *out,
                               const char *name, uint64_t size,
                               struct pr_err *err)
{
    int rc = out->block ? PR_OK : pr_out_init(out, w->st, err);

    return rc ? rc : pr_out_create(out, name, size, err);
}

static int create_all(struct pr_writer *w, const struct pr_file_spec *spec,
                      const char *name, struct pr_err *err)
{
    struct pr_indexed_writer *t = w->data;
    uint64_t size = pr_spec_sample_bytes(spec) * spec->samples;
    int rc = indexed_create_file(w, &t->out, name, size, err);

    for (int i = 0; !rc && i < PR_INDEX_COUNT; i++) {
        char *its = t->name[i];
        int n =
            snprintf(its, sizeof t->name[i], "%s%s", name, pr_index_endings[i]);

        if (n < 0 || (size_t)n >= sizeof t->name[i])
            return pr_fail(err, PR_E_IO, name, "the name is too long");
        rc = indexed_create_file(w, &t->index[i], its, spec->samples * 8, err);
    }
    return rc;
}

/* The indexes come first: who finds the samples finds where they are. */
static int indexed_commit_files(struct pr_writer *w, struct pr_err *err)
{
    struct pr_indexed_writer *t = w->data;
    int rc = PR_OK, done = 0;

    for (; !rc && done < PR_INDEX_COUNT; done++)
        rc = pr_out_commit(&t->index[done], err);
    if (!rc)
        rc = pr_out_commit(&t->out, err);
    while (rc && done-- > 0)
        (void)!pr_storage_remove(w->st, t->name[done], NULL);
    return rc;
}

int pr_indexed_write(struct pr_writer *w, const struct pr_file_spec *spec,
                     const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct pr_indexed_writer *t = w->data;
    int rc = pr_indexed_check(spec, err);

    if (!rc)
        rc = create_all(w, spec, name, err);
    if (!rc)
        rc = indexed_put_contents(w, spec, err);
    if (!rc)
        rc = indexed_commit_files(w, err);
    if (!rc) {
        *ret_bytes = indexed_count_bytes(spec);
        return PR_OK;
    }
    pr_out_discard(&t->out);
    for (int i = 0; i < PR_INDEX_COUNT; i++)
        pr_out_discard(&t->index[i]);
    return rc;
}
