/*
 * YAML: no input may crash, leak or take long; what is accepted can be written
 * as JSON and read back equal.
 */
#include "base/json/json.h"
#include "conf/read/yaml.h"

#include <math.h>
#include <stdlib.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool has_nan(const struct pr_value *v)
{
    if (v->kind == PR_FLOAT)
        return isnan(v->f);
    for (uint32_t i = 0; v->kind == PR_LIST && i < v->len; i++)
        if (has_nan(&v->items[i]))
            return true;
    for (uint32_t i = 0; v->kind == PR_MAP && i < v->len; i++)
        if (has_nan(&v->members[i].value))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT((size_t)1 << 24);
    struct pr_value v, again;
    struct pr_err err = {0};
    int rc = pr_yaml_read((const char *)data, bytes, "in", a, &v, &err);

    must(rc == err.code);
    if (rc) {
        must(rc == PR_E_FORMAT && err.msg[0] && err.where[0]);
        return 0;
    }
    pr_json_write(&out, &v);
    if (!pr_buf_ok(&out)) /* long texts behind many aliases */
        return 0;
    struct pr_json_in in = {out.data, out.len, "json", PR_JSON_UNIQUE_KEYS, 0};
    must(pr_json_read(&in, a, &again, NULL, NULL) == PR_OK);
    must(has_nan(&v) || pr_value_equal(&v, &again));
    return 0;
}
