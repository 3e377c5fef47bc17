/* Images of the window. They stay in memory, so that a page can ask for the values that the files have at a place: what
 * it draws are coarser numbers on another grid. */
#include "view/gallery.h"

#include <math.h>
#include <string.h>

#include "dwi/image_kind.h"
#include "dwi/model_options.h"
#include "image/grid.h"
#include "image/region_area.h"
#include "render/canvas.h"
#include "render/planes.h"
#include "render/scene.h"
#include "transform/bring.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"

/* Leaves of a series its first volume. */
static gls_status keep_first(gls_image **image)
{
    gls_image *first = NULL;
    if ((*image)->n_volumes == 1) return GLS_OK;
    gls_status status = gls_image_create(&(*image)->grid, 1, &first);
    if (status) return status;
    memcpy(first->data, (*image)->data, gls_grid_voxels(&first->grid) * sizeof *first->data);
    gls_image_destroy(*image);
    *image = first;
    return GLS_OK;
}

gls_status gls_view_gallery_read(gls_view_gallery *gallery, const char *path, const gls_transform *space)
{
    if (gallery->n == GLS_VIEW_IMAGES)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: up to %d images are shown: leave out some", path, GLS_VIEW_IMAGES);
    gls_view_image *to = &gallery->image[gallery->n++];
    *to = (gls_view_image){.name = gls_file_name(path), .path = path};
    gls_status status = gls_image_read(path, GLS_IMAGE_ANY, &to->read);
    if (!status) status = keep_first(&to->read);
    if (!status) status = gls_image_bring(&to->read, space, GLS_RESAMPLE_LINEAR, NAN, path);
    to->image = to->read;
    return status;
}

void gls_view_gallery_add(gls_view_gallery *gallery, const gls_image *image, const char *name)
{
    gallery->image[gallery->n++] = (gls_view_image){.name = name, .image = image};
}

gls_status gls_view_gallery_odf(gls_view_gallery *gallery, const char *path, gls_sh_basis basis, gls_frame frame)
{
    const gls_model_options model = {.sh_basis = basis, .sh_frame = frame};
    gls_image *sh = NULL;
    gls_status status = gls_image_read(path, GLS_IMAGE_ANY, &sh);
    if (!status) status = gls_fod_check(sh, path);
    if (!status) status = gls_glyphs_create(sh, path, basis, gls_model_frame(&model), &gallery->glyphs);
    gls_image_destroy(sh);
    gallery->odf = path;
    return status;
}

static void put_float(float v, gls_text *out)
{
    uint32_t word;
    memcpy(&word, &v, sizeof word);
    gls_view_put32(word, out);
}

gls_status gls_view_gallery_glyphs(const gls_view_gallery *gallery, const gls_view_request *request, gls_text *json,
                                   gls_text *bytes)
{
    gls_glyph_list list;
    gls_glyph_window window = {.axis = request->plane, .at = request->sphere[0]};
    if (!gallery->glyphs) return gls_fail(GLS_ERR_ARGUMENT, "glyphs: give 'glslines view' the option --odf");
    memcpy(window.low, request->point[0], sizeof window.low);
    memcpy(window.high, request->point[1], sizeof window.high);
    gls_status status = gls_glyphs_list(gallery->glyphs, &window, GLS_VIEW_GLYPHS_SHOWN, &list);
    if (!status) {
        gls_view_answer_head(request->id, 4, (uint32_t)list.n, bytes);
        gls_view_put32((uint32_t)list.rings | (uint32_t)list.meridians << 16, bytes);
        put_float(list.half / list.unit, bytes);
        for (size_t i = 0; i < list.n; i++) {
            for (int a = 0; a < 3; a++) put_float(list.centre[i][a], bytes);
            put_float(list.most[i], bytes);
        }
        gls_text_append(bytes, (const char *)list.radius, list.n * (size_t)(list.rings * list.meridians));
        cJSON *root = gls_view_answer_begin(request->id, "glyphs");
        gls_json_uint(root, "glyphs", list.n);
        gls_json_uint(root, "step", (uint64_t)list.step);
        status = bytes->failed ? gls_no_memory() : GLS_OK;
        const gls_status printed = gls_view_answer_end(root, json);
        if (!status) status = printed;
    }
    gls_glyphs_list_finish(&list);
    return status;
}

