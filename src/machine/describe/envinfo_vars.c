/*
 * Environment variables that change how fast things run. Only known families
 * are written down, and nothing that looks like a secret.
 */
#include "machine/envinfo_read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 512 };

static bool env_is_relevant_variable(const char *name, size_t len)
{
    static const char *const families[] = {
        "OMP_",    "KMP_",    "GOMP_",     "MKL_",      "OPENBLAS_",
        "BLIS_",   "ONEDNN_", "DNNL_",     "CUDA_",     "CUDNN_",
        "CUBLAS_", "NVIDIA_", "HIP_",      "HSA_",      "ROCR_",
        "ROCM_",   "MIOPEN_", "TF_",       "XLA_",      "NCCL_",
        "RCCL_",   "GLOO_",   "UCX_",      "OMPI_MCA_", "PYTORCH_",
        "TORCH_",  "MALLOC_", "MIMALLOC_", "PRONY_",    "SLURM_JOB_",
        "HDF5_",   "DLIO_",   "DFTRACER_",
    };
    static const char *const names[] = {
        "LD_PRELOAD",         "LD_LIBRARY_PATH",  "GLIBC_TUNABLES",
        "SLURM_NNODES",       "SLURM_NTASKS",     "SLURM_CPUS_PER_TASK",
        "SLURM_CPUS_ON_NODE", "MILARUN_DATAROOT", "CONDA_DEFAULT_ENV",
        "VIRTUAL_ENV",        "PYTHONHASHSEED",   "NUMEXPR_NUM_THREADS",
    };

    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(name, families[i], strlen(families[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && memcmp(name, names[i], len) == 0)
            return true;
    return false;
}

bool pr_machine_env_is_secret(const char *variable, size_t len)
{
    static const char *const words[] = {"SECRET", "TOKEN", "PASSWORD",
                                        "PASSWD", "KEY",   "CREDENTIAL"};
    const char *value = variable + len + (variable[len] != '\0'), *address;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strcasestr(variable, words[i]);
        if (at && at + strlen(words[i]) <= variable + len)
            return true;
    }
    address = strstr(value, "://");
    return address && strchr(address, '@');
}

static int env_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void pr_machine_env_variables(struct pr_machine_env *e)
{
    const char *const *env = e->opts->environment
                                 ? e->opts->environment
                                 : (const char *const *)environ;
    const char *found[MOST];
    size_t count = 0;

    for (; env && *env && count < MOST; env++) {
        const char *equals = strchr(*env, '=');
        size_t len = equals ? (size_t)(equals - *env) : 0;
        if (len && len < 128 && env_is_relevant_variable(*env, len) &&
            !pr_machine_env_is_secret(*env, len))
            found[count++] = *env;
    }
    qsort(found, count, sizeof *found, env_compare_names);
    pr_json_open_object(&e->jb, "environment");
    for (size_t i = 0; i < count; i++) {
        size_t len = strcspn(found[i], "=");
        char name[128];
        memcpy(name, found[i], len);
        name[len] = '\0';
        pr_json_put_str(&e->jb, name, found[i] + len + 1);
    }
    pr_json_close(&e->jb);
}
