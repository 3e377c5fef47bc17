/* Options of `glslines track`. */
#ifndef GLS_CMD_TRACK_OPTIONS_H
#define GLS_CMD_TRACK_OPTIONS_H

#include <glslines/glslines.h>

#include "cmd/options.h"

typedef struct track_options {
    cmd_common common;
    /* output */
    const char *output, *output_prefix, *sidecar;
    int write_method; /* gls_tractogram_format */
    int output_half;
    bool force, fail_if_empty, dry_run;
    /* input */
    int bvec_frame; /* gls_bvec_frame */
    double b0_threshold;
    const char *fa;
    /* seeds */
    uint64_t nseeds, seeds_per_voxel;
    const char *seeds;
    int seed_space; /* 0 voxel, 1 world */
    cmd_seed seed_seed, rng_seed;
    /* model */
    int model;
    int sh_order;
    double sm_lambda, min_signal;
    const char *sphere, *cache_dir;
    /* tracking */
    int dg; /* gls_direction_getter */
    cmd_length step_size;
    double max_angle, fa_threshold, min_length, max_length, pmf_threshold, relative_peak_threshold, min_separation_angle;
    int max_directions_per_seed;
    int boot_retry, boot_start;
    bool keep_single_points;
    /* device */
    const char *device;
    int api, mapping, float_textures;
    uint64_t chunk_size;
    int ngpus;
} track_options;

/* Values of track_options.model: the first two are those of gls_qball_model. */
enum { TRACK_MODEL_OPDT, TRACK_MODEL_CSA, TRACK_MODEL_CSD };

extern const cmd_option track_option_table[];

void track_options_default(void *values);

/* What the table cannot check: options that exclude each other or come with a later version. Returns an exit code, the message printed. */
int track_options_check(const cmd_command *command, const track_options *options, const cmd_arguments *arguments);

#endif
