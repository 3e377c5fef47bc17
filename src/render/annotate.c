/* Writes labels on tiles, and lays out and draws the foot of a picture. */
#include "render/studio.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/text.h"

double gls_label_size(uint32_t width, uint32_t height)
{
    /* a fiftieth of the shorter side of the tile, but 8 to 48 pixels, so that text is legible */
    double side = width < height ? width : height;
    return fmin(fmax(side / 50, 8), 48);
}

gls_item *gls_foot_add(gls_foot *foot, gls_item_kind kind, const char *text)
{
    if (foot->n == GLS_MAX_ITEMS) return NULL;
    gls_item *item = &foot->item[foot->n++];
    *item = (gls_item){.kind = kind};
    snprintf(item->text, sizeof item->text, "%s", text);
    return item;
}

/* Width of an item in pixels: its text, and the bar, the swatch or the colours beside the text. */
static double width_of(const gls_foot *foot, const gls_item *item)
{
    double text = gls_text_width(item->text, foot->size);
    switch (item->kind) {
    case GLS_ITEM_TEXT: break;
    case GLS_ITEM_SWATCH: return text + 1.6 * foot->size;
    case GLS_ITEM_SCALE: return text + item->mm / foot->mm_pixel + foot->size;
    case GLS_ITEM_COLOURS: return text + gls_text_width(item->other, foot->size) + 9 * foot->size;
    }
    return text;
}

/* Shortens the text of an item, ending it with dots, until the item is at most `most` pixels wide. */
static void shorten(const gls_foot *foot, gls_item *item, double most)
{
    size_t n = strlen(item->text);
    while (width_of(foot, item) > most && n > 4) {
        n--;
        memcpy(item->text + n - 3, "...", 4);
    }
}

void gls_foot_lay(gls_foot *foot, uint32_t width)
{
    double gap = 1.6 * foot->size, x = gap;
    foot->lines = foot->n > 0;
    /* items from left to right; one that does not fit begins a line */
    for (size_t i = 0; i < foot->n; i++) {
        gls_item *item = &foot->item[i];
        shorten(foot, item, width - 2 * gap);
        item->width = width_of(foot, item);
        if (x > gap && x + item->width + gap > width) {
            x = gap;
            foot->lines++;
        }
        item->x = x;
        item->line = foot->lines - 1;
        x += item->width + gap;
    }
    foot->height = (uint32_t)ceil(foot->lines * 2.2 * foot->size + (foot->lines ? 0.6 * foot->size : 0));
}

/* Colour of the seam around letters: dark around light ink, light around dark ink, so that labels stand out from
 * streamlines. */
static uint32_t halo_of(const gls_render_plan *plan)
{
    return (plan->ink & 255) > 128 ? 0xc0000000u : 0xc0ffffffu;
}

/* Draws a rectangle with an edge that contrasts with any background. */
static void draw_bar(gls_canvas *canvas, const int box[4], uint32_t ink, uint32_t edge)
{
    gls_canvas_fill(canvas, box[0] - 1, box[1] - 1, box[2] + 2, box[3] + 2, edge);
    gls_canvas_fill(canvas, box[0], box[1], box[2], box[3], ink);
}

/* Draws one item of the foot; top: row of the canvas at which the foot begins. */
static gls_status draw_item(const gls_foot *foot, const gls_item *item, gls_canvas *canvas, uint32_t top,
                            const gls_render_plan *plan)
{
    double s = foot->size, x = item->x, base = top + 0.4 * s + 2.2 * s * item->line + 1.5 * s;
    int y = (int)lround(base - s), tall = (int)lround(s);
    /* without a background the picture is transparent, and letters need a seam */
    uint32_t halo = plan->background >> 24 ? plan->background : halo_of(plan);
    if (item->kind == GLS_ITEM_SWATCH) {
        gls_canvas_fill(canvas, (int)lround(x), y, tall, tall, 0xff000000u | item->colour);
        x += 1.6 * s;
    } else if (item->kind == GLS_ITEM_SCALE) {
        int thick = (int)fmax(1, lround(0.15 * s)), wide = (int)lround(item->mm / foot->mm_pixel);
        int left = (int)lround(x), middle = (int)lround(base - s / 2);
        draw_bar(canvas, (const int[4]){left, middle - thick / 2, wide, thick}, plan->ink, halo);
        draw_bar(canvas, (const int[4]){left, y, thick, tall}, plan->ink, halo);
        draw_bar(canvas, (const int[4]){left + wide - thick, y, thick, tall}, plan->ink, halo);
        gls_canvas_fill(canvas, left, middle - thick / 2, wide, thick, plan->ink);
        x += wide + s;
    } else if (item->kind == GLS_ITEM_COLOURS) {
        /* a column of pixels for each position of the colour map, between item->text and item->other */
        double from = x + gls_text_width(item->text, s) + s / 2;
        int wide = (int)lround(8 * s);
        for (int i = 0; i < wide; i++)
            gls_canvas_fill(canvas, (int)lround(from) + i, y, 1, tall,
                            0xff000000u | gls_colormap_at(item->map, (i + 0.5) / wide));
        gls_status status = gls_canvas_text(canvas, from + wide + s / 2, base, s, plan->ink, halo, item->other);
        if (status) return status;
    }
    return gls_canvas_text(canvas, x, base, s, plan->ink, halo, item->text);
}

