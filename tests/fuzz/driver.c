/*
 * Replays inputs through a fuzz target without libFuzzer: every file named on
 * the command line, and every file below a folder named there. So the corpus
 * is a test of every build, with any compiler, and a crash found by the fuzzer
 * is tried again with a debugger.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static unsigned long replayed;

static int complain(const char *path)
{
    fprintf(stderr, "driver: %s: %s\n", path, strerror(errno));
    return -1;
}

/* The input sits in a block of exactly its size, so that a sanitizer notices
 * the first byte read beyond it. */
static int replay_bytes(FILE *f, size_t bytes, const char *path)
{
    uint8_t *data = malloc(bytes ? bytes : 1);

    if (!data)
        return complain(path);
    if (fread(data, 1, bytes, f) != bytes) {
        free(data);
        return complain(path);
    }
    LLVMFuzzerTestOneInput(data, bytes);
    free(data);
    replayed++;
    return 0;
}

static int replay_file(const char *path, size_t bytes)
{
    FILE *f = fopen(path, "rb");

    if (!f)
        return complain(path);
    /* A crash leaves the name of its input as the last line. */
    printf("%s\n", path);
    fflush(stdout);
    int rc = replay_bytes(f, bytes, path);
    fclose(f);
    return rc;
}

static int replay(const char *path);

static int replay_folder(const char *path)
{
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort);
    int rc = 0;

    if (n < 0)
        return complain(path);
    for (int i = 0; i < n; i++) {
        char below[4096];

        if (names[i]->d_name[0] != '.') {
            snprintf(below, sizeof(below), "%s/%s", path, names[i]->d_name);
            if (replay(below) < 0)
                rc = -1;
        }
        free(names[i]);
    }
    free(names);
    return rc;
}

static int replay(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return complain(path);
    if (S_ISDIR(st.st_mode))
        return replay_folder(path);
    return replay_file(path, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
    int rc = 0;

    for (int i = 1; i < argc; i++)
        if (replay(argv[i]) < 0)
            rc = 1;
    printf("%lu inputs replayed\n", replayed);
    if (replayed == 0) {
        fprintf(stderr, "driver: no input\n");
        return 1;
    }
    return rc;
}
