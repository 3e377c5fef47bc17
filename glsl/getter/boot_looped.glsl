// Bootstrap sample in loops: lanes share measurements and random blocks. Neighbouring lanes read neighbouring quads of
// the matrices. Shared memory of a streamline holds the channels of the field, one word for each resampled signal, and
// the ODF.
#include "odf/channels.glsl"
SLOT_ARRAY(float, resampled, N_BLOCKS * 8);

#define RESIDUAL(i) CHANNEL(VOLUME_COEFFICIENT_CHANNELS + (i))
float fitted[N_COEFFICIENTS];

#define RESAMPLED(i) SLOT_ELEMENT(resampled, N_BLOCKS * 8, i)

// Interpolates all channels of the field at p into shared memory; each lane fetches some tiles.
void sample_volume(vec3 p)
{
    vec3 base = volume_base(p);
#define TILES CHANNEL_TILES
#include <tile_loops>
#undef TILES
    lane_sync();
}

// Draws a residual with replacement for each measurement. A block of four random words gives eight indices: the
// fraction that the first index of a word leaves over gives the second.
void resample(Draw draw)
{
    for (int b = LANE; b < N_BLOCKS; b += LANES) {
        uvec4 words = draw_block(draw, uint(b));
        uint index, fraction;
        float drawn[8]; // all residuals are loaded before any is stored, so that no load waits for another
        for (int k = 0; k < 4; k++) {
            umulExtended(words[k], uint(N_MEASUREMENTS), index, fraction);
            drawn[2 * k] = RESIDUAL(int(index));
            umulExtended(fraction, uint(N_MEASUREMENTS), index, fraction);
            drawn[2 * k + 1] = RESIDUAL(int(index));
        }
        for (int k = 0; k < 8; k++) RESAMPLED(8 * b + k) = drawn[k];
    }
    lane_sync();
}

#if HAVE_MEASURED
// Restores the measured signal d from its residuals r: d_i = (H d)_i + (r_i + mean) w_i. H d is the hat fit, w_i = 1 /
// leverage_scale_i of <glslines/qball.h>, and `mean` was subtracted from the residuals. Leaves out H d, which
// resampled_signal() adds.
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

// Signal of measurement i from the hat fit and a residual. Weights behind the last coefficient are 0.
float resampled_signal(int i)
{
    float s = RESAMPLED(i);
    for (int q = 0; q < (N_COEFFICIENTS + 3) / 4; q++) {
        vec4 hat = MODEL_FLOATS(MODEL_HAT + q * N_MEASUREMENTS + i);
        s += hat.x * CHANNEL(4 * q);
        s += hat.y * CHANNEL(4 * q + 1);
        s += hat.z * CHANNEL(4 * q + 2);
        s += hat.w * CHANNEL(4 * q + 3);
    }
    return s;
}

// The fit runs over the measurements. Each lane adds up its shares in registers: degrees 0 to 4 first (15
// coefficients), then degree 6 (13), then degree 8 (17). FIT_QUAD: matrix entries for four coefficients from j on; a
// loop over coefficients would leave the sums in memory.
#define FIT_QUAD(j) MODEL_FLOATS(MODEL_FIT + (j) / 4 * N_MEASUREMENTS + i)
#define ADD(at, w) sum[at] += (w) * input_l;
#define DEGREE(l) input_l = FIT_INPUT(e, float(-l * (l + 1)));
#define NO_SUMS for (int j = 0; j < 16; j++) sum[j] = 0.0;

// Where LANE_SUMS() stores the coefficients of the fit. Its work space is the memory of the ODF, unused until then.
#define OF_LOW_DEGREES(j) CHANNEL(j)
#define OF_DEGREE_6(j) CHANNEL(15 + (j))
#define OF_DEGREE_8(j) CHANNEL(28 + (j))

// FIT_APART: a loop of its own first stores the input of the fit in place of the resampled signals and the residuals. A
// single loop would need more registers than older AMD GPUs have; on NVIDIA a single loop is faster.
#define FIT_APART (SH_ORDER >= 6 && !LANES_IN_STEP)

