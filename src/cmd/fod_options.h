/* Options of the commands that make fixels of FODs: entries of a table for a member of type gls_fod_options. */
#ifndef GLS_CMD_FOD_OPTIONS_H
#define GLS_CMD_FOD_OPTIONS_H

#include "options/options.h"
#include "track/params.h"
#include "workflow/fod.h"

#define FOD_NUMBER(owner, member, name_, help_)                                                    \
    {                                                                                              \
        .group = "FODs", .name = name_, .type = CMD_DOUBLE, .metavar = "X", .min = 0, .max = 1e30, \
        .offset = offsetof(owner, member), .help = help_                                           \
    }

/* basis and frame are the int members of the owner that the choices go to */
#define FOD_OPTIONS(owner, fod, basis_, frame_)                                                                     \
    FOD_NUMBER(owner, fod.fixel.peak, "fixel-peak", "Smallest amplitude of a lobe."),                               \
        FOD_NUMBER(owner, fod.fixel.integral, "fixel-integral", "Smallest integral of a lobe."),                    \
        {.group = "FODs",                                                                                           \
         .name = "no-dilate",                                                                                       \
         .type = CMD_FLAG,                                                                                          \
         .offset = offsetof(owner, fod.no_dilate),                                                                  \
         .help = "Directions between the lobes belong to none of them."},                                           \
        {.group = "FODs",                                                                                           \
         .name = "act",                                                                                             \
         .type = CMD_STRING,                                                                                        \
         .metavar = "5TT",                                                                                          \
         .offset = offsetof(owner, fod.act),                                                                        \
         .help = "Image of five tissues, of any grid: voxels count by the square of their share of white matter."}, \
        {.group = "FODs",                                                                                           \
         .name = "proc-mask",                                                                                       \
         .type = CMD_STRING,                                                                                        \
         .metavar = "IMAGE",                                                                                        \
         .offset = offsetof(owner, fod.proc_mask),                                                                  \
         .default_text = "all voxels",                                                                              \
         .help = "What each voxel counts, 0 to 1, on the grid of the FODs."},                                       \
        {.group = "FODs",                                                                                           \
         .name = "sh-basis",                                                                                        \
         .type = CMD_CHOICE,                                                                                        \
         .metavar = "BASIS",                                                                                        \
         .choices = GLS_BASIS_CHOICES,                                                                              \
         .offset = offsetof(owner, basis_),                                                                         \
         .help = "Basis of the spherical harmonics."},                                                              \
    {                                                                                                               \
        .group = "FODs", .name = "sh-frame", .type = CMD_CHOICE, .choices = "auto|" GLS_FRAME_CHOICES,              \
        .offset = offsetof(owner, frame_),                                                                          \
        .help = "Axes of the spherical harmonics; auto: scanner axes for the tournier07 bases, else FSL's."         \
    }

#endif
