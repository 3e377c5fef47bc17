// Evaluates SH along single directions from a field of coefficients, without sampling the whole ODF.
//
// A basis function of degree l and order m is Q(z) Re (x + iy)^m or Q(z) Im (x + iy)^m. Generated rows go through the
// orders, and for each order through the even degrees: the polynomial Q of a degree follows from the polynomials of the
// two degrees before.
//
// OWN_POSITIONS: every lane has the coefficients at its own position; otherwise all lanes of a streamline share one
// position.
// TILES_IN_TURN: a tile is read just before its coefficients are used. With all tiles in registers a Radeon before RDNA
// would keep three waves instead of four. A CPU renderer, whose registers are memory anyway, reads all tiles first.
#if TILES_IN_TURN
vec3 tiles_at;

void take_coefficients(vec3 p) { tiles_at = volume_base(p); }

// Compilers cannot load more than six tiles at a time, because they do not know that ALWAYS is true.
#define SH_TILE(i, t) \
    if ((t) % 6 != 0 || ALWAYS) tile = VOLUME_TILE(i, t, tiles_at);
#define CHANNEL(j) tile[(j) % 4]
#else
#define SH_TILE(i, t)
#if OWN_POSITIONS
float channels[VOLUME_CHANNELS];
#define CHANNEL(i) channels[i]
#define FIRST_TILE 0
#define NEXT_TILE 1
#else
#include "odf/channels.glsl"
#define FIRST_TILE LANE
#define NEXT_TILE LANES
#endif

// Loads the coefficients at p.
void take_coefficients(vec3 p)
{
    vec3 base = volume_base(p);
#if !OWN_POSITIONS
    lane_sync();
#endif
#define TILES(texture_index, n_tiles, first)                    \
    for (int t = FIRST_TILE; t < n_tiles; t += NEXT_TILE) {     \
        vec4 value = VOLUME_TILE(texture_index, t, base);       \
        CHANNEL(first + 4 * t) = value.x;                       \
        CHANNEL(first + 4 * t + 1) = value.y;                   \
        CHANNEL(first + 4 * t + 2) = value.z;                   \
        CHANNEL(first + 4 * t + 3) = value.w;                   \
    }
#include <tile_loops>
#undef TILES
#if !OWN_POSITIONS
    lane_sync();
#endif
}
#endif

// Whether there is a FOD at p: where the first four coefficients of the nearest voxel are 0, p counts as outside the
// image, as in MRtrix3.
bool has_fod(vec3 p)
{
    return inside(p) && any(notEqual(VOLUME_VOXEL(volume_base(floor(p + 0.5))), vec4(0.0)));
}

// Amplitude of the FOD along t, at the position given to take_coefficients().
float amplitude_along(vec3 t)
{
    float zz = t.z * t.z, sum = 0.0, re = 1.0, im = 0.0, with_re, with_im, q, before;
#if TILES_IN_TURN
    vec4 tile = vec4(0.0);
#endif
// Macros of the generated rows (src/track/getter/fod_getters.c). q: polynomial Q of the current degree; before: Q of
// the degree before; re + i im: (x + iy)^m; with_re, with_im: sums over degrees of the cosine and sine functions of
// order m.
#define SH_FIRST(k) q = k; before = 0.0; with_re = 0.0; with_im = 0.0;
#define SH_FIRST_Z(k) q = (k) * t.z; before = 0.0; with_re = 0.0; with_im = 0.0;
#define SH_NEXT(f, g, h) { float r = ((f) * zz + (g)) * q + (h) * before; before = q; q = r; }
#define SH_ZONAL(j) sum += CHANNEL(j) * q;
#define SH_COSINE(j) with_re += CHANNEL(j) * q;
#define SH_SINE(j) with_im += CHANNEL(j) * q;
#define SH_TURN { float r = re * t.x - im * t.y; im = re * t.y + im * t.x; re = r; }
#define SH_ORDER_END sum += re * with_re + im * with_im;
#include <sh_rows>
#undef SH_FIRST
#undef SH_FIRST_Z
#undef SH_NEXT
#undef SH_ZONAL
#undef SH_COSINE
#undef SH_SINE
#undef SH_TURN
#undef SH_ORDER_END
    return sum;
}
