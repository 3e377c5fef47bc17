/* Real spherical harmonics: values of DIPY 1.12.1, orthonormality, conversions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <glslines/sh.h>

#define MAX_COUNT 153

/* Two directions, not normalised, and their functions of order 6 by dipy.reconst.shm.real_sh_descoteaux and
 * real_sh_tournier(6, theta, phi, legacy=...). */
static const double golden_direction[2][3] = {{0.3, -0.5, 0.8}, {-2, -1, -0.25}};
static const double golden[4][2][28] = {
    [GLS_SH_DESCOTEAUX07_LEGACY] =
        {{0.28209479177387814,  -0.089187626987108484, -0.26756288096132547, 0.30251844014017237,  0.44593813493554252,
          -0.16722680060082837, -0.041965661560731886, 0.29194993120901802,  -0.27585268097888049, -0.25747563775382576,
          -0.17610363640985885, 0.42912606292304295,   -0.51722377683540077, 0.014744946020657441, 0.062557507916618987,
          0.028384464858843453, -0.057692490010800471, -0.20921715911099398, 0.63564877701826195,  -0.24959276196395824,
          0.073867013262580647, -0.40898443567566678,  -0.12311168877096776, -0.46798642868242163, 0.032103473586780819,
          0.31187651047601594,  -0.12270717889326453,  0.0028744496941750151},
         {0.28209479177387814,   0.32371805350876409,  -0.10790601783625467, -0.30371039616909334,
          -0.053953008918127356, 0.43162407134501901,  -0.170933948776852,   -0.034533872661458499,
          -0.25612044805142903,  0.19252551047647634,  0.27874112712544613,  0.096262755238238212,
          -0.34149393073523893,  -0.18993629963802325, 0.58605925294920558,  -0.61606779510676013,
          0.17328336511628167,   0.11909623297301357,  0.051475349825389739, 0.21366707707694266,
          -0.26669151068840491,  -0.23846587774279324, -0.13334575534420251, 0.28488943610259038,
          0.28311442403964576,   -0.40832994162175995, -0.18696363078335659, 0.23168361525382247}},
    [GLS_SH_DESCOTEAUX07] =
        {{0.28209479177387814,   -0.089187626987108484, 0.26756288096132547,   0.30251844014017237,
          0.44593813493554252,   -0.16722680060082837,  -0.041965661560731886, -0.29194993120901802,
          -0.27585268097888049,  0.25747563775382576,   -0.17610363640985885,  0.42912606292304295,
          -0.51722377683540077,  0.014744946020657441,  0.062557507916618987,  0.028384464858843453,
          0.057692490010800471,  -0.20921715911099398,  -0.63564877701826195,  -0.24959276196395824,
          -0.073867013262580647, -0.40898443567566678,  -0.12311168877096776,  -0.46798642868242163,
          0.032103473586780819,  0.31187651047601594,   -0.12270717889326453,  0.0028744496941750151},
         {0.28209479177387814,   0.32371805350876409,  0.10790601783625467,   -0.30371039616909334,
          -0.053953008918127356, 0.43162407134501901,  -0.170933948776852,    0.034533872661458499,
          -0.25612044805142903,  -0.19252551047647634, 0.27874112712544613,   0.096262755238238212,
          -0.34149393073523893,  -0.18993629963802325, 0.58605925294920558,   -0.61606779510676013,
          -0.17328336511628167,  0.11909623297301357,  -0.051475349825389739, 0.21366707707694266,
          0.26669151068840491,   -0.23846587774279324, -0.13334575534420251,  0.28488943610259038,
          0.28311442403964576,   -0.40832994162175995, -0.18696363078335659,  0.23168361525382247}},
    [GLS_SH_TOURNIER07_LEGACY] =
        {{0.28209479177387814,   -0.11824720470097635,  0.31532587920260374,   0.30251844014017237,
          -0.18919552752156221,  -0.063065175840520737, 0.044234838061972412,  0.010426251319436475,
          -0.3657324399912294,   0.30343794907676874,   -0.17610363640985885,  -0.18206276944606123,
          -0.19505730132865573,  0.20643977612484271,   -0.02967420386657315,  0.0020325428709307507,
          -0.086767078295698144, 0.22052999545038818,   0.022700583872855933,  -0.33091637722461492,
          -0.08705310997327903,  -0.40898443567566678,  0.052231865983967417,  -0.17648873451979466,
          0.44947156068254862,   -0.1479388719479687,   -0.040794750910174163, 0.020070847582039465},
         {0.28209479177387814,   0.30520430777140911,   -0.038150538471426125, -0.30371039616909334,
          -0.076301076942852222, 0.22890323082855671,   0.41440647193750535,   -0.13430524546752623,
          -0.24147267415693657,  0.068068047004659085,  0.27874112712544613,   0.13613609400931811,
          -0.18110450561770233,  -0.024419135539550031, -0.120868554315106,    0.1638250554357929,
          -0.13220325116216938,  -0.28873287068225351,  0.20019212909015721,   0.20144725215655329,
          -0.094289687846327908, -0.23846587774279324,  -0.18857937569265573,  0.15108543911741487,
          0.036398568925482849,  0.084213753948990791,  0.12252984254054719,   -0.43562571559063462}},
    [GLS_SH_TOURNIER07] = {{0.28209479177387814,  -0.16722680060082837,  0.44593813493554252,   0.30251844014017237,
                            -0.26756288096132547, -0.089187626987108484, 0.062557507916618987,  0.014744946020657441,
                            -0.51722377683540077, 0.42912606292304295,   -0.17610363640985885,  -0.25747563775382576,
                            -0.27585268097888049, 0.29194993120901802,   -0.041965661560731886, 0.0028744496941750151,
                            -0.12270717889326453, 0.31187651047601594,   0.032103473586780819,  -0.46798642868242163,
                            -0.12311168877096776, -0.40898443567566678,  0.073867013262580647,  -0.24959276196395824,
                            0.63564877701826195,  -0.20921715911099398,  -0.057692490010800471, 0.028384464858843453},
                           {0.28209479177387814,  0.43162407134501901,   -0.053953008918127356, -0.30371039616909334,
                            -0.10790601783625467, 0.32371805350876409,   0.58605925294920558,   -0.18993629963802325,
                            -0.34149393073523893, 0.096262755238238212,  0.27874112712544613,   0.19252551047647634,
                            -0.25612044805142903, -0.034533872661458499, -0.170933948776852,    0.23168361525382247,
                            -0.18696363078335659, -0.40832994162175995,  0.28311442403964576,   0.28488943610259038,
                            -0.13334575534420251, -0.23846587774279324,  -0.26669151068840491,  0.21366707707694266,
                            0.051475349825389739, 0.11909623297301357,   0.17328336511628167,   -0.61606779510676013}},
};
/* Degree 16 for the first direction, in the basis legacy descoteaux07. */
static const double golden16[33] = {
    -0.0001281805763366952, 0.0013524731769491397,  -0.0020377428128268318, -0.018846700255709628, 0.084280409043715199,
    -0.07108622057702331,   -0.27276549435777725,   0.66012408723408167,    -0.28757964312650885,  -0.29310253102831585,
    -0.11368797500948473,   0.25467223801035521,    0.22580652817947314,    0.31296303648165014,   -0.26300993247255811,
    0.063987030368660366,   -0.40837518808082451,   -0.10664505061443397,   -0.49314362338604634,  0.015806213963719663,
    -0.33660600473958735,   0.54166689395507883,    -0.011513000742572587,  0.39256482873884085,   -0.70154218317549744,
    0.10070437790802744,    0.32927704519054857,    -0.20187512983621139,   0.017246756964720996,  0.02054679469454895,
    -0.0068760394182233488, 0.00034867423455470404, 0.00012631453209163332};

