// Bootstrap sample in loops: measurements and random blocks are dealt out to the lanes. Matrices are stored column by
// column in the model buffer, so that neighbouring lanes read neighbouring words.
#include "odf/channels.glsl"
SLOT_ARRAY(float, resampled, N_BLOCKS * 8);

#define RESIDUAL(i) CHANNEL(VOLUME_COEFFICIENT_CHANNELS + (i))
float fitted[N_COEFFICIENTS];

#define RESAMPLED(i) SLOT_ELEMENT(resampled, N_BLOCKS * 8, i)

void sample_volume(vec3 p)
{
    vec3 base = volume_base(p);
#define TILES(texture_index, n_tiles, first)                                   \
    for (int t = LANE; t < n_tiles; t += LANES) {                              \
        vec4 value = VOLUME_TILE(texture_index, t, base);                      \
        CHANNEL(first + 4 * t) = value.x;                                      \
        CHANNEL(first + 4 * t + 1) = value.y;                                  \
        CHANNEL(first + 4 * t + 2) = value.z;                                  \
        CHANNEL(first + 4 * t + 3) = value.w;                                  \
    }
#include <tile_loops>
#undef TILES
    lane_sync();
}

void resample(Draw draw)
{
    for (int b = LANE; b < N_BLOCKS; b += LANES) {
        uvec4 words = draw_block(draw, uint(b));
        uint index, fraction;
        for (int k = 0; k < 4; k++) {
            umulExtended(words[k], uint(N_MEASUREMENTS), index, fraction);
            RESAMPLED(8 * b + 2 * k) = RESIDUAL(int(index));
            umulExtended(fraction, uint(N_MEASUREMENTS), index, fraction);
            RESAMPLED(8 * b + 2 * k + 1) = RESIDUAL(int(index));
        }
    }
    lane_sync();
}

#if HAVE_MEASURED
// The measured signal itself, from its residuals: d_i = (H d)_i + (r_i + mean) w_i with the mean that the residuals
// have lost.
void use_measured()
{
    float mean = 0.0;
    for (int i = LANE; i < N_MEASUREMENTS; i += LANES) mean -= RESIDUAL(i) * MODEL_FLOAT(MODEL_MEAN + i);
    mean = lane_sum(mean);
    for (int i = LANE; i < N_MEASUREMENTS; i += LANES)
        RESAMPLED(i) = (RESIDUAL(i) + mean) * MODEL_FLOAT(MODEL_MEASURED + i);
    lane_sync();
}
#endif

// SH coefficients of the ODF at p, into fitted; every lane has all.
void sample_coefficients(vec3 p, Draw draw, bool measured)
{
    sample_volume(p);
#if HAVE_MEASURED
    if (measured) use_measured();
    else
#endif
    resample(draw);
    float inverse_s0 = 1.0 / max(CHANNEL(N_COEFFICIENTS), params.min_signal);
#if SH_ORDER > 4
    // degree by degree, and sums in shared memory as soon as they are known: all at once need more registers than some
    // GPUs have
    for (int i = LANE; i < N_MEASUREMENTS; i += LANES) {
        float s = RESAMPLED(i);
        for (int j = 0; j < N_COEFFICIENTS; j++) s += MODEL_FLOAT(MODEL_HAT + j * N_MEASUREMENTS + i) * CHANNEL(j);
        RESAMPLED(i) = max(s, params.min_signal) * inverse_s0;
    }
    lane_sync();
#define OF_DEGREE(m) CHANNEL(first + m)
#define FIT_DEGREE(l)                                                                               \
    {                                                                                               \
        const int first = l * (l - 1) / 2;                                                          \
        float sum[2 * l + 1];                                                                       \
        for (int m = 0; m <= 2 * l; m++) sum[m] = 0.0;                                              \
        for (int i = LANE; i < N_MEASUREMENTS; i += LANES) {                                        \
            float e = RESAMPLED(i);                                                                 \
            FIT_PREPARE(e)                                                                          \
            float input_l = FIT_INPUT(e, float(-l * (l + 1)));                                      \
            for (int m = 0; m <= 2 * l; m++)                                                        \
                sum[m] += MODEL_FLOAT(MODEL_FIT + (first + m) * N_MEASUREMENTS + i) * input_l;      \
        }                                                                                           \
        LANE_SUMS_SHARED(sum, 2 * l + 1, ODF, ODF_CHANNELS, OF_DEGREE)                              \
    }
    FIT_DEGREE(0) FIT_DEGREE(2) FIT_DEGREE(4) FIT_DEGREE(6)
#if SH_ORDER > 6
    FIT_DEGREE(8)
#endif
    lane_sync();
#define SCALE(j, w) CHANNEL(j) *= w;
#define FIXED(j, value) CHANNEL(j) = value;
    if (LANE == 0) {
#include <scale_rows>
    }
    lane_sync();
    EACH_COEFFICIENT(fitted[j] = CHANNEL(j);)
#else
    for (int j = 0; j < N_COEFFICIENTS; j++) fitted[j] = 0.0;
    for (int i = LANE; i < N_MEASUREMENTS; i += LANES) {
        float s = RESAMPLED(i);
        for (int j = 0; j < N_COEFFICIENTS; j++) s += MODEL_FLOAT(MODEL_HAT + j * N_MEASUREMENTS + i) * CHANNEL(j);
        float e = max(s, params.min_signal) * inverse_s0;
        FIT_PREPARE(e)
        int j = 0;
        for (int l = 0; l <= SH_ORDER; l += 2) {
            float input_l = FIT_INPUT(e, float(-l * (l + 1)));
            for (int m = -l; m <= l; m++, j++)
                fitted[j] += MODEL_FLOAT(MODEL_FIT + j * N_MEASUREMENTS + i) * input_l;
        }
    }
    LANE_SUMS(fitted, N_COEFFICIENTS, ODF, ODF_CHANNELS, CHANNEL)
#define SCALE(j, w) fitted[j] *= w;
#define FIXED(j, value) fitted[j] = value;
#include <scale_rows>
#endif
}
