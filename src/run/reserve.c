/*
 * Room on the disk for the last words of a run: given free when it cannot go
 * on, so that what it had started gets its results even where all is full.
 */
#include "base/file.h"
#include "run/runner.h"

#include <fcntl.h>
#include <unistd.h>

enum { RESERVE_BYTES = 256 << 10 };

/* With the name of what is half made, so that whoever clears up knows it. */
static int reserve_path(const struct pr_runner *r, char out[static 4096])
{
    return pr_rundir_path(r->opts->dir, PR_TEMP_PREFIX "reserve", out, NULL);
}

void pr_runner_reserve_space(const struct pr_runner *r)
{
    char path[4096];
    int fd = reserve_path(r, path)
                 ? -1
                 : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0)
        return;
    if (fallocate(fd, 0, 0, RESERVE_BYTES)) /* then it goes without */
        (void)unlink(path);
    close(fd);
}

void pr_runner_release_space(const struct pr_runner *r)
{
    char path[4096];

    if (!reserve_path(r, path))
        (void)unlink(path);
}
