// Fits the tensors of tensordet and tensorprob to signals that texture units interpolate. A tile holds four volumes;
// for the bootstrap each tile is followed by a tile of residuals. The lanes of a streamline share the volumes.
const int TILES_OF_QUAD = 1 + TENSOR_BOOTSTRAP;

void approach(vec3 p, Draw draw) {}

// Texel of a voxel in tile 0 of a texture. voxel: whole voxel coordinates.
ivec3 texel_of(vec3 voxel)
{
    return ivec3(volume_base(voxel) / vec3(VOLUME_SCALE_X, VOLUME_SCALE_Y, VOLUME_SCALE_Z));
}

// Offset, in texels, of tile t from tile 0 of its texture.
ivec3 tile_offset(int t) { return ivec3(t * int(VOLUME_STRIP_WIDTH), 0, 0); }

// Whether p lies in the grid and the nearest voxel has a signal. Voxels without a signal count as outside of the image,
// as in MRtrix3.
bool has_signal(vec3 p)
{
    // Tile that holds the channel after the last volume.
    const int tile = TENSOR_VOLUMES / 4 * TILES_OF_QUAD;
    if (!inside(p)) return false;
    ivec3 texel = texel_of(clamp(floor(p + 0.5), vec3(0.0), GRID - 1.0));
    float any_signal = 0.0;
#define TILES(i, n_tiles, first)                                                                                  \
    if (tile >= first / 4 && tile < first / 4 + n_tiles)                                                          \
        any_signal = texelFetch(volume[i], texel + tile_offset(tile - first / 4), 0)[TENSOR_VOLUMES % 4];
#include <tile_loops>
#undef TILES
    return any_signal > 0.0;
}

// Natural logarithm of a signal in the units of the series; 0 where the signal is not positive. s: the signal in the
// field; scale: logarithm of the factor of the field (params.min_signal).
float log_signal(float s, float scale) { return s > 0.0 ? ln(s) - scale : 0.0; }

#if TENSOR_BOOTSTRAP
// The cell of eight voxel centres around a point, at whose corners residuals are read.
struct Corners {
    vec3 f;
    ivec3 texel, further; // texel of the corner with the lowest coordinates; texels from it to the opposite corner
    uint voxel;           // index of the voxel at the corner with the lowest coordinates
};

Corners corners_of(vec3 p)
{
    // p is rounded as in volume_base(), so that signals and residuals have the same weights.
    Corners c;
    vec3 q = volume_position(p);
    vec3 low = min(floor(q), max(GRID - 2.0, vec3(0.0)));
    c.f = q - low;
    c.texel = texel_of(low);
    c.further = ivec3(min(low + 1.0, GRID - 1.0) - low);
    c.voxel = uint(low.x) + uint(GRID_NX) * (uint(low.y) + uint(GRID_NY) * uint(low.z));
    return c;
}

// For x, y and z: 1 if corner k lies at the high end of the cell, else 0.
ivec3 corner_high(int k) { return ivec3(k & 1, k >> 1 & 1, k >> 2); }

// Index of the voxel at corner k, x fastest. The random signs of the voxel are drawn by this index.
uint corner_voxel(Corners c, int k)
{
    uvec3 away = uvec3(c.further * corner_high(k));
    return c.voxel + away.x + uint(GRID_NX) * (away.y + uint(GRID_NY) * away.z);
}
#endif

// Fits the tensor to the interpolated signals: each element is the sum over volumes of ln S times a row of the
// pseudoinverse of the design matrix, which the table MODEL_TENSOR holds for four volumes at a time.
Tensor tensor_at(vec3 p, Draw draw)
{
    vec3 base = volume_base(p);
    float scale = params.min_signal;
    // Elements of the tensor in the order xx yy zz xy xz yz. Each lane adds up its own quads of volumes.
    float sum[6] = float[6](0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
#if TENSOR_BOOTSTRAP
    Corners c = corners_of(p);
#if TENSOR_SIGNS_KEPT
    uvec4 signs[8];
    int drawn = -1; // the block of 128 volumes whose signs are in `signs`
#endif
#endif
#define ADD_QUAD(i, t)                                                                                            \
    {                                                                                                             \
        vec4 s = VOLUME_TILE(i, t, base);                                                                         \
        ADD_RESIDUALS(i, t)                                                                                       \
        vec4 y = vec4(log_signal(s.x, scale), log_signal(s.y, scale), log_signal(s.z, scale),                     \
                      log_signal(s.w, scale));                                                                    \
        for (int k = 0; k < 6; k++) sum[k] += dot(MODEL_FLOATS(MODEL_TENSOR + 6 * quad + k), y);                  \
    }
#if TENSOR_BOOTSTRAP
#if TENSOR_SIGNS_KEPT
#define DRAW_BLOCK(block)                                                               \
    if (drawn != (block)) {                                                             \
        drawn = block;                                                                  \
        for (int k = 0; k < 8; k++) signs[k] = signs_of(corner_voxel(c, k), block, draw); \
    }
#define SIGNS(k, block) signs[k]
#else
#define DRAW_BLOCK(block)
#define SIGNS(k, block) signs_of(corner_voxel(c, k), block, draw)
#endif
// Adds the residuals of the eight corners to the signals s of a quad, weighted trilinearly, each with its random sign.
// A sign is one bit: shifted to bit 31, it flips the sign bit of the float.
#define ADD_RESIDUALS(i, t)                                                                                       \
    DRAW_BLOCK(quad / 32)                                                                                         \
    for (int k = 0; k < 8; k++) {                                                                                 \
        ivec3 high = corner_high(k);                                                                              \
        vec3 w = mix(1.0 - c.f, c.f, vec3(high));                                                                 \
        vec4 r = vec4(0.0);                                                                                       \
        if (TENSOR_SIGNS_KEPT != 0 || k % 4 != 0 || ALWAYS) /* at most four loads at a time */         \
            r = texelFetch(volume[i], c.texel + c.further * high + tile_offset((t) + 1), 0);                      \
        uvec4 flip = (SIGNS(k, quad / 32) >> uint(quad % 32)) << 31;                                              \
        s += w.x * w.y * w.z * uintBitsToFloat(floatBitsToUint(r) ^ flip);                                        \
    }
#else
#define ADD_RESIDUALS(i, t)
#endif
#define TILES(i, n_tiles, first)                                                                                  \
    for (int t = LANE * TILES_OF_QUAD; t < n_tiles; t += LANES * TILES_OF_QUAD) {                                 \
        int quad = (first / 4 + t) / TILES_OF_QUAD;                                                               \
        if (quad < TENSOR_QUADS) ADD_QUAD(i, t)                                                                   \
    }
#include <tile_loops>
#undef TILES
#undef ADD_QUAD
#undef ADD_RESIDUALS
    // Each lane gets the whole tensor.
    for (int k = 0; k < 6; k++) sum[k] = lane_sum(sum[k]);
    return Tensor(vec3(sum[0], sum[1], sum[2]), vec3(sum[3], sum[4], sum[5]));
}
