/* Images of MRtrix: values in their places, the affine of stored axes, and grids that differ by their axes alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include <glslines/gradients.h>

#include "image/grid.h"
#include "image/mif_header.h"
#include "image/reorient.h"

static const char head[] = "mrtrix image\ndim: 2,3,2\nvox: 2,1.5,3\nlayout: -0,+2,+1\ndatatype: UInt8\n"
                           "transform: 1, 0, 0, -5\ntransform: 0, 1, 0, 3\ntransform: 0, 0, 1, 7\n"
                           "dw_scheme: 0,0.6,0.8,1000\nscaling: 10,2\nfile: . 256\nEND\n";

static void write_image(char path[32])
{
    char block[256 + 12] = {0};
    memcpy(block, head, sizeof head);
    for (int i = 0; i < 12; i++) block[256 + i] = (char)i;
    strcpy(path, "/tmp/mif-XXXXXX.mif");
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, block, sizeof block), sizeof block);
    close(fd);
}

static void test_image(void **state)
{
    (void)state;
    char path[32];
    gls_image *image;
    write_image(path);
    assert_int_equal(gls_image_read(path, GLS_IMAGE_3D, &image), GLS_OK);
    /* the axes of the file: x from its end, then z, then y */
    const int32_t dim[3] = {2, 2, 3};
    const double affine[3][4] = {{-2, 0, 0, -3}, {0, 0, 1.5, 3}, {0, 3, 0, 7}};
    assert_memory_equal(image->grid.dim, dim, sizeof dim);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) assert_true(image->grid.affine[r][c] == affine[r][c]);
    for (int i = 0; i < 12; i++) assert_true(image->data[i] == 10 + 2 * i);
    gls_image_destroy(image);
    assert_int_equal(gls_image_read(path, GLS_IMAGE_4D, &image), GLS_ERR_INPUT);
    unlink(path);
}

/* Checks one order and direction of the axes: what the header says, and a file whose values say where they belong. */
typedef struct layout {
    int rank[4];
    bool turned[4];
} layout;

static const int size[4] = {2, 3, 4, 2};
static const double spacing[3] = {2, 1.5, 3}, axes[3][3] = {{0.6, -0.8, 0}, {0.8, 0.6, 0}, {0, 0, 1}},
                    origin[3] = {-5, 3, 7};

static float value_at(const int index[4])
{
    return (float)(index[0] + 10 * index[1] + 100 * index[2] + 1000 * index[3]);
}

static void write_layout(const char *path, const layout *l)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "mrtrix image\ndim: 2,3,4,2\nvox: 2,1.5,3,nan\nlayout: %c%d,%c%d,%c%d,%c%d\n",
            l->turned[0] ? '-' : '+', l->rank[0], l->turned[1] ? '-' : '+', l->rank[1], l->turned[2] ? '-' : '+',
            l->rank[2], l->turned[3] ? '-' : '+', l->rank[3]);
    for (int r = 0; r < 3; r++)
        fprintf(file, "transform: %.17g,%.17g,%.17g,%.17g\n", axes[r][0], axes[r][1], axes[r][2], origin[r]);
    fprintf(file, "datatype: Float32LE\nfile: . 512\nEND\n");
    float data[48];
    for (int i = 0; i < 48; i++) {
        int index[4] = {i % 2, i / 2 % 3, i / 6 % 4, i / 24}, at = 0;
        for (int rank = 3; rank >= 0; rank--)
            for (int k = 0; k < 4; k++)
                if (l->rank[k] == rank) at = at * size[k] + (l->turned[k] ? size[k] - 1 - index[k] : index[k]);
        data[at] = value_at(index);
    }
    assert_int_equal(fseek(file, 512, SEEK_SET), 0);
    assert_int_equal(fwrite(data, sizeof *data, 48, file), 48);
    fclose(file);
}

/* Checks that every voxel of the image lies where the header places its value. */
static void check_places(const gls_image *image)
{
    const gls_grid *g = &image->grid;
    for (int i = 0; i < 48; i++) {
        int voxel[3] = {i % g->dim[0], i / g->dim[0] % g->dim[1], i / g->dim[0] / g->dim[1] % g->dim[2]},
            v = (int)image->data[i], index[3] = {v % 10, v / 10 % 10, v / 100 % 10};
        assert_int_equal(v / 1000, i / 24);
        for (int r = 0; r < 3; r++) {
            double here = g->affine[r][3], there = origin[r];
            for (int c = 0; c < 3; c++) {
                here += g->affine[r][c] * voxel[c];
                there += axes[r][c] * spacing[c] * index[c];
            }
            assert_true(fabs(here - there) < 1e-9);
        }
    }
}

