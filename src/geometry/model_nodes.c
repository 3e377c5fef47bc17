/* Makes the nodes along a model bundle. Streamlines of a bundle lie within a cluster of 85 mm, so that its centroid is
 * their mean, after all have got the direction of the first. */
#include "geometry/model_nodes.h"

#include <math.h>

#include "util/status.h"

gls_status gls_model_nodes_find(const gls_atlas_bundle *model, const gls_tractogram_read_options *reading, uint32_t n,
                                double (*node)[3], gls_model_nodes *info)
{
    static const double wide = 85;
    gls_clusters *clusters = NULL;
    gls_cluster_options o = gls_cluster_options_default();
    float centroid[GLS_MODEL_NODES][3];
    size_t largest = 0;
    GLS_REQUIRE(n <= GLS_MODEL_NODES);
    o.threshold = &wide;
    o.n_thresholds = 1;
    o.points = n;
    o.reverse = GLS_CLUSTER_REVERSE_COPIED;
    *info = (gls_model_nodes){.streamlines = 0};
    for (uint32_t k = 0; k < n; k++)
        for (int r = 0; r < 3; r++) node[k][r] = NAN;
    gls_status status = gls_clusters_create(&o, &clusters);
    if (status) return status;
    const gls_sink sink = gls_clusters_sink(clusters);
    status = gls_atlas_read_bundle(model, reading, NULL, &sink);
    if (!status) status = gls_clusters_complete(clusters);
    const size_t count = status ? 0 : gls_clusters_count(clusters);
    for (size_t k = 1; k < count; k++)
        if (gls_clusters_size(clusters, k) > gls_clusters_size(clusters, largest)) largest = k;
    if (count > 0) {
        gls_clusters_centroid(clusters, largest, centroid);
        for (uint32_t k = 0; k < n; k++)
            for (int r = 0; r < 3; r++) node[k][r] = (double)centroid[k][r];
        info->used = gls_clusters_size(clusters, largest);
        info->streamlines = gls_clusters_streamlines(clusters) - gls_clusters_void(clusters);
    }
    gls_clusters_destroy(clusters);
    return status;
}
