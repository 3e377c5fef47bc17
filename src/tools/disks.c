/* A point belongs to the disk whose node is nearest. The tractogram is read a second time, since nodes are known only
 * when all streamlines have been read. */
#include "tools/disks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "streamlines/filter_parts.h"
#include "tools/tract_results.h"
#include "util/allocation.h"
#include "util/maths.h"
#include "util/status.h"

/* Added to distances, mm, as in DIPY, so that a point at a node has a weight. */
#define SMALL 1e-8

/* Median distance of the points of a bundle from the nodes of its model above which there is a warning, mm. Bundles
 * are narrower, and a model of another space is farther. */
#define FAR 30

/* Distances are counted in bins of this width, mm; the last bin has all larger ones. */
#define BIN 0.5
#define BINS 1024

/* State of a pass over the streamlines. */
typedef struct pass {
    const gls_disks *d;
    size_t columns; /* volumes of all images */
    double *value;  /* of all images at a point */
    /* rows for each point */
    gls_tract_text text;
    uint64_t *row; /* number of streamlines of each bundle so far */
    /* averages: for each bundle, column and disk the mean, the sum of squared differences and the number of values; and
     * the sum of their weights */
    gls_profile_node *mean;
    double *weight;
    uint64_t (*near)[BINS]; /* for each bundle the number of points by their distance from the node */
} pass;

/* Finds the disk of a point, from 0 on; d->n: the bundle has no disks, or the point no place among them. *distance:
 * from its node, mm. */
static uint32_t find_disk(const gls_disks *d, size_t bundle, const float point[3], double *distance)
{
    const double(*node)[3] = d->node + bundle * d->n;
    double p[3] = {(double)point[0], (double)point[1], (double)point[2]}, best = INFINITY;
    uint32_t disk = d->n;
    *distance = INFINITY;
    if (!gls_transform_apply(d->space, p, p)) return disk;
    for (uint32_t k = 0; k < d->n; k++) {
        const double x = p[0] - node[k][0], y = p[1] - node[k][1], z = p[2] - node[k][2],
                     square = x * x + y * y + z * z;
        if (!(square < best)) continue;
        best = square;
        disk = k;
    }
    *distance = sqrt(best);
    return disk;
}

/* Writes the row of a point: bundle, streamline, disk, values. */
static void write_point(pass *s, size_t bundle, uint32_t disk)
{
    gls_tract_text_field(&s->text, gls_bundles_get(s->d->bundles, bundle).name);
    gls_tract_text_printf(&s->text, "%c%" PRIu64 "%c%u", s->text.separator, s->row[bundle], s->text.separator,
                          disk + 1);
    for (size_t c = 0; c < s->columns; c++) gls_tract_text_number(&s->text, s->value[c]);
    gls_tract_text_end_row(&s->text);
}

/* Adds the values of a point to the averages of its disk (West's method). */
static void add_point(pass *s, size_t bundle, uint32_t disk, double distance)
{
    const double weight = s->d->alike ? 1 : 1 / (distance + SMALL);
    for (size_t c = 0; c < s->columns; c++) {
        const size_t at = (bundle * s->columns + c) * s->d->n + disk;
        gls_profile_node *m = &s->mean[at];
        if (!isfinite(s->value[c])) continue;
        const double off = s->value[c] - m->value;
        s->weight[at] += weight;
        m->value += off * weight / s->weight[at];
        m->sd += weight * off * (s->value[c] - m->value);
        m->n++;
    }
}

/* Function `append` of a sink: takes the points of each member of each bundle. A streamline of several bundles counts
 * in each. */
static gls_status append(void *user, const gls_streamlines *in)
{
    pass *s = user;
    const gls_disks *d = s->d;
    for (size_t k = 0; k < gls_bundles_count(d->bundles); k++) {
        const gls_column *member = gls_column_find(in->group, in->n_groups, gls_bundles_get(d->bundles, k).name);
        for (size_t i = 0; i < in->n; i++) {
            if (!gls_column_value(member, i)) continue;
            for (uint64_t p = in->offset[i]; p < in->offset[i + 1]; p++) {
                double distance, *value = s->value;
                const uint32_t disk = find_disk(d, k, in->point[p], &distance);
                if (disk == d->n) continue;
                s->near[k][(size_t)fmin(distance / BIN, BINS - 1)]++;
                for (size_t j = 0; j < d->n_images; value += d->image[j++]->n_volumes)
                    gls_sample_at(d->image[j], &d->sampling, in->point[p], value);
                if (s->mean)
                    add_point(s, k, disk, distance);
                else
                    write_point(s, k, disk);
            }
            if (s->row) s->row[k]++;
        }
    }
    return s->text.failed;
}

