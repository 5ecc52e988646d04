/* The file of a system: ten lines, in Lambda's order, from what env.json
 * knows. What it does not know is left empty. */
#include "run/gpu_task.h"

#include <string.h>

static const struct pr_value *gpu_task_env_value(const struct pr_value *v,
                                                 const char *a, const char *b)
{
    v = v ? pr_get(v, a) : NULL;
    return v && b ? pr_get(v, b) : v;
}

static void gpu_task_write_line(struct pr_buf *out, const char *key,
                                const struct pr_value *v, bool underlined)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    if (v)
        pr_value_write_text(&text, v);
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\n' || (underlined && text.data[i] == ' '))
            text.data[i] = '_';
    pr_buf_printf(out, "%s: %s\n", key, text.len ? text.data : "");
}

/* "23Gi" */
static void gpu_task_write_memory(struct pr_buf *out,
                                  const struct pr_value *bytes)
{
    double gib = bytes && pr_value_is_number(bytes)
                     ? pr_value_number(bytes) / (1024.0 * 1024 * 1024)
                     : 0;

    pr_buf_printf(out, "CPU Memory: %.0fGi\n", gib);
}

static void put_gpu(struct pr_buf *out, const struct pr_value *env)
{
    const struct pr_value *gpus = pr_get(env, "gpus");
    const struct pr_value *gpu =
        gpus && gpus->kind == PR_LIST && gpus->len ? &gpus->items[0] : NULL;
    const struct pr_value *bytes =
        gpu_task_env_value(gpu, "memory_bytes", NULL);

    gpu_task_write_line(out, "GPU", gpu_task_env_value(gpu, "name", NULL),
                        true);
    if (bytes && pr_value_is_number(bytes))
        pr_buf_printf(out, "GPU Memory: %.0f_MiB\n",
                      pr_value_number(bytes) / (1024.0 * 1024));
    else
        pr_buf_str(out, "GPU Memory: \n");
    gpu_task_write_line(out, "NVIDIA driver",
                        gpu_task_env_value(gpu, "driver_version", NULL), false);
}

void pr_gpu_task_write_system(const struct pr_value *env, struct pr_buf *out)
{
    gpu_task_write_line(out, "CPU", gpu_task_env_value(env, "cpu", "model"),
                        false);
    gpu_task_write_memory(out,
                          gpu_task_env_value(env, "memory", "total_bytes"));
    put_gpu(out, env);
    gpu_task_write_line(out, "CUDA Version",
                        gpu_task_env_value(env, "versions", "cuda"), false);
    gpu_task_write_line(out, "CUDNN Version",
                        gpu_task_env_value(env, "versions", "cudnn"), false);
    gpu_task_write_line(out, "Motherboard",
                        gpu_task_env_value(env, "dmi", "board_name"), false);
    gpu_task_write_line(out, "OS", pr_get(env, "distribution"), false);
    gpu_task_write_line(out, "PyTorch Version",
                        gpu_task_env_value(env, "versions", "pytorch"), false);
}
