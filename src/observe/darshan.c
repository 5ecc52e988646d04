/*
 * Darshan puts functions of its own in place of those of the C library (open,
 * read, pread, mmap, fopen, …). What goes to the kernel another way is not
 * seen, and that depends on the storage engine.
 */
#include "observe/darshan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char library_name[] = "libdarshan";

/* The word of a text with this in it, at most 255 bytes of it. */
static bool copy_word(const char *text, const char *blanks, char *out,
                      size_t size)
{
    const char *at = strstr(text, library_name);
    const char *begin = at;

    if (!at)
        return false;
    while (begin > text && !strchr(blanks, begin[-1]))
        begin--;
    snprintf(out, size, "%.*s", (int)strcspn(begin, blanks), begin);
    return true;
}

/* 1: it is in the maps, 0: it is not, -1: there are no maps. */
static int find_in_maps(const char *proc, struct pr_darshan *d)
{
    char path[4096], line[4096 + 128];
    int found = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/self/maps", proc);
    f = fopen(path, "re");
    if (!f)
        return -1;
    while (!found && fgets(line, sizeof line, f))
        found = copy_word(line, " \t\n", d->path, sizeof d->path);
    fclose(f);
    return found;
}

bool pr_darshan_is_loaded(const char *proc, struct pr_darshan *ret)
{
    const char *preload = getenv("LD_PRELOAD");
    struct pr_darshan d = {
        .disabled = getenv("DARSHAN_DISABLE") != NULL,
        .serial = getenv("DARSHAN_ENABLE_NONMPI") != NULL,
    };
    int in_maps;

    d.named = preload && copy_word(preload, " :", d.path, sizeof d.path);
    in_maps = find_in_maps(proc, &d);
    d.loaded = in_maps > 0 || (in_maps < 0 && d.named);
    *ret = d;
    return d.loaded;
}

/* ---- words */

static const struct {
    const char *engine, *text;
} sights[] = {
    {"pread", "it sees every open and every read of the data set"},
    {"direct", "it sees every open and every read of the data set, but not "
               "that they go past the page cache (O_DIRECT)"},
    {"mmap", "it sees files being opened and mapped, but not what is read of "
             "them: pages come in by faults, without a call; with "
             "storage.engine=pread it would see the reads"},
    {"io_uring",
     "it sees files being opened, but not the reads that go through the ring "
     "(only those that are alone in it, made by pread); with "
     "storage.engine=pread it would see all of them"},
    {"memory", "it sees nothing of the data set, which is in memory"},
    {"null", "it sees nothing of the data set: no file is read"},
};

static void tell_sight(const char *engine, struct pr_buf *out)
{
    for (size_t i = 0; i < sizeof sights / sizeof *sights; i++)
        if (strcmp(sights[i].engine, engine) == 0)
            pr_buf_printf(out, "%s\n", sights[i].text);
    /* Its default, per kind of call. */
    pr_buf_str(out, "it keeps records of the first 1024 files; DARSHAN_MODMEM "
                    "and MAX_RECORDS in its configuration make room for more\n"
                    "it cannot tell what the page cache served from what the "
                    "storage did\n");
}

void pr_darshan_describe(const struct pr_darshan *d, const char *engine,
                         struct pr_buf *out)
{
    if (!d->loaded && d->named) {
        pr_buf_printf(out,
                      "Darshan is not loaded: LD_PRELOAD names '%s', but it "
                      "is not in this process\n",
                      d->path);
        return;
    }
    if (!d->loaded) {
        pr_buf_str(out, "Darshan is not loaded: start prony with "
                        "LD_PRELOAD=/path/to/libdarshan.so "
                        "DARSHAN_ENABLE_NONMPI=1\n");
        return;
    }
    pr_buf_printf(out, "Darshan is loaded: %s\n", d->path);
    if (d->disabled) {
        pr_buf_str(out, "it records nothing: DARSHAN_DISABLE is set\n");
        return;
    }
    if (!d->serial) {
        pr_buf_str(out, "it records nothing: this is not an MPI program, set "
                        "DARSHAN_ENABLE_NONMPI=1\n");
        return;
    }
    tell_sight(engine, out);
}
