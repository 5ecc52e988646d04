/* Data sets to measure with, and ways to read them; see data.h. */
#include "data.h"

#include "base/json/json.h"
#include "generate/generate.h"

#include <errno.h>
#include <sys/stat.h>

static void check(int rc, const struct pr_err *err)
{
    if (rc)
        bench_die("%s: %s", err->where, err->msg);
}

/* ---- making sets */

static void read_params(struct bench_set *s, const char *dir,
                        const char *params, struct pr_value *ret)
{
    char text[2048];
    struct pr_json_in in = {.text = text, .name = "parameters"};
    struct pr_err err;
    int n = snprintf(text, sizeof text,
                     "{'storage.storage_root': '%s', "
                     "'dataset.data_folder': 'set', %s}",
                     dir, params);

    if (n < 0 || (size_t)n >= sizeof text)
        bench_die("parameters are too long");
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    in.len = (size_t)n;
    check(pr_json_read(&in, s->arena, ret, NULL, &err), &err);
}

bool bench_set_init(struct bench_set *s, const char *dir, const char *params)
{
    struct pr_value map;
    struct pr_err err;
    int rc;

    *s = (struct bench_set){.arena = pr_arena_new(16384)};
    if (!s->arena)
        bench_die("out of memory");
    read_params(s, dir, params, &map);
    check(pr_opt_fill(&pr_storage_section, &map, s->arena, &s->so, &err), &err);
    rc = pr_dataset_init(&s->set, &map, s->arena, &err);
    if (rc == PR_E_UNAVAIL) {
        bench_skip("%s", err.msg);
        return false;
    }
    check(rc, &err);
    return true;
}

double bench_set_make(const struct bench_set *s, unsigned threads)
{
    struct pr_generate_opts opts = {.threads = threads};
    struct pr_generate_result result;
    struct pr_err err;
    double start = bench_time();

    check(pr_generate(&s->set, &s->so, &opts, NULL, NULL, &result, &err), &err);
    return bench_time() - start;
}

/* ---- files */

void bench_files_init(struct bench_files *f, const char *dir)
{
    *f = (struct bench_files){.root = open(dir, O_PATH | O_DIRECTORY),
                              .dir = dir};
    if (f->root < 0)
        bench_die("%s: %s", dir, strerror(errno));
}

void bench_files_add(struct bench_files *f, const char *name)
{
    struct stat st;

    f->names = realloc(f->names, (f->count + 1) * sizeof *f->names);
    if (!f->names || !(f->names[f->count] = strdup(name)))
        bench_die("out of memory");
    if (fstatat(f->root, name, &st, 0) < 0)
        bench_die("%s: %s", name, strerror(errno));
    f->bytes += (double)st.st_size;
    f->count++;
}

void bench_files_of(struct bench_files *f, const struct bench_set *s,
                    const char *dir)
{
    char name[PR_NAME_BYTES];

    bench_files_init(f, dir);
    for (uint64_t i = 0; i < pr_dataset_files(&s->set); i++) {
        pr_dataset_name(&s->set, i, PR_NAME_DATA, name);
        bench_files_add(f, name);
    }
}

/* ---- our reader */

bool bench_reading_init(struct bench_reading *r,
                        const struct bench_files *files, const char *format,
                        const char *engine, const struct pr_read_opts *opts)
{
    const struct pr_format *f;
    struct pr_value none = {.kind = PR_MAP};
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_err err;

    *r = (struct bench_reading){.files = files};
    if (!a)
        bench_die("out of memory");
    if (pr_format_find(format, &f, &err)) {
        bench_skip("%s", err.msg);
        return false;
    }
    check(pr_opt_fill(&pr_storage_section, &none, a, &r->so, &err), &err);
    r->so.engine = engine;
    r->so.storage_root = files->dir;
    check(pr_storage_open(&r->so, &r->st, &err), &err);
    check(pr_reader_new(f, r->st, opts, &r->reader, &err), &err);
    bench_reading_once(r); /* buffers grow, the page cache fills */
    if (*pr_storage_warning(r->st))
        bench_skip("engine %s: %s", engine, pr_storage_warning(r->st));
    return !*pr_storage_warning(r->st);
}

static void read_file(struct bench_reading *r, const char *name)
{
    struct pr_sample sample;
    struct pr_err err;

    check(pr_reader_open(r->reader, name, &err), &err);
    for (uint64_t i = 0; i < r->reader->samples; i++) {
        if (r->reader->need > r->cap) {
            r->cap = r->reader->need;
            r->buf = pr_storage_buffer(r->st, r->cap);
            if (!r->buf)
                bench_die("out of memory");
        }
        check(pr_reader_read(r->reader, i, r->buf, r->cap, &sample, &err),
              &err);
        r->samples++;
    }
    pr_reader_close(r->reader);
}

double bench_reading_once(void *reading)
{
    struct bench_reading *r = reading;
    double start = bench_time();

    r->samples = 0;
    for (size_t i = 0; i < r->files->count; i++)
        read_file(r, r->files->names[i]);
    return bench_time() - start;
}

void bench_reading_done(struct bench_reading *r)
{
    pr_reader_free(r->reader);
    pr_storage_close(r->st);
}

/* ---- plain system calls */

double bench_plain_once(void *plain)
{
    struct bench_plain *p = plain;
    double start = bench_time();

    for (size_t i = 0; i < p->files->count; i++) {
        int fd =
            openat(p->files->root, p->files->names[i], O_RDONLY | O_CLOEXEC);
        off_t off = 0;
        ssize_t n;

        if (fd < 0)
            bench_die("%s: %s", p->files->names[i], strerror(errno));
        do {
            n = pread(fd, p->buf, p->piece, off);
            off += n > 0 ? n : 0;
        } while (n == (ssize_t)p->piece);
        close(fd);
    }
    return bench_time() - start;
}
