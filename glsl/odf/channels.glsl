// The channels of the field at a point, in shared memory: lanes fill them together. Where lanes are a work group, they
// lie in quads, each of them one load, but not if a draw names single channels: an element of a quad that only the run
// knows takes branches. (Of words at addresses that only the run knows NVIDIA's compiler joins loads itself, and keeps
// fewer registers busy with them than with quads.)
#if defined(CHANNELS_DRAWN) || !defined(WORK_GROUP_LANES)
SLOT_ARRAY(float, channels, VOLUME_CHANNELS);
#define CHANNEL(i) SLOT_ELEMENT(channels, VOLUME_CHANNELS, i)
#define PUT_CHANNELS(i, value)  \
    CHANNEL(i) = value.x;       \
    CHANNEL((i) + 1) = value.y; \
    CHANNEL((i) + 2) = value.z; \
    CHANNEL((i) + 3) = value.w;
#else
SLOT_ARRAY(vec4, channel_quads, VOLUME_CHANNELS / 4);
#define CHANNEL_QUAD(q) SLOT_ELEMENT(channel_quads, VOLUME_CHANNELS / 4, q)
#define CHANNEL(i) CHANNEL_QUAD((i) / 4)[(i) % 4]
#define PUT_CHANNELS(i, value) CHANNEL_QUAD((i) / 4) = value;
#endif

// Tiles of a texture, a lane each; their number says how many rounds that takes.
#define CHANNEL_TILES(texture_index, n_tiles, first)          \
    for (int round = 0; round < n_tiles; round += LANES) {    \
        int t = round + LANE;                                 \
        if (t < n_tiles) {                                    \
            vec4 value = VOLUME_TILE(texture_index, t, base); \
            PUT_CHANNELS(first + 4 * t, value)                \
        }                                                     \
    }
