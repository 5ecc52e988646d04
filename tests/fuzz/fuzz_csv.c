/*
 * csv files. The last byte says what the reader is told. A small window reads
 * what a large one reads, and the fast parser agrees with the plain one.
 */
#include "format/csv.h"
#include "fuzz_reader.h"

/* The upper half of the last byte: a number of samples, or this. */
enum { STORED = 8 };

/* A sample in memory of its own; NULL: it cannot be read. */
static uint8_t *sample_of(struct pr_reader *r, uint64_t i,
                          struct pr_sample *ret, struct pr_err *err)
{
    uint8_t *buf = NULL;
    int rc = PR_E_CONF;

    for (int tries = 0; rc == PR_E_CONF && tries < 2; tries++) {
        free(buf);
        buf = malloc(r->need);
        must(buf != NULL);
        rc = pr_reader_read(r, i, buf, r->need, ret, err);
    }
    must(rc != PR_E_CONF);
    if (!rc)
        return buf;
    free(buf);
    return NULL;
}

static void compare_samples(struct pr_reader *r[2])
{
    must(r[0]->samples == r[1]->samples);
    for (uint64_t i = 0; i < r[0]->samples && i < FUZZ_SAMPLES; i++) {
        struct pr_sample s[2];
        struct pr_err err[2];
        uint8_t *a = sample_of(r[0], i, &s[0], &err[0]);
        uint8_t *b = sample_of(r[1], i, &s[1], &err[1]);

        if (a && b)
            must(s[0].size == s[1].size && memcmp(a, b, s[0].size) == 0);
        else if (a)
            must(strstr(err[1].msg, "more than a MiB") != NULL);
        else if (!b && !strstr(err[1].msg, "more than a MiB"))
            must(strcmp(err[0].msg, err[1].msg) == 0);
        else
            must(!b);
        free(a);
        free(b);
    }
}

static void compare_windows(const uint8_t *data, size_t bytes,
                            const struct pr_read_opts *opts)
{
    struct fuzz_place p;
    const struct pr_format *f;
    struct pr_reader *r[2];
    int rc[2];

    fuzz_place_init(&p);
    fuzz_put(&p, "f", data, bytes);
    must(pr_format_find("csv", &f, NULL) == PR_OK);
    for (int i = 0; i < 2; i++) {
        must(pr_reader_new(f, p.st, opts, &r[i], NULL) == PR_OK);
        if (i)
            ((struct pr_csv_reader *)r[i]->data)->w.cap = 16 + bytes % 64;
        rc[i] = pr_reader_open(r[i], "f", NULL);
    }
    /* A large window may find damage to gzip before a row is asked for. */
    must(!rc[0] || rc[1] || opts->samples);
    must(!rc[1] || rc[0]);
    if (!rc[0] && !opts->skip_decode)
        compare_samples(r);
    pr_reader_free(r[0]);
    pr_reader_free(r[1]);
    fuzz_place_done(&p);
}

static void compare_parsers(const uint8_t *data, size_t bytes)
{
    uint8_t *a = calloc(1, bytes + PR_CSV_PAD);
    uint8_t *b = calloc(1, bytes + PR_CSV_PAD);
    struct pr_csv_scan x = {.p = data,
                            .end = data + bytes,
                            .last = true,
                            .out = a,
                            .out_end = a + bytes + PR_CSV_PAD};
    struct pr_csv_scan y = x;
    enum pr_csv_end end = PR_CSV_ROW;

    must(a && b);
    y.out = b;
    y.out_end = b + bytes + PR_CSV_PAD;
    while (x.p < x.end && end == PR_CSV_ROW) {
        x.out = a;
        y.out = b;
        end = pr_csv_parse(PR_U8, &x);
        must(pr_csv_parse_plainly(PR_U8, &y) == end);
        must(x.p == y.p && x.out - a == y.out - b);
        must(memcmp(a, b, (size_t)(x.out - a)) == 0);
        must(end != PR_CSV_BAD || x.why == y.why);
    }
    free(a);
    free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    unsigned how = bytes ? data[--bytes] : 0, mode = how / 16;
    struct pr_read_opts opts = {
        .dtype = (enum pr_dtype)(how % 16 % PR_DTYPE_COUNT),
        .skip_decode = mode == STORED,
        .samples = mode < STORED ? mode : 0,
    };

    fuzz_reader("csv", data, bytes, &opts);
    compare_windows(data, bytes, &opts);
    compare_parsers(data, bytes);
    return 0;
}
