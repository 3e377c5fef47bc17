// The channels of the field at a point, in shared memory: lanes fill them together.
SLOT_ARRAY(float, channels, VOLUME_CHANNELS);
#define CHANNEL(i) SLOT_ELEMENT(channels, VOLUME_CHANNELS, i)
