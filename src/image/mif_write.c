/* Headers of MRtrix3's images that are written: .mif and .mif.gz, values behind the header, volumes slowest. */
#include <string.h>

#include "image/mif_write.h"
#include "image/formats.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* Values begin at a multiple of this, bytes, so that each is aligned for its type. */
#define ALIGNMENT 16

/* Appends `before` and a number that reads back as the same double. */
static void add_number(gls_text *text, const char *before, double value)
{
    char number[40];
    gls_text_puts(text, before);
    gls_text_puts(text, gls_format_double(value, number, sizeof number));
}

/* The type of values as MRtrix3 names it. */
static const char *type_name(gls_type type)
{
    return type == GLS_TYPE_UINT8     ? "UInt8"
           : type == GLS_TYPE_INT16   ? "Int16LE"
           : type == GLS_TYPE_INT32   ? "Int32LE"
           : type == GLS_TYPE_UINT32  ? "UInt32LE"
           : type == GLS_TYPE_FLOAT32 ? "Float32LE"
                                      : "Float64LE";
}

/* The lines in front of "file". */
static void add_lines(gls_text *text, const gls_grid *grid, const char *what, size_t n_volumes, gls_type type)
{
    const bool series = n_volumes > 1;
    gls_text_printf(text, "mrtrix image\ndim: %d,%d,%d", grid->dim[0], grid->dim[1], grid->dim[2]);
    if (series) gls_text_printf(text, ",%zu", n_volumes);
    for (int a = 0; a < 3; a++) add_number(text, a == 0 ? "\nvox: " : ",", grid->voxel_size[a]);
    gls_text_printf(text, "%s\nlayout: +0,+1,+2%s\ndatatype: %s", series ? ",nan" : "", series ? ",+3" : "",
                    type_name(type));
    /* columns of unit length, and the position of the first voxel */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            add_number(text, c == 0 ? "\ntransform: " : ",", grid->affine[r][c] / (c < 3 ? grid->voxel_size[c] : 1));
    gls_text_printf(text, "\ncomments: glslines %s%s%s\n", what ? what : "", what ? " " : "", gls_version());
}

gls_status gls_mif_make_header(const char *path, const gls_grid *grid, const char *what, size_t n_volumes,
                               gls_type type, gls_image_header *header)
{
    gls_text text = {0};
    add_lines(&text, grid, what, n_volumes, type);
    /* the line names the position behind itself and END, with four digits; headers have 300 to 900 bytes */
    const size_t end = text.length + strlen("file: . 0000\nEND\n");
    const size_t offset = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    gls_text_printf(&text, "file: . %zu\nEND\n", offset);
    gls_status status = GLS_OK;
    if (text.failed)
        status = gls_no_memory();
    else if (offset > sizeof header->data)
        status = gls_fail(GLS_ERR_OUTPUT, "%s: its header is longer than %zu bytes", path, sizeof header->data);
    if (!status) {
        memset(header->data, 0, sizeof header->data);
        memcpy(header->data, text.data, text.length);
        header->bytes = offset;
    }
    gls_text_finish(&text);
    return status;
}
