/* Writing a safetensors file of tensors. */
#include "format/tensors_write.h"

#include "base/json/json.h"
#include "base/units.h"

#include <assert.h>
#include <endian.h>
#include <string.h>
#include <sys/statvfs.h>

enum { ALIGN = 64, WRITE_PIECE = 4096 };

static void tensor_add_head_entry(struct pr_tensor_writer *w, const char *name,
                                  const char *type, unsigned dims,
                                  const int64_t *at)
{
    struct pr_buf *b = &w->head;
    uint64_t bytes = sizeof(float);

    pr_buf_str(b, b->len ? "," : "{\"__metadata__\":{\"format\":\"pt\"},");
    pr_json_write_string(b, name, strlen(name));
    pr_buf_printf(b, ":{\"dtype\":\"%s\",\"shape\":[", type);
    for (unsigned i = 0; i < dims; i++) {
        pr_buf_printf(b, "%s%lld", i ? "," : "", (long long)at[i]);
        bytes *= (uint64_t)at[i];
    }
    pr_buf_printf(b, "],\"data_offsets\":[%llu,%llu]}",
                  (unsigned long long)w->bytes,
                  (unsigned long long)w->bytes + bytes);
    w->bytes += bytes;
}

void pr_tensor_writer_add(struct pr_tensor_writer *w, const char *name,
                          unsigned dims, const int64_t *at)
{
    tensor_add_head_entry(w, name, "F32", dims, at);
}

void pr_tensor_writer_add_ints(struct pr_tensor_writer *w, const char *name,
                               unsigned dims, const int64_t *at)
{
    tensor_add_head_entry(w, name, "I32", dims, at);
}

/* The length, and blanks so that the contents start aligned. */
static int write_head(struct pr_tensor_writer *w, struct pr_err *err)
{
    uint64_t len;
    int rc;

    pr_buf_str(&w->head, w->head.len ? "}" : "{}");
    while (pr_buf_ok(&w->head) && (8 + w->head.len) % ALIGN)
        pr_buf_char(&w->head, ' ');
    if (!pr_buf_ok(&w->head))
        return pr_fail_nomem(err);
    len = htole64(w->head.len);
    rc = pr_file_append(&w->file, &len, 8, err);
    return rc ? rc : pr_file_append(&w->file, w->head.data, w->head.len, err);
}

/* Better known before hundreds of megabytes were written. */
static int tensor_check_space(const struct pr_tensor_writer *w,
                              struct pr_err *err)
{
    struct statvfs fs;
    char need[16], left[16];
    uint64_t room;

    if (fstatvfs(w->file.fd, &fs) < 0)
        return PR_OK;
    room = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (!fs.f_blocks || w->bytes <= room)
        return PR_OK;
    return pr_fail(err, PR_E_IO, w->file.path, "%s are to be written, %s free",
                   pr_format_bytes(need, w->bytes),
                   pr_format_bytes(left, room));
}

int pr_tensor_writer_open(struct pr_tensor_writer *w, const char *path,
                          struct pr_err *err)
{
    int rc = pr_file_create(path, &w->file, err);

    if (!rc)
        rc = tensor_check_space(w, err);
    return rc ? rc : write_head(w, err);
}

int pr_tensor_writer_put(struct pr_tensor_writer *w, const void *values,
                         uint64_t elements, struct pr_err *err)
{
    w->put += elements * sizeof(uint32_t);
    assert(w->put <= w->bytes);
#if __BYTE_ORDER == __BIG_ENDIAN
    uint32_t piece[PIECE];
    int rc = PR_OK;

    for (uint64_t i = 0, n; !rc && i < elements; i += n) {
        n = elements - i < PIECE ? elements - i : PIECE;
        memcpy(piece, (const uint32_t *)values + i, n * sizeof *piece);
        for (uint64_t k = 0; k < n; k++)
            piece[k] = htole32(piece[k]);
        rc = pr_file_append(&w->file, piece, n * sizeof *piece, err);
    }
    return rc;
#else
    return pr_file_append(&w->file, values, elements * sizeof(uint32_t), err);
#endif
}

int pr_tensor_writer_commit(struct pr_tensor_writer *w, struct pr_err *err)
{
    assert(w->put == w->bytes);
    return pr_file_commit(&w->file, err);
}

void pr_tensor_writer_done(struct pr_tensor_writer *w)
{
    pr_file_discard(&w->file);
    pr_buf_free(&w->head);
}
