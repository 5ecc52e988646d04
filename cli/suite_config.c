/* Configuration as milarun's options take it: a file, or JSON. */
#include "cli/suite_config.h"

#include "base/file.h"
#include "base/json/json.h"
#include "conf/read/bundled.h"
#include "conf/read/toml.h"
#include "conf/read/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CONFIG = 1 << 28 };

bool config_is_inline(const char *text)
{
    return *text && strchr("{[\"", *text);
}

const char *config_path(struct pr_arena *a, const char *path)
{
    const char *home = getenv("HOME");

    if (path[0] != '~' || (path[1] && path[1] != '/') || !home)
        return path;
    return pr_arena_printf(a, "%s%s", home, path + 1);
}

static bool config_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && strcmp(s + n - k, end) == 0;
}

bool config_is_document(const char *text)
{
    return config_ends_with(text, ".yaml") || config_ends_with(text, ".yml") ||
           config_ends_with(text, ".toml");
}

/* "quick" for the weights of the bundled suite; else a path. */
static const char *config_find_file(struct pr_arena *a, const char *text)
{
    const char *bundled = !strchr(text, '/') && !strchr(text, '.')
                              ? pr_bundled_find(a, "suites/weights", text)
                              : NULL;

    return bundled && access(text, F_OK) ? bundled : config_path(a, text);
}

int config_read(struct pr_arena *a, const char *text, const char *option,
                struct pr_value *ret, struct pr_err *err)
{
    struct pr_json_in in = {.text = text, .name = option};
    int rc;

    if (config_is_inline(text)) {
        in.len = strlen(text);
        return pr_json_read(&in, a, ret, NULL, err);
    }
    in.name = config_find_file(a, text);
    if (!in.name)
        return pr_fail_nomem(err);
    if (config_ends_with(text, ".cfg") || config_ends_with(text, ".ini")) {
        pr_fail(err, PR_E_UNAVAIL, option, "cannot read '%s'", text);
        return pr_hint(err, "JSON, YAML and TOML can be read");
    }
    rc = pr_file_read(in.name, MAX_CONFIG, a, &in.text, &in.len, err);
    if (rc)
        return rc;
    if (config_ends_with(text, ".yaml") || config_ends_with(text, ".yml"))
        return pr_yaml_read(in.text, in.len, in.name, a, ret, err);
    if (config_ends_with(text, ".toml"))
        return pr_toml_read(in.text, in.len, in.name, a, ret, err);
    return pr_json_read(&in, a, ret, NULL, err);
}
