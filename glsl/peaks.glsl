// Local maxima of the ODF and the choice among them.
#include "sphere.glsl"
#include "odf_mapping.glsl"
#include "peaks_mapping.glsl"
