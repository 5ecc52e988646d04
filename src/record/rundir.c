/* Making, opening and locking run directories. */
#include "record/rundir.h"

#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_WAIT_MS = 4000 };

int pr_rundir_path(const struct pr_rundir *d, const char *rest,
                   char out[static 4096], struct pr_err *err)
{
    int n = snprintf(out, 4096, "%s/%s", d->path, rest);

    if (n < 0 || n >= 4096)
        return pr_fail(err, PR_E_IO, d->path, "the path is too long");
    return PR_OK;
}

int pr_rundir_file(const struct pr_rundir *d, const char *id, const char *rest,
                   char out[static 4096], struct pr_err *err)
{
    int n = snprintf(out, 4096, "%s/experiments/%s/%s", d->path, id, rest);

    if (n < 0 || n >= 4096)
        return pr_fail(err, PR_E_IO, d->path, "the path is too long");
    return PR_OK;
}

static int set_path(const char *path, struct pr_rundir *d, struct pr_err *err)
{
    size_t len = strlen(path);

    *d = (struct pr_rundir){.events_fd = -1, .experiments_fd = -1};
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (!len || len >= sizeof d->path)
        return pr_fail(err, PR_E_USAGE, path,
                       "is not a good name for a run directory");
    memcpy(d->path, path, len);
    d->path[len] = '\0';
    return PR_OK;
}

/* A runner that was killed leaves its keeper ending the children, with the
 * lock, for a moment. */
static int rundir_lock(struct pr_rundir *d, struct pr_err *err)
{
    struct timespec nap = {0, 10 * 1000 * 1000};

    for (int ms = 0; flock(d->events_fd, LOCK_EX | LOCK_NB) < 0; ms += 10) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return pr_fail_errno(err, PR_E_IO, d->path, "cannot lock");
        if (ms >= LOCK_WAIT_MS) {
            pr_fail(err, PR_E_IO, d->path, "another run is using it");
            return pr_hint(err, "wait for it to end, or choose another "
                                "directory with -o");
        }
        nanosleep(&nap, NULL);
    }
    return PR_OK;
}

static int open_inside(struct pr_rundir *d, struct pr_err *err)
{
    char path[4096];
    int rc = pr_rundir_path(d, "events.ndjson", path, err);

    if (rc)
        return rc;
    d->events_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (d->events_fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    rc = rundir_lock(d, err);
    if (rc)
        return rc;
    rc = pr_rundir_path(d, "experiments", path, err);
    if (rc)
        return rc;
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return pr_fail_errno(err, PR_E_IO, path, "cannot make the folder");
    d->experiments_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->experiments_fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    return PR_OK;
}

static bool is_half_made(const char *name)
{
    return pr_text_starts_with(name, PR_TEMP_PREFIX);
}

/* What an earlier start may have left before there was a plan: files without
 * anything in them. */
static bool is_leftover(DIR *dir, const char *name)
{
    struct stat st;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || is_half_made(name))
        return true;
    if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    return (strcmp(name, "events.ndjson") == 0 && S_ISREG(st.st_mode) &&
            st.st_size == 0) ||
           (strcmp(name, "experiments") == 0 && S_ISDIR(st.st_mode));
}

/* Nothing in it that matters, or not there yet. */
static int check_free(const struct pr_rundir *d, struct pr_err *err)
{
    DIR *dir = opendir(d->path);
    struct dirent *e;
    bool used = false, is_run = false;

    if (!dir && errno == ENOENT)
        return PR_OK;
    if (!dir)
        return pr_fail_errno(err, PR_E_IO, d->path, "cannot open");
    while ((e = readdir(dir))) {
        used |= !is_leftover(dir, e->d_name);
        is_run |= strcmp(e->d_name, "plan.json") == 0;
    }
    closedir(dir);
    if (!used)
        return PR_OK;
    pr_fail(err, PR_E_USAGE, d->path, "is not empty");
    if (is_run)
        return pr_hint(err,
                       "go on with its run by 'prony run --resume %s', or "
                       "choose another directory with -o",
                       d->path);
    return pr_hint(err, "choose another directory with -o");
}

int pr_rundir_create(const char *path, struct pr_rundir *ret,
                     struct pr_err *err)
{
    struct pr_rundir d;
    int rc = set_path(path, &d, err);

    if (!rc)
        rc = check_free(&d, err);
    d.made = !rc && access(d.path, F_OK) < 0;
    if (!rc)
        rc = pr_make_dirs(d.path, err);
    if (!rc)
        rc = open_inside(&d, err);
    if (!rc) /* another runner may have been as fast, and had the lock */
        rc = check_free(&d, err);
    if (rc)
        pr_rundir_close(&d);
    else
        *ret = d;
    return rc;
}

