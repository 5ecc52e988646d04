/*
 * Objects as files below a folder: what the engines pread, direct, mmap and
 * io_uring have in common. These are the hooks of struct pr_engine, or what
 * hooks are made of; o->fd is the file.
 */
#ifndef PR_STORAGE_FILES_H
#define PR_STORAGE_FILES_H

#include "storage/storage_impl.h"

/* As pr_fail_errno, with the whole path as the place, code PR_E_IO, and a hint
 * that fits errno. */
int pr_files_fail(const struct pr_storage *st, const char *name,
                  struct pr_err *err, const char *fmt, ...) PR_PRINTF(4, 5);

/* Opens the root folder. One that is not there yet is fine: it is looked for
 * again, and made with the first folder in it. */
int pr_files_start(struct pr_storage *st, struct pr_err *err) PR_MUST_CHECK;
void pr_files_stop(struct pr_storage *st);

/* ---- reading */

/* A regular file; flags are added to O_RDONLY. Sets o->fd and o->size.
 * pr_files_try_open leaves a failed openat to the caller: 1, and errno. */
int pr_files_open(struct pr_storage *st, struct pr_object *o,
                  struct pr_err *err) PR_MUST_CHECK;
int pr_files_try_open(struct pr_storage *st, struct pr_object *o, int flags,
                      struct pr_err *err) PR_MUST_CHECK;
/* Most bytes that one call should read of len: storage.request_size. */
size_t pr_files_request(const struct pr_storage *st, size_t len);

int pr_files_read(struct pr_storage *st, struct pr_object *o, uint64_t off,
                  size_t len, void *buf, struct pr_err *err) PR_MUST_CHECK;
int pr_files_fetch(struct pr_storage *st, struct pr_object *o, uint64_t off,
                   size_t len, void *buf, size_t cap, const uint8_t **ret,
                   struct pr_err *err) PR_MUST_CHECK;
void pr_files_close(struct pr_storage *st, struct pr_object *o);
void pr_files_ahead(struct pr_object *o, uint64_t off, uint64_t len);

/* For a read that failed with errno, and for one that met the end, at end or
 * before, of a file that was longer when it was opened. */
int pr_files_read_failed(const struct pr_storage *st, const struct pr_object *o,
                         uint64_t off, size_t len, struct pr_err *err);
int pr_files_cut_short(const struct pr_storage *st, const struct pr_object *o,
                       uint64_t end, struct pr_err *err);

/* ---- writing */

int pr_files_create(struct pr_storage *st, struct pr_object *o, uint64_t size,
                    struct pr_err *err) PR_MUST_CHECK;
int pr_files_try_create(struct pr_storage *st, struct pr_object *o, int flags,
                        struct pr_err *err) PR_MUST_CHECK;
int pr_files_write(struct pr_storage *st, struct pr_object *o, uint64_t off,
                   const void *data, size_t len,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_files_sync(struct pr_storage *st, struct pr_object *o,
                  struct pr_err *err) PR_MUST_CHECK;
int pr_files_commit(struct pr_storage *st, struct pr_object *o,
                    struct pr_err *err) PR_MUST_CHECK;
void pr_files_discard(struct pr_storage *st, struct pr_object *o);
int pr_files_write_failed(const struct pr_storage *st,
                          const struct pr_object *o, uint64_t off, size_t len,
                          struct pr_err *err);

/* ---- the place */

int pr_files_stat(struct pr_storage *st, const char *name,
                  struct pr_object_info *ret, struct pr_err *err) PR_MUST_CHECK;
int pr_files_make_folder(struct pr_storage *st, const char *name,
                         struct pr_err *err) PR_MUST_CHECK;
int pr_files_remove(struct pr_storage *st, const char *name,
                    struct pr_err *err) PR_MUST_CHECK;
int pr_files_publish(struct pr_storage *st, const char *from, const char *to,
                     bool sync, bool *ret_swapped,
                     struct pr_err *err) PR_MUST_CHECK;
int pr_files_list(struct pr_storage *st, const char *folder,
                  int (*each)(void *ctx, const char *name, bool is_folder),
                  void *ctx, struct pr_err *err) PR_MUST_CHECK;
int pr_files_space(struct pr_storage *st, const char *name,
                   struct pr_storage_space *ret,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_files_lock(struct pr_storage *st, const char *folder,
                  struct pr_err *err) PR_MUST_CHECK;

/* Two folders change places by three renames, for file systems that cannot do
 * it at once: `to` is missing for a moment. Once it fails all is as it was, as
 * far as the file system lets us. */
int pr_files_swap_by_names(struct pr_storage *st, const char *from,
                           const char *to, struct pr_err *err) PR_MUST_CHECK;

/* ---- the page cache, in page_cache.c */

int pr_files_drop_cache(struct pr_storage *st, const char *name,
                        struct pr_err *err) PR_MUST_CHECK;
int pr_files_cached_bytes(struct pr_storage *st, const char *name,
                          uint64_t *ret_cached, uint64_t *ret_bytes,
                          struct pr_err *err) PR_MUST_CHECK;

#endif
