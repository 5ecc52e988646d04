/* The limit of a loader of pictures: threads that take the next file of a
 * folder, read and decode it, and keep nothing. */
#include "decoding.h"

#include "codec.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

enum { MOST_THREADS = 64 };

struct bench_decoding {
    struct dirent **names;
    unsigned count, threads;
    int folder;
    _Atomic unsigned next;
    struct worker {
        struct bench_decoding *all;
        struct bench_codec codec;
    } workers[MOST_THREADS];
};

static int is_visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

struct bench_decoding *bench_decoding_new(const char *folder,
                                          const char *format, unsigned threads)
{
    struct bench_decoding *d = calloc(1, sizeof *d);
    int count = d ? scandir(folder, &d->names, is_visible, alphasort) : -1;

    if (count <= 0 || threads < 1 || threads > MOST_THREADS)
        bench_die("%s: no files, or more than %d threads", folder,
                  MOST_THREADS);
    d->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->folder < 0)
        bench_die("%s: %s", folder, strerror(errno));
    d->count = (unsigned)count;
    d->threads = threads;
    for (unsigned i = 0; i < threads; i++) {
        d->workers[i].all = d;
        if (!bench_codec_init(&d->workers[i].codec, format))
            return NULL;
    }
    return d;
}

unsigned bench_decoding_files(const struct bench_decoding *d)
{
    return d->count;
}

static void *work(void *ctx)
{
    struct worker *w = ctx;
    struct bench_decoding *d = w->all;
    unsigned i;

    while ((i = atomic_fetch_add(&d->next, 1)) < d->count)
        bench_codec_do(&w->codec, d->folder, d->names[i]->d_name);
    return NULL;
}

double bench_decoding_once(void *ctx)
{
    struct bench_decoding *d = ctx;
    pthread_t threads[MOST_THREADS];
    double start = bench_now();

    atomic_store(&d->next, 0);
    for (unsigned i = 0; i < d->threads; i++)
        if (pthread_create(&threads[i], NULL, work, &d->workers[i]))
            bench_die("cannot start a thread");
    for (unsigned i = 0; i < d->threads; i++)
        pthread_join(threads[i], NULL);
    return (bench_now() - start) / d->count;
}
