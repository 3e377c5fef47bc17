/* The cardinal spline of tension 0.1 on which MRtrix3 puts new points, in float32 as there. */
#ifndef GLS_STREAMLINES_SPLINE_H
#define GLS_STREAMLINES_SPLINE_H

/* The point mu (0 .. 1) of the way from b to c; a and d are the points before and behind them. */
void gls_spline_at(float mu, const float *a, const float *b, const float *c, const float *d, float q[3]);

#endif
