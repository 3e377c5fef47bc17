/* The rules of regions, for every guide that has them: in the second texture. */
#ifndef GLS_TRACK_GUIDE_REGION_RULES_H
#define GLS_TRACK_GUIDE_REGION_RULES_H

#include "track/guide/guide.h"

/* Adds the texture and words of the input's regions. */
gls_status gls_guide_regions_plan(const gls_device_info *limits, const gls_track_input *input, gls_guide_plan *plan);
gls_status gls_guide_regions_create(gls_guide *guide, gls_device *device, const gls_track_input *input);
void gls_guide_regions_define(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                              gls_define_list *defines);
void gls_guide_regions_define_none(gls_define_list *defines);
bool gls_guide_regions_admit(const gls_guide *guide, const float seed[3]);
gls_verdict gls_guide_regions_judge(const gls_guide *guide, const float seed[3], gls_guide_half half[2], uint32_t *met);
/* See gls_guide_kind. */
bool gls_guide_regions_includes(const gls_guide *guide, const float seed[3], const gls_guide_half half[2],
                                uint32_t *met);
/* The verdict on a streamline of which a half ended so: GLS_VERDICT_KEPT, or that of the regions that reject it. */
gls_verdict gls_guide_regions_verdict_of(gls_end end);
/* Whether this is such a verdict. */
bool gls_guide_regions_gave(gls_verdict verdict);

#endif
