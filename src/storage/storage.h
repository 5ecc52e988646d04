/*
 * Where bytes live. A storage is a place with a way of reaching it (an
 * engine); an object is a thing in it with a name and a size, a file as a
 * rule. Formats see only this header.
 *
 * A storage belongs to one thread: what an engine needs besides (a ring,
 * registered buffers, a bounce buffer) is in it, so that no call on the path
 * of a sample locks or allocates. Names are relative to the storage's root,
 * or absolute.
 */
#ifndef PR_STORAGE_H
#define PR_STORAGE_H

#include "base/err.h"
#include "conf/option/option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PR_IO_ALIGN = 4096, /* of buffers, and of direct offsets and lengths */
    PR_IO_SLACK = 2 * PR_IO_ALIGN, /* what a fetch needs beside its bytes */
};

struct pr_clock;
struct pr_storage;

/* An open object, in memory of the caller's: opening allocates nothing. */
struct pr_object {
    struct pr_storage *st;
    const char *name; /* borrowed until closed */
    uint64_t size;
    const uint8_t *map; /* the whole object in memory, or NULL; what has not
                           been fetched may still be on the disk */
    int fd;
    unsigned flags;
    void *data; /* the engine's */
    uint64_t state[4];
};

/* Reads storage.* of an experiment. direct_fs is the engine direct. */
int pr_storage_read_opts(const struct pr_value *params, struct pr_arena *a,
                         struct pr_storage_opts *ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* Whether this version has such a storage; PR_E_UNAVAIL with the remedy. */
int pr_storage_check(const struct pr_storage_opts *opts,
                     struct pr_err *err) PR_MUST_CHECK;

/* opts is borrowed while the storage is open. What does not work here is
 * replaced by what does, see pr_storage_warning. */
int pr_storage_open(const struct pr_storage_opts *opts, struct pr_storage **ret,
                    struct pr_err *err) PR_MUST_CHECK;
void pr_storage_close(struct pr_storage *st); /* NULL is fine */

/* Another storage of the same place, for another thread: same options, and
 * with the engines memory and null the same objects. They share the rate of
 * storage.throttle and the counters of storage.fault. Both live on their own.
 */
int pr_storage_open_beside(const struct pr_storage *first,
                           struct pr_storage **ret,
                           struct pr_err *err) PR_MUST_CHECK;

/* The engine in use, "pread" for example. */
const char *pr_storage_engine(const struct pr_storage *st);

/* Why another engine than the one asked for is in use; "" when it is not. It
 * may come up late, when a file system refuses the first file. */
const char *pr_storage_warning(const struct pr_storage *st);

/* A buffer to read into: aligned, and known to the kernel where the engine can
 * make use of that. It lives until the storage is closed. NULL: no memory. */
void *pr_storage_buffer(struct pr_storage *st, size_t bytes);

/* Emulated waiting ends early when *stop becomes true. */
void pr_storage_stop_by(struct pr_storage *st, const bool *stop);
/* Whether it did. */
bool pr_storage_is_stopped(const struct pr_storage *st);

/* Emulated waiting takes time of this clock, which is borrowed; NULL: the
 * machine's. */
void pr_storage_time_by(struct pr_storage *st, struct pr_clock *clock);

/* Whether writes are faster from memory that is aligned as the file is. */
bool pr_storage_needs_aligned(const struct pr_storage *st);

/* Blocks (storage.block_size) of one read or write that the engine has under
 * way at a time; 1: one after another. */
unsigned pr_storage_depth(const struct pr_storage *st);

/* ---- reading */

int pr_object_open(struct pr_storage *st, const char *name,
                   struct pr_object *ret, struct pr_err *err) PR_MUST_CHECK;

/* Bytes [off, off + len) of the object. *ret points to them: in buf, which has
 * cap >= len + PR_IO_SLACK bytes and should be aligned, or in memory of the
 * object's own until it is closed. They have really been read (a map's pages
 * are touched). Beyond the end of the object: PR_E_FORMAT. */
int pr_object_fetch(struct pr_object *o, uint64_t off, size_t len, void *buf,
                    size_t cap, const uint8_t **ret,
                    struct pr_err *err) PR_MUST_CHECK;

/* The same, always copied to buf, which needs only len bytes. */
int pr_object_read(struct pr_object *o, uint64_t off, size_t len, void *buf,
                   struct pr_err *err) PR_MUST_CHECK;

/* These bytes will be wanted soon: the engine may begin to fetch them. */
void pr_object_ahead(struct pr_object *o, uint64_t off, uint64_t len);

void pr_object_close(struct pr_object *o);

/* ---- writing */

/* A new object. It appears under its name, whole, when it is committed; an
 * older one of that name stays until then. size is what it is expected to
 * have, 0: not known. Missing folders are an error. */
int pr_object_create(struct pr_storage *st, const char *name, uint64_t size,
                     struct pr_object *ret, struct pr_err *err) PR_MUST_CHECK;

/* Anywhere, in any order; large aligned writes are the fast ones. */
int pr_object_write(struct pr_object *o, uint64_t off, const void *data,
                    size_t len, struct pr_err *err) PR_MUST_CHECK;

/* Has what was written so far on stable storage. Engines without files do
 * nothing. */
int pr_object_sync(struct pr_object *o, struct pr_err *err) PR_MUST_CHECK;

/* Closes it, also when it fails; then nothing is left. */
int pr_object_commit(struct pr_object *o, struct pr_err *err) PR_MUST_CHECK;
void pr_object_discard(struct pr_object *o);

/* ---- the place itself */

struct pr_object_info {
    uint64_t size;
    bool is_folder;
};

/* 1: it is there; 0: it is not; negative: cannot tell. */
int pr_storage_stat(struct pr_storage *st, const char *name,
                    struct pr_object_info *ret,
                    struct pr_err *err) PR_MUST_CHECK;

/* mkdir -p. */
int pr_storage_make_folder(struct pr_storage *st, const char *name,
                           struct pr_err *err) PR_MUST_CHECK;

/* Removes an object or an empty folder; one that is not there is fine. */
int pr_storage_remove(struct pr_storage *st, const char *name,
                      struct pr_err *err) PR_MUST_CHECK;

/* Removes a folder with all that is in it; one that is not there is fine. */
int pr_storage_remove_all(struct pr_storage *st, const char *folder,
                          struct pr_err *err) PR_MUST_CHECK;

/* Gives a folder another name at once, so that nobody sees part of it. Where
 * that name is taken by a folder, the two change places: the caller removes
 * what is under `from` then. *ret_swapped says so. sync: have names and the
 * change itself on stable storage. */
int pr_storage_publish(struct pr_storage *st, const char *from, const char *to,
                       bool sync, bool *ret_swapped,
                       struct pr_err *err) PR_MUST_CHECK;

/* Calls each for what is in a folder, hidden names and those being written
 * included, in no order; stops when it returns non-zero and returns that. */
int pr_storage_list(struct pr_storage *st, const char *folder,
                    int (*each)(void *ctx, const char *name, bool is_folder),
                    void *ctx, struct pr_err *err) PR_MUST_CHECK;

/* What is free for us where name is, or will be. UINT64_MAX: no limit. */
struct pr_storage_space {
    uint64_t bytes, files;
};
int pr_storage_space(struct pr_storage *st, const char *name,
                     struct pr_storage_space *ret,
                     struct pr_err *err) PR_MUST_CHECK;

/* Keeps other programs that ask from writing in a folder until the storage is
 * closed; one folder a storage. PR_E_IO when another one has it. Storage that
 * knows no locks: fine. */
int pr_storage_lock(struct pr_storage *st, const char *folder,
                    struct pr_err *err) PR_MUST_CHECK;

/* ---- what it did; any thread may ask */

/* Bytes asked for by fetches and reads, bytes written, objects opened to be
 * read: what succeeded. */
uint64_t pr_storage_read_bytes(const struct pr_storage *st);
uint64_t pr_storage_written(const struct pr_storage *st);
uint64_t pr_storage_opened(const struct pr_storage *st);

/* Whether it is inside a call that opens or reads, and a number that changes
 * whenever the system answered it: one that stays tells of a call that hangs.
 */
bool pr_storage_is_inside(const struct pr_storage *st, uint64_t *ret_pulse);

/* While timing is on: nanoseconds spent in open, fetch, read and stat, waits
 * of wrappers included. A call costs two looks at the clock more then. */
void pr_storage_time(struct pr_storage *st, bool on);
uint64_t pr_storage_ns(const struct pr_storage *st);

/* ---- the page cache */

/* Writes what is dirty of an object and drops its pages; needs no privilege.
 * Engines without files do nothing. */
int pr_storage_drop_cache(struct pr_storage *st, const char *name,
                          struct pr_err *err) PR_MUST_CHECK;

/* How many bytes of an object are in the page cache, of how many. 1: known;
 * 0: this system does not tell; PR_E_UNAVAIL: an engine without files. */
int pr_storage_cached_bytes(struct pr_storage *st, const char *name,
                            uint64_t *ret_cached, uint64_t *ret_bytes,
                            struct pr_err *err) PR_MUST_CHECK;

/* Everything that all programs of this machine have there; for root. */
int pr_storage_drop_all_caches(struct pr_err *err) PR_MUST_CHECK;

/* ---- engine null */

/* What an object holds whose name ends so; "" is the end of every name. */
struct pr_storage_served {
    const char *ending; /* up to 63 characters */
    const void *data;
    uint64_t bytes;
};

/* From now on every name that was not written is there, with the bytes of the
 * first row that fits, which are borrowed and are what o->map points to; where
 * no row fits it is as before. Storages beside share it. Once only. owner is
 * closed with the last of them, for the bytes may live there; or NULL. Other
 * engines: PR_E_CONF. */
int pr_storage_serve(struct pr_storage *st,
                     const struct pr_storage_served *rows, size_t count,
                     struct pr_storage *owner,
                     struct pr_err *err) PR_MUST_CHECK;

/* What the name of an object being written starts with, in its folder. */
#define PR_PART_PREFIX ".part-"

#endif
