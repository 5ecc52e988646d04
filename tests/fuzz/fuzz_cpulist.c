/*
 * Lists of processors: what is printed means the same again, and sets keep to
 * the rules of sets.
 */
#include "base/buf.h"
#include "machine/cpuset.h"

#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static char text[PR_CPUSET_MAX * 6];
    PR_AUTO_BUF struct pr_buf in = PR_BUF_INIT((size_t)1 << 24);
    struct pr_cpuset set, again, rest;
    char small[8];
    int first;

    pr_buf_add(&in, data, bytes);
    pr_buf_char(&in, '\0');
    if (!pr_cpuset_parse(in.data, &set))
        return 0;
    must(pr_cpuset_print(&set, text, sizeof text));
    must(pr_cpuset_parse(text, &again));
    must(memcmp(&set, &again, sizeof set) == 0);
    first = pr_cpuset_first(&set);
    must((first < 0) == (pr_cpuset_count(&set) == 0));
    must(first < 0 || pr_cpuset_has(&set, (unsigned)first));
    must(pr_cpuset_print(&set, small, sizeof small) ==
         (strlen(text) < sizeof small));
    must(memchr(small, '\0', sizeof small));
    rest = set;
    pr_cpuset_subtract(&rest, &again);
    must(pr_cpuset_count(&rest) == 0 && !pr_cpuset_overlaps(&rest, &set));
    pr_cpuset_join(&rest, &set);
    pr_cpuset_intersect(&rest, &again);
    must(memcmp(&rest, &set, sizeof set) == 0);
    return 0;
}
