// ODF sampled on the sphere, from buffers of cells; one invocation.
#include "cells.glsl"

float odf[N_VERTICES];
float odf_max = 0.0, odf_min = 0.0;

float odf_value(int v) { return odf[v]; }

void odf_at(vec3 p)
{
    Cell cell = cell_at(p);
    odf_max = -1e30;
    odf_min = 1e30;
    for (int v = 0; v < N_VERTICES; v++) {
        odf[v] = cell_value(cell, slot_of_vertex(v));
        odf_max = max(odf_max, odf[v]);
        odf_min = min(odf_min, odf[v]);
    }
}
