/* Reads the headers of shards, and merges shards into the tractogram that a single run would have written. */
#ifndef GLSLINES_MERGE_H
#define GLSLINES_MERGE_H

#include <glslines/shard.h>
#include <glslines/tractogram.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The contents of the header of a shard. */
typedef struct gls_shard_file {
    gls_shard shard;
    gls_tractogram_format format;
    char version[32]; /* version of the library that wrote the shard */
    uint64_t n_streamlines;
    uint64_t bytes; /* size of the file */
} gls_shard_file;

/* Reads the header of a shard. The suffix determines the format. GLS_ERR_INPUT: missing, truncated, damaged, or not a
 * shard. */
GLS_API gls_status gls_shard_file_read(const char *path, gls_shard_file *file);

/* Counts of what a merge has written. A streamline of n points has n - 1 steps. All 0 if there is no streamline. */
typedef struct gls_merge_result {
    uint64_t streamlines, points;
    double mean_steps, median_steps;
    uint64_t min_steps, max_steps;
    /* If the run asked for a number of streamlines (select of the shards) and reached it: the index, from 1, of the
     * shard with the last streamline, and the number of seeds up to it, 0 if the files do not say. Otherwise both are
     * 0. */
    uint64_t last_part, last_seeds;
} gls_merge_result;

/* Reports bytes of the shards read so far and in total. Return false to cancel. */
typedef bool (*gls_merge_progress)(void *user, uint64_t done, uint64_t total);

/* Joins the n shards at paths, in any order, into output. The output is byte for byte the file that one run over all
 * seeds writes on the same device; if gls_shard.select of the shards is not 0, the output ends with this number of
 * streamlines. The checksum in each file is verified. GLS_ERR_INPUT names the file: missing, truncated or damaged; not
 * a shard; of another run (version, number of shards or seeds, hashes, grid, format, precision or header lines differ);
 * given twice; or the file of a shard is not among the paths. GLS_ERR_ARGUMENT: output has the suffix of another
 * format. GLS_ERR_OUTPUT: as for gls_tractogram_writer_create(). A failure leaves no file behind. Memory does not grow
 * with the number of streamlines, only with the longest one. progress and result may be NULL. */
GLS_API gls_status gls_tractogram_merge(const char *const *paths, size_t n, const char *output, gls_existing existing,
                                        gls_merge_progress progress, void *user, gls_merge_result *result);

#ifdef __cplusplus
}
#endif
#endif
