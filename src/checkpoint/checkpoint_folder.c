/* The folder of checkpoints, and the room in it. */
#include "checkpoint/checkpoint_folder.h"

#include "base/buf.h"
#include "base/text.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of folders: of checkpoints, of those being written, and of those that
 * changed places with a new one. */
#define FIRST "global_epoch"
#define PART PR_PART_PREFIX FIRST
#define OLD PR_PART_PREFIX "old-"

enum { LOOKED_FOR = 10000 }; /* checkpoints that may be there already */

/* Where data lies may also be said for all experiments: prony run -d. */
int pr_checkpoint_folder_find(struct pr_checkpoint_folder *p,
                              const struct pr_checkpoint_shape *s,
                              const struct pr_storage_opts *storage,
                              struct pr_err *err)
{
    const char *name = s->opts.checkpoint_folder, *root = getenv("PRONY_DATA");
    bool below = root && *root && *name != '/';
    int n = snprintf(p->folder, sizeof p->folder, "%s%s%s", below ? root : "",
                     below ? "/" : "", *name ? name : ".");

    if (n >= (int)sizeof p->folder)
        return pr_fail(err, PR_E_CONF, "checkpoint.checkpoint_folder",
                       "the path is too long");
    p->storage = *storage;
    p->storage.storage_root = p->folder;
    p->storage.block_size = s->opts.block_size;
    p->storage.request_size = 0;
    if (strcmp(s->opts.engine, "same") != 0)
        p->storage.engine = s->opts.engine;
    return PR_OK;
}

const char pr_checkpoint_folder_hint[] =
    "checkpoint.checkpoint_folder must be a folder that can be written to";

int pr_checkpoint_folder_open(const struct pr_checkpoint_folder *p,
                              struct pr_storage **ret, struct pr_err *err)
{
    int rc = pr_storage_open(&p->storage, ret, err);

    if (rc == PR_E_IO)
        (void)pr_hint(err, "%s", pr_checkpoint_folder_hint);
    return rc;
}

/* How many of them are there: those are replaced one by one. */
static int count_old(struct pr_storage *st,
                     const struct pr_checkpoint_names *names, uint64_t *ret,
                     struct pr_err *err)
{
    struct pr_object_info info;
    struct pr_checkpoint_at at;
    char name[64];
    int rc = 0;

    *ret = 0;
    for (uint64_t i = 0; rc >= 0 && i < names->count && i < LOOKED_FOR; i++) {
        names->at(names->ctx, i, &at);
        rc = pr_storage_stat(
            st, pr_checkpoint_folder_name(name, at.epoch, at.step), &info, err);
        *ret += rc == 1;
    }
    return rc < 0 ? rc : PR_OK;
}

static int checkpoint_folder_get_room(struct pr_storage *st,
                                      const struct pr_checkpoint_shape *s,
                                      const struct pr_checkpoint_names *names,
                                      struct pr_checkpoint_room *ret,
                                      struct pr_err *err)
{
    uint64_t keep = (uint64_t)s->opts.keep, writes = names->count, old = 0;
    struct pr_storage_space space;
    struct pr_checkpoint_sum sum;
    int rc = pr_storage_space(st, "", &space, err);

    if (!rc && !keep) /* else old ones may stay for a while */
        rc = count_old(st, names, &old, err);
    if (rc)
        return rc;
    pr_checkpoint_sum_ranks(s, s->first, s->ranks, &sum);
    ret->free = space.bytes;
    ret->at_once = keep && keep + 1 < writes ? keep + 1 : writes;
    /* The last one needs its room before the one it replaces is gone. */
    if (old)
        ret->at_once = ret->at_once > old ? ret->at_once - old + 1 : 1;
    if (!writes)
        ret->at_once = 0;
    if (__builtin_mul_overflow(ret->at_once, sum.disk_bytes, &ret->need))
        ret->need = UINT64_MAX;
    return PR_OK;
}

int pr_checkpoint_folder_check_room(const struct pr_checkpoint_folder *p,
                                    struct pr_storage *st,
                                    const struct pr_checkpoint_shape *s,
                                    const struct pr_checkpoint_names *names,
                                    struct pr_err *err)
{
    char want[16], got[16], two[16];
    struct pr_checkpoint_room room;
    uint64_t one;
    int rc = checkpoint_folder_get_room(st, s, names, &room, err);

    if (rc || room.free == UINT64_MAX || room.need <= room.free)
        return rc;
    one = room.need / room.at_once;
    pr_fail(err, PR_E_IO, p->folder,
            "%llu checkpoint%s need%s %s, but only %s are free",
            (unsigned long long)room.at_once, room.at_once == 1 ? "" : "s",
            room.at_once == 1 ? "s" : "", pr_format_bytes(want, room.need),
            pr_format_bytes(got, room.free));
    if (one <= room.free / 2 && s->opts.keep != 1)
        return pr_hint(err, "set checkpoint.keep=1: then %s are enough",
                       pr_format_bytes(two, 2 * one));
    return pr_hint(err, "run fewer ranks (exp.accelerators with "
                        "checkpoint.mode=subset), or choose another "
                        "checkpoint.checkpoint_folder");
}

/* ---- what killed runs left */

static int note_part(void *ctx, const char *name, bool is_folder)
{
    struct pr_buf *parts = ctx;

    if (is_folder && (pr_text_starts_with(name, PART) ||
                      (pr_text_starts_with(name, OLD) && strstr(name, FIRST))))
        pr_buf_printf(parts, "%s\n", name);
    return 0;
}

/* One that was put aside for a new one, which then did not come, gets its name
 * back; everything else goes. */
static int checkpoint_settle_leftover(struct pr_storage *st, const char *part,
                                      struct pr_err *err)
{
    bool is_old = pr_text_starts_with(part, OLD), swapped;
    const char *name = strstr(part, FIRST);
    struct pr_object_info info;
    int rc = is_old ? pr_storage_stat(st, name, &info, err) : 1;

    if (rc < 0)
        return rc;
    return rc ? pr_storage_remove_all(st, part, err)
              : pr_storage_publish(st, part, name, true, &swapped, err);
}

int pr_checkpoint_folder_clean(struct pr_storage *st, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf parts = PR_BUF_INIT(16 << 20);
    int rc = pr_storage_list(st, "", note_part, &parts, err);

    if (!rc && !pr_buf_ok(&parts))
        rc = pr_fail_nomem(err);
    for (char *at = parts.data, *end;
         !rc && parts.len && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        rc = checkpoint_settle_leftover(st, at, err);
    }
    return rc;
}
