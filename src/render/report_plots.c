/* Sections of a report with plots: lengths, ends, gradients, time. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/gradients.h>

#include "render/report_plots.h"
#include "record/sidecar.h"
#include "render/page.h"
#include "render/report_parts.h"
#include "render/report_tables.h"
#include "util/json_text.h"
#include "util/numbers.h"

/* Largest number of bars. */
#define BINS 40

size_t gls_report_bins(const gls_report *report, double *width, uint64_t bins[BINS])
{
    /* round widths: 0.1, 0.2, 0.25, 0.5, 1 mm and so on, the smallest that needs at most BINS bars */
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double longest = 0;
    for (size_t i = 0; i < report->n_lengths; i++)
        if (report->length[i] > longest) longest = report->length[i];
    *width = 0.1;
    for (double scale = 0.1; longest / *width >= BINS; scale *= 10)
        for (size_t i = 0; i < 5 && longest / *width >= BINS; i++) *width = scale * steps[i];
    memset(bins, 0, BINS * sizeof *bins);
    if (report->n_lengths == 0) return 0;
    for (size_t i = 0; i < report->n_lengths; i++) bins[(size_t)(report->length[i] / *width)]++;
    return (size_t)(longest / *width) + 1;
}

/* Appends the histogram of the lengths of streamlines, mm. */
static void put_lengths(const gls_report *report, gls_text *out)
{
    double width;
    uint64_t bins[BINS], most = 1;
    size_t n = gls_report_bins(report, &width, bins);
    if (n == 0) {
        gls_text_puts(out, "<p>There are no streamlines whose lengths could be shown.</p>\n");
        return;
    }
    const gls_spread *s = &report->counted->length;
    /* the vertical axis ends at the largest count */
    for (size_t i = 0; i < n; i++) most = bins[i] > most ? bins[i] : most;
    gls_text_printf(out,
                    "<p>Mean %.1f mm, median %.1f mm, a quarter below %.1f mm, a quarter above %.1f mm, from %.1f to "
                    "%.1f mm.</p>\n<svg viewBox=\"0 0 760 250\" width=\"760\" role=\"img\" aria-label=\"Histogram of "
                    "lengths; the table below has its numbers\">\n",
                    s->mean, s->median, s->quartile[0], s->quartile[1], s->min, s->max);
    /* the plot's area is 680 x 190 units of the SVG, from (60, 20) to (740, 210) */
    double step = 680.0 / (double)n;
    for (size_t i = 0; i < n; i++)
        gls_text_printf(out, "<rect class=\"bar\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
                        60 + (double)i * step, 210 - 190.0 * (double)bins[i] / (double)most, fmax(step - 1, 0.5),
                        190.0 * (double)bins[i] / (double)most);
    gls_text_puts(out, "<path class=\"axis\" d=\"M60 10V210H745\"/>\n");
    /* six labels at equal distances, from 0 to the upper limit of the last bin */
    for (int tick = 0; tick <= 5; tick++)
        gls_text_printf(out, "<text x=\"%.1f\" y=\"226\" text-anchor=\"middle\">%.4g</text>\n", 60 + 136.0 * tick,
                        width * (double)n * tick / 5);
    /* the same numbers as a table, for readers who do not see the plot */
    gls_text_printf(out,
                    "<text x=\"400\" y=\"245\" text-anchor=\"middle\">length, mm</text>\n<text x=\"54\" y=\"24\" "
                    "text-anchor=\"end\">%" PRIu64 "</text>\n<text x=\"54\" y=\"212\" text-anchor=\"end\">0</text>\n"
                    "</svg>\n<details><summary>The numbers</summary>\n<table><caption>Streamlines by length</caption>\n"
                    "<thead><tr><th scope=\"col\">from, mm</th><th scope=\"col\">to, mm</th><th "
                    "scope=\"col\">streamlines</th></tr></thead><tbody>\n",
                    most);
    for (size_t i = 0; i < n; i++)
        gls_text_printf(out,
                        "<tr><td class=\"number\">%g</td><td class=\"number\">%g</td><td class=\"number\">%" PRIu64
                        "</td></tr>\n",
                        width * (double)i, width * (double)(i + 1), bins[i]);
    gls_text_puts(out, "</tbody></table></details>\n");
}

/* Appends a key of the sidecar as words. */
static void append_words(gls_text *out, const char *key)
{
    char words[128];
    snprintf(words, sizeof words, "%s", key);
    for (char *c = words; *c; c++)
        if (*c == '_') *c = ' ';
    gls_html_puts(out, words);
}

