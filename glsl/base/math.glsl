// Natural logarithm of x > 0 with a relative error below 1e-7, also near 1, where the built-in function of some
// drivers is too coarse.
float ln(float x)
{
    // x = 2^e (1 + m) with m in [-1/3, 1/3).
    int bits = floatBitsToInt(x) - 0x3f2aaaab; // splits x so that the mantissa lies in [2/3, 4/3)
    float e = float(bits >> 23);
    float m = intBitsToFloat((bits & 0x007fffff) + 0x3f2aaaab) - 1.0;
    // minimax polynomial of (ln(1 + m) - m + m^2 / 2) / m^3
    float r = 0.3333326578 + m * (-0.2500423789 + m * (0.2000792027 + m * (-0.1647232026 + m * (0.1404229552 +
              m * (-0.1512222141 + m * 0.1382030398)))));
    return e * 0.69314718056 + (m + m * m * (-0.5 + m * r));
}