/* Grows a box by that of a grid. */
static void add_box(const gls_grid *grid, gls_box *box)
{
    gls_box more;
    gls_box_of_grid(grid, &more);
    for (int a = 0; a < 3; a++) {
        box->low[a] = fmin(box->low[a], more.low[a]);
        box->high[a] = fmax(box->high[a], more.high[a]);
    }
}

static void describe_maps(cJSON *root)
{
    cJSON *maps = cJSON_AddArrayToObject(root, "maps");
    for (int m = 0; m < GLS_COLORMAPS; m++) {
        int colours[3 * GLS_COLORMAP_STOPS];
        for (int i = 0; i < 3 * GLS_COLORMAP_STOPS; i++)
            colours[i] =
                gls_colormap_at((gls_colormap)m, (double)(i / 3) / (GLS_COLORMAP_STOPS - 1)) >> 8 * (i % 3) & 255;
        cJSON *map = cJSON_CreateObject();
        cJSON_AddStringToObject(map, "name", gls_colormap_name((gls_colormap)m));
        cJSON_AddItemToObject(map, "colours", cJSON_CreateIntArray(colours, 3 * GLS_COLORMAP_STOPS));
        cJSON_AddItemToArray(maps, map);
    }
}

gls_status gls_view_gallery_describe(const gls_view_gallery *gallery, const gls_labels *labels, cJSON *root)
{
    gls_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    cJSON *images = cJSON_AddArrayToObject(root, "images");
    for (size_t i = 0; i < gallery->n; i++) {
        const gls_image *image = gallery->image[i].image;
        gls_window window;
        bool flat, is_signed = false;
        gls_status status = gls_window_choose(image, &window, &flat);
        if (status) return status;
        for (size_t v = 0; v < gls_grid_voxels(&image->grid) && !is_signed; v++) is_signed = image->data[v] < 0;
        add_box(&image->grid, &box);
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", gallery->image[i].name);
        cJSON_AddItemToObject(entry, "window", cJSON_CreateDoubleArray((const double[]){window.low, window.high}, 2));
        cJSON_AddBoolToObject(entry, "signed", is_signed);
        cJSON_AddItemToArray(images, entry);
    }
    describe_maps(root);
    if (labels) add_box(&labels->grid, &box);
    cJSON_AddBoolToObject(root, "glyphs", gallery->glyphs != NULL);
    if (gallery->n == 0 && !labels) return GLS_OK;
    double extent[3];
    for (int a = 0; a < 3; a++) extent[a] = box.high[a] - box.low[a];
    cJSON *all = cJSON_AddObjectToObject(root, "box");
    cJSON_AddItemToObject(all, "low", cJSON_CreateDoubleArray(box.low, 3));
    cJSON_AddItemToObject(all, "extent", cJSON_CreateDoubleArray(extent, 3));
    return GLS_OK;
}

void gls_view_gallery_values(const gls_view_gallery *gallery, const double place[3], cJSON *root)
{
    cJSON *list = cJSON_AddArrayToObject(root, "values");
    for (size_t i = 0; i < gallery->n; i++) {
        const gls_image *image = gallery->image[i].image;
        double to_voxel[3][4], at[3], voxel[3];
        size_t index;
        gls_grid_inverse(&image->grid, to_voxel);
        gls_affine_apply((const double(*)[4])to_voxel, place, at);
        if (!gls_region_voxel_at(&image->grid, at, &index)) {
            cJSON_AddItemToArray(list, cJSON_CreateNull());
            continue;
        }
        cJSON *entry = cJSON_CreateObject();
        gls_region_centre(&image->grid, index, voxel);
        cJSON_AddItemToObject(entry, "voxel", cJSON_CreateDoubleArray(voxel, 3));
        gls_json_double(entry, "value", (double)image->data[index]);
        cJSON_AddItemToArray(list, entry);
    }
}

void gls_view_gallery_close(gls_view_gallery *gallery)
{
    for (size_t i = 0; i < gallery->n; i++) gls_image_destroy(gallery->image[i].read);
    gls_glyphs_destroy(gallery->glyphs);
    *gallery = (gls_view_gallery){.n = 0};
}
