// Channels of the field at a point, in shared memory, which the lanes fill together.
SLOT_ARRAY(float, channels, VOLUME_CHANNELS);
#define CHANNEL(i) SLOT_ELEMENT(channels, VOLUME_CHANNELS, i)

// Loads the tiles of a texture: each lane loads one tile in each iteration.
#define CHANNEL_TILES(texture_index, n_tiles, first)              \
    for (int round = 0; round < n_tiles; round += LANES) {        \
        int t = round + LANE;                                     \
        if (t < n_tiles) {                                        \
            vec4 value = VOLUME_TILE(texture_index, t, base);     \
            CHANNEL(first + 4 * t) = value.x;                     \
            CHANNEL(first + 4 * t + 1) = value.y;                 \
            CHANNEL(first + 4 * t + 2) = value.z;                 \
            CHANNEL(first + 4 * t + 3) = value.w;                 \
        }                                                         \
    }
