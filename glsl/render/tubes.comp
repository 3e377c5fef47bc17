// Draws segments of streamlines as tubes with round ends into samples (four of which make a pixel). Only integers are
// used, so that every device draws the same. DEPTH: depth of the nearest surface of each sample. COLOUR: its colour;
// the largest number if two surfaces are equally near. LAYERS: sums over all surfaces in front of the slices, without
// the round ends. An invocation draws one segment, or, with several rows of work groups, a part of one. Dispatched by
// src/render/raster.c, first with DEPTH, then with COLOUR; with opacity below 1 once, with LAYERS.
layout(local_size_x = 64) in;

#define FIELD(type, name) type name;
struct Segment {
#include "layout/segment.def"
};
layout(std430, binding = 0) readonly buffer Segments { Segment segments[]; };
layout(std430, binding = 1) buffer Depth { uint depth[]; };
#ifndef DEPTH
layout(std430, binding = 2) buffer Colour { uint colour[]; };
#endif
layout(std140, binding = 0) uniform Params {
#include "layout/tubes.def"
} params;
#undef FIELD

// Colour at share t / 4096 of a segment, with light from the viewer. q: square of the position across the tube, 0 ..
// 256.
uint shaded(Segment s, uint t, uint q)
{
    uvec3 a = uvec3(s.colour_0, s.colour_0 >> 8, s.colour_0 >> 16) & 255u;
    uvec3 b = uvec3(s.colour_1, s.colour_1 >> 8, s.colour_1 >> 16) & 255u;
    uint light = 256u - ((params.shade * q * q) >> 16), near = q < 43u ? 43u - q : 0u;
    uint highlight = (params.highlight * near * near) >> 11;
    uvec3 c = ((a * (4096u - t) + b * t) >> 12) * light >> 8;
    c += (255u - c) * highlight >> 8;
    return c.x | c.y << 8 | c.z << 16;
}

// Draws a sample. scaled_along, scaled_across: where its centre lies, from the start of the segment, times 2^14;
// length: of the segment.
void draw_sample(Segment s, int length, uint at, int scaled_along, int scaled_across)
{
    int along = scaled_along >> 14, across = scaled_across >> 14;
    // nearest point on the axis of the segment, and the distance beyond it
    int on = clamp(along, 0, length), beyond = along - on;
#ifdef LAYERS
    if (beyond != 0 || along == length) return;
#endif
    // q: square of the distance from the axis, 0 .. 256 at the edge; t: share along the segment; z: depth of the
    // surface.
    uint squared = uint(across * across + beyond * beyond) >> params.radius_shift;
    if (squared >= params.radius_squared) return;
    uint q = (squared * params.per_squared) >> 14, t = min((uint(on) * s.per_length) >> 12, 4096u);
    uint z = uint(s.z + ((s.dz * int(t)) >> 12) + ((params.radius * int(256u - q)) >> 8));
#if defined(DEPTH)
    if (depth[at] < z) atomicMax(depth[at], z);
#elif defined(COLOUR)
    if (depth[at] == z) atomicMax(colour[at], 0xff000000u | shaded(s, t, q));
#else
    if (depth[at] >= z) return;
    uint c = shaded(s, t, q);
    atomicAdd(colour[4u * at], c & 255u);
    atomicAdd(colour[4u * at + 1u], (c >> 8) & 255u);
    atomicAdd(colour[4u * at + 2u], c >> 16);
    atomicAdd(colour[4u * at + 3u], 1u);
#endif
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= params.n) return;
    Segment s = segments[i];
    // Walk along the axis of the larger extent, so that each column crosses the tube in a short span.
    bool steep = abs(s.dy) > abs(s.dx);
    int major = steep ? s.y : s.x, minor = steep ? s.x : s.y, d = steep ? s.dy : s.dx;
    int unit = max(abs(steep ? s.along_y : s.along_x), 1);
    int length = (s.dx * s.along_x + s.dy * s.along_y + 8192) >> 14;
    int first = max((min(major, major + d) - params.radius) >> 4, 0);
    int last = min((max(major, major + d) + params.radius) >> 4, (steep ? params.height : params.width) - 1);
    // the columns of this invocation: all, or one part of them
    first += int(gl_WorkGroupID.y) * params.columns;
    last = min(last, first + params.columns - 1);
    int half_span = (params.radius << 14) / unit + 4, rows = steep ? params.width : params.height;
    // Samples of the column that the tube may touch; positions go on by additions.
    for (int column = first; column <= last; column++) {
        int centre = minor + (((column * 16 + 8 - major) * (s.slope >> 4)) >> 12);
        int from = max((centre - half_span) >> 4, 0), to = min((centre + half_span) >> 4, rows - 1);
        int x = (steep ? from : column) * 16 + 8 - s.x, y = (steep ? column : from) * 16 + 8 - s.y;
        int along = x * s.along_x + y * s.along_y, across = x * s.along_y - y * s.along_x;
        uint at = uint(steep ? column * params.width + from : from * params.width + column);
        for (int row = from; row <= to; row++) {
            draw_sample(s, length, at, along, across);
            along += 16 * (steep ? s.along_x : s.along_y);
            across += 16 * (steep ? s.along_y : -s.along_x);
            at += uint(steep ? 1 : params.width);
        }
    }
}
