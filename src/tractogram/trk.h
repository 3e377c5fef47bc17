/* The header of TrackVis files. */
#ifndef GLS_TRACTOGRAM_TRK_H
#define GLS_TRACTOGRAM_TRK_H

/* Byte positions of fields, and sizes. */
enum {
    TRK_DIM = 6,
    TRK_VOXEL_SIZE = 12,
    TRK_N_SCALARS = 36,
    TRK_SCALAR_NAME = 38,
    TRK_N_PROPERTIES = 238,
    TRK_PROPERTY_NAME = 240,
    TRK_VOX_TO_RAS = 440,
    TRK_SHARD = 504, /* reserved bytes, in which the note on a shard stands */
    TRK_VOXEL_ORDER = 948,
    TRK_PAD2 = 952,
    TRK_N_COUNT = 988,
    TRK_VERSION = 992,
    TRK_HDR_SIZE = 996,
    TRK_HEADER_BYTES = 1000,
    TRK_NAME_BYTES = 20,
    TRK_MAX_NAMES = 10,
    TRK_SHARD_BYTES = TRK_VOXEL_ORDER - TRK_SHARD
};

#endif
