// Computes a pixel from four samples: tubes, darkened where other tubes stand in front, then the slices behind the
// tubes, then the background. LAYERS: the mean colour of all tubes of a sample, with an opacity that follows from their
// number. One invocation computes one pixel of a strip. Dispatched by src/render/raster.c. Only integers are used, so
// that every device draws the same.
layout(local_size_x = 64) in;

#define FIELD(type, name) type name;
// Depth: of the nearest tube of each sample, larger towards the viewer. Colour: of that tube, 0: no tube; with LAYERS
// sums of red, green, blue and number of tubes. Back: colours of the slices. The last buffer has the pixels.
layout(std430, binding = 0) readonly buffer Depth { uint depth[]; };
layout(std430, binding = 1) readonly buffer Colour { uint colour[]; };
layout(std430, binding = 2) readonly buffer Back { uint back[]; };
layout(std430, binding = 3) writeonly buffer Output { uint pixels[]; };
layout(std140, binding = 0) uniform Params {
#include "layout/resolve.def"
    // offsets of 16 samples for each of 16 patterns: x + 128, and (y + 128) << 8
    uvec4 around[64];
    // opacity, 0 .. 255, of n = 0 .. 1023 tubes, four values in a word
    uvec4 alpha[64];
} params;
#undef FIELD

// How much the surface at a sample is hidden from ambient light, 0 .. 256.
uint hidden_share(int x, int y, uint at)
{
    // 16 samples around, in one of 16 patterns by the sample's position. Each one with a tube in front of the surface
    // darkens it, the less the further in front.
    const int reach = 768; // in sixteenths of a sample; a tube this far in front darkens half as much as one close by
    int z = int(depth[at]) + 24;
    uint sum = 0u, pattern = uint(((y + params.phase) & 3) * 4 + (x & 3)) * 16u;
    for (uint k = pattern; k < pattern + 16u; k++) {
        uint word = params.around[k >> 2][k & 3u];
        int column = x + int(word & 255u) - 128, row = y + int((word >> 8) & 255u) - 128;
        if (column < 0 || row < 0 || column >= params.width || row >= params.height) continue;
        uint other = uint(row * params.width + column);
        int before = int(depth[other]) - z;
        if (before > 0 && colour[other] != 0u) sum += uint((reach * 256) / (reach + before));
    }
    return sum >> 4;
}

// Colour of a sample: red, green and blue times alpha, 0 .. 65025, and alpha, 0 .. 255.
uvec4 sample_at(int x, int y)
{
    uint at = uint(y * params.width + x), word = back[at];
    uvec4 behind = uvec4(word, word >> 8, word >> 16, word >> 24) & 255u;
    behind.xyz *= behind.w;
#ifdef LAYERS
    uint n = colour[4u * at + 3u];
    if (n == 0u) return behind;
    uvec3 mean = uvec3(colour[4u * at], colour[4u * at + 1u], colour[4u * at + 2u]) / n;
    uint m = min(n, 1023u), alpha = (params.alpha[m >> 4][(m >> 2) & 3u] >> (8u * (m & 3u))) & 255u;
    return uvec4(mean * alpha + (behind.xyz * (255u - alpha)) / 255u, alpha + (behind.w * (255u - alpha)) / 255u);
#else
    uint c = colour[at];
    if (c == 0u) return behind;
    uint light = 256u;
    if (params.occlusion > 0u) light -= (params.occlusion * hidden_share(x, y, at)) >> 8;
    return uvec4(((uvec3(c, c >> 8, c >> 16) & 255u) * light >> 8) * 255u, 255u);
#endif
}

// One invocation makes one pixel of the picture from 2 x 2 samples, in whole numbers, so that pictures do not depend on
// the device.
void main()
{
    uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64u + gl_LocalInvocationID.x;
    if (i >= uint(params.out_width * params.out_height)) return;
    int x = 2 * (int(i) % params.out_width), y = 2 * (int(i) / params.out_width) + params.margin;
    // Four samples over the background. Sums have four times the range of one sample: alpha up to 1020.
    uvec4 sum = sample_at(x, y) + sample_at(x + 1, y) + sample_at(x, y + 1) + sample_at(x + 1, y + 1);
    uvec4 ground = uvec4(params.background, params.background >> 8, params.background >> 16, params.background >> 24);
    ground &= 255u;
    sum.xyz += (ground.xyz * ground.w * (1020u - sum.w)) / 255u;
    sum.w += (ground.w * (1020u - sum.w)) / 255u;
    uvec3 c = sum.w == 0u ? uvec3(0u) : min((sum.xyz + (sum.w >> 1)) / max(sum.w, 1u), uvec3(255u));
    pixels[i] = c.x | c.y << 8 | c.z << 16 | ((sum.w + 2u) / 4u) << 24;
}