/* Returns the first member, from `item` on, that is a count: 0 if `zero` is set, else above 0. NULL: there is none. */
static const cJSON *next_count(const cJSON *item, bool zero)
{
    while (item && !(cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= 0x1p53 &&
                     (item->valuedouble == 0) == zero))
        item = item->next;
    return item;
}

/* Appends bars of counts, one below the other. style: class of the bars in the page's style sheet. */
static void append_bar_plot(gls_text *out, const cJSON *member, const char *caption, const char *style)
{
    double most = 1;
    int n = 0;
    char count[32];
    const cJSON *item;
    /* the longest bar belongs to the largest count */
    for (item = next_count(member, false); item; item = next_count(item->next, false), n++)
        most = fmax(most, item->valuedouble);
    gls_text_printf(out,
                    "<svg viewBox=\"0 0 760 %d\" width=\"760\" role=\"img\" aria-label=\"%s; the table below has "
                    "the numbers\">\n",
                    n * 26 + 6, caption);
    /* bars of the style bar2 are hatched, so that the two styles differ without colour, too */
    if (strcmp(style, "bar2") == 0)
        gls_text_puts(out, "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                           "patternTransform=\"rotate(45)\"><line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" "
                           "y2=\"6\"/></pattern></defs>\n");
    int row = 0;
    /* a row of the plot is 26 units high: words, bar and count from left to right */
    for (item = next_count(member, false); item; item = next_count(item->next, false), row++) {
        double wide = 430 * item->valuedouble / most;
        gls_text_printf(out, "<text x=\"190\" y=\"%d\" text-anchor=\"end\">", row * 26 + 19);
        append_words(out, item->string);
        gls_text_printf(out,
                        "</text><rect class=\"%s\" x=\"200\" y=\"%d\" width=\"%.2f\" height=\"18\"/><text x=\"%.1f\" "
                        "y=\"%d\">%s</text>\n",
                        style, row * 26 + 5, wide, 206 + wide, row * 26 + 19,
                        gls_format_count((uint64_t)item->valuedouble, count, sizeof count));
    }
    gls_text_puts(out, "</svg>\n");
}

/* Appends the counts of append_bar_plot() as a table with their shares. */
static void append_bar_table(gls_text *out, const cJSON *member, const char *caption)
{
    double sum = 0;
    char count[32];
    const cJSON *item;
    for (item = next_count(member, false); item; item = next_count(item->next, false)) sum += item->valuedouble;
    gls_text_printf(out,
                    "<table><caption>%s</caption>\n<thead><tr><th scope=\"col\">reason</th><th "
                    "scope=\"col\">number</th><th scope=\"col\">share</th></tr></thead><tbody>\n",
                    caption);
    for (item = next_count(member, false); item; item = next_count(item->next, false)) {
        gls_text_puts(out, "<tr><th scope=\"row\">");
        append_words(out, item->string);
        gls_text_printf(out, "</th><td class=\"number\">%s</td><td class=\"number\">%.1f %%</td></tr>\n",
                        gls_format_count((uint64_t)item->valuedouble, count, sizeof count),
                        100 * item->valuedouble / sum);
    }
    gls_text_puts(out, "</tbody></table>\n");
}

/* Appends bars and a table for the reasons that occurred, and a sentence with the reasons that did not. */
static void append_bars(gls_text *out, const cJSON *object, const char *caption, const char *style)
{
    const cJSON *member = gls_json_members(object);
    if (!member) return;
    if (next_count(member, false)) {
        append_bar_plot(out, member, caption, style);
        append_bar_table(out, member, caption);
    } else {
        gls_text_printf(out, "<p>%s: none.</p>\n", caption);
    }
    const cJSON *item = next_count(member, true);
    if (!item) return;
    gls_text_puts(out, "<p class=\"note\">Reasons that did not occur: ");
    for (const char *comma = ""; item; item = next_count(item->next, true), comma = ", ") {
        gls_text_puts(out, comma);
        append_words(out, item->string);
    }
    gls_text_puts(out, ".</p>\n");
}

/* Appends a table of what the particle filter did, if there was one. */
static void append_filter(const gls_report *report, gls_text *out)
{
    static const char *const row[][2] = {
        {"streamlines_taken_back", "streamlines with a half-streamline that was taken back"},
        {"runs", "times that a half-streamline was taken back"},
        {"saved_by_a_particle", "of these, a particle saved the half-streamline"},
        {"no_particle_left", "of these, no particle was left"},
        {"trials_used_up", "half-streamlines that ended with all trials used up"}};
    char path[64];
    if (!gls_report_get(report, "counts/particle_filter")) return;
    gls_text_puts(out, "<table><caption>Particle filter, in all streamlines that were begun</caption><thead><tr>"
                       "<th scope=\"col\">what</th><th scope=\"col\">number</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        snprintf(path, sizeof path, "counts/particle_filter/%s", row[i][0]);
        gls_text_printf(out, "<tr><th scope=\"row\">%s</th><td class=\"number\">", row[i][1]);
        gls_text_number(out, gls_report_number(report, path));
        gls_text_puts(out, "</td></tr>\n");
    }
    gls_text_puts(out, "</tbody></table>\n");
}

