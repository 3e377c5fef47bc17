// ODF from SH coefficients, a subgroup together.
shared float shared_odf[SLOTS * ODF_CHANNELS];
#define ODF(v) shared_odf[int(SLOT) * ODF_CHANNELS + (v)]

float odf_max = 0.0, odf_min = 0.0;
vec3 odf_axis = vec3(0.0); // of the soft angular weighting

void evaluate_odf(float c[N_COEFFICIENTS])
{
    odf_max = -1e30;
    odf_min = 1e30;
    for (int v = LANE; v < N_VERTICES; v += LANES) {
        float value = 0.0;
        EACH_COEFFICIENT(value += MODEL_FLOAT(MODEL_ODF + j * N_VERTICES + v) * c[j];)
#if ANGULAR_WEIGHT
        value *= angular_weight(dot(vertex_direction(uint(v)), odf_axis));
#endif
        ODF(v) = value;
        odf_max = max(odf_max, value);
        odf_min = min(odf_min, value);
    }
    odf_max = lane_max(odf_max);
    odf_min = lane_min(odf_min);
    lane_sync();
}
