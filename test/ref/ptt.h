/* Parallel transport tractography by the rule of its paper (Aydogan and Shi 2021), in double and in plain loops: curves
 * are drawn from the whole disc of curvatures and taken in proportion to the data that support them.
 *
 * Curves are followed with the closed form of the transported frame, probe step by probe step. Nothing of the tracker
 * is used but its tables, where the caller wants to draw the same streamlines from the same random numbers. */
#ifndef GLS_TEST_REF_PTT_H
#define GLS_TEST_REF_PTT_H

#include <glslines/track.h>

/* A frame, right-handed and orthonormal, along the voxel axes in mm. t is the direction of the streamline. */
typedef struct ptt_frame {
    double t[3], n[3], b[3];
} ptt_frame;

/* Moves the frame a length s along the curve T' = k1 N + k2 B, N' = -k1 T, B' = -k2 T; moved gets the way in mm. */
void ptt_propagate(ptt_frame *frame, double k1, double k2, double s, double moved[3]);
/* Returns the frame of tangent t whose normal is turned by an angle from a fixed one. */
void ptt_frame_make(const double t[3], double angle, ptt_frame *frame);

/* Random words; block and step are the place in the tracker's random sequence that the words have there. */
typedef struct ptt_random {
    void (*words)(void *user, uint32_t block, uint32_t step, uint32_t word[4]);
    void *user;
} ptt_random;

typedef struct ptt_ref {
    const gls_track_params *params;
    const gls_image *stop; /* its grid is everything's */
    const gls_sphere *sphere;
    const uint32_t *nearest; /* octahedral map of vertices, nearest_size a side; NULL: the exact nearest vertex */
    size_t nearest_size;
    double *amplitude; /* [voxel * vertices + vertex], each voxel's largest is 1 */
    uint32_t substeps, max_steps;
    bool as_tracker; /* curves in the tracker's order; else from the whole disc alone, and many more of them */
} ptt_ref;
/* odf: amplitudes on the sphere, >= 0. False: out of memory. */
bool ptt_ref_init(ptt_ref *ref, const gls_track_params *params, const gls_image *odf, const gls_sphere *sphere,
                  const gls_image *stop);
void ptt_ref_finish(ptt_ref *ref);

/* Returns the vertex nearest to t, by the map if there is one. */
size_t ptt_nearest(const ptt_ref *ref, const double t[3]);
/* Interpolates trilinearly, with the outermost half voxel constant. */
double ptt_stop_value(const ptt_ref *ref, const double p[3]);
/* Finds the peaks of the ODF at p as vertices, strongest first. */
size_t ptt_initial(const ptt_ref *ref, const double p[3], uint32_t *vertex, size_t capacity);
/* Returns the sum of the amplitudes along the probe; 0 as soon as it cannot reach `least` any more. */
double ptt_support(const ptt_ref *ref, const double p[3], const ptt_frame *frame, double k1, double k2, double least);
/* Tracks the streamline through the seed along a vertex: its points in voxels, end to end, and the index of the seed.
 * point: room for 2 max_steps + 1. ends: why it ended backward and forward. It is never cut to the maximum length as a
 * whole. */
size_t ptt_track(const ptt_ref *ref, const double seed[3], uint32_t vertex, const ptt_random *random,
                 double (*point)[3], size_t *at_seed, gls_end ends[2]);

#endif
