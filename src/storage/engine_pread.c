/* Engine pread: files through the page cache, one system call a read. */
#include "storage/files.h"

const struct pr_engine pr_engine_pread = {
    .name = "pread",
    .desc = "files through the page cache, one system call a read",
    .start = pr_files_start,
    .stop = pr_files_stop,
    .open = pr_files_open,
    .fetch = pr_files_fetch,
    .read = pr_files_read,
    .close = pr_files_close,
    .ahead = pr_files_ahead,
    .create = pr_files_create,
    .write = pr_files_write,
    .sync = pr_files_sync,
    .commit = pr_files_commit,
    .discard = pr_files_discard,
    .stat = pr_files_stat,
    .make_folder = pr_files_make_folder,
    .remove = pr_files_remove,
    .publish = pr_files_publish,
    .list = pr_files_list,
    .space = pr_files_space,
    .lock = pr_files_lock,
    .drop = pr_files_drop_cache,
    .cached = pr_files_cached_bytes,
};
