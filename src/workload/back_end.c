/* The list of back-ends, and which interpreter runs one. */
#include "workload/back_end.h"

#include "workload/python.h"

#include <stdlib.h>
#include <string.h>

static const struct pr_back_end back_ends[] = {
    {"pytorch", "PyTorch", "python/prony/backends/pytorch.py", "torch",
     "PRONY_TORCH_PYTHON", true},
    {"tensorflow", "TensorFlow", "python/prony/backends/tensorflow.py",
     "tensorflow", "PRONY_TF_PYTHON", true},
    {"onnxruntime", "ONNX Runtime", "python/prony/backends/onnxruntime.py",
     "onnxruntime", "PRONY_ORT_PYTHON", false},
};

const struct pr_back_end *pr_back_end_at(size_t i)
{
    return i < sizeof back_ends / sizeof *back_ends ? &back_ends[i] : NULL;
}

const struct pr_back_end *pr_back_end_find(const char *framework)
{
    const struct pr_back_end *b;

    for (size_t i = 0; (b = pr_back_end_at(i)); i++)
        if (strcmp(b->framework, framework) == 0)
            return b;
    return NULL;
}

const char *pr_back_end_python(const struct pr_back_end *b, const char *first,
                               struct pr_arena *a)
{
    return pr_python_with(b->module, first, getenv(b->python_var), a);
}
