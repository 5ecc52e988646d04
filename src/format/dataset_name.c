/* The names of a data set's files and folders, computed from their number. */
#include "format/dataset.h"

#include <string.h>

static const char *const split_names[PR_SPLITS] = {"train", "valid"};

static char *put(char *at, const char *text)
{
    size_t n = strlen(text);

    memcpy(at, text, n);
    return at + n;
}

static unsigned digits(uint64_t n)
{
    unsigned count = 1;

    for (; n >= 10; n /= 10)
        count++;
    return count;
}

/* With zeros in front, up to the width of the largest. */
static char *put_number(char *at, uint64_t n, unsigned width)
{
    for (unsigned i = width; i--; n /= 10)
        at[i] = (char)('0' + n % 10);
    return at + width;
}

static char *put_subfolder(char *at, const struct pr_dataset *d,
                           enum pr_split split, uint64_t i)
{
    uint64_t count = d->subfolders[split];

    if (!count)
        return at;
    at = put_number(at, i % count, digits(count));
    *at++ = '/';
    return at;
}

static char *put_folder(char *at, const struct pr_dataset *d,
                        enum pr_name_kind kind, enum pr_split split)
{
    static const char *const parts[] = {"/", "/index/", "/labels/"};

    at = put(at, d->folder);
    at = put(at, parts[kind]);
    return put(at, split_names[split]);
}

void pr_dataset_name(const struct pr_dataset *d, uint64_t f,
                     enum pr_name_kind kind, char out[static PR_NAME_BYTES])
{
    static const char *const endings[] = {"", ".idx", ".npy"};
    uint64_t i;
    enum pr_split split = pr_dataset_split(d, f, &i);
    uint64_t count = d->files[split];
    char *at = put_folder(out, d, kind, split);

    *at++ = '/';
    if (kind != PR_NAME_INDEX)
        at = put_subfolder(at, d, split, i);
    at = put(at, d->opts.file_prefix);
    *at++ = '_';
    at = put_number(at, i, digits(count));
    at = put(at, "_of_");
    at = put_number(at, count, digits(count));
    *at++ = '.';
    at = put(at, d->opts.format);
    at = put(at, endings[kind]);
    *at = '\0';
}

/* The folders of one kind and split: itself, then its subfolders. */
static uint64_t folder_count(const struct pr_dataset *d, enum pr_name_kind kind,
                             enum pr_split split)
{
    if ((kind == PR_NAME_INDEX && !d->has_index) ||
        (kind == PR_NAME_LABELS && !d->has_labels_apart))
        return 0;
    if (kind == PR_NAME_INDEX)
        return 1;
    /* Those that a file is put into. */
    return 1 + (d->subfolders[split] < d->files[split] ? d->subfolders[split]
                                                       : d->files[split]);
}

void pr_dataset_folder(const struct pr_dataset *d, uint64_t i,
                       char out[static PR_NAME_BYTES])
{
    char *at = out;

    *out = '\0';
    for (int kind = 0; kind <= PR_NAME_LABELS; kind++)
        for (int split = 0; split < PR_SPLITS; split++) {
            uint64_t n =
                folder_count(d, (enum pr_name_kind)kind, (enum pr_split)split);
            if (i >= n) {
                i -= n;
                continue;
            }
            at = put_folder(at, d, (enum pr_name_kind)kind,
                            (enum pr_split)split);
            *at++ = '/';
            if (i)
                at = put_subfolder(at, d, (enum pr_split)split, i - 1);
            at[-1] = '\0';
            return;
        }
}