gls_status gls_foot_draw(const gls_foot *foot, gls_canvas *canvas, uint32_t top, const gls_render_plan *plan)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < foot->n && !status; i++) status = draw_item(foot, &foot->item[i], canvas, top, plan);
    return status;
}

/* Text of a tile: position of its slab, or name of its view. */
static void name_of(const gls_tile *tile, char *text, size_t size)
{
    static const char names[] = "xyz";
    if (tile->slab_axis < 0)
        snprintf(text, size, "%s", tile->name);
    else
        gls_snprintf(text, size, "%c = %.1f mm", names[tile->slab_axis],
                     (tile->camera.low[tile->slab_axis] + tile->camera.high[tile->slab_axis]) / 2);
}

/* Anatomical letters of a direction: "L", or "LA" if it is oblique. letters: memory for 4 characters. */
static void name_direction(const double direction[3], char letters[4])
{
    static const char names[3][2] = {{'L', 'R'}, {'P', 'A'}, {'I', 'S'}};
    int order[3] = {0, 1, 2}, n = 0;
    /* axes by falling size */
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 - i; k++)
            if (fabs(direction[order[k]]) < fabs(direction[order[k + 1]])) {
                int swap = order[k];
                order[k] = order[k + 1];
                order[k + 1] = swap;
            }
    for (int i = 0; i < 3; i++) /* an axis with a component up to 0.3, an angle of 17 degrees, gets no letter */
        if (fabs(direction[order[i]]) > 0.3) letters[n++] = names[order[i]][direction[order[i]] > 0];
    letters[n] = 0;
}

gls_status gls_tile_label(gls_canvas *canvas, const gls_tile *tile, uint32_t x, uint32_t y, const gls_render_plan *plan)
{
    const gls_camera *c = &tile->camera;
    double s = gls_label_size(plan->width, plan->height), w = plan->width, h = plan->height, edge = 0.6 * s;
    char text[48], letters[4][4]; /* letters: right, left, up, down */
    double minus[2][3];
    /* the letters of the left and the lower side are those of the opposite directions */
    for (int a = 0; a < 3; a++) {
        minus[0][a] = -c->right[a];
        minus[1][a] = -c->up[a];
    }
    name_direction(c->right, letters[0]);
    name_direction(minus[0], letters[1]);
    name_direction(c->up, letters[2]);
    name_direction(minus[1], letters[3]);
    name_of(tile, text, sizeof text);
    double wide[4];
    for (int i = 0; i < 4; i++) wide[i] = gls_text_width(letters[i], 1.2 * s);
    /* drop: in a tile so small that the upper letter would touch the name, the letter stands lower; all slabs have the
     * same drop, whatever their names */
    double name = gls_text_width(tile->slab_axis < 0 ? text : "z = -100.0 mm", s);
    double drop = edge + name + s > w / 2 - wide[2] / 2 ? 1.5 * s : 0;
    /* right, left, upper and lower edge: left end of each letter's baseline, pixels */
    const double place[4][2] = {{w - edge - wide[0], h / 2 + 0.6 * s},
                                {edge, h / 2 + 0.6 * s},
                                {w / 2 - wide[2] / 2, edge + 1.2 * s + drop},
                                {w / 2 - wide[3] / 2, h - edge}};
    gls_status status = GLS_OK;
    for (int i = 0; i < 4 && !status; i++)
        status =
            gls_canvas_text(canvas, x + place[i][0], y + place[i][1], 1.2 * s, plan->ink, halo_of(plan), letters[i]);
    return status ? status : gls_canvas_text(canvas, x + edge, y + edge + s, s, plan->ink, halo_of(plan), text);
}
