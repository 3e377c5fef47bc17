// Fits the tensors of tensordet and tensorprob to signals in a buffer of texels, in one invocation for each streamline,
// on software renderers. A cell is the cube between eight neighbouring voxel centres. With WRITTEN_OUT the signals at
// the corners of a cell are loaded once, with the residuals of the bootstrap, and stay in private memory. The kernel
// then takes the steps in a cell together, at most CELL_STEPS of them (kernel/step.comp). Without WRITTEN_OUT, and with
// Runge-Kutta steps, the signals are loaded for each point.
#if WRITTEN_OUT && !TENSOR_RK4
#define CELL_STEPS 6
#endif

vec3 cell;         // the current cell: the voxel at its corner with the lowest coordinates
uint cell_signals; // bit k: corner k has a signal
#if WRITTEN_OUT
// The signals in the cell as polynomials, see polynomial(): eight vectors for each quad of volumes.
vec4 cell_quad[8 * TENSOR_QUADS];

const vec4 tensor_fit[] = vec4[](
#include <tensor_rows>
);
#define TENSOR_FIT(i) tensor_fit[i]
#else
#define TENSOR_FIT(i) MODEL_FLOATS(MODEL_TENSOR + i)
#endif

// Index of the first texel of the voxel at corner k.
int corner_texel(int k) { return texel_corner(cell, k) * TEXELS; }

// Draws the signs of a block of 128 volumes for the voxels at the eight corners.
void draw_signs(int block, Draw draw, out uvec4 signs[8])
{
#if TENSOR_BOOTSTRAP
    for (int k = 0; k < 8; k++) signs[k] = signs_of(uint(texel_corner(cell, k)), block, draw);
#endif
}

// Loads the signals of a quad of volumes at the corners and returns the coefficients of the polynomials that
// interpolate them, in the order 1 x y xy z xz yz xyz.
vec4[8] polynomial(int quad, uvec4 signs[8])
{
    vec4 s[8];
    for (int k = 0; k < 8; k++) {
        int at = corner_texel(k);
#if TENSOR_BOOTSTRAP
        uvec4 flip = (signs[k] << uint(31 - quad % 32)) & 0x80000000u; // the sign of a float is its bit 31
        s[k] = texel_quad(at, 2 * quad) + uintBitsToFloat(floatBitsToUint(texel_quad(at, 2 * quad + 1)) ^ flip);
#else
        s[k] = texel_quad(at, quad);
#endif
    }
    for (int k = 0; k < 8; k += 2) s[k + 1] -= s[k];
    for (int k = 0; k < 4; k++) s[k + (k & 2) + 2] -= s[k + (k & 2)];
    for (int k = 0; k < 4; k++) s[k + 4] -= s[k];
    return s;
}

// Makes the cell around p the current cell: finds which corners have a signal and, with WRITTEN_OUT, loads all signals.
void enter_cell(vec3 p, Draw draw)
{
    cell = texel_cell(p);
    cell_signals = 0u;
    // Index of the quad that holds the channel behind the last volume. With the bootstrap a quad of residuals follows
    // each quad of signals.
    const int last = TENSOR_VOLUMES / 4 * (1 + TENSOR_BOOTSTRAP);
    for (int k = 0; k < 8; k++)
        cell_signals |= texel_quad(corner_texel(k), last)[TENSOR_VOLUMES % 4] > 0.0 ? 1u << k : 0u;
#if WRITTEN_OUT
    uvec4 signs[8];
    vec4 c[8];
#define QUAD(quad)                                             \
    if (quad % 32 == 0) draw_signs(quad / 32, draw, signs);    \
    c = polynomial(quad, signs);                               \
    for (int k = 0; k < 8; k++) cell_quad[8 * quad + k] = c[k];
#include <tensor_quads>
#undef QUAD
#endif
}

// Whether p lies in the current cell.
bool in_cell(vec3 p) { return texel_cell(p) == cell; }

