// Pass 3: copies points from the pool of blocks to streamlines in output order and output space: backward
// half-streamline reversed, seed, forward half-streamline. With ends_alone only the first and the last point of each
// streamline, once if they are the same.
//
// Dispatched by gls_gather_begin() of src/track/engine/gather.c. An item of work is a run of GATHER_RUN neighbouring
// points of the pool, or the seed of a streamline. The loop strides by the size of the dispatch, so any number of work
// groups does all items. Points are three floats each: voxel coordinates in the pool, coordinates of the output space
// in Output, whose points of a streamline follow one another.
layout(local_size_x = GROUP_SIZE) in;

#include "base/constants.glsl"
#define FIELD(type, name) type name;
struct Placed {
#include "layout/placed.def"
};
// The streamlines that pass 2 has tracked, and the index of the first point of each in the output: n_lines records.
layout(std430, binding = 0) readonly buffer Lines { Placed lines[]; };
// Points of all half-streamlines, and particles: blocks of POOL_BLOCK points, in the order in which they were taken.
layout(std430, binding = 1) readonly buffer Pool { float pool[]; };
// header, then half-streamlines, the guide's words and blocks of the pool; layout: see half.glsl
layout(std430, binding = 2) readonly buffer State {
#include "layout/state.def"
    uint state[];
};
// Points of all placed streamlines.
layout(std430, binding = 3) writeonly buffer Output { float point[]; };
layout(std140, binding = 0) uniform Params {
#include "layout/gather_params.def"
} params;
#undef FIELD
#define WORD(name, first, n) const uint name = uint(first);
#include "layout/block.def"
#undef WORD

// Writes point k of a streamline whose first point has index `first` and which has `last` further points.
void write_point(uint first, uint k, uint last, vec3 p)
{
    uint at = first + k;
    if (params.ends_alone != 0u) {
        if (k != 0u && k != last) return;
        // the first point comes to index `first`, the last one behind it
        at = first + min(k, 1u);
    }
    point[at * 3u] = params.xx * p.x + params.xy * p.y + params.xz * p.z + params.xt;
    point[at * 3u + 1u] = params.yx * p.x + params.yy * p.y + params.yz * p.z + params.yt;
    point[at * 3u + 2u] = params.zx * p.x + params.zy * p.y + params.zz * p.z + params.zt;
}

// Copies the GATHER_RUN points of the pool from point `from` on, as far as they are kept. All of them lie in one block,
// which belongs to one half-streamline. Point k, counted from 0, of a backward half-streamline becomes point backward -
// 1 - k of the streamline. Blocks of particles and rejected streamlines are skipped.
void copy_run(uint from)
{
    uint owner = params.n_items * uint(1 + GUIDE_WORDS) + uint(BLOCK_SIZE) * (from / POOL_BLOCK);
    // Skip half-streamlines of streamlines that Lines lacks, and blocks of particles, whose record names NO_ITEM.
    uint item = state[owner + BLOCK_HALF];
    if (item >= 2u * params.n_lines) return;
    uint k = state[owner + BLOCK_PART] * POOL_BLOCK + from % POOL_BLOCK, s = item / 2u;
    uint first = lines[s].first, backward = lines[s].backward, forward = lines[s].forward;
    // The half-streamline may have stored more points than it keeps: the host shortens streamlines that are too long.
    bool is_forward = (item & 1u) == 1u;
    if (first == NOT_PLACED) return;
    uint until = min(k + uint(GATHER_RUN), is_forward ? forward : backward);
    for (uint at = from * 3u; k < until; k++, at += 3u) {
        vec3 p = vec3(pool[at], pool[at + 1u], pool[at + 2u]);
        write_point(first, is_forward ? backward + 1u + k : backward - 1u - k, backward + forward, p);
    }
}

// Items from n_runs on are seeds. Streamlines that were rejected (NOT_PLACED) have no seed to write.
void main()
{
    uint n_runs = params.n_blocks * (POOL_BLOCK / uint(GATHER_RUN)), total = n_runs + params.n_lines;
    for (uint i = gl_GlobalInvocationID.x; i < total; i += gl_NumWorkGroups.x * uint(GROUP_SIZE)) {
        if (i < n_runs) {
            copy_run(i * uint(GATHER_RUN));
            continue;
        }
        Placed seed = lines[i - n_runs];
        if (seed.first != NOT_PLACED)
            write_point(seed.first, seed.backward, seed.backward + seed.forward, vec3(seed.x, seed.y, seed.z));
    }
}
