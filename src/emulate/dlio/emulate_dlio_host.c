/* The machine as DLIO's result files describe it, and the size of the data as
 * DLIO reckons it. */
#include "base/file.h"
#include "emulate/dlio/emulate_dlio_impl.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { PROC_MAX = 32 << 20, PAIRS_MAX = 256 };

static const double emulate_dlio_host_gib = 1024.0 * 1024 * 1024;

static const char *proc_file(const char *path, struct pr_arena *a)
{
    const char *text;
    size_t len;

    return pr_file_read(path, PROC_MAX, a, &text, &len, NULL) ? NULL : text;
}

static double memory_gb(const char *meminfo)
{
    const char *at = meminfo ? strstr(meminfo, "MemTotal:") : NULL;
    unsigned long long kb;

    if (!at || sscanf(at, "MemTotal: %llu", &kb) != 1)
        return 0;
    return (double)kb * 1024 / emulate_dlio_host_gib;
}

void pr_dlio_host_read(struct pr_dlio_host *h, struct pr_arena *a)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct utsname u;

    *h = (struct pr_dlio_host){.cpus = cpus > 0 ? (uint64_t)cpus : 1};
    if (uname(&u) == 0) {
        snprintf(h->name, sizeof h->name, "%s", u.nodename);
        snprintf(h->processor, sizeof h->processor, "%s", u.machine);
    }
    h->cpuinfo = proc_file("/proc/cpuinfo", a);
    h->meminfo = proc_file("/proc/meminfo", a);
    h->memory_gb = memory_gb(h->meminfo);
}

/* Part of a text. */
struct piece {
    const char *at;
    size_t len;
};

static struct piece piece_strip(const char *from, const char *to)
{
    while (from < to && strchr(" \t\r", *from))
        from++;
    while (to > from && strchr(" \t\r", to[-1]))
        to--;
    return (struct piece){from, (size_t)(to - from)};
}

struct pairs {
    struct piece key[PAIRS_MAX], value[PAIRS_MAX];
    size_t count;
};

static bool piece_equals(struct piece a, const char *s, size_t len)
{
    return a.len == len && memcmp(a.at, s, len) == 0;
}

static void pairs_set(struct pairs *p, struct piece key, struct piece value)
{
    size_t i = 0;

    if (piece_equals(key, "processor", 9))
        return; /* as in DLIO: the processors are not told apart */
    while (i < p->count && !piece_equals(p->key[i], key.at, key.len))
        i++;
    if (i == PAIRS_MAX)
        return;
    if (i == p->count)
        p->count++;
    p->key[i] = key;
    p->value[i] = value;
}

static void read_pairs(struct pairs *p, const char *text)
{
    while (*text) {
        const char *end = strchrnul(text, '\n');
        const char *colon = memchr(text, ':', (size_t)(end - text));

        /* DLIO leaves out what has a second colon. */
        if (colon && !memchr(colon + 1, ':', (size_t)(end - colon - 1)))
            pairs_set(p, piece_strip(text, colon), piece_strip(colon + 1, end));
        text = *end ? end + 1 : end;
    }
}

void pr_dlio_put_pairs(struct pr_json_writer *jb, const char *key,
                       const char *text)
{
    struct pairs p;
    char name[128];

    if (!text)
        return;
    p.count = 0;
    read_pairs(&p, text);
    pr_json_open_object(jb, key);
    for (size_t i = 0; i < p.count; i++) {
        snprintf(name, sizeof name, "%.*s", (int)p.key[i].len, p.key[i].at);
        pr_json_put_strn(jb, name, p.value[i].at, p.value[i].len);
    }
    pr_json_close(jb);
}

static double dlio_record_bytes(const struct pr_emulate *e)
{
    const struct pr_value *dims = e->set.opts.record_dims;

    if (dims && dims->kind == PR_LIST && dims->len)
        return (double)pr_spec_sample_bytes(&e->set.spec);
    return e->set.opts.record_length_bytes;
}

double pr_dlio_data_gb(const struct pr_emulate *e)
{
    if (e->train_bytes > 0)
        return e->train_bytes / emulate_dlio_host_gib;
    return (double)e->set.opts.num_samples_per_file *
           (double)e->set.files[PR_TRAIN] * dlio_record_bytes(e) /
           emulate_dlio_host_gib;
}

int pr_dlio_can_cache(const struct pr_emulate *e, const struct pr_dlio_host *h)
{
    return h->memory_gb > pr_dlio_data_gb(e);
}

const char *pr_dlio_format_time(char out[static 32], uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm t;

    localtime_r(&seconds, &t);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(out + strlen(out), 12, ".%06u",
             (unsigned)(wall_ns % 1000000000u / 1000));
    return out;
}

const char *pr_dlio_met_word(const struct pr_emulate *e, double au)
{
    return au >= e->metric.au * 100 ? "success" : "fail";
}

bool pr_dlio_next_epoch(const struct pr_emulate_phase **cursor,
                        struct pr_dlio_epoch_phases *ret)
{
    const struct pr_emulate_phase *p = *cursor;
    unsigned epoch;

    if (!p)
        return false;
    epoch = p->epoch;
    *ret = (struct pr_dlio_epoch_phases){0};
    for (; p && p->epoch == epoch; p = p->next)
        *(p->evaluation ? &ret->eval : &ret->train) = p;
    *cursor = p;
    return true;
}
