// Tables of the model that the host computes, one after the other. GPUs check the bounds of every load from a buffer,
// so tables that are read much are stored in quads, four words a load.
#if MODEL_UNIFORM
layout(std140, binding = 1) uniform Model { uvec4 model[MODEL_BLOCKS]; };
#define MODEL_UINT(i) model[(i) >> 2][(i) & 3]
#else
layout(std430, binding = 3) readonly buffer Model { uvec4 model[]; };
// Chooses the component by comparisons, because NVIDIA's compiler would make a jump table of a variable index.
uint model_word(int i)
{
    uvec4 quad = model[i >> 2];
    uvec2 pair = (i & 2) != 0 ? quad.zw : quad.xy;
    return (i & 1) != 0 ? pair.y : pair.x;
}
#define MODEL_UINT(i) model_word(i)
#endif
#define MODEL_INT(i) int(MODEL_UINT(i))
#define MODEL_FLOAT(i) uintBitsToFloat(MODEL_UINT(i))
#define MODEL_QUAD(i) model[i]
#define MODEL_FLOATS(i) uintBitsToFloat(model[i])
