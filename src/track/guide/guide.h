/* Guides decide at every point whether a half-streamline goes on, and finally whether a streamline is accepted: by the
 * stop map, regions and tissue. The manual calls the first part the stopping criterion. */
#ifndef GLS_TRACK_GUIDE_GUIDE_H
#define GLS_TRACK_GUIDE_GUIDE_H

#include <math.h>

#include <glslines/track.h>

#include "track/shader/kernel_inputs.h"
#include "track/shader/layout.h"

/* --- A guide. On the device it checks every point before a half-streamline goes there, and ends the half-streamline or
 * lets it go on. It keeps some words of memory for each half-streamline, from which the host judges the streamline.
 * Each guide is a row of functions in a file of its own, with a shader of its own. */

/* Largest number of textures of a guide, and of words of memory of a half-streamline. */
#define GLS_GUIDE_MAX_TEXTURES 8
#define GLS_GUIDE_MAX_WORDS 48

typedef struct gls_guide_kind gls_guide_kind;

/* Resources of a guide on a device, and the indices of its words in the memory of a half-streamline. The plan depends
 * on parameters, input and limits of the device only. */
typedef struct gls_guide_plan {
    const gls_guide_kind *kind;
    uint32_t n_textures; /* the guide uses texture units 0 .. n_textures - 1 */
    uint32_t n_words;    /* number of words of memory of a half-streamline; they are 0 at its start and are kept between
                          * dispatches */
    uint64_t bytes;      /* memory of the guide's textures */
    bool amplitude;      /* true: the shader needs an amplitude at each point, see glsl/kernel/half.glsl */
    uint32_t side;       /* texels of the texture of regions along x; along y it has at most as many */
    /* Indices of the words of memory that are used.
     * Regions. met: bits of the regions met; order: number of ordered regions met; leaving: two words with bits of the
     * regions that must not be left: those that hold the last point, then those that hold the seed and all points so
     * far; visits: first of n_visits words, one for each include region: number, from 1, of the first part of a step
     * that ends in the region; 0: none does.
     * Tissue. tissue: flags; least: smallest amplitude in deep grey matter so far; keep, keep_met, keep_order: number
     * of parts of steps, bits of the regions met and number of ordered regions met up to that amplitude, where the
     * half-streamline may be cut; left_keep, left_met: keep and keep_met when it last left deep grey matter. */
    uint32_t met, order, leaving, visits, n_visits, tissue, least, keep, keep_met, keep_order, left_keep, left_met;
    bool remembers;     /* true: word `met` holds the regions that a half-streamline met */
    bool backtracks;    /* true: half-streamlines with a bad end are taken back, or filtered, and tried again */
    uint32_t backtrack; /* first word of backtracking or particle filtering, behind all other words */
    /* Particle filtering, if particles > 0: number of particles; steps back before a bad end and forward behind it;
     * blocks of the pool for the particles of a half-streamline. */
    uint32_t particles, filter_back, filter_front, filter_blocks;
    uint32_t block_words; /* number of words of the record of a block of the pool of points, see
                           * glsl/layout/block.def */
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
    uint32_t parts; /* number of parts of steps that it passed; a step has one or more parts */
    gls_end end;
    const uint32_t *memory; /* n_words words; undefined if the half-streamline was not tracked */
} gls_guide_half;

/* Whether a half-streamline was tracked, so that it has a memory. */
static inline bool gls_guide_was_tracked(const gls_guide_half *half)
{
    return half->end != GLS_END_NOT_TRACKED;
}

struct gls_guide_kind {
    const char *name;
    const char *shader; /* file of the shader library that fills the slot <guide>, see glsl/slots.txt */
    bool by_voxel;      /* true: the shader has guide_same(), see glsl/guide/threshold.glsl */
    /* Fills in the textures, words and bytes of a plan whose kind is set. GLS_ERR_UNSUPPORTED: a limit of the device is
     * too low. */
    gls_status (*plan)(const gls_track_params *params, const gls_device_info *limits, const gls_track_input *input,
                       gls_guide_plan *plan);
    /* Adds the definitions that the shader needs. NULL: none. */
    void (*define)(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                   gls_define_list *defines);
    /* Creates and fills the textures. */
    gls_status (*create)(gls_guide *guide, gls_device *device, const gls_track_input *input);
    /* Sets the guide's own members of the uniform block, which are 0 before. NULL: none. */
    void (*uniforms)(const gls_track_params *params, gls_track_uniforms *uniforms);
    /* Whether streamlines may start at a seed (voxel coordinates); the shader does not check this. NULL: always. */
    bool (*admits)(const gls_guide *guide, const float seed[3]);
    /* Whether streamlines from this seed are tracked in one sense only. NULL: never. */
    bool (*one_sided)(const gls_guide *guide, const float seed[3]);
    /* Called if one_sided() returned true. Whether the streamline is tracked opposite to `direction`, a unit vector in
     * mm along the voxel axes. */
    bool (*turns_round)(const gls_guide *guide, const float seed[3], const float direction[3]);
    /* Returns the verdict on a streamline with the half-streamlines half[0], backward, and half[1], forward; may
     * shorten them. The streamline is cut to the maximum length only afterwards, so the memory of a half-streamline
     * also covers points that this cut will remove. If there are regions, sets *met to the bits of those met. Missed
     * include regions are left to includes(), unless half-streamlines are judged each by itself (region_rule). NULL:
     * the guide keeps every streamline. */
    gls_verdict (*judge)(const gls_guide *guide, const float seed[3], uint32_t max_parts, gls_guide_half half[2],
                         uint32_t *met);
    /* Whether the streamline, after every cut, meets all include regions; true where half-streamlines are judged each
     * by itself. Corrects in *met the bits of include regions. The memory is as the device left it. NULL: yes. */
    bool (*includes)(const gls_guide *guide, const float seed[3], const gls_guide_half half[2], uint32_t *met);
};

/* Number of steps, rounded up, in a length. length and step have the same unit. */
static inline double gls_filter_steps(double length, double step)
{
    return ceil(length / step * (1 - 1e-9));
}

#endif
