// Bootstrap sample in loops: measurements and random blocks are dealt out to the lanes. Matrices are stored in the model
// buffer so that neighbouring lanes read neighbouring quads.
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

// The signal that the hat fit and a residual give for measurement i.
#define HAT_QUADS ((N_COEFFICIENTS + 3) / 4)
float resampled_signal(int i)
{
    float s = RESAMPLED(i);
    for (int q = 0; q < HAT_QUADS; q++) {
        vec4 hat = MODEL_FLOATS(MODEL_HAT + q * N_MEASUREMENTS + i);
        for (int x = 0; x < min(4, N_COEFFICIENTS - 4 * q); x++) s += hat[x] * CHANNEL(4 * q + x);
    }
    return s;
}

// Four coefficients of degree l of the fit, for measurement i: 2 l + 1 are in l / 2 + 1 quads.
#define FIT_WEIGHTS(l, q, i) MODEL_FLOATS(MODEL_FIT + ((l) / 2 * ((l) / 2 + 1) / 2 + (q)) * N_MEASUREMENTS + (i))

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
    // GPUs have. The residuals are used by now and leave their place.
    for (int i = LANE; i < N_MEASUREMENTS; i += LANES) {
        float e = max(resampled_signal(i), params.min_signal) * inverse_s0;
        FIT_PREPARE(e)
        RESAMPLED(i) = e;
        RESIDUAL(i) = fit_base;
    }
    lane_sync();
    for (int l = 0; l <= SH_ORDER; l += 2) {
        float sum[2 * SH_ORDER + 1];
        int first = l * (l - 1) / 2;
        for (int m = 0; m <= 2 * l; m++) sum[m] = 0.0;
        for (int i = LANE; i < N_MEASUREMENTS; i += LANES) {
            float e = RESAMPLED(i), fit_base = RESIDUAL(i), input_l = FIT_INPUT(e, float(-l * (l + 1)));
            for (int q = 0; q <= l / 2; q++) {
                vec4 weight = FIT_WEIGHTS(l, q, i);
                for (int x = 0; x < min(4, 2 * l + 1 - 4 * q); x++) sum[4 * q + x] += weight[x] * input_l;
            }
        }
        for (int m = 0; m <= 2 * l; m++) {
            float total = lane_sum(sum[m]);
            if (LANE == 0) CHANNEL(first + m) = total;
        }
    }
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
        float e = max(resampled_signal(i), params.min_signal) * inverse_s0;
        FIT_PREPARE(e)
        for (int l = 0; l <= SH_ORDER; l += 2) {
            float input_l = FIT_INPUT(e, float(-l * (l + 1)));
            for (int q = 0; q <= l / 2; q++) {
                vec4 weight = FIT_WEIGHTS(l, q, i);
                for (int x = 0; x < min(4, 2 * l + 1 - 4 * q); x++)
                    fitted[l * (l - 1) / 2 + 4 * q + x] += weight[x] * input_l;
            }
        }
    }
    for (int j = 0; j < N_COEFFICIENTS; j++) fitted[j] = lane_sum(fitted[j]);
#define SCALE(j, w) fitted[j] *= w;
#define FIXED(j, value) fitted[j] = value;
#include <scale_rows>
#endif
}
