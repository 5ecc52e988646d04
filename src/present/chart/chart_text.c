/* Text in a chart: made harmless, and no wider than its place. */
#include "present/chart/chart_impl.h"
#include "present/screen.h"

#include <string.h>

enum { TEXT_MAX = 1 << 16 };

const char *pr_chart_clean(struct pr_buf *b, const char *s)
{
    size_t len = strlen(s);

    pr_screen_clean(b, s, len < TEXT_MAX / 8 ? len : TEXT_MAX / 8);
    return pr_buf_ok(b) && b->len ? b->data : "";
}

double pr_chart_text_width(struct pr_canvas *v, const char *s, double size)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(TEXT_MAX);

    return v->kind->text_width(v, pr_chart_clean(&b, s), size, false);
}

/* The longest beginning that fits, with an ellipsis; at least one column. */
static const char *chart_cut_text(struct pr_canvas *v, const struct pr_label *l,
                                  const char *text, double room,
                                  struct pr_buf *b)
{
    size_t len = strlen(text), fits = 1, most = pr_screen_columns(text, len);

    if (v->kind->text_width(v, text, l->size, l->bold) <= room)
        return text;
    while (most > fits + 1) {
        size_t half = fits + (most - fits) / 2;

        pr_buf_clear(b);
        pr_screen_cut(b, text, len, half, false);
        if (!pr_buf_ok(b))
            return "";
        if (v->kind->text_width(v, b->data, l->size, l->bold) <= room)
            fits = half;
        else
            most = half;
    }
    pr_buf_clear(b);
    pr_screen_cut(b, text, len, fits, false);
    return pr_buf_ok(b) && b->len ? b->data : "";
}

void pr_chart_put_text(struct pr_canvas *v, const struct pr_label *l,
                       double room)
{
    PR_AUTO_BUF struct pr_buf whole = PR_BUF_INIT(TEXT_MAX);
    PR_AUTO_BUF struct pr_buf shorter = PR_BUF_INIT(TEXT_MAX);
    struct pr_label fit = *l;

    fit.text =
        chart_cut_text(v, l, pr_chart_clean(&whole, l->text), room, &shorter);
    if (!pr_buf_ok(&whole) || !pr_buf_ok(&shorter))
        v->out->failed = true;
    else if (*fit.text)
        v->kind->text(v, &fit);
}
