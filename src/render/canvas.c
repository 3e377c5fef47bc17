/* Pictures in memory: rectangles, copies of pictures, and text drawn as strokes. */
#include "render/drawing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"

/* Strokes of Hershey's Roman simplex letters, from blank to tilde; see third_party_notes/hershey.md. The first two
 * characters are the left and right border, then pairs of x and y follow, each minus 'R'; " R" lifts the pen. */
static const char *const font_glyphs[GLS_FONT_GLYPHS] = {
    "JZ",
    "MWRFRT RRYQZR[SZRY",
    "JZNFNM RVFVM",
    "H]SBLb RYBRb RLOZO RKUYU",
    "H\\PBP_ RTBT_ RYIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX",
    "F^[FI[ RNFPHPJOLMMKMIKIIJGLFNFPGSHVHYG[F RWTUUTWTYV[X[ZZ[X[VYTWT",
    "E_\\O\\N[MZMYNXPVUTXRZP[L[JZIYHWHUISJRQNRMSKSIRGPFNGMIMKNNPQUXWZY[[[\\Z\\Y",
    "MWRHQGRFSGSIRKQL",
    "KYVBTDRGPKOPOTPYR]T`Vb",
    "KYNBPDRGTKUPUTTYR]P`Nb",
    "JZRLRX RMOWU RWOMU",
    "E_RIR[ RIR[R",
    "MWSZR[QZRYSZS\\R^Q_",
    "E_IR[R",
    "MWRYQZR[SZRY",
    "G][BIb",
    "H\\QFNGLJKOKRLWNZQ[S[VZXWYRYOXJVGSFQF",
    "H\\NJPISFS[",
    "H\\LKLJMHNGPFTFVGWHXJXLWNUQK[Y[",
    "H\\MFXFRNUNWOXPYSYUXXVZS[P[MZLYKW",
    "H\\UFKTZT RUFU[",
    "H\\WFMFLOMNPMSMVNXPYSYUXXVZS[P[MZLYKW",
    "H\\XIWGTFRFOGMJLOLTMXOZR[S[VZXXYUYTXQVOSNRNOOMQLT",
    "H\\YFO[ RKFYF",
    "H\\PFMGLILKMMONSOVPXRYTYWXYWZT[P[MZLYKWKTLRNPQOUNWMXKXIWGTFPF",
    "H\\XMWPURRSQSNRLPKMKLLINGQFRFUGWIXMXRWWUZR[P[MZLX",
    "MWRMQNROSNRM RRYQZR[SZRY",
    "MWRMQNROSNRM RSZR[QZRYSZS\\R^Q_",
    "F^ZIJRZ[",
    "E_IO[O RIU[U",
    "F^JIZRJ[",
    "I[LKLJMHNGPFTFVGWHXJXLWNVORQRT RRYQZR[SZRY",
    ("E`WNVLTKQKOLNMMPMSNUPVSVUUVS RQKOMNPNSOUPV RWKVSVUXVZV\\T]Q]O\\L[JYHWGTFQFNGLHJJILHOHRIUJWLYNZQ[T[WZYY"
     "ZX RXKWSWUXV"),
    "I[RFJ[ RRFZ[ RMTWT",
    "G\\KFK[ RKFTFWGXHYJYLXNWOTP RKPTPWQXRYTYWXYWZT[K[",
    "H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZV",
    "G\\KFK[ RKFRFUGWIXKYNYSXVWXUZR[K[",
    "H[LFL[ RLFYF RLPTP RL[Y[",
    "HZLFL[ RLFYF RLPTP",
    "H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZVZS RUSZS",
    "G]KFK[ RYFY[ RKPYP",
    "NVRFR[",
    "JZVFVVUYTZR[P[NZMYLVLT",
    "G\\KFK[ RYFKT RPOY[",
    "HYLFL[ RL[X[",
    "F^JFJ[ RJFR[ RZFR[ RZFZ[",
    "G]KFK[ RKFY[ RYFY[",
    "G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF",
    "G\\KFK[ RKFTFWGXHYJYMXOWPTQKQ",
    "G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF RSWY]",
    "G\\KFK[ RKFTFWGXHYJYLXNWOTPKP RRPY[",
    "H\\YIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX",
    "JZRFR[ RKFYF",
    "G]KFKULXNZQ[S[VZXXYUYF",
    "I[JFR[ RZFR[",
    "F^HFM[ RRFM[ RRFW[ R\\FW[",
    "H\\KFY[ RYFK[",
    "I[JFRPR[ RZFRP",
    "H\\YFK[ RKFYF RK[Y[",
    "KYOBOb RPBPb ROBVB RObVb",
    "KYKFY^",
    "KYTBTb RUBUb RNBUB RNbUb",
    "JZRDJR RRDZR",
    "I[Ib[b",
    "NVSKQMQORPSORNQO",
    "I\\XMX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "H[LFL[ RLPNNPMSMUNWPXSXUWXUZS[P[NZLX",
    "I[XPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "I\\XFX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "I[LSXSXQWOVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "MYWFUFSGRJR[ ROMVM",
    "I\\XMX]W`VaTbQbOa RXPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "I\\MFM[ RMQPNRMUMWNXQX[",
    "NVQFRGSFREQF RRMR[",
    "MWRFSGTFSERF RSMS^RaPbNb",
    "IZMFM[ RWMMW RQSX[",
    "NVRFR[",
    "CaGMG[ RGQJNLMOMQNRQR[ RRQUNWMZM\\N]Q][",
    "I\\MMM[ RMQPNRMUMWNXQX[",
    "I\\QMONMPLSLUMXOZQ[T[VZXXYUYSXPVNTMQM",
    "H[LMLb RLPNNPMSMUNWPXSXUWXUZS[P[NZLX",
    "I\\XMXb RXPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "KXOMO[ ROSPPRNTMWM",
    "J[XPWNTMQMNNMPNRPSUTWUXWXXWZT[Q[NZMX",
    "MYRFRWSZU[W[ ROMVM",
    "I\\MMMWNZP[S[UZXW RXMX[",
    "JZLMR[ RXMR[",
    "G]JMN[ RRMN[ RRMV[ RZMV[",
    "J[MMX[ RXMM[",
    "JZLMR[ RXMR[P_NaLbKb",
    "J[XMM[ RMMXM RM[X[",
    "KYTBRCQDPFPHQJRKSMSOQQ RRCQEQGRISJTLTNSPORSTTVTXSZR[Q]Q_Ra RQSSUSWRYQZP\\P^Q`RaTb",
    "NVRBRb",
    "KYPBRCSDTFTHSJRKQMQOSQ RRCSESGRIQJPLPNQPURQTPVPXQZR[S]S_Ra RSSQUQWRYSZT\\T^S`RaPb",
    "F^IUISJPLONOPPTSVTXTZS[Q RISJQLPNPPQTTVUXUZT[Q[O",
};

gls_status gls_canvas_create(gls_canvas *canvas, uint32_t width, uint32_t height, uint32_t colour)
{
    uint8_t *rgba = malloc((size_t)width * height * 4 + 1);
    if (!rgba) return gls_fail(GLS_ERR_MEMORY, "out of memory for a picture of %u x %u pixels", width, height);
    *canvas = (gls_canvas){width, height, rgba};
    for (size_t i = 0; i < (size_t)width * height; i++)
        for (int k = 0; k < 4; k++) rgba[4 * i + (size_t)k] = (uint8_t)(colour >> 8 * k);
    return GLS_OK;
}

void gls_canvas_finish(gls_canvas *canvas)
{
    free(canvas->rgba);
    canvas->rgba = NULL;
}

/* Blends a colour into a pixel, with the alpha of the colour times share / 255. */
static void blend(uint8_t *pixel, uint32_t colour, uint32_t share)
{
    /* source over destination (Porter and Duff 1984), with alpha of 8 bits that is not premultiplied */
    uint32_t alpha = (colour >> 24) * share / 255, rest = pixel[3] * (255 - alpha) / 255, sum = alpha + rest;
    if (sum == 0) return;
    for (int k = 0; k < 3; k++)
        pixel[k] = (uint8_t)(((colour >> 8 * k & 255) * alpha + pixel[k] * rest + sum / 2) / sum);
    pixel[3] = (uint8_t)sum;
}

void gls_canvas_fill(gls_canvas *canvas, int x, int y, int width, int height, uint32_t colour)
{
    for (int row = y < 0 ? 0 : y; row < y + height && row < (int)canvas->height; row++)
        for (int column = x < 0 ? 0 : x; column < x + width && column < (int)canvas->width; column++)
            blend(canvas->rgba + ((size_t)row * canvas->width + (size_t)column) * 4, colour, 255);
}

void gls_canvas_copy(gls_canvas *canvas, int x, int y, uint32_t width, uint32_t height, const uint8_t *rgba)
{
    /* a copy that would leave the canvas to the left, above or to the right is left out */
    if (x < 0 || y < 0 || (uint32_t)x + width > canvas->width) return;
    for (uint32_t row = 0; row < height && (uint32_t)y + row < canvas->height; row++)
        memcpy(canvas->rgba + (((size_t)y + row) * canvas->width + (size_t)x) * 4, rgba + (size_t)row * width * 4,
               (size_t)width * 4);
}

/* Strokes of an ASCII character; the strokes of ? for any other character. */
static const char *glyph_of(char c)
{
    return font_glyphs[(c >= ' ' && c <= '~' ? c : '?') - ' '];
}

/* Returns the start of the character behind the first one of a UTF-8 text. */
static const char *next_character(const char *text)
{
    do text++;
    while (((unsigned char)*text & 0xc0) == 0x80);
    return text;
}

double gls_text_width(const char *text, double size)
{
    double width = 0;
    for (; *text; text = next_character(text)) {
        const char *glyph = glyph_of(*text);
        width += (glyph[1] - glyph[0]) * size / GLS_FONT_CAPITAL;
    }
    return width;
}

/* Pixels around a line of text: how much of each the strokes cover. */
typedef struct mask {
    /* rectangle in the picture, pixels */
    int x, y, width, height;
    double pen; /* half the width of a stroke */
    uint8_t *share;
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

/* Draws the strokes of all letters. */
static void write_letters(mask *m, double x, double y, double size, const char *text)
{
    /* each coordinate of a stroke is a letter, in units of the font; R stands for 0 */
    double unit = size / GLS_FONT_CAPITAL;
    for (; *text; text = next_character(text)) {
        const char *glyph = glyph_of(*text);
        double left = glyph[0] - 'R', from[2] = {0, 0};
        bool down = false;
        for (const char *p = glyph + 2; p[0] && p[1]; p += 2) {
            if (p[0] == ' ') {
                down = false;
                continue;
            }
            double to[2] = {x + (p[0] - 'R' - left) * unit, y + (p[1] - 'R' - GLS_FONT_BASE) * unit};
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
            int column = m->x + x, row = m->y + y;
            uint8_t share = m->share[(size_t)y * (size_t)m->width + (size_t)x];
            if (share == 0 || column < 0 || row < 0 || column >= (int)canvas->width || row >= (int)canvas->height)
                continue;
            blend(canvas->rgba + ((size_t)row * canvas->width + (size_t)column) * 4, colour, share);
        }
}

gls_status gls_canvas_text(gls_canvas *canvas, double x, double y, double size, uint32_t colour, uint32_t halo,
                           const char *text)
{
    /* pen: half the width of a stroke; seam: width of the seam on each side of a stroke; pixels */
    double pen = fmax(size * 0.075, 0.6), seam = fmax(size * 0.1, 1);
    int border = (int)ceil(pen + seam) + 2;
    mask m = {(int)floor(x) - border,
              (int)floor(y - 1.3 * size) - border,
              (int)ceil(gls_text_width(text, size)) + 2 * border,
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
