/* Options of `glslines track`. */
#ifndef GLS_CMD_TRACK_OPTIONS_H
#define GLS_CMD_TRACK_OPTIONS_H

#include "cmd/model_options.h"

typedef struct track_options {
    cmd_common common;
    /* output */
    const char *output, *output_prefix, *sidecar;
    int write_method; /* gls_tractogram_format */
    int output_half;
    bool force, fail_if_empty, dry_run;
    /* input */
    const char *fa, *sh, *odf, *mask, *roi;
    /* seeds */
    uint64_t nseeds, seeds_per_voxel;
    const char *seeds;
    int seed_space; /* 0 voxel, 1 world */
    cmd_seed seed_seed, rng_seed;
    const char *shard;
    /* model */
    model_options model;
    const char *sphere, *cache_dir;
    /* tracking */
    int dg; /* gls_direction_getter */
    cmd_length step_size;
    double max_angle, fa_threshold, min_length, max_length, pmf_threshold, relative_peak_threshold,
        min_separation_angle, angular_weight;
    int max_directions_per_seed;
    int boot_retry, boot_start, odf_interpolation;
    bool keep_single_points;
    cmd_length probe_length, probe_radius, min_radius, ptt_substep;
    int probe_count, probe_quality;
    /* device */
    const char *device;
    int api, mapping, float_textures;
    uint64_t chunk_size;
    int ngpus;
} track_options;

extern const cmd_option track_option_table[];

void track_options_default(void *values);

/* What the table cannot check: options that exclude each other or come with a later version. Settles the direction
 * getter where none was given. Returns an exit code, the message printed. */
int track_options_check(const cmd_command *command, track_options *options, const cmd_arguments *arguments);

#endif
