/*
 * The git revision of the folder a run was started in, read from the files of
 * the repository: HEAD, the branch it names, or packed-refs. Git is not run.
 */
#include "machine/envinfo_read.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files of a repository are no part of /proc and /sys: no root before them. */
static const struct pr_machine_env no_root = {.root = ""};

static bool is_revision(const char *s)
{
    size_t n = strspn(s, "0123456789abcdef");

    return s[n] == '\0' && (n == 40 || n == 64);
}

/* "gitdir: ../.git/worktrees/x" in a file named .git. */
static bool follow_file(const char *dir, char git[static PATH_MAX])
{
    char text[PATH_MAX];
    const char *to;
    int n;

    if (!pr_machine_env_text(&no_root, text, sizeof text, "%s/.git", dir) ||
        strncmp(text, "gitdir:", 7) != 0)
        return false;
    to = text + 7 + strspn(text + 7, " ");
    n = to[0] == '/' ? snprintf(git, PATH_MAX, "%s", to)
                     : snprintf(git, PATH_MAX, "%s/%s", dir, to);
    return n > 0 && n < PATH_MAX;
}

/* The git directory of the repository that holds dir. */
static bool find_git(char dir[static PATH_MAX], char git[static PATH_MAX])
{
    for (;;) {
        struct stat st;
        char *slash;
        int n = snprintf(git, PATH_MAX, "%s/.git", dir);

        if (n < 0 || n >= PATH_MAX)
            return false;
        if (stat(git, &st) == 0)
            return S_ISDIR(st.st_mode) || follow_file(dir, git);
        slash = strrchr(dir, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
}

/* Where branches are: for a linked worktree, in the repository it is of. */
static void common_dir(const char *git, char out[static PATH_MAX])
{
    char text[PATH_MAX];
    int n = -1;

    if (pr_machine_env_text(&no_root, text, sizeof text, "%s/commondir", git))
        n = text[0] == '/' ? snprintf(out, PATH_MAX, "%s", text)
                           : snprintf(out, PATH_MAX, "%s/%s", git, text);
    if (n < 0 || n >= PATH_MAX)
        snprintf(out, PATH_MAX, "%s", git);
}

static bool packed_ref(const char *common, const char *ref,
                       char out[static 128])
{
    struct pr_machine_env_lines l;
    char path[PATH_MAX + 16], *line;
    bool found = false;

    snprintf(path, sizeof path, "%s/packed-refs", common);
    if (!pr_machine_env_lines_open(&no_root, &l, path))
        return false;
    while (!found && (line = pr_machine_env_lines_next(&l))) {
        char *blank = strchr(line, ' ');
        if (!blank || strcmp(blank + 1, ref) != 0)
            continue;
        *blank = '\0';
        found = is_revision(line);
        if (found)
            memcpy(out, line, strlen(line) + 1);
    }
    pr_machine_env_lines_close(&l);
    return found;
}

static bool git_read_head(const char *git, char out[static 128])
{
    char head[PR_MACHINE_ENV_WORD], common[PATH_MAX];
    const char *ref = head + 5;

    if (!pr_machine_env_text(&no_root, head, sizeof head, "%s/HEAD", git))
        return false;
    if (strncmp(head, "ref: ", 5) != 0) {
        if (!is_revision(head))
            return false;
        memcpy(out, head, strlen(head) + 1);
        return true;
    }
    if (strncmp(ref, "refs/", 5) != 0 || strstr(ref, ".."))
        return false;
    common_dir(git, common);
    if (pr_machine_env_text(&no_root, out, 128, "%s/%s", common, ref))
        return is_revision(out);
    return packed_ref(common, ref, out);
}

void pr_machine_env_git(struct pr_machine_env *e)
{
    char dir[PATH_MAX], git[PATH_MAX], revision[128];

    if (e->opts->cwd) {
        int n = snprintf(dir, sizeof dir, "%s", e->opts->cwd);
        if (n < 0 || (size_t)n >= sizeof dir)
            return;
    } else if (!getcwd(dir, sizeof dir)) {
        return;
    }
    if (find_git(dir, git) && git_read_head(git, revision))
        pr_json_put_str(&e->jb, "git_revision", revision);
}
