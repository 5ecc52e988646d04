/* `prony doctor`: what the monitor can see here, GPUs first. */
#include "base/buf.h"
#include "cli/doctor.h"
#include "conf/option/option.h"
#include "machine/nvml.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "2 of NVIDIA: A100 (driver 535.1, CUDA 12.4)" */
static const char *nvidia_words(struct doctor *d, struct pr_nvml *n,
                                unsigned *ret_lost)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);
    unsigned count = pr_nvml_count(n), lost = 0;
    char last[PR_NVML_NAME] = "";
    int cuda = pr_nvml_cuda(n);

    pr_buf_printf(&text, "%u of NVIDIA", count);
    for (unsigned i = 0; i < count; i++) {
        struct pr_nvml_device dev;

        if (!pr_nvml_device(n, i, &dev)) {
            lost++;
            continue;
        }
        if (strcmp(dev.name, last) != 0)
            pr_buf_printf(&text, "%s%s", last[0] ? ", " : ": ", dev.name);
        memcpy(last, dev.name, sizeof last);
    }
    if (lost)
        pr_buf_printf(&text, "; %u of them lost", lost);
    pr_buf_printf(&text, " (driver %s", pr_nvml_driver(n));
    if (cuda)
        pr_buf_printf(&text, ", CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
    pr_buf_char(&text, ')');
    *ret_lost = lost;
    return pr_buf_ok(&text) ? pr_arena_str(d->arena, text.data) : "";
}

static void look_at_nvidia(struct doctor *d, struct pr_nvml *n)
{
    unsigned lost;
    const char *words = nvidia_words(d, n, &lost);

    doctor_found(d, "GPU", lost == 0, words,
                 "the kernel's log says why (dmesg): reset it, or start the "
                 "machine again");
}

static void look_at_gpus(struct doctor *d)
{
    char why[PR_NVML_WHY] = "";
    struct pr_nvml *n = pr_nvml_open(why);

    if (n)
        look_at_nvidia(d, n);
    else if (pr_machine_has_gpu())
        doctor_extra(
            d, "GPU", true,
            pr_arena_printf(d->arena, "there, but not watched: %s", why), NULL);
    else
        doctor_extra(d, "GPU", false, pr_arena_str(d->arena, why),
                     "none is needed; exp.gpus is empty by default");
    pr_nvml_close(n);
}

/* How many entries of a folder have a file of that name that can be read. */
static unsigned count_readable(const char *folder, const char *file,
                               unsigned *ret_all)
{
    DIR *dir = opendir(folder);
    unsigned readable = 0;
    struct dirent *e;

    *ret_all = 0;
    while (dir && (e = readdir(dir))) {
        char path[512];
        int n =
            snprintf(path, sizeof path, "%s/%s/%s", folder, e->d_name, file);
        if (e->d_name[0] == '.' || n < 0 || (size_t)n >= sizeof path ||
            access(path, F_OK) < 0)
            continue;
        ++*ret_all;
        readable += access(path, R_OK) == 0;
    }
    if (dir)
        closedir(dir);
    return readable;
}

static void look_at_power(struct doctor *d)
{
    unsigned all, readable;

    readable = count_readable("/sys/class/powercap", "energy_uj", &all);
    doctor_extra(d, "power meter", readable > 0,
                 readable
                     ? pr_arena_printf(d->arena, "RAPL, %u domains", readable)
                 : all ? "RAPL, but only root may read it"
                       : "no RAPL",
                 all ? "chmod a+r /sys/class/powercap/*/energy_uj"
                     : "joules are left out of results");
}

static void look_at_temperature(struct doctor *d)
{
    unsigned monitors, zones, n;

    n = count_readable("/sys/class/hwmon", "name", &monitors) +
        count_readable("/sys/class/thermal", "temp", &zones);
    doctor_extra(d, "temperature", n > 0,
                 n ? pr_arena_printf(d->arena, "%u sources", n) : "no sensors",
                 "it is left out of results");
}

void doctor_sensors(struct doctor *d)
{
    bool psi = access("/proc/pressure/cpu", R_OK) == 0;

    look_at_gpus(d);
    look_at_power(d);
    look_at_temperature(d);
    doctor_extra(d, "pressure", psi, psi ? "PSI" : "no /proc/pressure",
                 "start the kernel with psi=1");
}