#ifdef CELL_STEPS
// Number of steps, at most CELL_STEPS, that begin in the cell around p on the straight line from p along d.
uint steps_ahead(vec3 p, vec3 d)
{
    vec3 step = d * vec3(params.step_x, params.step_y, params.step_z), q = texel_position(p), low = texel_cell(p);
    vec3 n = mix(q - low, low + 1.0 - q, greaterThan(step, vec3(0.0))) / max(abs(step), vec3(1e-6));
    return uint(clamp(min(n.x, min(n.y, n.z)) + 1.0, 1.0, float(CELL_STEPS)));
}
#endif

void approach(vec3 p, Draw draw)
{
#ifndef CELL_STEPS
    enter_cell(p, draw);
#endif
}

// Whether p lies in the grid and the nearest voxel has a signal. Voxels without a signal count as outside of the image,
// as in MRtrix3.
bool has_signal(vec3 p)
{
    uvec3 high = uvec3(greaterThanEqual(p - cell, vec3(0.5)));
    return inside(p) && (cell_signals >> (high.x + 2u * high.y + 4u * high.z) & 1u) != 0u;
}

// Returns the signals of a quad of volumes at f, the position in the cell, from 0 to 1 along each axis. c: polynomials
// of the quad; unit: the signal whose logarithm counts as 0; it replaces signals that are not positive.
vec4 signals_at(vec4 c[8], vec3 f, float unit)
{
    vec4 s = c[0] + f.x * c[1] + f.y * (c[2] + f.x * c[3]) + f.z * (c[4] + f.x * c[5] + f.y * (c[6] + f.x * c[7]));
    return mix(vec4(unit), s, greaterThan(s, vec4(0.0)));
}

// Returns the logarithms of s to base 2, times 2^23, up to a constant, which does not change the tensor, because ln S0
// is a parameter of the fit. The bits of a float, read as an integer, are this logarithm plus a function of the
// mantissa t (1 to 2) alone, which the polynomial approximates with an error of 1.6e-5 * 2^23.
vec4 logarithms(vec4 s)
{
    ivec4 bits = floatBitsToInt(s);
    vec4 t = intBitsToFloat((bits & 0x007fffff) | 0x3f800000);
    return vec4(bits - floatBitsToInt(TEXEL_UNIT)) +
           t * (34451815.8 + t * (-29937765.6 + t * (13769058.2 + t * (-3517519.8 + t * 378737.8))));
}

// Adds the logarithms of a quad of volumes to the sums of the fit.
void add_quad(int quad, vec4 y, inout float sum[6])
{
    for (int k = 0; k < 6; k++) sum[k] += dot(TENSOR_FIT(6 * quad + k), y);
}

// Fits the tensor to the interpolated signals: each element is the sum over volumes of ln S times a row of the
// pseudoinverse of the design matrix.
Tensor tensor_at(vec3 p, Draw draw)
{
    vec3 f = texel_position(p) - cell;
    float unit = exp(params.min_signal) * TEXEL_UNIT, sum[6] = float[6](0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
#if WRITTEN_OUT
    // Compute all signals, then all logarithms, then all sums: a processor then has more independent instructions.
    vec4 c[8], y[TENSOR_QUADS];
#define QUAD(quad)                                             \
    for (int k = 0; k < 8; k++) c[k] = cell_quad[8 * quad + k]; \
    y[quad] = signals_at(c, f, unit);
#include <tensor_quads>
#undef QUAD
#define QUAD(quad) y[quad] = logarithms(y[quad]);
#include <tensor_quads>
#undef QUAD
#define QUAD(quad) add_quad(quad, y[quad], sum);
#include <tensor_quads>
#undef QUAD
#else
    for (int first = 0; first < TENSOR_QUADS; first += 32) {
        uvec4 signs[8];
        draw_signs(first / 32, draw, signs);
        for (int quad = first; quad < min(first + 32, TENSOR_QUADS); quad++)
            add_quad(quad, logarithms(signals_at(polynomial(quad, signs), f, unit)), sum);
    }
#endif
    const float scale = 0.69314718056 / 8388608.0; // takes a logarithm to base 2, times 2^23, to the natural one
    for (int k = 0; k < 6; k++) sum[k] *= scale;
    return Tensor(vec3(sum[0], sum[1], sum[2]), vec3(sum[3], sum[4], sum[5]));
}