/* Appends why half-streamlines ended and streamlines were rejected. */
static void put_ends(const gls_report *report, gls_text *out)
{
    const cJSON *ends = gls_report_get(report, "counts/half_streamline_ends");
    const cJSON *rejected = gls_report_get(report, "counts/rejected");
    if (!ends && !rejected) {
        gls_report_missing(report, out, "why streamlines ended");
        return;
    }
    append_bars(out, ends, "Why half-streamlines ended", "bar");
    append_bars(out, rejected, "Streamlines that were not kept", "bar2");
    append_filter(report, out);
    gls_text_puts(out, "<p>Seeds without a direction: ");
    gls_text_number(out, gls_report_number(report, "counts/seeds_without_direction"));
    gls_text_puts(out, "; seeds where regions or tissue let no streamline begin: ");
    gls_text_number(out, gls_report_number(report, "counts/seeds_rejected"));
    gls_text_puts(out, "; streamlines cut at the largest length: ");
    gls_text_number(out, gls_report_number(report, "counts/truncated"));
    gls_text_puts(out, ".</p>\n");
}

/* Appends a plot of the gradient directions on the upper half of a sphere, seen from above. */
static void append_sphere(gls_text *out, const gls_gradients *g)
{
    gls_text_puts(out, "<svg viewBox=\"0 0 300 300\" width=\"300\" role=\"img\" aria-label=\"Gradient directions on a "
                       "half sphere, seen along the third voxel axis\">\n<circle class=\"axis\" cx=\"150\" cy=\"150\" "
                       "r=\"140\"/>\n");
    for (size_t i = 0; i < g->n; i++) {
        if (g->is_b0[i]) continue;
        bool under = g->bvec[i][2] < 0;
        /* opposite directions measure the same: a direction of the lower half is drawn at the opposite point */
        double s = under ? -1 : 1;
        gls_text_printf(out, "<circle class=\"dot%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"4\"/>\n", under ? " under" : "",
                        150 + 140 * s * g->bvec[i][0], 150 - 140 * s * g->bvec[i][1]);
    }
    gls_text_puts(out, "</svg>\n<p class=\"note\">Each axis stands once, on the upper half of the sphere; rings are "
                       "directions that were given on the lower half.</p>\n");
}

/* Appends the sphere of directions, if the sidecar names the files of the gradient table. If they can no longer be
 * read, appends the reason. */
static void append_directions(const gls_report *report, gls_text *out)
{
    const char *bval = gls_report_text(report, "inputs/bval/path"), *bvec = gls_report_text(report, "inputs/bvec/path"),
               *rule = gls_report_text(report, "gradients/rule");
    double volumes = gls_report_number(report, "gradients/volumes");
    gls_gradients_options options = gls_gradients_options_default();
    gls_gradients *gradients = NULL;
    if (!bval || !bvec || !rule || !report->has_grid || !(volumes >= 1 && volumes <= INT32_MAX)) return;
    options.frame = strcmp(rule, "image") == 0   ? GLS_BVEC_IMAGE
                    : strcmp(rule, "world") == 0 ? GLS_BVEC_WORLD
                                                 : GLS_BVEC_FSL;
    gls_log_mute_info(true);
    gls_status status = gls_gradients_read(bval, bvec, &options, &report->grid, (size_t)volumes, &gradients);
    gls_log_mute_info(false);
    if (!status) {
        append_sphere(out, gradients);
    } else {
        gls_text_puts(out, "<p class=\"note\">The directions are not shown: ");
        gls_html_puts(out, gls_last_error());
        gls_text_puts(out, ".</p>\n");
    }
    gls_gradients_destroy(gradients);
}

