// The tables of the model: the host's numbers, one after the other.
#if MODEL_UNIFORM
layout(std140, binding = 1) uniform Model { uvec4 model[MODEL_BLOCKS]; };
#define MODEL_UINT(i) model[(i) >> 2][(i) & 3]
#else
layout(std430, binding = 3) readonly buffer Model { uint model[]; };
#define MODEL_UINT(i) model[i]
#endif
#define MODEL_INT(i) int(MODEL_UINT(i))
#define MODEL_FLOAT(i) uintBitsToFloat(MODEL_UINT(i))