static void golden_values(void **state)
{
    (void)state;
    double value[2 * MAX_COUNT];
    for (int basis = 0; basis < 4; basis++) {
        assert_int_equal(gls_sh_matrix((gls_sh_basis)basis, 6, golden_direction, 2, value), GLS_OK);
        for (int i = 0; i < 56; i++) assert_true(fabs(value[i] - golden[basis][i / 28][i % 28]) < 1e-14);
    }
    assert_int_equal(gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, 16, golden_direction, 1, value), GLS_OK);
    for (int j = 0; j < 33; j++) assert_true(fabs(value[MAX_COUNT - 33 + j] - golden16[j]) < 1e-13);
}

/* Computes nodes and weights of the rule of Gauss and Legendre by Newton's method. */
static void gauss_legendre(int n, double *node, double *weight)
{
    for (int i = 0; i < n; i++) {
        double x = cos(M_PI * (i + 0.75) / (n + 0.5)), derivative = 1;
        for (int step = 0; step < 20; step++) {
            double p = 1, last = 0;
            for (int l = 1; l <= n; l++) {
                double next = ((2 * l - 1) * x * p - (l - 1) * last) / l;
                last = p;
                p = next;
            }
            derivative = n * (x * p - last) / (x * x - 1);
            x -= p / derivative;
        }
        node[i] = x;
        weight[i] = 2 / ((1 - x * x) * derivative * derivative);
    }
}

