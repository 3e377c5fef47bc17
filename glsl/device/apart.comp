// Tests whether invocations of a work group keep their private data apart: array elements at differing indices, numbers
// of loop iterations, returns. word[i] holds a number below WORDS and is replaced by a result that
// gls_apart_expected() computes, too. src/gpu/renderers.c runs one work group of it when a device is opened whose
// driver is not known.
layout(local_size_x = INVOCATIONS) in;

layout(std430, binding = 0) buffer Words { uint word[]; };

// Iterations, `continue`, `break` and an early return that differ between invocations.
uint turns(uint at, uint me)
{
    uint sum = 0u;
    if (at == 2u) return me;
    for (uint k = 0u; k < 4u * at; k++) {
        if (k == me % 5u) continue;
        if (k > 9u) break;
        sum = 3u * sum + k;
    }
    return sum;
}

void main()
{
    uint me = gl_LocalInvocationIndex, at = word[me];
    // Stores to a private array at an index that differs between invocations.
    uint kept[WORDS];
    for (uint k = 0u; k < uint(WORDS); k++) kept[k] = k;
    kept[at] = 11u + me;
    if ((me & 1u) == 1u) kept[(at + 2u) % uint(WORDS)] += 101u + me;
    uint result = turns(at, me);
    for (uint k = 0u; k < uint(WORDS); k++) result = 31u * result + kept[k];
    word[me] = result;
}
