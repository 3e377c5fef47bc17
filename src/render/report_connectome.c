/* Section of a report: the connectome as a matrix, as a circle, and its largest edges. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/report_connectome.h"
#include "render/canvas.h"
#include "render/drawing.h"
#include "render/page.h"
#include "render/report_draw.h"
#include "render/report_parts.h"
#include "render/report_tables.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* Largest number of edges drawn in the circle, and of edges listed in the table. */
#define EDGES_DRAWN 100
#define EDGES_LISTED 20
#define ALL_NAMES 120  /* up to this number of regions all are named; of more, only those with a drawn edge */
#define NAME_LENGTH 22 /* characters of a name in the circle */
#define SIDE 600       /* largest width of the drawn matrix, pixels; a matrix of more regions has a pixel for each */
#define MIDDLE 380.0   /* centre of the circle; the drawing is 2 * MIDDLE units wide and high */
#define RADIUS 240.0
#define PI 3.14159265358979323846

/* An edge between two regions with the indices a < b. */
typedef struct edge {
    size_t a, b;
    /* value of the edge, as in the matrix */
    double value;
} edge;

/* Value between two regions: in the upper triangle of the matrix or, if there is no edge there, in the lower one. */
static double value_at(const gls_report_matrix *m, size_t a, size_t b)
{
    const double upper = m->cell[a < b ? a * m->n + b : b * m->n + a],
                 lower = m->cell[a < b ? b * m->n + a : a * m->n + b];
    return isfinite(upper) && upper != 0 ? upper : lower;
}

/* Whether a cell holds an edge: 0 and NaN mean none. */
static bool is_edge(double v)
{
    return isfinite(v) && v != 0;
}

/* Comparison for qsort(): edges by falling absolute value; equally large edges by their regions. */
static int by_size(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    const double p = fabs(x->value), q = fabs(y->value);
    if (p != q) return p > q ? -1 : 1;
    return x->a != y->a ? (x->a < y->a ? -1 : 1) : (x->b > y->b) - (x->b < y->b);
}

/* All edges between different regions, the largest first. From malloc; NULL: out of memory. */
static edge *sort_edges(const gls_report_matrix *m, size_t *n)
{
    edge *edges = malloc(m->n * m->n / 2 * sizeof *edges + sizeof *edges);
    *n = 0;
    for (size_t a = 0; a < m->n && edges; a++)
        for (size_t b = a + 1; b < m->n; b++)
            if (is_edge(value_at(m, a, b))) edges[(*n)++] = (edge){a, b, value_at(m, a, b)};
    if (edges) qsort(edges, *n, sizeof *edges, by_size);
    return edges;
}

/* --- The matrix. */

/* Smallest and largest absolute value of an edge. *is_signed: some values are below 0. */
static void measure(const gls_report_matrix *m, double range[2], bool *is_signed)
{
    range[0] = INFINITY;
    range[1] = 0;
    *is_signed = false;
    for (size_t i = 0; i < m->n * m->n; i++) {
        if (!is_edge(m->cell[i])) continue;
        range[0] = fmin(range[0], fabs(m->cell[i]));
        range[1] = fmax(range[1], fabs(m->cell[i]));
        *is_signed |= m->cell[i] < 0;
    }
}

/* Colour of a cell: diverging around 0 if some values are negative, otherwise by the logarithm; black without an edge.
 */
static uint32_t colour_at(double v, const double range[2], bool is_signed)
{
    if (!is_edge(v)) return gls_colour_rgb(0, 0, 0);
    if (is_signed) return gls_colormap_at(GLS_REDBLUE, 0.5 + 0.5 * v / range[1]);
    const double share = range[1] > range[0] ? log(v / range[0]) / log(range[1] / range[0]) : 1;
    return gls_colormap_at(GLS_INFERNO, 0.2 + 0.8 * share);
}

