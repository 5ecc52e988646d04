/* The last lines of a log, made safe to show. */
#include "base/mem.h"
#include "base/text.h"
#include "record/logline.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LOOK ((size_t)64 << 20)

static bool ends_line(char c)
{
    return c == '\n' || c == '\r';
}

/* Steps over a line end, \r\n being one. */
static const char *after_end(const char *p, const char *end)
{
    if (p + 1 < end && p[0] == '\r' && p[1] == '\n')
        return p + 2;
    return p + 1;
}

/* Steps back over a line end that ends at p. */
static const char *before_end(const char *start, const char *p)
{
    if (p - start >= 2 && p[-1] == '\n' && p[-2] == '\r')
        return p - 2;
    return p - 1;
}

static const char *line_stop(const char *p, const char *end)
{
    while (p < end && !ends_line(*p))
        p++;
    return p;
}

/* Where the last max_lines lines begin. */
static const char *last_lines(const char *start, const char *end,
                              size_t max_lines)
{
    const char *p = end;

    if (p > start && ends_line(p[-1]))
        p = before_end(start, p);
    while (p > start) {
        if (!ends_line(p[-1]))
            p--;
        else if (--max_lines == 0)
            break;
        else
            p = before_end(start, p);
    }
    return p;
}

/* After an escape sequence that begins at p: CSI, OSC, or a short one. */
static const char *after_escape(const char *p, const char *end)
{
    p++;
    if (p < end && *p == '[') {
        for (p++; p < end && *p >= 0x20 && *p <= 0x3f; p++)
            ;
        return p < end && *p >= 0x40 && *p <= 0x7e ? p + 1 : p;
    }
    if (p < end && *p == ']') {
        for (p++; p < end && *p != '\a' && *p != '\x1b'; p++)
            ;
        if (p < end && *p == '\a')
            return p + 1;
        return end - p >= 2 && p[1] == '\\' ? p + 2 : p;
    }
    while (p < end && *p >= 0x20 && *p <= 0x2f)
        p++;
    return p < end && *p >= 0x30 && *p <= 0x7e ? p + 1 : p;
}

/* A control character, or one that turns the direction of text. */
static bool log_is_control(const char *p, size_t n)
{
    const unsigned char *u = (const unsigned char *)p;

    if (n == 1)
        return (u[0] < 0x20 && u[0] != '\t') || u[0] == 0x7f;
    if (n == 2)
        return (u[0] == 0xc2 && u[1] < 0xa0) || (u[0] == 0xd8 && u[1] == 0x9c);
    if (n != 3 || u[0] != 0xe2)
        return false;
    return (u[1] == 0x80 &&
            (u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xa8 && u[2] <= 0xae))) ||
           (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9);
}

static void add_line(struct pr_buf *out, const char *p, const char *end)
{
    while (p < end) {
        size_t n = pr_utf8_len(p, (size_t)(end - p));

        if (*p == '\x1b') {
            p = after_escape(p, end);
            continue;
        }
        if (!n)
            pr_buf_str(out, "\xef\xbf\xbd");
        else if (!log_is_control(p, n))
            pr_buf_add(out, p, n);
        p += n ? n : 1;
    }
    pr_buf_char(out, '\n');
}

/* The first line of the piece, when it begins before it, is left out, unless
 * there is no other; then it begins with a whole character. */
static const char *whole_lines(const char *start, const char *end)
{
    const char *stop = line_stop(start, end);

    if (stop < end && after_end(stop, end) < end)
        return after_end(stop, end);
    for (int i = 0; i < 3 && start < end; i++, start++)
        if (((unsigned char)*start & 0xc0) != 0x80)
            break;
    return start;
}

static int log_read_tail_bytes(int fd, const char *path, char *data, size_t len,
                               off_t from, size_t *ret_len, struct pr_err *err)
{
    size_t used = 0;

    while (used < len) {
        ssize_t n = pread(fd, data + used, len - used, from + (off_t)used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pr_fail_errno(err, PR_E_IO, path, "cannot read");
        if (n == 0)
            break; /* cut short meanwhile */
        used += (size_t)n;
    }
    *ret_len = used;
    return PR_OK;
}

/* A piece that began after some other bytes has one of them in front. */
static void add_lines(struct pr_buf *out, const char *p, const char *end,
                      bool cut, size_t max_lines)
{
    if (cut && p < end) {
        char before = *p++;
        if (before == '\r' && p < end && *p == '\n')
            p++;
        else if (!ends_line(before))
            p = whole_lines(p, end);
    }
    for (p = last_lines(p, end, max_lines); p < end;) {
        const char *stop = line_stop(p, end);
        add_line(out, p, stop);
        p = after_end(stop, end);
    }
}

static int tail_fd(int fd, const char *path, size_t max_lines, size_t max_bytes,
                   struct pr_buf *out, struct pr_err *err)
{
    size_t len, old_len = out->len;
    bool cut = false;
    struct stat st;
    char *data;
    int rc;

    if (fstat(fd, &st) < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot look at");
    if (!S_ISREG(st.st_mode))
        return pr_fail(err, PR_E_IO, path, "is not a regular file");
    len = max_bytes < MAX_LOOK ? max_bytes : MAX_LOOK;
    if ((uint64_t)st.st_size > len) {
        cut = true;
        len++;
    } else {
        len = (size_t)st.st_size;
    }
    data = pr_alloc(len);
    if (!data)
        return pr_fail_nomem(err);
    rc = log_read_tail_bytes(fd, path, data, len, st.st_size - (off_t)len, &len,
                             err);
    if (!rc) {
        add_lines(out, data, data + len, cut, max_lines);
        if (!pr_buf_ok(out)) {
            out->len = old_len;
            rc = pr_fail_nomem(err);
        }
    }
    pr_free(data);
    return rc;
}

int pr_log_tail(const char *path, size_t max_lines, size_t max_bytes,
                struct pr_buf *out, struct pr_err *err)
{
    int fd, rc;

    if (max_lines == 0 || max_bytes == 0)
        return PR_OK;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    rc = tail_fd(fd, path, max_lines, max_bytes, out, err);
    close(fd);
    return rc;
}