/* Appends the shells and directions of the gradient table. */
static void put_gradients(const gls_report *report, gls_text *out)
{
    const cJSON *shell, *shells = gls_report_get(report, "gradients/shells");
    const char *rule = gls_report_text(report, "gradients/rule");
    const double determinant = gls_report_number(report, "gradients/affine_determinant");
    /* no shells: the section says why */
    if (!shells && report->describes_tracking)
        gls_text_puts(out, "<p>The run had no gradient table: its input were orientation distributions.</p>\n");
    else if (!shells)
        gls_report_missing(report, out, "the gradient table");
    if (!shells) return;
    gls_text_puts(out, "<table><caption>Shells</caption><thead><tr><th scope=\"col\">b, s/mm2</th><th "
                       "scope=\"col\">from</th><th scope=\"col\">to</th><th scope=\"col\">volumes</th></tr></thead>"
                       "<tbody>\n");
    /* keys of a shell in the sidecar, in the order of the columns */
    static const char *const keys[] = {"b_s_per_mm2", "min_b_s_per_mm2", "max_b_s_per_mm2", "volumes"};
    cJSON_ArrayForEach(shell, shells)
    {
        gls_text_puts(out, "<tr>");
        for (int k = 0; k < 4; k++) {
            const cJSON *v = cJSON_GetObjectItemCaseSensitive(shell, keys[k]);
            if (cJSON_IsNumber(v))
                gls_text_printf(out, "<td class=\"number\">%g</td>", v->valuedouble);
            else
                gls_text_puts(out, "<td class=\"number\">-</td>");
        }
        gls_text_puts(out, "</tr>\n");
    }
    gls_text_puts(out, "</tbody></table>\n<p>Frame of the b-vectors: ");
    gls_html_puts(out, rule ? rule : "not recorded");
    if (!isnan(determinant)) gls_text_printf(out, "; determinant of the affine %g", determinant);
    gls_text_printf(out, "; x %s negated.</p>\n",
                    cJSON_IsTrue(gls_report_get(report, "gradients/x_negated")) ? "was" : "was not");
    append_directions(report, out);
}

/* Appends the times of the phases of the run, and of its devices. */
static void put_time(const gls_report *report, gls_text *out)
{
    static const char *const phases[] = {"read", "fit", "upload", "track", "write"};
    static const char *const columns[] = {"seeds", "streamlines", "batches", "seconds"};
    /* y: top of the current row */
    double total = gls_report_number(report, "seconds/total"), y = 0;
    char path[64];
    if (!(total >= 0)) {
        gls_report_missing(report, out, "how long it took");
        return;
    }
    /* other commands write the total only */
    if (!report->describes_tracking) {
        gls_text_printf(out, "<p>%.2f s in all.</p>\n", total);
        return;
    }
    /* one bar a phase, as a share of the total */
    gls_text_printf(out,
                    "<p>%.2f s in all.</p>\n<svg viewBox=\"0 0 760 132\" width=\"760\" role=\"img\" "
                    "aria-label=\"Seconds of each phase\">\n",
                    total);
    for (int i = 0; i < 5; i++, y += 26) {
        snprintf(path, sizeof path, "seconds/%s", phases[i]);
        double v = gls_report_number(report, path), wide = total > 0 && v >= 0 ? 430 * v / total : 0;
        gls_text_printf(out,
                        "<text x=\"90\" y=\"%.0f\" text-anchor=\"end\">%s</text><rect class=\"bar\" x=\"100\" "
                        "y=\"%.0f\" width=\"%.2f\" height=\"18\"/><text x=\"%.1f\" y=\"%.0f\">",
                        y + 19, phases[i], y + 5, wide, 106 + wide, y + 19);
        if (isnan(v))
            gls_text_puts(out, "-</text>\n");
        else
            gls_text_printf(out, "%.3f s</text>\n", v);
    }
    /* a row for each device that tracked, as the sidecar lists them */
    gls_text_puts(out, "</svg>\n<table><caption>Devices</caption><thead><tr><th scope=\"col\">device</th>");
    for (int k = 0; k < 4; k++) gls_text_printf(out, "<th scope=\"col\">%s</th>", columns[k]);
    gls_text_puts(out, "</tr></thead><tbody>\n");
    const cJSON *device, *devices = gls_report_get(report, "run/devices");
    cJSON_ArrayForEach(device, devices)
    {
        const cJSON *renderer = cJSON_GetObjectItemCaseSensitive(device, "renderer");
        gls_text_puts(out, "<tr><th scope=\"row\">");
        gls_html_puts(out, cJSON_IsString(renderer) ? renderer->valuestring : "-");
        gls_text_puts(out, "</th>");
        for (int k = 0; k < 4; k++) {
            const cJSON *v = cJSON_GetObjectItemCaseSensitive(device, columns[k]);
            gls_text_puts(out, "<td class=\"number\">");
            gls_text_number(out, cJSON_IsNumber(v) ? v->valuedouble : NAN);
            gls_text_puts(out, "</td>");
        }
        gls_text_puts(out, "</tr>\n");
    }
    gls_text_puts(out, "</tbody></table>\n");
}

const gls_report_section gls_report_plots[] = {
    {"lengths", put_lengths}, {"ends", put_ends}, {"gradients", put_gradients}, {"time", put_time}, {NULL, NULL}};
