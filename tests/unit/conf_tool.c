/*
 * Reads a file with our own readers and prints what they made of it, for the
 * comparison with Python in tests/peers/json_yaml_vs_python.py.
 *     conf_tool json|yaml|float [FILE]
 * The file (or stdin) holds documents, each after a line with its length in
 * bytes; the answer to each is one line, JSON or "error: …". In mode float a
 * document is the bits of a double in hexadecimal, or decimal text after '='.
 */
#include "base/json/json.h"
#include "base/number.h"
#include "conf/read/yaml.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_value(int rc, const struct pr_value *v,
                        const struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT((size_t)1 << 30);

    if (rc) {
        printf("error: %s: %s\n", err->where, err->msg);
        return;
    }
    pr_json_write(&out, v);
    puts(pr_buf_ok(&out) ? out.data : "error: out of memory");
}

static void one_float(const char *text, size_t len)
{
    char out[32];
    uint64_t bits;
    double f;

    if (*text == '=') {
        f = pr_decimal_read(text + 1, len - 1);
    } else {
        bits = strtoull(text, NULL, 16);
        memcpy(&f, &bits, sizeof f);
    }
    pr_float_repr(out, f);
    puts(out);
}

static void one(const char *mode, const char *text, size_t len)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_json_in in = {.text = text, .len = len, .name = "in"};
    struct pr_value v = {0};
    struct pr_err err = {0};

    if (!a)
        exit(71);
    if (strcmp(mode, "float") == 0)
        one_float(text, len);
    else if (strcmp(mode, "yaml") == 0)
        print_value(pr_yaml_read(text, len, "in", a, &v, &err), &v, &err);
    else
        print_value(pr_json_read(&in, a, &v, NULL, &err), &v, &err);
}

int main(int argc, char **argv)
{
    FILE *f = argc > 2 ? fopen(argv[2], "rb") : stdin;
    char line[32];

    if (argc < 2 || !f) {
        fputs("usage: conf_tool json|yaml|float [FILE]\n", stderr);
        return 2;
    }
    while (fgets(line, sizeof line, f)) {
        size_t len = strtoul(line, NULL, 10);
        char *text = malloc(len + 1);

        if (!text || fread(text, 1, len, f) != len)
            return 5;
        text[len] = '\0';
        one(argv[1], text, len);
        free(text);
    }
    if (argc > 2)
        fclose(f);
    return 0;
}