/* Draws the matrix, a square of whole pixels for each cell. */
static gls_status draw_matrix(const gls_report_matrix *m, gls_report_picture *picture)
{
    const uint32_t zoom = m->n < SIDE ? (uint32_t)(SIDE / m->n) : 1, side = (uint32_t)m->n * zoom;
    double range[2];
    bool is_signed;
    gls_canvas canvas;
    measure(m, range, &is_signed);
    gls_status status = gls_canvas_create(&canvas, side, side, 0xff000000u);
    if (status) return status;
    for (size_t row = 0; row < m->n; row++)
        for (size_t column = 0; column < m->n; column++)
            gls_canvas_fill(&canvas, (int)(column * zoom), (int)(row * zoom), (int)zoom, (int)zoom,
                            0xff000000u | colour_at(value_at(m, row, column), range, is_signed));
    status = gls_report_encode(&canvas, picture);
    gls_canvas_finish(&canvas);
    return status;
}

/* Appends the picture of the matrix with its scale in words. */
static void append_matrix(const gls_report_matrix *m, gls_text *out)
{
    gls_report_picture picture = {.png = NULL};
    char caption[200] = "The matrix: all values are 0.", alt[100];
    double range[2];
    bool is_signed;
    measure(m, range, &is_signed);
    if (range[1] > 0)
        gls_snprintf(caption, sizeof caption,
                     is_signed ? "The matrix: red %.4g, blue %.4g, black no value."
                               : "The matrix, first row at the top: from %.4g, dark, to %.4g, bright, on a logarithmic "
                                 "scale; black is 0.",
                     is_signed ? -range[1] : range[0], range[1]);
    gls_snprintf(alt, sizeof alt, "Matrix of %zu rows and columns; its largest values are in the table below", m->n);
    picture.alt = alt;
    if (draw_matrix(m, &picture) == GLS_OK) gls_report_append_picture(&picture, caption, out);
    free(picture.png);
}

/* --- The circle. */

/* Appends the name of region i, or i + 1 if it has none, cut after `most` characters. */
static void append_name(gls_text *out, const gls_report_matrix *m, size_t i, size_t most)
{
    char number[24], part[GLS_ESCAPE_BYTES] = "";
    snprintf(number, sizeof number, "%zu", i + 1);
    const char *name = m->name && m->name[i] ? m->name[i] : number;
    for (size_t n, left = most; *name; name += n) {
        n = gls_utf8_bytes(name);
        if (left-- == 0) {
            gls_text_puts(out, "...");
            return;
        }
        n = n ? n : 1;
        memcpy(part, name, n);
        part[n] = 0;
        gls_html_puts(out, part);
    }
}

/* Appends an edge as a curve that is bent towards the middle of the circle. */
static void append_edge(gls_text *out, const gls_report_matrix *m, const edge *e, double largest)
{
    const double turn = 2 * PI / (double)m->n, p = turn * ((double)e->a + 0.5), q = turn * ((double)e->b + 0.5);
    const double share = fabs(e->value) / largest;
    gls_text_printf(out,
                    "<path class=\"edge%s\" d=\"M%.1f %.1fQ%.0f %.0f %.1f %.1f\" stroke-width=\"%.2f\" "
                    "stroke-opacity=\"%.2f\"><title>",
                    e->value < 0 ? " below" : "", MIDDLE + RADIUS * sin(p), MIDDLE - RADIUS * cos(p), MIDDLE, MIDDLE,
                    MIDDLE + RADIUS * sin(q), MIDDLE - RADIUS * cos(q), 0.8 + 7 * share, 0.35 + 0.5 * share);
    append_name(out, m, e->a, SIZE_MAX);
    gls_text_puts(out, " to ");
    append_name(out, m, e->b, SIZE_MAX);
    gls_text_printf(out, ": %.5g</title></path>\n", e->value);
}