/* Returns a direction as FSL's tables have it: along the stored axes, x negated if these are right-handed. */
static void to_fsl(const layout *l, const double world[3], double out[3])
{
    double frame[3][3], along[3];
    for (int k = 0, c = 0; k < 3; k++) {
        c = 0;
        for (int i = 0; i < 3; i++) c += l->rank[i] < l->rank[k];
        along[k] = axes[0][k] * world[0] + axes[1][k] * world[1] + axes[2][k] * world[2];
        out[c] = l->turned[k] ? -along[k] : along[k];
        for (int r = 0; r < 3; r++) frame[r][c] = l->turned[k] ? -axes[r][k] : axes[r][k];
    }
    double det = frame[0][0] * (frame[1][1] * frame[2][2] - frame[1][2] * frame[2][1]) -
                 frame[0][1] * (frame[1][0] * frame[2][2] - frame[1][2] * frame[2][0]) +
                 frame[0][2] * (frame[1][0] * frame[2][1] - frame[1][1] * frame[2][0]);
    if (det > 0) out[0] = -out[0];
}

static void check_directions(const layout *l, const gls_grid *grid)
{
    const double bval[2] = {0, 1000}, world[3] = {2 / 7.0, -3 / 7.0, 6 / 7.0};
    double bvec[2][3] = {{0}};
    gls_gradients *table;
    to_fsl(l, world, bvec[1]);
    assert_int_equal(gls_gradients_create(bval, (const double(*)[3])bvec, 2, NULL, grid, &table), GLS_OK);
    for (int r = 0; r < 3; r++) {
        double found = 0;
        for (int c = 0; c < 3; c++) found += grid->affine[r][c] / grid->voxel_size[c] * table->bvec[1][c];
        assert_true(fabs(found - world[r]) < 1e-9);
    }
    gls_gradients_destroy(table);
}

/* All orders and directions of the axes, with volumes anywhere and either way round. */
static void test_layouts(void **state)
{
    (void)state;
    char path[] = "/tmp/mif-XXXXXX.mif";
    int fd = mkstemps(path, 4), n = 0;
    assert_true(fd >= 0);
    close(fd);
    for (int code = 0; code < 256 * 16; code++) {
        layout l;
        unsigned seen = 0;
        for (int k = 0; k < 4; k++) {
            l.rank[k] = code >> (2 * k) & 3;
            l.turned[k] = code >> (8 + k) & 1;
            seen |= 1u << l.rank[k];
        }
        if (seen != 15) continue;
        gls_image *image;
        write_layout(path, &l);
        assert_int_equal(gls_image_read(path, GLS_IMAGE_4D, &image), GLS_OK);
        check_places(image);
        check_directions(&l, &image->grid);
        gls_image_destroy(image);
        n++;
    }
    assert_int_equal(n, 24 * 16);
    unlink(path);
}

