/* Values as YAML: blocks of two blanks, lists not indented under their key,
 * text without quotes where that reads back as the same text. */
#include "base/json/json.h"
#include "base/text.h"
#include "compat/dlio/dlio.h"
#include "conf/read/yaml.h"

#include <ctype.h>
#include <string.h>

/* Digits with '-', ':' and the like may be a date or base 60 elsewhere. */
static bool like_time(const char *s, size_t len)
{
    return len && isdigit((unsigned char)s[0]) &&
           strspn(s, "0123456789-:.+TtZz _") >= len;
}

static bool hydra_yaml_is_plain(const char *s, size_t len)
{
    struct pr_value v;

    if (!len || !(isalnum((unsigned char)s[0]) || strchr("_./$", s[0])) ||
        s[len - 1] == ' ' || s[len - 1] == ':' || like_time(s, len))
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < ' ' || c > '~' || (c == ':' && s[i + 1] == ' ') ||
            (c == ' ' && s[i + 1] == '#'))
            return false;
    }
    v = pr_yaml_read_scalar(s, len);
    return v.kind == PR_STR;
}

static bool hydra_yaml_is_simple(const char *s, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        n = pr_utf8_len(s + i, len - i);
        if (!n || (unsigned char)s[i] < ' ' || s[i] == 127 ||
            (unsigned char)s[i] == 0xc2) /* C1 and odd blanks begin so */
            return false;
    }
    return true;
}

static void hydra_yaml_write_text(struct pr_buf *out, const char *s, size_t len)
{
    if (hydra_yaml_is_plain(s, len)) {
        pr_buf_add(out, s, len);
    } else if (hydra_yaml_is_simple(s, len)) {
        pr_buf_char(out, '\'');
        for (size_t i = 0; i < len; i++) {
            if (s[i] == '\'')
                pr_buf_char(out, '\'');
            pr_buf_char(out, s[i]);
        }
        pr_buf_char(out, '\'');
    } else {
        pr_json_write_string(out, s, len); /* YAML reads JSON's strings */
    }
}

static void hydra_yaml_write_float(struct pr_buf *out, double f)
{
    if (f != f)
        pr_buf_str(out, ".nan");
    else if (f - f != 0)
        pr_buf_str(out, f < 0 ? "-.inf" : ".inf");
    else
        pr_float_write_repr(out, f);
}

static void hydra_yaml_write_scalar(struct pr_buf *out,
                                    const struct pr_value *v)
{
    switch (v->kind) {
    case PR_BOOL:
        pr_buf_str(out, v->b ? "true" : "false");
        break;
    case PR_INT:
        pr_buf_printf(out, "%lld", (long long)v->i);
        break;
    case PR_FLOAT:
        hydra_yaml_write_float(out, v->f);
        break;
    case PR_STR:
        hydra_yaml_write_text(out, v->s, v->len);
        break;
    case PR_LIST:
        pr_buf_str(out, "[]");
        break;
    case PR_MAP:
        pr_buf_str(out, "{}");
        break;
    default:
        pr_buf_str(out, "null");
    }
}

static bool hydra_yaml_is_block(const struct pr_value *v)
{
    return (v->kind == PR_MAP || v->kind == PR_LIST) && v->len;
}

static void hydra_yaml_write_indent(struct pr_buf *out, unsigned depth)
{
    while (depth--)
        pr_buf_str(out, "  ");
}

static void hydra_yaml_write_block(struct pr_buf *out, const struct pr_value *v,
                                   unsigned depth, bool begun);

static void hydra_yaml_write_member(struct pr_buf *out,
                                    const struct pr_member *m, unsigned depth)
{
    hydra_yaml_write_text(out, m->key, m->key_len);
    pr_buf_char(out, ':');
    if (hydra_yaml_is_block(&m->value)) {
        pr_buf_char(out, '\n');
        hydra_yaml_write_block(out, &m->value,
                               depth + (m->value.kind == PR_MAP), false);
    } else {
        pr_buf_char(out, ' ');
        hydra_yaml_write_scalar(out, &m->value);
        pr_buf_char(out, '\n');
    }
}

/* begun: the first line has its indent already, behind a '- '. */
static void hydra_yaml_write_block(struct pr_buf *out, const struct pr_value *v,
                                   unsigned depth, bool begun)
{
    for (uint32_t i = 0; i < v->len; i++) {
        if (i || !begun)
            hydra_yaml_write_indent(out, depth);
        if (v->kind == PR_MAP) {
            hydra_yaml_write_member(out, &v->members[i], depth);
            continue;
        }
        pr_buf_str(out, "- ");
        if (hydra_yaml_is_block(&v->items[i])) {
            hydra_yaml_write_block(out, &v->items[i], depth + 1, true);
        } else {
            hydra_yaml_write_scalar(out, &v->items[i]);
            pr_buf_char(out, '\n');
        }
    }
}

void hydra_yaml_write(struct pr_buf *out, const struct pr_value *v)
{
    if (hydra_yaml_is_block(v)) {
        hydra_yaml_write_block(out, v, 0, false);
    } else {
        hydra_yaml_write_scalar(out, v);
        pr_buf_char(out, '\n');
    }
}