/* A rule that is exact for products of two functions of order 16: the Gram matrix is the identity. Functions without
 * sqrt(2) have norm 1/2 for m != 0. */
static void orthonormal(void **state)
{
    (void)state;
    enum { RINGS = 20, PER_RING = 36 };
    double node[RINGS], weight[RINGS];
    gauss_legendre(RINGS, node, weight);
    double *matrix = malloc(RINGS * PER_RING * MAX_COUNT * sizeof *matrix),
           (*direction)[3] = malloc(RINGS * PER_RING * sizeof *direction);
    for (int i = 0; i < RINGS * PER_RING; i++) {
        double z = node[i / PER_RING], r = sqrt(1 - z * z), phi = 2 * M_PI * (i % PER_RING + 0.3) / PER_RING;
        direction[i][0] = r * cos(phi);
        direction[i][1] = r * sin(phi);
        direction[i][2] = z;
    }
    for (int basis = 0; basis < 4; basis++) {
        assert_int_equal(
            gls_sh_matrix((gls_sh_basis)basis, 16, (const double(*)[3])direction, RINGS * PER_RING, matrix), GLS_OK);
        for (size_t a = 0; a < MAX_COUNT; a++) {
            int l = gls_sh_degree(a);
            bool zonal = a == (size_t)(l * (l + 1) / 2);
            double norm = basis == GLS_SH_TOURNIER07_LEGACY && !zonal ? 0.5 : 1;
            for (size_t b = 0; b <= a; b++) {
                double sum = 0;
                for (size_t i = 0; i < RINGS * PER_RING; i++)
                    sum += weight[i / PER_RING] * matrix[i * MAX_COUNT + a] * matrix[i * MAX_COUNT + b];
                assert_true(fabs(sum * 2 * M_PI / PER_RING - (a == b ? norm : 0)) < 1e-13);
            }
        }
    }
    free(matrix);
    free(direction);
}

/* The function that coefficients stand for does not change with the basis. */
static void conversions(void **state)
{
    (void)state;
    double c[MAX_COUNT], converted[MAX_COUNT], row[MAX_COUNT];
    for (int j = 0; j < MAX_COUNT; j++) c[j] = sin(1 + 3.7 * j);
    for (int from = 0; from < 4; from++) {
        double expected = 0;
        gls_sh_matrix((gls_sh_basis)from, 16, golden_direction, 1, row);
        for (int j = 0; j < MAX_COUNT; j++) expected += row[j] * c[j];
        for (int to = 0; to < 4; to++) {
            double found = 0;
            memcpy(converted, c, sizeof c);
            assert_int_equal(gls_sh_convert((gls_sh_basis)from, (gls_sh_basis)to, 16, converted), GLS_OK);
            if (from == to) assert_memory_equal(converted, c, sizeof c);
            gls_sh_matrix((gls_sh_basis)to, 16, golden_direction, 1, row);
            for (int j = 0; j < MAX_COUNT; j++) found += row[j] * converted[j];
            assert_true(fabs(found - expected) < 1e-12);
            assert_int_equal(gls_sh_convert((gls_sh_basis)to, (gls_sh_basis)from, 16, converted), GLS_OK);
            for (int j = 0; j < MAX_COUNT; j++) assert_true(fabs(converted[j] - c[j]) < 1e-15);
        }
    }
    /* MRtrix3's coefficients are a permutation of the legacy ones */
    memcpy(converted, c, sizeof c);
    gls_sh_convert(GLS_SH_TOURNIER07, GLS_SH_DESCOTEAUX07_LEGACY, 4, converted);
    for (int m = -4; m <= 4; m++) assert_true(converted[10 + m] == c[10 - m]);
    for (int j = 15; j < MAX_COUNT; j++) assert_true(converted[j] == c[j]);
}

