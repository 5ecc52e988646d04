/*
 * A part of a jpeg image, its pixels the same as if all of it was decoded.
 * libturbojpeg decodes whole images; libjpeg beside it, of the same makers, can
 * leave out rows and columns. It is loaded when first needed. Without it, and
 * where a part costs as much as the whole, images are decoded whole.
 */
#ifndef PR_FORMAT_JPEG_PART_H
#define PR_FORMAT_JPEG_PART_H

#include "format/image/image.h"

#if PR_HAVE_LIBJPEG

#include <stdio.h> /* which jpeglib.h needs */

#include <jpeglib.h>
#include <setjmp.h>

/* Zeroed at the start; it stays where it is. */
struct pr_jpeg_part {
    struct jpeg_decompress_struct z;
    struct jpeg_error_mgr mgr;
    jmp_buf failed;
    bool is_made;
};

#else

struct pr_jpeg_part {
    bool is_made;
};

#endif

/* Decodes at least the part that is wanted into buf, which has room for the
 * whole image, and says which one that was. False: it was not done, for
 * whatever reason, and the image has to be decoded whole. What is wrong with a
 * file below the part is not noticed, as long as the file has an end. */
bool pr_jpeg_part_decode(struct pr_jpeg_part *x, const uint8_t *file,
                         size_t size, const struct pr_image *image,
                         const struct pr_part *want, uint8_t *buf,
                         struct pr_part *ret) PR_MUST_CHECK;
void pr_jpeg_part_done(struct pr_jpeg_part *x);

#endif
