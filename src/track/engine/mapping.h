/* A mapping: how invocations share the work on a streamline. Each is a row, with a shader file for what lanes do
 * together. */
#ifndef GLS_TRACK_ENGINE_MAPPING_H
#define GLS_TRACK_ENGINE_MAPPING_H

#include <glslines/track.h>

/* A work group. */
typedef struct gls_group_plan {
    uint32_t size;  /* invocations */
    uint32_t slots; /* streamlines at most */
} gls_group_plan;

typedef struct gls_mapping_kind {
    gls_mapping mapping;
    const char *name;
    const char *shader; /* fills the slot <lanes>: base/lanes_*.glsl */
    bool extension;     /* KHR_shader_subgroup */
    bool alone;         /* a work group has one streamline */
    bool looped; /* shaders in loops that the lanes share; else written out for one invocation where there are such */
    /* GLS_ERR_UNSUPPORTED with the reason where the device cannot do so. */
    gls_status (*check)(const gls_device_info *limits);
    /* Invocations of a streamline. */
    uint32_t (*lanes)(const gls_device_info *limits);
    /* A work group for so many streamlines, fewer where the device's limits want it; it may be of more streamlines than
     * were asked for. */
    gls_group_plan (*group)(const gls_device_info *limits, uint32_t n_streamlines);
    /* Streamlines of a group, at most, for each that is asked for. */
    uint32_t (*slots_each)(const gls_device_info *limits);
} gls_mapping_kind;

/* The one to try where a mapping does not compile; GLS_MAPPING_AUTO: none is left. */
gls_mapping gls_mapping_next(gls_mapping mapping, const gls_device_info *limits);
/* The one that was asked for, or gls_mapping_auto(). */
gls_status gls_mapping_choose(gls_mapping mapping, const gls_device_info *limits, const gls_mapping_kind **kind);

#endif