static void special_directions(void **state)
{
    (void)state;
    static const double direction[][3] = {
        {0, 0, 0},       {0, 0, 7},          {-0.0, -0.0, 1},          {0, 0, -1},
        {0.1, 0.2, 0.3}, {-0.1, -0.2, -0.3}, {1e-200, 2e-200, 3e-200}, {-0.1, 0.2, 0.3}};
    double value[8][45];
    assert_int_equal(gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, 8, direction, 8, value[0]), GLS_OK);
    for (int j = 0; j < 45; j++) {
        int l = gls_sh_degree((size_t)j), m = j - l * (l + 1) / 2;
        assert_true(fabs(value[0][j] - (m == 0 ? sqrt((2 * l + 1) / (4 * M_PI)) : 0)) < 1e-14);
        for (int i = 1; i < 4; i++) assert_true(value[i][j] == value[0][j]);
        assert_true(fabs(value[5][j] - value[4][j]) < 1e-15); /* even functions */
        assert_true(fabs(value[6][j] - value[4][j]) < 1e-14); /* any norm */
        /* a reflection changes signs only, to the last bit: kernels count on it */
        assert_true(fabs(value[7][j]) == fabs(value[4][j]));
    }
}

static void counts_and_names(void **state)
{
    (void)state;
    static const size_t count[] = {1, 6, 15, 28, 45, 66, 91, 120, 153};
    for (int i = 0; i < 9; i++) {
        assert_int_equal(gls_sh_count(2 * i), count[i]);
        assert_int_equal(gls_sh_order(count[i]), 2 * i);
        assert_int_equal(gls_sh_degree(count[i] - 1), 2 * i);
        if (i > 0) assert_int_equal(gls_sh_degree(count[i - 1]), 2 * i);
    }
    assert_int_equal(gls_sh_count(3), 0);
    assert_int_equal(gls_sh_count(-2), 0);
    assert_int_equal(gls_sh_count(18), 0);
    assert_int_equal(gls_sh_order(16), -1);
    assert_int_equal(gls_sh_order(190), -1);
    gls_sh_basis basis = GLS_SH_TOURNIER07;
    assert_int_equal(gls_sh_basis_parse("descoteaux07_legacy", &basis), GLS_OK);
    assert_int_equal(basis, GLS_SH_DESCOTEAUX07_LEGACY);
    assert_int_equal(gls_sh_basis_parse("tournier07", &basis), GLS_OK);
    assert_int_equal(basis, GLS_SH_TOURNIER07);
    assert_int_equal(gls_sh_basis_parse("mrtrix", &basis), GLS_ERR_ARGUMENT);
    assert_non_null(strstr(gls_last_error(), "mrtrix"));
    double c[1] = {0};
    assert_int_equal(gls_sh_convert(GLS_SH_TOURNIER07, GLS_SH_DESCOTEAUX07, 5, c), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_sh_matrix((gls_sh_basis)4, 0, golden_direction, 1, c), GLS_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_values), cmocka_unit_test(orthonormal),
                                       cmocka_unit_test(conversions), cmocka_unit_test(special_directions),
                                       cmocka_unit_test(counts_and_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
