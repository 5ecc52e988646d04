/*
 * What an engine is. One struct of functions, one file an engine
 * (engine_*.c), one line in engine_list.def. A wrapper (wrapper_*.c) is an
 * engine that does something of its own and hands the call to the storage
 * inside it, with the same object: the object's fields belong to the innermost
 * engine, but for map, which a wrapper clears so that nothing goes past it.
 */
#ifndef PR_STORAGE_IMPL_H
#define PR_STORAGE_IMPL_H

#include "storage/storage.h"

struct pr_engine {
    const char *name;   /* as in storage.engine */
    const char *desc;   /* one line */
    bool wants_aligned; /* pr_storage_needs_aligned */
    bool is_queued;     /* storage.queue_depth requests at a time */

    /* Fills st->data. PR_E_UNAVAIL: this machine cannot; pread is used and the
     * message becomes the note. st->beside, if not NULL, is a started storage
     * of the same engine whose objects this one is to see; of the same wrapper
     * whose clock or counters it is to share. */
    int (*start)(struct pr_storage *st, struct pr_err *err);
    void (*stop)(struct pr_storage *st);

    /* Optional: a buffer was made, and lives until after stop. */
    void (*buffer)(struct pr_storage *st, void *buf, size_t bytes);

    /* off and len are within the object, len is not 0 and cap >= len; with
     * less slack than promised it may be slower, not wrong. */
    int (*open)(struct pr_storage *st, struct pr_object *o, struct pr_err *err);
    int (*fetch)(struct pr_storage *st, struct pr_object *o, uint64_t off,
                 size_t len, void *buf, size_t cap, const uint8_t **ret,
                 struct pr_err *err);
    int (*read)(struct pr_storage *st, struct pr_object *o, uint64_t off,
                size_t len, void *buf, struct pr_err *err);
    void (*close)(struct pr_storage *st, struct pr_object *o);
    /* Optional: a hint. */
    void (*ahead)(struct pr_object *o, uint64_t off, uint64_t len);

    /* write keeps o->size up to date, len is not 0. */
    int (*create)(struct pr_storage *st, struct pr_object *o, uint64_t size,
                  struct pr_err *err);
    int (*write)(struct pr_storage *st, struct pr_object *o, uint64_t off,
                 const void *data, size_t len, struct pr_err *err);
    int (*sync)(struct pr_storage *st, struct pr_object *o,
                struct pr_err *err); /* optional */
    int (*commit)(struct pr_storage *st, struct pr_object *o,
                  struct pr_err *err);
    void (*discard)(struct pr_storage *st, struct pr_object *o);

    int (*stat)(struct pr_storage *st, const char *name,
                struct pr_object_info *ret, struct pr_err *err);
    int (*make_folder)(struct pr_storage *st, const char *name,
                       struct pr_err *err);

    /* A folder that is not empty: err->sys_errno is ENOTEMPTY or EEXIST, and a
     * link to a folder never gives that, nor is it followed. */
    int (*remove)(struct pr_storage *st, const char *name, struct pr_err *err);

    /* Names have no slash at their end. */
    int (*publish)(struct pr_storage *st, const char *from, const char *to,
                   bool sync, bool *ret_swapped, struct pr_err *err);
    int (*list)(struct pr_storage *st, const char *folder,
                int (*each)(void *ctx, const char *name, bool is_folder),
                void *ctx, struct pr_err *err);
    int (*space)(struct pr_storage *st, const char *name,
                 struct pr_storage_space *ret, struct pr_err *err);
    int (*lock)(struct pr_storage *st, const char *folder,
                struct pr_err *err); /* optional */

    /* Optional, as in storage.h: the page cache. */
    int (*drop)(struct pr_storage *st, const char *name, struct pr_err *err);
    int (*cached)(struct pr_storage *st, const char *name, uint64_t *ret_cached,
                  uint64_t *ret_bytes, struct pr_err *err);

    /* Optional: pr_storage_serve. */
    int (*serve)(struct pr_storage *st, const struct pr_storage_served *rows,
                 size_t count, struct pr_storage *owner, struct pr_err *err);
};

struct pr_buffer; /* of pr_storage_buffer, in storage.c */

struct pr_storage {
    const struct pr_engine *engine;
    const struct pr_storage_opts *opts;
    struct pr_storage *inner;        /* of a wrapper; else NULL */
    const struct pr_storage *beside; /* only while it starts */
    int root;                        /* folder descriptor; -1: none */
    int locked;                      /* another; -1: none */
    const bool *stop;                /* pr_storage_stop_by; or NULL */
    struct pr_clock *clock;          /* pr_storage_time_by; or NULL */
    uint64_t pulse;   /* atomic; counts on whenever something came back */
    bool inside;      /* atomic; in a call of storage.h */
    uint64_t written; /* atomic, as the next four */
    uint64_t read_bytes, opened;
    uint64_t ns; /* in the engine, while it is_timed */
    bool is_timed;
    void *data; /* the engine's */
    struct pr_buffer *buffers;
    char note[256];
};

/* For engines: something came back, a call does not hang. */
void pr_storage_beat(struct pr_storage *st);

/* The first note stays: it tells why, later ones what follows from it. */
void pr_storage_set_warning(struct pr_storage *st, const char *fmt, ...)
    PR_PRINTF(2, 3);

extern const struct pr_engine pr_wrapper_fault, pr_wrapper_throttle,
    pr_wrapper_trace;

#endif
