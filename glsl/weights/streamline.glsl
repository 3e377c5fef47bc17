// Arithmetic of SIFT2 for one streamline and for one fixel. The kernels and the CPU (src/weights/solver_host.c) share
// this text, which is both GLSL and C, so that both round alike. F() marks a number of single precision, FUNCTION a
// function, INT() and FLOAT() conversions, EXACT what compilers must not fuse.

// e^x within 2 units of the last place; the functions of drivers differ.
FUNCTION float exponential(float x)
{
    x = x < F(-87.0) ? F(-87.0) : x;
    x = x > F(88.0) ? F(88.0) : x;
    // e^x = 2^n e^r with |r| <= ln(2) / 2; ln(2) is subtracted in two parts, the first of them exact.
    int n = INT(x * F(1.44269504) + (x < F(0.0) ? F(-0.5) : F(0.5)));
    float whole = FLOAT(n);
    EXACT float r = (x - whole * F(0.693359375)) + whole * F(2.12194440e-4);
    EXACT float p = F(1.9875691500e-4);
    p = p * r + F(1.3981999507e-3);
    p = p * r + F(8.3334519073e-3);
    p = p * r + F(4.1665795894e-2);
    p = p * r + F(1.6666665459e-1);
    p = p * r + F(5.0000001201e-1);
    p = p * (r * r) + (r + F(1.0));
    return p * intBitsToFloat((n + 127) * 8388608);
}

// 1 / x of x > 0 within 2 units of the last place; the divisions of drivers differ.
FUNCTION float reciprocal(float x)
{
    float a = x < F(1.0e-37) ? F(1.0e-37) : x;
    a = a > F(1.0e37) ? F(1.0e37) : a;
    // Newton's method from an estimate by the bits of the exponent.
    EXACT float r = intBitsToFloat(2129859011 - floatBitsToInt(a));
    for (int i = 0; i < 4; i++) r = r * (F(2.0) - a * r);
    return r;
}

// Sums over the entries of a streamline, from which the data term follows for any change of its coefficient. For an
// entry: h = PM l / TD0, d = mu TD - FD, a = mu l, g = (mu TD0 - mu l) e^c.
struct Moments {
    float da, dg, aa, ag, gg; // sums of h times each product
};

// Adds an entry to the moments.
FUNCTION Moments add_moments(Moments m, float h, float d, float a, float g)
{
    EXACT float hd = h * d, ha = h * a;
    EXACT Moments sum = m;
    sum.da += hd * a;
    sum.dg += hd * g;
    sum.aa += ha * a;
    sum.ag += ha * g;
    sum.gg += (h * g) * g;
    return sum;
}

// How much a coefficient c (e = e^c) differs from the mean m (em = e^m) of a fixel: the total variation, and its first
// and second derivatives.
FUNCTION float variation(float c, float e, float m, float em)
{
    EXACT float x = c <= m ? c - m : e - em;
    return x * x;
}
FUNCTION float variation_slope(float c, float e, float m, float em)
{
    EXACT float slope = c <= m ? F(2.0) * (c - m) : F(2.0) * (e * (e - em));
    return slope;
}
FUNCTION float variation_bend(float c, float e, float m, float em)
{
    EXACT float bend = c <= m ? F(2.0) : F(2.0) * (e * (F(2.0) * e - em));
    return bend;
}

// Start and limits of Newton's method.
struct Search {
    float c, e;      // the coefficient, and e^c
    float variation; // factor of the total variation
    float tikhonov;  // factor of the squared coefficient
    float limit;     // limit of the change
};
// State of Newton's method: change of the coefficient, and its last step.
struct Step {
    float x, d;
};

// One Newton step. e: e^(c + x); slope and bend: sums of the derivatives of the total variation over the entries.
FUNCTION Step newton(Search s, Moments m, Step at, float e, float slope, float bend)
{
    // First and second derivative of the cost by the coefficient: data term, total variation, and Tikhonov
    // regularisation.
    EXACT float u = e - s.e, x = at.x;
    EXACT float along = m.da + m.aa * u + m.ag * x;
    EXACT float first = F(2.0) * (e * along + (m.dg + m.ag * u + m.gg * x));
    EXACT float second = F(2.0) * (m.gg + F(2.0) * (e * m.ag) + (e * e) * m.aa + e * along);
    first = first + s.variation * slope + s.tikhonov * (F(2.0) * (s.c + x));
    second = second + s.variation * bend + F(2.0) * s.tikhonov;
    EXACT float d = second != F(0.0) ? -(first * reciprocal(abs(second))) : F(0.0);
    d = abs(d) <= F(3.0e38) ? d : F(0.0); // replaces infinity and NaN by 0
    // The step stays within the limit. If the steps so far reach the limit, a step beyond it ends the search there.
    d = d > s.limit ? s.limit : d;
    d = d < -s.limit ? -s.limit : d;
    bool high = x >= s.limit && d > F(0.0);
    bool low = x <= -s.limit && d < F(0.0);
    at.d = high || low ? F(0.0) : d;
    at.x = high ? s.limit : (low ? -s.limit : x + d);
    return at;
}

// Value of a sum in fixed point, 64 bits in units of 2^-24, from its two words.
FUNCTION float fixed_value(uint low, uint high)
{
    bool negative = high >= 2147483648u;
    if (negative) {
        low = ~low + 1u;
        high = ~high + (low == 0u ? 1u : 0u);
    }
    EXACT float value = FLOAT(high) * F(256.0) + FLOAT(low) * F(5.9604644775390625e-8);
    return negative ? -value : value;
}

// Limits a number to +-1e5, so that 2^22 such numbers fit into a sum in fixed point.
FUNCTION float fixed_range(float v)
{
    v = v < F(1.0e5) ? v : F(1.0e5);
    return v > F(-1.0e5) ? v : F(-1.0e5);
}