// Computes the SH coefficients of the ODF at p in every lane, in `fitted`; for high orders they are also in the first
// channels.
void sample_coefficients(vec3 p, Draw draw, bool measured)
{
    float sum[16], input_l;
    sample_volume(p);
#if HAVE_MEASURED
    if (measured) use_measured();
    else
#endif
    resample(draw);
    float inverse_s0 = 1.0 / max(CHANNEL(N_COEFFICIENTS), params.min_signal);
#if FIT_APART
    for (int i = LANE; i < N_MEASUREMENTS; i += LANES) {
        float e = max(resampled_signal(i), params.min_signal) * inverse_s0;
        FIT_PREPARE(e)
        RESAMPLED(i) = e;
        RESIDUAL(i) = fit_base;
    }
#endif
    // Degrees 0 to 4.
    NO_SUMS
    for (int i = LANE; i < N_MEASUREMENTS; i += LANES) {
#if FIT_APART
        float e = RESAMPLED(i), fit_base = RESIDUAL(i);
#else
        float e = max(resampled_signal(i), params.min_signal) * inverse_s0;
        FIT_PREPARE(e)
#endif
        vec4 a = FIT_QUAD(0), b = FIT_QUAD(4);
        DEGREE(0)
        ADD(0, a.x)
        DEGREE(2)
        ADD(1, a.y) ADD(2, a.z) ADD(3, a.w) ADD(4, b.x) ADD(5, b.y)
#if SH_ORDER >= 4
        vec4 c = FIT_QUAD(8), f = FIT_QUAD(12);
        DEGREE(4)
        ADD(6, b.z) ADD(7, b.w) ADD(8, c.x) ADD(9, c.y) ADD(10, c.z) ADD(11, c.w) ADD(12, f.x) ADD(13, f.y) ADD(14, f.z)
#endif
#if SH_ORDER >= 6 && !FIT_APART
        RESAMPLED(i) = e;
        RESIDUAL(i) = fit_base;
#endif
    }
    lane_sync(); // waits until all lanes have read the coefficients of the hat fit
    // Combine the lanes. The coefficients of the sample overwrite the coefficients of the hat fit.
    LANE_SUMS(sum, min(N_COEFFICIENTS, 15), ODF, ODF_CHANNELS, OF_LOW_DEGREES)
#if SH_ORDER >= 6
    NO_SUMS
    for (int i = LANE; i < N_MEASUREMENTS; i += LANES) {
        float e = RESAMPLED(i), fit_base = RESIDUAL(i);
        vec4 a = FIT_QUAD(12), b = FIT_QUAD(16), c = FIT_QUAD(20), f = FIT_QUAD(24);
        DEGREE(6)
        ADD(0, a.w) ADD(1, b.x) ADD(2, b.y) ADD(3, b.z) ADD(4, b.w) ADD(5, c.x) ADD(6, c.y) ADD(7, c.z) ADD(8, c.w)
        ADD(9, f.x) ADD(10, f.y) ADD(11, f.z) ADD(12, f.w)
    }
    LANE_SUMS(sum, 13, ODF, ODF_CHANNELS, OF_DEGREE_6)
#endif
#if SH_ORDER >= 8
    float last = 0.0;
    NO_SUMS
    for (int i = LANE; i < N_MEASUREMENTS; i += LANES) {
        float e = RESAMPLED(i), fit_base = RESIDUAL(i);
        vec4 a = FIT_QUAD(28), b = FIT_QUAD(32), c = FIT_QUAD(36), f = FIT_QUAD(40);
        DEGREE(8)
        ADD(0, a.x) ADD(1, a.y) ADD(2, a.z) ADD(3, a.w) ADD(4, b.x) ADD(5, b.y) ADD(6, b.z) ADD(7, b.w)
        ADD(8, c.x) ADD(9, c.y) ADD(10, c.z) ADD(11, c.w) ADD(12, f.x) ADD(13, f.y) ADD(14, f.z) ADD(15, f.w)
        last += FIT_QUAD(44).x * input_l;
    }
    LANE_SUMS(sum, 16, ODF, ODF_CHANNELS, OF_DEGREE_8)
    last = lane_sum(last);
    if (LANE == 0) CHANNEL(44) = last;
#endif
    lane_sync();
#define SCALE(j, w) CHANNEL(j) *= w;
#define FIXED(j, value) CHANNEL(j) = value;
    // Scale the coefficients; for high orders in shared memory, for low orders in each lane.
#if N_COEFFICIENTS > 15
    if (LANE == 0) {
#include <scale_rows>
    }
    lane_sync();
    EACH_COEFFICIENT(fitted[j] = CHANNEL(j);)
#else
    for (int j = 0; j < N_COEFFICIENTS; j++) fitted[j] = CHANNEL(j);
#undef SCALE
#undef FIXED
#define SCALE(j, w) fitted[j] *= w;
#define FIXED(j, value) fitted[j] = value;
#include <scale_rows>
#endif
}