/* Headers that MRtrix3 reads, too, and the reason for those that say nothing sensible. */
static void test_headers(void **state)
{
    static const struct {
        const char *was, *is; /* text that is replaced; NUL bytes are written as '~' */
        const char *reason;   /* NULL: the same image */
    } cases[] = {
        {"UInt8", "uint8", NULL},
        {"datatype", "DataType", NULL},
        {"dim: 2,3,2\n", "DIM:2, 3, 2  \r\n", NULL},
        {"layout: -0,+2,+1", "layout: -0,2,1", NULL},
        {"layout: -0", "tag: ~~~ of another program~\nlayout: -0", NULL},
        {"END\n", "ENDING: no end\nEND\n", NULL},
        {"END\n", " END ~\r\n", NULL},
        {"vox: 2,1.5,3", "  vox : 2,1.5,3 # mm", NULL},
        {"\nEND\n", "\n# a: b\nno pair\n\nEND # last\n", NULL},
        {"file: . 256", "file: .\t256 ", NULL},
        {"file: . 256", "file: .", "begin at byte 0"},
        {"file: . 256", "file: . 30", "begin at byte 30"},
        {"file: . 256", "file: . 2x6", "give the name of the data file"},
        {"UInt8", "UInt9", "which is unknown"},
        {"vox: 2,", "vox: 0,", "make no grid"},
        {"vox: 2,", "vox: inf,", "cannot read 'vox: inf"},
        {"transform: 1,", "transform: nan,", "cannot read 'transform: nan"},
        {"scaling: 10,", "scaling: nan,", "cannot read 'scaling: nan"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[] = "/tmp/mif-XXXXXX.mif", block[256 + 12] = {0};
        const char *at = strstr(head, cases[i].was);
        snprintf(block, 256, "%.*s%s%s", (int)(at - head), head, cases[i].is, at + strlen(cases[i].was));
        for (int k = 0; k < 256; k++)
            if (block[k] == '~') block[k] = '\0';
        for (int k = 0; k < 12; k++) block[256 + k] = (char)k;
        int fd = mkstemps(path, 4);
        assert_int_equal(write(fd, block, sizeof block), sizeof block);
        close(fd);
        gls_image *image = NULL;
        gls_status status = gls_image_read(path, GLS_IMAGE_3D, &image);
        if (cases[i].reason && (status != GLS_ERR_INPUT || !strstr(gls_last_error(), cases[i].reason)))
            fail_msg("%s: %s", cases[i].is, status ? gls_last_error() : "read");
        if (!cases[i].reason && status) fail_msg("%s: %s", cases[i].is, gls_last_error());
        for (int k = 0; k < 12 && !cases[i].reason; k++) assert_true(image->data[k] == 10 + 2 * k);
        gls_image_destroy(image);
        unlink(path);
    }
}

/* A packed file whose checksum is wrong, and one of a spacing that is no number. */
static void test_damage(void **state)
{
    (void)state;
    char path[32], packed[] = "/tmp/mif-XXXXXX.mif.gz", text[sizeof head + 16];
    char block[256 + 12] = {0};
    gls_image *image;
    memcpy(block, head, sizeof head);
    int fd = mkstemps(packed, 7);
    assert_true(fd >= 0);
    gzFile file = gzdopen(dup(fd), "wb");
    assert_int_equal(gzwrite(file, block, sizeof block), sizeof block);
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(gls_image_read(packed, GLS_IMAGE_3D, &image), GLS_OK);
    gls_image_destroy(image);
    off_t end = lseek(fd, 0, SEEK_END);
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, end - 6), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, end - 6), 1);
    close(fd);
    assert_int_equal(gls_image_read(packed, GLS_IMAGE_3D, &image), GLS_ERR_INPUT);
    unlink(packed);

    write_image(path);
    FILE *plain = fopen(path, "r+");
    strcpy(text, head);
    memcpy(strstr(text, "vox: 2,1.5"), "vox: 2,nan", 10);
    assert_int_equal(fwrite(text, strlen(head), 1, plain), 1);
    fclose(plain);
    assert_int_equal(gls_image_read(path, GLS_IMAGE_3D, &image), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "make no grid"));
    unlink(path);
}

static void test_scheme(void **state)
{
    (void)state;
    char path[32];
    gls_mif_header header;
    write_image(path);
    assert_int_equal(gls_mif_read_header(path, &header), GLS_OK);
    assert_int_equal(header.n_scheme, 1);
    assert_true(header.scheme[0][1] == 0.6 && header.scheme[0][3] == 1000);
    gls_mif_header_finish(&header);
    unlink(path);
}

static void test_reorient(void **state)
{
    (void)state;
    const double a[3][4] = {{0, -3, 0, 8}, {0, 0, 2, 1}, {-1, 0, 0, 4}},
                 b[3][4] = {{3, 0, 0, -1}, {0, 2, 0, 1}, {0, 0, 1, 3}};
    gls_grid from, to;
    gls_image *image;
    assert_int_equal(gls_grid_init(&from, (const int32_t[]){2, 4, 3}, a), GLS_OK);
    assert_int_equal(gls_grid_init(&to, (const int32_t[]){4, 3, 2}, b), GLS_OK);
    assert_int_equal(gls_image_create(&from, 2, &image), GLS_OK);
    for (int i = 0; i < 48; i++) image->data[i] = (float)i;
    assert_int_equal(gls_image_reorient(&image, "image", &to), GLS_OK);
    assert_true(gls_grid_same(&image->grid, &to));
    for (int t = 0; t < 2; t++)
        for (int z = 0; z < 2; z++)
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < 4; x++)
                    assert_true(image->data[((t * 2 + z) * 3 + y) * 4 + x] ==
                                ((t * 3 + y) * 4 + (3 - x)) * 2 + (1 - z));
    to.dim[0] = 5; /* another grid stays as it is */
    assert_int_equal(gls_image_reorient(&image, "image", &to), GLS_OK);
    assert_int_equal(image->grid.dim[0], 4);
    gls_image_destroy(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_image),  cmocka_unit_test(test_layouts), cmocka_unit_test(test_headers),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_scheme),  cmocka_unit_test(test_reorient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