/* Warns of bundles that lie far from their models. */
static void warn_of_distance(const pass *s)
{
    for (size_t k = 0; k < gls_bundles_count(s->d->bundles) && s->d->models; k++) {
        uint64_t n = 0, below = 0;
        size_t bin = 0;
        for (size_t i = 0; i < BINS; i++) n += s->near[k][i];
        while (bin + 1 < BINS && 2 * (below + s->near[k][bin]) < n) below += s->near[k][bin++];
        if (n > 0 && (double)bin * BIN >= FAR)
            gls_log(GLS_LOG_WARNING,
                    "bundle %s: the median distance of its points from the nodes of its model is %.0f mm, above %d mm: "
                    "%s has to lie in the space of the streamlines, or --atlas-transform or --assign-transform has to "
                    "bring it there",
                    gls_bundles_get(s->d->bundles, k).name, (double)bin * BIN, FAR, s->d->models);
    }
}

/* Reads the tractogram again. */
static gls_status run_pass(pass *s)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink end = {.append = append, .user = s}, sink = {0};
    gls_status status = gls_tract_open(s->d->run, s->d->tracks, false, &reader);
    /* the groups that the filter adds name the bundles of each streamline */
    if (!status) status = gls_bundles_filter(s->d->bundles, GLS_BUNDLES_REST_DROPPED, &end, &sink);
    status = gls_tract_pump(s->d->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    if (!status) warn_of_distance(s);
    return status;
}

/* Begins a pass. */
static gls_status begin(pass *s, const gls_disks *d)
{
    *s = (pass){.d = d};
    for (size_t i = 0; i < d->n_images; i++) s->columns += d->image[i]->n_volumes;
    s->value = malloc((s->columns + 1) * sizeof *s->value);
    s->near = calloc(gls_bundles_count(d->bundles) + 1, sizeof *s->near);
    return s->value && s->near ? GLS_OK : gls_no_memory();
}

/* Writes the header line. */
static void write_header(pass *s)
{
    const char c = s->text.separator;
    gls_tract_text_printf(&s->text, "tractID%cstreamline%cdisk", c, c);
    for (size_t i = 0; i < s->d->n_images; i++)
        for (size_t v = 0; v < s->d->image[i]->n_volumes; v++)
            gls_tract_text_component(&s->text, s->d->name[i], v, v > 0 ? 2 : 1);
    gls_tract_text_end_row(&s->text);
}

gls_status gls_disks_write(const gls_disks *d, const char *path)
{
    pass s;
    gls_status status = begin(&s, d);
    s.row = calloc(gls_bundles_count(d->bundles) + 1, sizeof *s.row);
    if (!status && !s.row) status = gls_no_memory();
    if (!status) status = gls_tract_text_open(d->run, path, &s.text);
    if (!status) {
        write_header(&s);
        status = run_pass(&s);
        status = gls_tract_text_close(&s.text, status);
    }
    free(s.value);
    free(s.near);
    free(s.row);
    return status;
}

gls_status gls_disks_average(const gls_disks *d, gls_profile_node **out)
{
    pass s;
    gls_status status = begin(&s, d);
    const size_t n = gls_bundles_count(d->bundles) * s.columns * d->n;
    s.mean = calloc(n + 1, sizeof *s.mean);
    s.weight = calloc(n + 1, sizeof *s.weight);
    if (!status && (!s.mean || !s.weight)) status = gls_no_memory();
    if (!status) status = run_pass(&s);
    for (size_t i = 0; i < n && !status; i++) {
        gls_profile_node *m = &s.mean[i];
        m->sd = m->n > 0 ? sqrt(fmax(m->sd, 0) / s.weight[i]) : NAN;
        if (m->n == 0) m->value = NAN;
    }
    free(s.value);
    free(s.near);
    free(s.weight);
    if (status)
        free(s.mean);
    else
        *out = s.mean;
    return status;
}
