/* Guides: what stops streamlines, and what accepts or rejects them. */
#ifndef GLS_TRACK_GUIDE_GUIDE_H
#define GLS_TRACK_GUIDE_GUIDE_H

#include <math.h>

#include <glslines/track.h>

#include "track/shader/kernel_inputs.h"
#include "track/shader/layout.h"

/* --- A guide: what may be done at a point. On the device it looks at every point that a half-streamline would go to,
 * and lets it go on or ends it; what it remembers of a half on the way decides with the other half what becomes of the
 * streamline. Each guide is a row of functions in a file of its own, with a shader of its own. */

#define GLS_GUIDE_MAX_TEXTURES 8
#define GLS_GUIDE_MAX_WORDS 48

typedef struct gls_guide_kind gls_guide_kind;

typedef struct gls_guide_plan {
    const gls_guide_kind *kind;
    uint32_t n_textures; /* it has the texture units 0 .. n_textures - 1 */
    uint32_t n_words;    /* that it remembers of a half: 0 at its start, kept between dispatches, see the verdict */
    uint64_t bytes;      /* of its textures */
    bool amplitude;      /* it wants to know the amplitude along the last step, see glsl/kernel/half.glsl */
    uint32_t side;       /* regions: texels along the axes of their texture */
    /* Places of words, where there are such. Regions: those that were met, the next of an order, of each region to
     * include the number of the first point in it; tissue: flags, and what is left when a half is cut in deep grey
     * matter. */
    uint32_t met, order, visits, n_visits, tissue, least, keep, keep_met, keep_order, left_keep, left_met;
    bool remembers;
    bool backtracks;    /* halves that ended badly are taken back */
    uint32_t backtrack; /* its words, behind all others */
    /* Or filtered by particles: how many, their steps, and the blocks of the pool in which they lie. */
    uint32_t particles, filter_back, filter_front, filter_blocks;
    uint32_t block_words; /* of the record of a block of the pool */
} gls_guide_plan;

/* A guide on a device. */
typedef struct gls_guide {
    gls_guide_plan plan;
    const gls_regions *regions; /* NULL: none */
    const gls_tissue *tissue;   /* NULL: none */
    gls_track_params params;
    gls_texture *texture[GLS_GUIDE_MAX_TEXTURES];
} gls_guide;

/* A half-streamline that has ended. */
typedef struct gls_guide_half {
    uint32_t parts; /* of steps, of which each may have several, that were passed */
    gls_end end;
    const uint32_t *memory; /* n_words; of one that was not tracked nothing is known */
} gls_guide_half;

struct gls_guide_kind {
    const char *name;
    const char *shader; /* fills the slot <guide>, see glsl/slots.txt */
    gls_status (*plan)(const gls_track_params *params, const gls_device_info *limits, const gls_track_input *input,
                       gls_guide_plan *plan);
    /* What the shader has to know. NULL: nothing. */
    void (*define)(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                   gls_define_list *defines);
    /* Makes the textures and fills them. */
    gls_status (*create)(gls_guide *guide, gls_device *device, const gls_track_input *input);
    /* Its own fields of the uniform block; the others are 0 before. NULL: none. */
    void (*uniforms)(const gls_track_params *params, gls_track_uniforms *uniforms);
    /* Whether streamlines may start at a seed, voxels, which the shader does not see. NULL: anywhere. */
    bool (*admits)(const gls_guide *guide, const float seed[3]);
    /* Whether streamlines that start at a seed lead in one direction only. NULL: in two. */
    bool (*one_sided)(const gls_guide *guide, const float seed[3]);
    /* Whether that is against a unit vector (mm, along the voxel axes). */
    bool (*turns_round)(const gls_guide *guide, const float seed[3], const float direction[3]);
    /* What becomes of a streamline, whose halves (backward, forward) it may cut: a verdict that goes first whatever
     * else there is to say of it, see gls_verdict_goes_first(), and any other where it would be kept otherwise. What a
     * half remembers is of its points as they were tracked, before a cut at the maximum length; *met: bits of the
     * regions that it met. NULL: it is kept. The regions to include are looked at by the next function alone. */
    gls_verdict (*judge)(const gls_guide *guide, const float seed[3], uint32_t max_parts, gls_guide_half half[2],
                         uint32_t *met);
    /* Whether the seed and the points that the halves have in the end, after every cut, meet all regions to include;
     * sets their bits of *met. With the memory as the device left it. NULL: yes. */
    bool (*includes)(const gls_guide *guide, const float seed[3], const gls_guide_half half[2], uint32_t *met);
};

/* Steps of particles over a length. */
static inline double gls_filter_steps(double length, double step)
{
    return ceil(length / step * (1 - 1e-9));
}

/* The guide that the parameters and the input ask for. */
gls_status gls_guide_plan_make(const gls_track_params *params, const gls_device_info *limits,
                               const gls_track_input *input, gls_guide_plan *plan);
/* What the input leads to must outlive the guide. */
gls_status gls_guide_create(gls_device *device, const gls_guide_plan *plan, const gls_track_params *params,
                            const gls_track_input *input, gls_guide *guide);
void gls_guide_finish(gls_guide *guide);
/* The definitions of the guide, and its slot. */
void gls_guide_define(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                      gls_define_list *defines);
/* Whether a verdict of the guide goes before those about length. */
bool gls_verdict_goes_first(gls_verdict verdict);
/* Its textures as arguments of a kernel; returns how many. */
size_t gls_guide_arguments(const gls_guide *guide, gls_arg *args);

/* --- The rules of regions, for every guide that has them: in the second texture. */

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

/* --- The stop map as every guide has it: in the first texture. */

gls_status gls_stop_map_create(gls_guide *guide, gls_device *device, const gls_track_input *input);
void gls_stop_map_uniforms(const gls_track_params *params, gls_track_uniforms *uniforms);

#endif
