/*
 * HDF5 files. A first byte of 255 makes the rest a whole file, whose structure
 * libhdf5 reads in a process of its own, where it may crash. Otherwise the
 * input says what libhdf5 might have said, and the rest of it are the bytes of
 * the file: all of it that is ours then has to cope, where chunks are, what is
 * in them, their filters.
 */
#include "format/hdf5/hdf5_impl.h"

#include "fuzz_reader.h"

enum { WHOLE_FILE = 255, SIDE = 8, AXES = 3 };

/* libhdf5 1.10 loses the header that it could not make sense of. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

struct input {
    const uint8_t *data;
    size_t bytes;
};

static unsigned next(struct input *in)
{
    if (!in->bytes)
        return 0;
    in->bytes--;
    return *in->data++;
}

/* A set of up to 64 chunks. */
static void make_set(struct input *in, struct pr_hdf5_set *s)
{
    static const int filters[] = {H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE,
                                  H5Z_FILTER_FLETCHER32, PR_HDF5_LZF};

    s->way = PR_HDF5_CHUNKED;
    s->ndim = 1 + next(in) % AXES;
    s->type.bytes = 1 + next(in) % 8;
    s->row_bytes = s->type.bytes;
    s->chunk_bytes = s->type.bytes;
    s->chunk_count = 1;
    s->row_chunks = 1;
    for (unsigned a = 0; a < s->ndim; a++) {
        unsigned dim = next(in), n;

        s->dim[a] = 1 + dim % SIDE;
        s->chunk[a] = 1 + dim / SIDE % SIDE;
        if ((s->dim[a] - 1) / s->chunk[a] >= 4)
            s->chunk[a] = s->dim[a];
        n = (unsigned)((s->dim[a] - 1) / s->chunk[a]) + 1;
        s->chunk_bytes *= s->chunk[a];
        s->chunk_count *= n;
        if (a) {
            s->row_bytes *= s->dim[a];
            s->row_chunks *= n;
        }
    }
    s->filter_count = next(in) % 4;
    for (unsigned i = 0; i < s->filter_count; i++)
        s->filter[i] = filters[next(in) % 4];
    s->shuffle_bytes = next(in) % 16;
}

static void make_places(struct input *in, struct pr_hdf5_reader *h)
{
    for (uint64_t i = 0; i < h->lay.sets[0].chunk_count; i++) {
        struct pr_hdf5_place *p = &h->lay.place[i];

        p->off = next(in);
        p->off |= next(in) << 8;
        p->len = next(in);
        p->len |= (next(in) & 3) << 8;
        p->mask = next(in);
    }
    h->lay.has_places = true;
}

static void read_rows(struct pr_reader *r, const struct pr_hdf5_set *s)
{
    for (uint64_t i = 0; i < s->dim[0]; i++) {
        uint64_t n = i % 2 ? 1 : s->dim[0] - i;
        uint8_t *dst = pr_alloc((size_t)(n * s->row_bytes));
        struct pr_err err = {0};
        int rc;

        must(dst != NULL);
        rc = pr_hdf5_read_rows(r, s, i, n, dst, &err);
        must(rc == PR_OK || (rc < 0 && err.msg[0]));
        pr_free(dst);
    }
}

static void fuzz_chunks(struct input in)
{
    struct fuzz_place p;
    struct pr_reader *r;
    struct pr_hdf5_reader *h;

    fuzz_place_init(&p);
    r = fuzz_new_reader(&p, "hdf5", NULL);
    h = r->data;
    h->lay.sets = pr_alloc_zeroed(sizeof *h->lay.sets);
    must(h->lay.sets != NULL);
    make_set(&in, h->lay.sets);
    make_places(&in, h);
    fuzz_put(&p, "f", in.data, in.bytes);
    must(pr_object_open(p.st, "f", &r->obj, NULL) == PR_OK);
    read_rows(r, h->lay.sets);
    pr_object_close(&r->obj);
    pr_reader_free(r);
    fuzz_place_done(&p);
}

/* Readers stay, and with them their processes: starting one takes longer than
 * a hundred files. */
static void fuzz_whole(const uint8_t *data, size_t bytes)
{
    static const struct pr_read_opts opts[2] = {{0}, {.skip_decode = true}};
    static struct fuzz_place p;
    static struct pr_reader *r[2];

    if (!p.st)
        fuzz_place_init(&p);
    fuzz_put(&p, "f", data, bytes);
    for (int i = 0; i < 2; i++) {
        if (!r[i])
            r[i] = fuzz_new_reader(&p, "hdf5", &opts[i]);
        fuzz_file(r[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes && data[0] != WHOLE_FILE)
        fuzz_chunks((struct input){data, bytes});
    else if (bytes)
        fuzz_whole(data + 1, bytes - 1);
    return 0;
}
