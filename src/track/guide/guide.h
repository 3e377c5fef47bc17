/* A guide: what may be done at a point. On the device it looks at every point that a half-streamline would go to, and
 * lets it go on or ends it; what it remembers of a half on the way decides with the other half what becomes of the
 * streamline. Each guide is a row of functions in a file of its own, with a shader of its own. */
#ifndef GLS_TRACK_GUIDE_GUIDE_H
#define GLS_TRACK_GUIDE_GUIDE_H

#include <glslines/track.h>

#include "track/shader/defines.h"
#include "track/shader/layout.h"

#define GLS_GUIDE_MAX_TEXTURES 8
#define GLS_GUIDE_MAX_WORDS 8

typedef struct gls_guide_kind gls_guide_kind;

typedef struct gls_guide_plan {
    const gls_guide_kind *kind;
    uint32_t n_textures; /* it has the texture units 0 .. n_textures - 1 */
    uint32_t n_words;    /* that it remembers of a half: 0 at its start, kept between dispatches, see the verdict */
    uint64_t bytes;      /* of its textures */
} gls_guide_plan;

/* A guide on a device. */
typedef struct gls_guide {
    gls_guide_plan plan;
    gls_texture *texture[GLS_GUIDE_MAX_TEXTURES];
} gls_guide;

struct gls_guide_kind {
    const char *name;
    const char *shader; /* fills the slot <guide>, see glsl/slots.txt */
    gls_status (*plan)(const gls_track_params *params, const gls_track_input *input, gls_guide_plan *plan);
    /* What the shader has to know. NULL: nothing. */
    void (*define)(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                   gls_define_list *defines);
    /* Makes the textures and fills them. */
    gls_status (*create)(gls_guide *guide, gls_device *device, const gls_track_input *input);
    /* Its own fields of the uniform block; the others are 0 before. NULL: none. */
    void (*uniforms)(const gls_track_params *params, gls_track_uniforms *uniforms);
    /* What becomes of a streamline that would be kept otherwise. seed: voxels; backward, forward: what was remembered
     * of the halves, n_words each: of their points as they were tracked, before a cut at the maximum length; the shader
     * does not see the seed itself. NULL: it is kept. */
    gls_verdict (*judge)(const gls_guide *guide, const float seed[3], const uint32_t *backward,
                         const uint32_t *forward);
};

/* The guide that the parameters and the input ask for. */
gls_status gls_guide_plan_make(const gls_track_params *params, const gls_track_input *input, gls_guide_plan *plan);
gls_status gls_guide_create(gls_device *device, const gls_guide_plan *plan, const gls_track_input *input,
                            gls_guide *guide);
void gls_guide_finish(gls_guide *guide);
/* The definitions of the guide, and its slot. */
void gls_guide_define(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                      gls_define_list *defines);
/* Its textures as arguments of a kernel; returns how many. */
size_t gls_guide_arguments(const gls_guide *guide, gls_arg *args);

#endif
