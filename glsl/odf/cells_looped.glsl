// ODF sampled on the sphere from cells, in loops.
#include "odf/cells.glsl"

SLOT_ARRAY(float, odf, ODF_CHANNELS);
#define ODF(v) SLOT_ELEMENT(odf, ODF_CHANNELS, v)

float odf_max = 0.0, odf_min = 0.0;

// Interpolates the ODF at p for all vertices, a vertex for each lane, and finds its largest and smallest value.
void odf_at(vec3 p)
{
    Cell cell = cell_at(p);
    odf_max = -1e30;
    odf_min = 1e30;
    for (int v = LANE; v < N_VERTICES; v += LANES) {
        float value = cell_value(cell, index_of_vertex(v));
        ODF(v) = value;
        odf_max = max(odf_max, value);
        odf_min = min(odf_min, value);
    }
    lane_range(odf_max, odf_min);
    lane_writes_done();
}
