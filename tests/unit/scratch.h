/* A folder of its own for each test, which it is in, and what is in it. */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static char scratch_dir[64];

static inline int enter(void **state)
{
    (void)state;
    snprintf(scratch_dir, sizeof scratch_dir, "/tmp/prony-test-XXXXXX");
    return mkdtemp(scratch_dir) && chdir(scratch_dir) == 0 ? 0 : -1;
}

static inline int leave(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_dir);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* How many names there are in a folder. */
static inline int files_in(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    int n = 0;

    assert_non_null(d);
    while ((e = readdir(d)))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

/* The whole file and a NUL; free it. */
static inline char *slurp(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "r");
    char *text;
    long size;

    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    rewind(f);
    text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    text[size] = '\0';
    fclose(f);
    if (ret_len)
        *ret_len = (size_t)size;
    return text;
}

static inline void spit(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* No file may grow beyond this; RLIM_INFINITY: any size again. */
static inline void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

#endif