int pr_rundir_mend(struct pr_rundir *d, struct pr_err *err)
{
    off_t size = lseek(d->events_fd, 0, SEEK_END);
    char last = '\n';

    if (size > 0 && pread(d->events_fd, &last, 1, size - 1) != 1)
        return pr_fail_errno(err, PR_E_IO, d->path, "cannot read events");
    if (last != '\n' && !pr_write_all(d->events_fd, "\n", 1))
        return pr_fail_errno(err, PR_E_IO, d->path, "cannot write events");
    return PR_OK;
}

/* What a run that was killed had not finished writing. */
static void remove_half_made(const struct pr_rundir *d)
{
    DIR *dir = opendir(d->path);
    struct dirent *e;

    while (dir && (e = readdir(dir)))
        if (is_half_made(e->d_name))
            (void)unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        closedir(dir);
}

int pr_rundir_resume(const char *path, struct pr_rundir *ret,
                     struct pr_err *err)
{
    struct pr_rundir d;
    char plan[4096];
    int rc = set_path(path, &d, err);

    if (!rc)
        rc = pr_rundir_path(&d, "plan.json", plan, err);
    if (!rc && access(plan, R_OK) < 0) {
        pr_fail_errno(err, PR_E_IO, plan, "no run to resume");
        pr_hint(err, "--resume wants the run directory that 'prony run' made");
        rc = PR_E_IO;
    }
    if (!rc)
        rc = open_inside(&d, err);
    if (!rc)
        rc = pr_rundir_mend(&d, err);
    if (rc) {
        pr_rundir_close(&d);
        return rc;
    }
    remove_half_made(&d);
    *ret = d;
    return rc;
}

bool pr_rundir_is_live(const char *path)
{
    char events[4096];
    struct stat st;
    bool live;
    int fd;

    if ((size_t)snprintf(events, sizeof events, "%s/events.ndjson", path) >=
        sizeof events)
        return false;
    fd = pr_file_open_in(path, events, &st, NULL);
    if (fd < 0)
        return false;
    live = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return live;
}

void pr_rundir_close(struct pr_rundir *d)
{
    if (d->events_fd >= 0)
        close(d->events_fd);
    if (d->experiments_fd >= 0)
        close(d->experiments_fd);
    d->events_fd = d->experiments_fd = -1;
}

/* The number of the attempt whose log this is; that of log.txt, the last one,
 * is not in its name. */
static unsigned attempt_of(const char *name)
{
    unsigned n;

    return sscanf(name, "log.txt.%u", &n) == 1 && n < 1000000 ? n : 0;
}

/* Without its old result: should we be killed, it must not be taken for the
 * new one. How often it was tried is told by its logs. */
static unsigned empty_begun(const struct pr_rundir *d, const char *id)
{
    int fd = openat(d->experiments_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    unsigned most = 0, last = 0;
    struct dirent *e;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    while ((e = readdir(dir))) {
        unsigned n = attempt_of(e->d_name);
        most = n > most ? n : most;
        last += strcmp(e->d_name, "log.txt") == 0;
        if (is_half_made(e->d_name) || strcmp(e->d_name, "result.json") == 0)
            (void)unlinkat(dirfd(dir), e->d_name, 0);
    }
    closedir(dir);
    return most + last;
}

int pr_rundir_experiment(const struct pr_rundir *d, const char *id,
                         bool *ret_begun, unsigned *ret_attempts,
                         struct pr_err *err)
{
    bool begun = mkdirat(d->experiments_fd, id, 0755) < 0;

    if (begun && errno != EEXIST)
        return pr_fail_errno(err, PR_E_IO, d->path,
                             "cannot make the folder experiments/%s", id);
    *ret_attempts = begun ? empty_begun(d, id) : 0;
    *ret_begun = begun;
    return PR_OK;
}

int pr_rundir_sync(const struct pr_rundir *d, struct pr_err *err)
{
    if (d->events_fd >= 0 && fdatasync(d->events_fd) < 0 && errno != EINVAL)
        return pr_fail_errno(err, PR_E_IO, d->path,
                             "cannot bring events.ndjson to the device");
    return PR_OK;
}

int pr_rundir_append(struct pr_rundir *d, const struct pr_buf *line,
                     struct pr_err *err)
{
    if (!pr_buf_ok(line))
        return pr_fail_nomem(err);
    if (!pr_write_all(d->events_fd, line->data, line->len))
        return pr_fail_errno(err, PR_E_IO, d->path,
                             "cannot write events.ndjson");
    return PR_OK;
}
