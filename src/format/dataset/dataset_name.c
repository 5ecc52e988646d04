/* The names of a data set's files and folders, computed from their number. */
#include "format/dataset/dataset_classes.h"

#include <string.h>

/* A name is made for every sample that is read. Constant text is copied by its
 * length, which the compiler knows. */
#define PUT(at, text) \
    (memcpy(at, text, sizeof text - 1), (at) + sizeof text - 1)

static unsigned dataset_count_digits(uint64_t n)
{
    unsigned count = 1;
    uint64_t limit = 10;

    for (; n >= limit && count < 19; limit *= 10)
        count++;
    return n >= limit ? 20 : count;
}

/* With zeros in front, up to the width of the largest; four digits at a time
 * are twice as fast. */
static char *dataset_put_number(char *at, uint64_t n, unsigned width)
{
    unsigned i = width;

    for (; i >= 4; i -= 4, n /= 10000) {
        unsigned four = (unsigned)(n % 10000);
        unsigned high = four / 100, low = four % 100;

        at[i - 4] = (char)('0' + high / 10);
        at[i - 3] = (char)('0' + high % 10);
        at[i - 2] = (char)('0' + low / 10);
        at[i - 1] = (char)('0' + low % 10);
    }
    for (; i--; n /= 10)
        at[i] = (char)('0' + n % 10);
    return at + width;
}

static char *put_subfolder(char *at, const struct pr_dataset *d,
                           enum pr_split split, uint64_t i)
{
    uint64_t count = d->subfolders[split];

    if (!count)
        return at;
    at = dataset_put_number(at, i % count, dataset_count_digits(count));
    *at++ = '/';
    return at;
}

static char *put_folder(char *at, const struct pr_dataset *d,
                        enum pr_name_kind kind, enum pr_split split)
{
    at = stpcpy(at, d->folder);
    if (kind == PR_NAME_INDEX)
        at = PUT(at, "/index");
    else if (kind == PR_NAME_LABELS)
        at = PUT(at, "/labels");
    return split == PR_TRAIN ? PUT(at, "/train") : PUT(at, "/valid");
}

void pr_dataset_name(const struct pr_dataset *d, uint64_t f,
                     enum pr_name_kind kind, char out[static PR_NAME_BYTES])
{
    uint64_t i;
    enum pr_split split = pr_dataset_split(d, f, &i);
    uint64_t count = d->named[split];
    unsigned width = dataset_count_digits(count);
    char *at;

    if (d->classes[split]) {
        pr_dataset_classes_file_name(d->classes[split], i, out);
        return;
    }
    at = put_folder(out, d, kind, split);
    *at++ = '/';
    if (kind != PR_NAME_INDEX)
        at = put_subfolder(at, d, split, i);
    at = stpcpy(at, d->opts.file_prefix);
    *at++ = '_';
    at = dataset_put_number(at, i, width);
    at = PUT(at, "_of_");
    at = dataset_put_number(at, count, width);
    *at++ = '.';
    at = stpcpy(at, d->opts.format);
    if (kind != PR_NAME_DATA)
        at = kind == PR_NAME_INDEX ? PUT(at, ".idx") : PUT(at, ".npy");
    *at = '\0';
}

void pr_dataset_split_folder(const struct pr_dataset *d, enum pr_split split,
                             char out[static PR_NAME_BYTES])
{
    *put_folder(out, d, PR_NAME_DATA, split) = '\0';
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
