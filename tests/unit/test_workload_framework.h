/* A share folder with frameworks, and interpreters that have them or not. */
#ifndef TESTS_UNIT_TEST_WORKLOAD_FRAMEWORK_H
#define TESTS_UNIT_TEST_WORKLOAD_FRAMEWORK_H

#include "scratch.h"
#include "torture.h"
#include "values.h"

#define BACK_ENDS "share/python/prony/backends/"
#define PROGRAM BACK_ENDS "pytorch.py"
#define FRAMEWORKS "share/frameworks/"

static const char definition[] = "model: tiny\n"
                                 "title: Tiny\n"
                                 "input: [4]\n"
                                 "classes: 3\n"
                                 "layers:\n"
                                 "  - {linear: $classes, name: head}\n";

static inline void shell(const char *command)
{
    assert_int_equal(system(command), 0);
}

/* Three that programs of ours run on, and two that scripts do. */
static inline void put_frameworks(void)
{
    static const struct {
        const char *name, *module, *variable, *more;
    } rows[] = {
        {"pytorch", "torch", "PRONY_TORCH_PYTHON", ""},
        {"tensorflow", "tensorflow", "PRONY_TF_PYTHON", ""},
        {"onnxruntime", "onnxruntime", "PRONY_ORT_PYTHON",
         "title: ONNX Runtime\nphases: [inference]\n"},
    };
    char path[128], text[512];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = rows[i].name;

        snprintf(path, sizeof path, FRAMEWORKS "%s.yaml", name);
        snprintf(text, sizeof text,
                 "framework: %s\nkind: python\nmodule: %s\npython: %s\n"
                 "program: python/prony/backends/%s.py\n%s",
                 name, rows[i].module, rows[i].variable, name, rows[i].more);
        spit(path, text);
    }
    spit(FRAMEWORKS "toy.yaml", "framework: toy\ntitle: Toy\n");
    spit(FRAMEWORKS "fork.yaml", "framework: fork\ntitle: Fork\nfamily: toy\n"
                                 "phases: [training]\nplaces: [container]\n");
    spit(FRAMEWORKS "own.yaml", "framework: own\nkind: native\n");
    spit(FRAMEWORKS "bad.yaml", "framework: good\n");
}

/* A share folder, a model, and interpreters: with is one that has torch. */
static inline int enter_share(void **state)
{
    if (enter(state))
        return -1;
    shell("mkdir -p share/workloads share/frameworks "
          "share/python/prony/backends dir "
          "none/bin none/lib/python3.11/site-packages "
          "with/bin with/lib/python3.11/site-packages/torch "
          "debian/bin debian/lib/python3/dist-packages/torch "
          "venv/bin venv/lib/python3.11/site-packages path/torch");
    shell("touch venv/pyvenv.cfg " PROGRAM " " BACK_ENDS
          "tensorflow.py " BACK_ENDS "onnxruntime.py");
    shell("for p in none with debian; do printf '#!/bin/sh\\n' > "
          "$p/bin/python3; chmod +x $p/bin/python3; done; "
          "ln -s ../../with/bin/python3 venv/bin/python3; "
          "ln -s with/bin/python3 linked");
    spit("tiny.yaml", definition);
    put_frameworks();
    (void)unsetenv("PRONY_FRAMEWORKS");
    (void)unsetenv("PYTHONPATH");
    (void)unsetenv("PRONY_TORCH_PYTHON");
    (void)unsetenv("PRONY_TF_PYTHON");
    (void)unsetenv("PRONY_ORT_PYTHON");
    (void)setenv("HOME", scratch_dir, 1);
    return setenv("PRONY_SHARE", "share", 1);
}

#endif
