/* Writes the table of what was recognised: a row for each model, with what is known of its bundle. */
#include "geometry/recognition_table.h"

#include <math.h>

#include "tracts/tract_text.h"

gls_status gls_recognition_table_write(const gls_recognition *r, const char *path, bool overwrite,
                                       gls_output_group *group)
{
    static const char *const names[] = {
        "bundle",     "atlas",     "threshold", "streamlines", "median_distance", "model",    "centroids", "neighbours",
        "bmd_before", "bmd_after", "shift",     "angle",       "scale",           "at_bound", "votes",     "coverage"};
    gls_tract_text t;
    gls_status status = gls_tract_text_create(path, overwrite, group, &t);
    if (status) return status;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) gls_tract_text_field(&t, names[k]);
    gls_tract_text_end_row(&t);
    for (size_t k = 0; k < gls_recognition_models(r); k++) {
        const gls_model_info m = gls_recognition_model(r, k);
        const gls_recognized b = gls_recognition_bundle(r, m.index);
        const bool known = m.registered;
        const double values[] = {m.threshold,
                                 (double)b.count,
                                 b.distance,
                                 (double)m.streamlines,
                                 (double)m.centroids,
                                 (double)m.neighbours,
                                 known ? m.slr.before : NAN,
                                 known ? m.slr.after : NAN,
                                 known ? m.shift : NAN,
                                 known ? m.angle : NAN,
                                 known ? m.scale : NAN,
                                 (double)(m.slr.at_bound != 0),
                                 (double)m.votes,
                                 m.coverage};
        gls_tract_text_field(&t, m.bundle);
        gls_tract_text_field(&t, m.atlas);
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) gls_tract_text_number(&t, values[i]);
        gls_tract_text_end_row(&t);
    }
    return gls_tract_text_close(&t, GLS_OK);
}
