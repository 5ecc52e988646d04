/* The file of a system: ten lines, in Lambda's order, from what env.json
 * knows. What it does not know is left empty. */
#include "run/gpu_task.h"

#include <string.h>

static const struct pr_value *below(const struct pr_value *v, const char *a,
                                    const char *b)
{
    v = v ? pr_get(v, a) : NULL;
    return v && b ? pr_get(v, b) : v;
}

static void put_line(struct pr_buf *out, const char *key,
                     const struct pr_value *v, bool underlined)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    if (v)
        pr_text(&text, v);
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\n' || (underlined && text.data[i] == ' '))
            text.data[i] = '_';
    pr_buf_printf(out, "%s: %s\n", key, text.len ? text.data : "");
}

/* "23Gi" */
static void put_memory(struct pr_buf *out, const struct pr_value *bytes)
{
    double gib = bytes && pr_is_number(bytes)
                     ? pr_number(bytes) / (1024.0 * 1024 * 1024)
                     : 0;

    pr_buf_printf(out, "CPU Memory: %.0fGi\n", gib);
}

static void put_gpu(struct pr_buf *out, const struct pr_value *env)
{
    const struct pr_value *gpus = pr_get(env, "gpus");
    const struct pr_value *gpu =
        gpus && gpus->kind == PR_LIST && gpus->len ? &gpus->items[0] : NULL;
    const struct pr_value *bytes = below(gpu, "memory_bytes", NULL);

    put_line(out, "GPU", below(gpu, "name", NULL), true);
    if (bytes && pr_is_number(bytes))
        pr_buf_printf(out, "GPU Memory: %.0f_MiB\n",
                      pr_number(bytes) / (1024.0 * 1024));
    else
        pr_buf_str(out, "GPU Memory: \n");
    put_line(out, "NVIDIA driver", below(gpu, "driver_version", NULL), false);
}

void pr_gpu_task_system(const struct pr_value *env, struct pr_buf *out)
{
    put_line(out, "CPU", below(env, "cpu", "model"), false);
    put_memory(out, below(env, "memory", "total_bytes"));
    put_gpu(out, env);
    put_line(out, "CUDA Version", below(env, "versions", "cuda"), false);
    put_line(out, "CUDNN Version", below(env, "versions", "cudnn"), false);
    put_line(out, "Motherboard", below(env, "dmi", "board_name"), false);
    put_line(out, "OS", pr_get(env, "distribution"), false);
    put_line(out, "PyTorch Version", below(env, "versions", "pytorch"), false);
}
