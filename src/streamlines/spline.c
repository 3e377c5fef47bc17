#include "streamlines/filter_parts.h"

static void spline_weights(float mu, float w[4])
{
    const float t = 0.5f * 0.1f, h = 0.5f, p2 = mu * mu, p3 = mu * p2;
    w[0] = (h - t) * (2 * p2 - p3 - mu);
    w[1] = 1 + (1.5f + t) * p3 - (2.5f + t) * p2;
    w[2] = (2 + 2 * t) * p2 + (h - t) * mu - (1.5f + t) * p3;
    w[3] = (h - t) * (p3 - p2);
}

void gls_spline_at(float mu, const float *a, const float *b, const float *c, const float *d, float q[3])
{
    float w[4];
    spline_weights(mu, w);
    for (int r = 0; r < 3; r++) {
        float x0 = w[0] * a[r], x1 = w[1] * b[r], x2 = w[2] * c[r], x3 = w[3] * d[r];
        q[r] = ((x0 + x1) + x2) + x3;
    }
}