/* Appends a region on the circle and, if `named`, its name: it points away from the middle, never upside down. */
static void append_node(gls_text *out, const gls_report_matrix *m, size_t i, bool named, double size)
{
    const double angle = 2 * PI * ((double)i + 0.5) / (double)m->n, at = RADIUS + 10;
    const double x = MIDDLE + at * sin(angle), y = MIDDLE - at * cos(angle);
    const bool left = angle > PI;
    gls_text_printf(out, "<circle class=\"node\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", MIDDLE + RADIUS * sin(angle),
                    MIDDLE - RADIUS * cos(angle), fmin(4, size / 2));
    if (!named) return;
    gls_text_printf(
        out,
        "<text x=\"%.1f\" y=\"%.1f\" style=\"font-size:%.1fpx\" dominant-baseline=\"middle\" text-anchor=\"%s\" "
        "transform=\"rotate(%.2f %.1f %.1f)\">",
        x, y, size, left ? "end" : "start", angle * 180 / PI + (left ? 90 : -90), x, y);
    append_name(out, m, i, NAME_LENGTH);
    gls_text_puts(out, "</text>\n");
}

/* Appends the circle: first the edges from thin to thick, so that large edges lie in front, then the regions. */
static void append_circle(gls_text *out, const gls_report_matrix *m, const edge *edges, size_t n)
{
    const size_t drawn = n < EDGES_DRAWN ? n : EDGES_DRAWN;
    const double size = fmax(fmin(13, 0.9 * 2 * PI * RADIUS / (double)m->n), m->n > ALL_NAMES ? 8 : 5);
    gls_text_printf(out,
                    "<figure><svg class=\"circle\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" role=\"img\" "
                    "aria-label=\"The largest %zu edges between %zu regions on a circle; the table below has the "
                    "largest of them\">\n",
                    2 * MIDDLE, 2 * MIDDLE, 2 * MIDDLE, drawn, m->n);
    for (size_t i = drawn; i-- > 0;) append_edge(out, m, &edges[i], fabs(edges[0].value));
    for (size_t k = 0; k < m->n; k++) {
        bool named = m->n <= ALL_NAMES;
        for (size_t i = 0; i < drawn && !named; i++) named = edges[i].a == k || edges[i].b == k;
        append_node(out, m, k, named, size);
    }
    gls_text_printf(out,
                    "</svg><figcaption>The largest %zu of %zu edges between different regions; a wider line is a "
                    "larger value. Regions stand in the order of the matrix, clockwise from the top.%s</figcaption>"
                    "</figure>\n",
                    drawn, n, m->name ? "" : " They have the numbers of their rows: there is no table of regions.");
}

/* Appends the largest edges as a table, which readers of screens can follow. */
static void append_largest(gls_text *out, const gls_report_matrix *m, const edge *edges, size_t n)
{
    gls_text_printf(out,
                    "<table><caption>The largest %zu edges</caption><thead><tr><th scope=\"col\">from</th><th "
                    "scope=\"col\">to</th><th scope=\"col\">value</th></tr></thead><tbody>\n",
                    n < EDGES_LISTED ? n : EDGES_LISTED);
    for (size_t i = 0; i < n && i < EDGES_LISTED; i++) {
        gls_text_puts(out, "<tr><th scope=\"row\">");
        append_name(out, m, edges[i].a, SIZE_MAX);
        gls_text_puts(out, "</th><td>");
        append_name(out, m, edges[i].b, SIZE_MAX);
        gls_text_printf(out, "</td><td class=\"number\">%.6g</td></tr>\n", edges[i].value);
    }
    gls_text_puts(out, "</tbody></table>\n");
}

void gls_report_connectome(const gls_report *r, gls_text *out)
{
    const gls_report_matrix *m = &r->matrix;
    size_t n;
    if (m->n == 0) {
        gls_text_puts(out, "<p>There is none: <code>glslines connectome</code>, or <code>--connectome</code> of "
                           "<code>glslines track</code>, makes one.</p>\n");
        return;
    }
    edge *edges = sort_edges(m, &n);
    if (!edges) {
        out->failed = true;
        return;
    }
    const double pairs = (double)m->n * (double)(m->n - 1) / 2;
    gls_text_puts(out, "<p>");
    gls_html_puts(out, m->path);
    gls_text_printf(out, ": %zu regions, %zu of %.0f pairs of different regions are joined (%.1f %%).</p>\n", m->n, n,
                    pairs, 100 * (double)n / pairs);
    append_matrix(m, out);
    if (n > 0) append_circle(out, m, edges, n);
    if (n > 0) append_largest(out, m, edges, n);
    free(edges);
}
