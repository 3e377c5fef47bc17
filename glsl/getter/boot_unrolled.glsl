// Bootstrap sample written out for one invocation: the matrices are literals in generated rows, which call the macros
// below (src/track/getter/boot.c). Channels: the coefficients of the hat fit, the mean b0 signal, padding; from
// VOLUME_COEFFICIENT_CHANNELS on the residuals. The arrays live in registers of the invocation.
float channel[VOLUME_CHANNELS];
float coefficient[N_COEFFICIENTS];
float fitted[N_COEFFICIENTS];

// Interpolates all channels of the field at p.
void sample_volume(vec3 p)
{
    vec3 base = volume_base(p);
    // rows instead of a loop: at an index that is not constant llvmpipe stores lane by lane, with a branch for each
    // lane
#define TILE(texture_index, t, first)                     \
    {                                                     \
        vec4 value = VOLUME_TILE(texture_index, t, base); \
        channel[first] = value.x;                         \
        channel[first + 1] = value.y;                     \
        channel[first + 2] = value.z;                     \
        channel[first + 3] = value.w;                     \
    }
#include <tile_rows>
#undef TILE
    EACH_COEFFICIENT(coefficient[j] = channel[j];)
}

// Draws two indices from one word: the fraction that the first leaves over gives the second (bias below
// N_MEASUREMENTS^2 / 2^32).
#define DRAW(number) words = draw_block(draw, uint(number));
#define FIRST(word) umulExtended(word, uint(N_MEASUREMENTS), index, fraction);
#define SECOND umulExtended(fraction, uint(N_MEASUREMENTS), index, fraction);
// The macros of the rows: RESAMPLED takes the drawn residual; HAT adds the hat fit; FIT_BEGIN normalises the signal and
// applies what does not depend on the degree; DEGREE makes the input of one degree; FIT adds the share of a measurement
// to a coefficient.
// Measurements come in blocks of up to 8, numbered by k. s: their signal; e: the normalised signal.
#define BEGIN { float s[8], e[8], base[8], x[8];
#define RESAMPLED(k) s[k] = channel[uint(VOLUME_COEFFICIENT_CHANNELS) + index];
#define HAT(k, j, w) s[k] += w * coefficient[j];
#define FIT_BEGIN(k)                                      \
    {                                                     \
        e[k] = max(s[k], params.min_signal) * inverse_s0; \
        FIT_PREPARE(e[k])                                 \
        base[k] = fit_base;                               \
    }
#define DEGREE(k, laplacian)               \
    {                                      \
        float fit_base = base[k];          \
        x[k] = FIT_INPUT(e[k], laplacian); \
    }
#define FIT(k, j, w) fitted[j] += w * x[k];
#define END }

// Draws a residual for each measurement, adds it to the hat fit, and adds the share of the measurement to the SH
// coefficients of the ODF, in `fitted`.
void resample(Draw draw, float inverse_s0)
{
    uvec4 words;
    uint index, fraction;
#include <resample_rows>
}

#if HAVE_MEASURED
// Restores the measured signal d from its residuals r: d_i = (H d)_i + (r_i + mean) w_i. H d is the hat fit, w_i = 1 /
// leverage_scale_i of <glslines/qball.h>, and `mean` was subtracted from the residuals.
#define MEAN(i, w) mean -= channel[VOLUME_COEFFICIENT_CHANNELS + i] * w;
#define MEASURED(k, i, w) s[k] = (channel[VOLUME_COEFFICIENT_CHANNELS + i] + mean) * w;
// Adds the SH coefficients of the measured signal, without resampling, to `fitted`. inverse_s0: 1 over the mean b0
// signal at the position.
void use_measured(float inverse_s0)
{
    float mean = 0.0;
#include <mean_rows>
#include <measured_rows>
}
#endif

// Computes the SH coefficients of the ODF at p, in `fitted`.
void sample_coefficients(vec3 p, Draw draw, bool measured)
{
    // fitted = scale * (fit of the resampled or measured signal), coefficient by coefficient.
    sample_volume(p);
    float inverse_s0 = 1.0 / max(channel[N_COEFFICIENTS], params.min_signal);
    EACH_COEFFICIENT(fitted[j] = 0.0;)
#if HAVE_MEASURED
    if (measured) use_measured(inverse_s0);
    else
#endif
    resample(draw, inverse_s0);
#define SCALE(j, w) fitted[j] *= w;
#define FIXED(j, value) fitted[j] = value;
#include <scale_rows>
}
