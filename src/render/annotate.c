/* Writes text on pictures, with letters that are drawn as strokes: labels on tiles, and the foot of a picture. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/annotate.h"
#include "render/canvas.h"
#include "render/drawing.h"
#include "render/scene_parts.h"
#include "render/studio_parts.h"
#include "util/status.h"
#include "util/text.h"

/* Number of characters of the font: ASCII from space to tilde. */
#define FONT_GLYPHS 95
/* Height of capitals, and position of the baseline, in units of the strokes. */
#define FONT_CAPITAL 21
#define FONT_BASE 9

/* Strokes of Hershey's Roman simplex letters, from blank to tilde; see third_party_notes/hershey.md. Each character of
 * a text stands for its code minus the code of 'R'. First come the left and the right border of the letter, then the
 * points x, y of its strokes; the pair " R" lifts the pen. */
/* clang-format off */
static const char *const font_glyphs[FONT_GLYPHS] = {
    "JZ", "MWRFRT RRYQZR[SZRY", "JZNFNM RVFVM", "H]SBLb RYBRb RLOZO RKUYU",
    "H\\PBP_ RTBT_ RYIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX",
    "F^[FI[ RNFPHPJOLMMKMIKIIJGLFNFPGSHVHYG[F RWTUUTWTYV[X[ZZ[X[VYTWT",
    "E_\\O\\N[MZMYNXPVUTXRZP[L[JZIYHWHUISJRQNRMSKSIRGPFNGMIMKNNPQUXWZY[[[\\Z\\Y", "MWRHQGRFSGSIRKQL",
    "KYVBTDRGPKOPOTPYR]T`Vb", "KYNBPDRGTKUPUTTYR]P`Nb", "JZRLRX RMOWU RWOMU", "E_RIR[ RIR[R", "MWSZR[QZRYSZS\\R^Q_",
    "E_IR[R", "MWRYQZR[SZRY", "G][BIb", "H\\QFNGLJKOKRLWNZQ[S[VZXWYRYOXJVGSFQF", "H\\NJPISFS[",
    "H\\LKLJMHNGPFTFVGWHXJXLWNUQK[Y[", "H\\MFXFRNUNWOXPYSYUXXVZS[P[MZLYKW", "H\\UFKTZT RUFU[",
    "H\\WFMFLOMNPMSMVNXPYSYUXXVZS[P[MZLYKW", "H\\XIWGTFRFOGMJLOLTMXOZR[S[VZXXYUYTXQVOSNRNOOMQLT", "H\\YFO[ RKFYF",
    "H\\PFMGLILKMMONSOVPXRYTYWXYWZT[P[MZLYKWKTLRNPQOUNWMXKXIWGTFPF",
    "H\\XMWPURRSQSNRLPKMKLLINGQFRFUGWIXMXRWWUZR[P[MZLX", "MWRMQNROSNRM RRYQZR[SZRY", "MWRMQNROSNRM RSZR[QZRYSZS\\R^Q_",
    "F^ZIJRZ[", "E_IO[O RIU[U", "F^JIZRJ[", "I[LKLJMHNGPFTFVGWHXJXLWNVORQRT RRYQZR[SZRY",
    ("E`WNVLTKQKOLNMMPMSNUPVSVUUVS RQKOMNPNSOUPV RWKVSVUXVZV\\T]Q]O\\L[JYHWGTFQFNGLHJJILHOHRIUJWLYNZQ[T[WZYYZX"
     " RXKWSWUXV"),
    "I[RFJ[ RRFZ[ RMTWT", "G\\KFK[ RKFTFWGXHYJYLXNWOTP RKPTPWQXRYTYWXYWZT[K[", "H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZV",
    "G\\KFK[ RKFRFUGWIXKYNYSXVWXUZR[K[", "H[LFL[ RLFYF RLPTP RL[Y[", "HZLFL[ RLFYF RLPTP",
    "H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZVZS RUSZS", "G]KFK[ RYFY[ RKPYP", "NVRFR[", "JZVFVVUYTZR[P[NZMYLVLT",
    "G\\KFK[ RYFKT RPOY[", "HYLFL[ RL[X[", "F^JFJ[ RJFR[ RZFR[ RZFZ[", "G]KFK[ RKFY[ RYFY[",
    "G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF", "G\\KFK[ RKFTFWGXHYJYMXOWPTQKQ",
    "G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF RSWY]", "G\\KFK[ RKFTFWGXHYJYLXNWOTPKP RRPY[",
    "H\\YIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX", "JZRFR[ RKFYF", "G]KFKULXNZQ[S[VZXXYUYF", "I[JFR[ RZFR[",
    "F^HFM[ RRFM[ RRFW[ R\\FW[", "H\\KFY[ RYFK[", "I[JFRPR[ RZFRP", "H\\YFK[ RKFYF RK[Y[", "KYOBOb RPBPb ROBVB RObVb",
    "KYKFY^", "KYTBTb RUBUb RNBUB RNbUb", "JZRDJR RRDZR", "I[Ib[b", "NVSKQMQORPSORNQO",
    "I\\XMX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX", "H[LFL[ RLPNNPMSMUNWPXSXUWXUZS[P[NZLX", "I[XPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "I\\XFX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX", "I[LSXSXQWOVNTMQMONMPLSLUMXOZQ[T[VZXX", "MYWFUFSGRJR[ ROMVM",
    "I\\XMX]W`VaTbQbOa RXPVNTMQMONMPLSLUMXOZQ[T[VZXX", "I\\MFM[ RMQPNRMUMWNXQX[", "NVQFRGSFREQF RRMR[",
    "MWRFSGTFSERF RSMS^RaPbNb", "IZMFM[ RWMMW RQSX[", "NVRFR[", "CaGMG[ RGQJNLMOMQNRQR[ RRQUNWMZM\\N]Q][",
    "I\\MMM[ RMQPNRMUMWNXQX[", "I\\QMONMPLSLUMXOZQ[T[VZXXYUYSXPVNTMQM", "H[LMLb RLPNNPMSMUNWPXSXUWXUZS[P[NZLX",
    "I\\XMXb RXPVNTMQMONMPLSLUMXOZQ[T[VZXX", "KXOMO[ ROSPPRNTMWM", "J[XPWNTMQMNNMPNRPSUTWUXWXXWZT[Q[NZMX",
    "MYRFRWSZU[W[ ROMVM", "I\\MMMWNZP[S[UZXW RXMX[", "JZLMR[ RXMR[", "G]JMN[ RRMN[ RRMV[ RZMV[", "J[MMX[ RXMM[",
    "JZLMR[ RXMR[P_NaLbKb", "J[XMM[ RMMXM RM[X[",
    "KYTBRCQDPFPHQJRKSMSOQQ RRCQEQGRISJTLTNSPORSTTVTXSZR[Q]Q_Ra RQSSUSWRYQZP\\P^Q`RaTb", "NVRBRb",
    "KYPBRCSDTFTHSJRKQMQOSQ RRCSESGRIQJPLPNQPURQTPVPXQZR[S]S_Ra RSSQUQWRYSZT\\T^S`RaPb",
    "F^IUISJPLONOPPTSVTXTZS[Q RISJQLPNPPQTTVUXUZT[Q[O",
};
/* clang-format on */

/* Strokes of an ASCII character; the strokes of ? for any other character. */
static const char *glyph_of(char c)
{
    return font_glyphs[(c >= ' ' && c <= '~' ? c : '?') - ' '];
}

/* Returns where the second character of a UTF-8 text begins. */
static const char *next_character(const char *text)
{
    do text++;
    while (((unsigned char)*text & 0xc0) == 0x80);
    return text;
}

/* Width of a text whose capitals are `size` pixels high. */
static double text_width(const char *text, double size)
{
    double width = 0;
    for (; *text; text = next_character(text)) {
        const char *glyph = glyph_of(*text);
        width += (glyph[1] - glyph[0]) * size / FONT_CAPITAL;
    }
    return width;
}

/* A rectangle of pixels around a line of text, with the share of each pixel that the strokes cover. */
typedef struct mask {
    /* rectangle in the picture, pixels */
    int x, y, width, height;
    double pen;     /* half the width of a stroke */
    uint8_t *share; /* for each pixel: how much of it the strokes cover, 0 .. 255; rows from the top */
} mask;

/* Draws a line with round ends into the mask. Each pixel gets the share of its area that the pen covers, 0 .. 255,
 * unless its value is larger already. */
static void stroke(mask *m, const double a[2], const double b[2])
{
    double dx = b[0] - a[0], dy = b[1] - a[1], squared = dx * dx + dy * dy, reach = m->pen + 1;
    int x0 = (int)floor(fmin(a[0], b[0]) - reach), x1 = (int)ceil(fmax(a[0], b[0]) + reach),
        y0 = (int)floor(fmin(a[1], b[1]) - reach), y1 = (int)ceil(fmax(a[1], b[1]) + reach);
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            if (x < m->x || y < m->y || x >= m->x + m->width || y >= m->y + m->height) continue;
            double px = x + 0.5 - a[0], py = y + 0.5 - a[1];
            double t = squared > 0 ? fmin(fmax((px * dx + py * dy) / squared, 0), 1) : 0;
            double far = sqrt((px - t * dx) * (px - t * dx) + (py - t * dy) * (py - t * dy));
            /* 1 inside the pen, falling to 0 over one pixel at its edge */
            double cover = fmin(fmax(m->pen + 0.5 - far, 0), 1);
            uint8_t *share = &m->share[(size_t)(y - m->y) * (size_t)m->width + (size_t)(x - m->x)];
            if (255 * cover > *share) *share = (uint8_t)(255 * cover);
        }
}

/* Draws the letters of a text into the mask. x, y: left end of their baseline. */
static void write_letters(mask *m, double x, double y, double size, const char *text)
{
    /* each coordinate of a stroke is a letter, in units of the font; R stands for 0 */
    double unit = size / FONT_CAPITAL;
    for (; *text; text = next_character(text)) {
        const char *glyph = glyph_of(*text);
        double left = glyph[0] - 'R', from[2] = {0, 0};
        bool down = false;
        for (const char *p = glyph + 2; p[0] && p[1]; p += 2) {
            if (p[0] == ' ') {
                down = false;
                continue;
            }
            double to[2] = {x + (p[0] - 'R' - left) * unit, y + (p[1] - 'R' - FONT_BASE) * unit};
            if (down) stroke(m, from, to);
            down = true;
            memcpy(from, to, sizeof from);
        }
        x += (glyph[1] - glyph[0]) * unit;
    }
}

/* Blends a colour over the canvas where the mask is set. */
static void lay(gls_canvas *canvas, const mask *m, uint32_t colour)
{
    for (int y = 0; y < m->height; y++)
        for (int x = 0; x < m->width; x++) {
            uint32_t alpha = (colour >> 24) * m->share[(size_t)y * (size_t)m->width + (size_t)x] / 255;
            gls_canvas_fill(canvas, m->x + x, m->y + y, 1, 1, (colour & 0xffffffu) | alpha << 24);
        }
}

/* Draws text. x, y: left end of its baseline. halo: colour of a seam around the letters. */
static gls_status draw_text(gls_canvas *canvas, double x, double y, double size, uint32_t colour, uint32_t halo,
                            const char *text)
{
    /* pen: half the width of a stroke; seam: width of the seam on each side of a stroke; pixels */
    double pen = fmax(size * 0.075, 0.6), seam = fmax(size * 0.1, 1);
    int border = (int)ceil(pen + seam) + 2;
    mask m = {(int)floor(x) - border,
              (int)floor(y - 1.3 * size) - border,
              (int)ceil(text_width(text, size)) + 2 * border,
              (int)ceil(1.9 * size) + 2 * border,
              pen + seam,
              NULL};
    size_t bytes = (size_t)m.width * (size_t)m.height;
    if (!(m.share = calloc(bytes, 1))) return gls_fail(GLS_ERR_MEMORY, "out of memory for a label");
    /* the seam first, then the letters over it */
    write_letters(&m, x, y, size, text);
    lay(canvas, &m, halo);
    memset(m.share, 0, bytes);
    m.pen = pen;
    write_letters(&m, x, y, size, text);
    lay(canvas, &m, colour);
    free(m.share);
    return GLS_OK;
}

/* --- Labels and the foot. */

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
    double text = text_width(item->text, foot->size);
    switch (item->kind) {
    case GLS_ITEM_TEXT: break;
    case GLS_ITEM_SWATCH: return text + 1.6 * foot->size;
    case GLS_ITEM_SCALE: return text + item->mm / foot->mm_pixel + foot->size;
    case GLS_ITEM_COLOURS: return text + text_width(item->other, foot->size) + 9 * foot->size;
    }
    return text;
}

/* Cuts the text of an item and ends it with dots, until the item is at most `most` pixels wide or the text has 4
 * characters. */
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
    /* place items from left to right; an item that does not fit into its line begins the next line */
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

/* Draws a rectangle with an edge of one pixel around it. box: x, y, width and height, without the edge. */
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
        double from = x + text_width(item->text, s) + s / 2;
        int wide = (int)lround(8 * s);
        for (int i = 0; i < wide; i++)
            gls_canvas_fill(canvas, (int)lround(from) + i, y, 1, tall,
                            0xff000000u | gls_colormap_at(item->map, (i + 0.5) / wide));
        gls_status status = draw_text(canvas, from + wide + s / 2, base, s, plan->ink, halo, item->other);
        if (status) return status;
    }
    return draw_text(canvas, x, base, s, plan->ink, halo, item->text);
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
    /* sort the axes: the largest component of the direction first */
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
    /* the left side gets the letters of minus `right`, the lower side the letters of minus `up` */
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
    for (int i = 0; i < 4; i++) wide[i] = text_width(letters[i], 1.2 * s);
    /* drop: in a tile so small that the upper letter would touch the name, the letter stands lower; all slabs have the
     * same drop, whatever their names */
    double name = text_width(tile->slab_axis < 0 ? text : "z = -100.0 mm", s);
    double drop = edge + name + s > w / 2 - wide[2] / 2 ? 1.5 * s : 0;
    /* left end of the baseline of the letters at the right, left, upper and lower edge of the tile, pixels */
    const double place[4][2] = {{w - edge - wide[0], h / 2 + 0.6 * s},
                                {edge, h / 2 + 0.6 * s},
                                {w / 2 - wide[2] / 2, edge + 1.2 * s + drop},
                                {w / 2 - wide[3] / 2, h - edge}};
    gls_status status = GLS_OK;
    for (int i = 0; i < 4 && !status; i++)
        status = draw_text(canvas, x + place[i][0], y + place[i][1], 1.2 * s, plan->ink, halo_of(plan), letters[i]);
    return status ? status : draw_text(canvas, x + edge, y + edge + s, s, plan->ink, halo_of(plan), text);
}
