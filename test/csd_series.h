/* Series for the tests of deconvolution, with coefficients of DIPY 1.12.1 and MRtrix3 3.0.3. Include after cmocka.h. */
#ifndef GLS_TEST_CSD_SERIES_H
#define GLS_TEST_CSD_SERIES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/csd.h>

/* Two voxels, a fibre along x and three fibres with a tenth of isotropic diffusion, at 60 directions of a spiral and b
 * = 2000, response 0.0017 0.0003 0.0003 1000: ConstrainedSphericalDeconvModel(table, response,
 * reg_sphere=Sphere(xyz=spiral(150)), sh_order_max=4 and 8).fit().shm_coeff. */
static const double golden4[2][15] = {
    {0.2832786383459531, 0.541413928477274, -0.0003149741846753558, -0.313068941515871, 0.0004790881062528728,
     -0.002521895001744754, 0.4267218661538926, -0.001225903844362833, -0.3246622692305121, 0.001616163855199538,
     0.215088937981488, -0.002109643528689685, -0.00191166741972523, 0.001096231885238169, -0.004372021396550811},
    {0.2676440132973602, 0.1680448091536255, -6.679261072632248e-05, -0.1728691801383816, -0.09181683760190927,
     0.1368341590517312, 0.1193722497234982, 0.00102157693167188, -0.1947986169054232, 0.005326015010171594,
     0.1499516313805431, -0.05996249558710413, -0.07980933246598422, 0.05672050791801042, -0.04269661529781375},
};
static const double golden8[2][45] = {
    {0.2849932344618479,     0.5369931228348251,     -0.002030340353062881, -0.309647950752273,
     -0.0003545142227435015, -0.001003551592265785,  0.4355500478404855,    -0.001761648104483057,
     -0.3277261544557401,    0.003407218016985087,   0.2194405812246553,    0.001260527000779691,
     -0.001201525104471159,  -0.002701111227629165,  -0.00324379386425272,  0.2537492732058875,
     0.002086535821415085,   -0.1876551285103789,    0.0002670808590190082, 0.1695362942659109,
     -0.001536673843225256,  -0.1165698345499036,    -0.001366594273851324, 0.001670399528155854,
     0.003000584197869696,   -0.0004594010750207065, -0.002614402056246638, -0.005232654985510817,
     0.09720509673746507,    0.004188040785248559,   -0.07209750940309288,  -0.002364891838016868,
     0.06506232841227275,    0.001020951370964917,   -0.06089151882925559,  -0.0008987206191328018,
     0.04246406580580921,    0.001326460000746369,   -0.00193372036595069,  -0.002556833098130704,
     0.00131543861620345,    0.002105856803666711,   0.0004214827826497492, -0.0002536458816915546,
     -0.006032299386371971},
    {0.2679599639780992,    0.168359531991921,     -0.001020450859145729, -0.1732189971048358,   -0.09068305681621834,
     0.135937244770265,     0.1240748104217427,    0.002608304095163309,  -0.2036310093720668,   -0.002710689273815594,
     0.1341222531717482,    -0.05214151429413114,  -0.08152565934295511,  0.04014038094204477,   -0.06421722159806321,
     0.2070639170187829,    0.02816214080998231,   -0.01214319056633527,  -0.003419044975869171, 0.03424433789961508,
     -0.004511440777429145, -0.1103132788949728,   0.01330350121508922,   0.05210498245467904,   0.05928663095017441,
     0.03781375816502829,   -0.008907758099172883, -0.05415666740532732,  0.08799789746037244,   -0.005933509323944227,
     -0.08653889618329705,  -0.0136934995272129,   0.04952739486410613,   0.01411538543472288,   -0.01707267160956196,
     0.003532783015679342,  0.03733332071458583,   0.01522926062733728,   -0.01455723609272599,  0.008516141917690864,
     -0.02216319694943181,  -0.03680776311625392,  0.003350319859384199,  0.02897734836762255,   0.05642816647751208},
};
/* By dwi2fod csd -lmax 4 and 8 -directions spiral(150), response of order 8, turned from its basis. */
static const double golden_mrtrix4[2][15] = {
    {0.2839881, 0.5354227, -0.0009785951, -0.3092629, 0.000300873, -0.003199121, 0.3410109, -0.0004723368, -0.2605802,
     0.003240417, 0.1759116, -0.001542717, -0.0003810761, 0.0005246579, -0.004267547},
    {0.2678026, 0.1670247, -0.0005636003, -0.1708352, -0.08929534, 0.1348112, 0.1011325, 0.005728221, -0.1638215,
     0.006331318, 0.1268682, -0.04187322, -0.06735366, 0.05399596, -0.02213687},
};
static const double golden_mrtrix8[2][45] = {
    {0.2830115,   0.5441883,     -0.0004688322, -0.3140487,   0.0001429962, -0.001212829,  0.4758647,     0.0003823381,
     -0.3611444,  0.00128397,    0.2417289,     0.0008211252, -0.001466066, -0.0007240541, -0.004677095,  0.2725789,
     0.003508348, -0.2026672,    -0.0008630614, 0.1834766,    0.000187455,  -0.127604,     -0.0002404562, 0.00122928,
     0.001256345, -3.054659e-05, -0.0003651834, -0.00773681,  0.1145245,    0.004701445,   -0.08561118,   -0.002136305,
     0.07917459,  0.001306443,   -0.07501759,   -0.001316225, 0.0523615,    0.0005723996,  -0.001797602,  -0.001948738,
     0.001073371, 0.001378921,   0.002157698,   0.002087065,  -0.008657125},
    {0.2675216,   0.1685019,   7.944894e-05, -0.1733897,  -0.09261353,   0.1383541,    0.1325968,   -0.001058423,
     -0.2168687,  0.002581091, 0.1527289,    -0.06873494, -0.09383132,   0.04867937,   -0.06646273, 0.1857336,
     0.008987949, -0.01743776, -0.004349687, 0.03132323,  -0.0008834515, -0.1202448,   0.007046147, 0.04807941,
     0.04808552,  0.03374897,  -0.003756707, -0.03236631, 0.05998081,    -0.002928415, -0.07907119, -0.001625705,
     0.05337304,  0.00110324,  -0.02872529,  0.001532731, 0.03950155,    0.01144022,   -0.0220258,  0.02325658,
     -0.01111641, -0.03528344, 0.003604359,  0.01953174,  0.04020935},
};
/* Rotational harmonics of that response, order 8: model.R.diagonal(). */
static const double golden_harmonics[5] = {3586.854148108412, -944.9351873301457, 222.0092432884958, -40.63722093079021,
                                           6.005905201729118};

enum { CSD_N = 60, CSD_VOXELS = 150 };
static const gls_response golden_response = {.evals = {0.0017, 0.0003}, .s0 = 1000};

static inline void spiral(size_t n, double (*d)[3])
{
    for (size_t i = 0; i < n; i++) {
        double z = 1 - ((double)i + 0.5) / (double)n, phi = ((double)i + 0.5) * M_PI * (3 - sqrt(5)),
               r = sqrt(1 - z * z);
        d[i][0] = r * cos(phi);
        d[i][1] = r * sin(phi);
        d[i][2] = z;
    }
}

/* Makes a table of one b0, then n directions. */
static inline gls_gradients *make_table(size_t n, double b)
{
    double bval[1 + 200] = {0}, bvec[1 + 200][3] = {{0}};
    gls_gradients_options options = gls_gradients_options_default();
    gls_gradients *table = NULL;
    options.frame = GLS_BVEC_IMAGE;
    spiral(n, bvec + 1);
    for (size_t i = 1; i <= n; i++) bval[i] = b;
    assert_int_equal(gls_gradients_create(bval, (const double(*)[3])bvec, n + 1, &options, NULL, &table), GLS_OK);
    return table;
}

static inline double fibres(const gls_gradients *table, size_t t, const double (*fibre)[3], const double *weight,
                            size_t n, double isotropic)
{
    double sum = 0, b = table->bval[t], *g = table->bvec[t];
    for (size_t f = 0; f < n; f++) {
        double c = g[0] * fibre[f][0] + g[1] * fibre[f][1] + g[2] * fibre[f][2];
        sum += weight[f] * exp(-b * (0.0003 + 0.0014 * c * c));
    }
    return 1000 * (sum * (1 - isotropic) + isotropic * exp(-0.001 * b));
}

static inline gls_image *make_image(int nx, int ny, int nz, size_t n_volumes)
{
    const double affine[3][4] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    gls_grid grid;
    gls_image *image = NULL;
    assert_int_equal(gls_grid_init(&grid, (int32_t[3]){nx, ny, nz}, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, n_volumes, &image), GLS_OK);
    return image;
}

static inline double noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24);
}

/* Makes crossings with noise: the golden voxels first, the last voxel all zeros. */
static inline gls_image *make_series(const gls_gradients *table)
{
    const double fibre[3][3] = {{1, 0, 0}, {0.6, 0.8, 0}, {0, 0.6, 0.8}}, weight[3] = {0.5, 0.3, 0.2};
    gls_image *dwi = make_image(CSD_VOXELS / 6, 3, 2, table->n);
    uint32_t state = 1;
    for (size_t v = 0; v < CSD_VOXELS; v++) {
        double f[3][3], w[3], total = 0;
        for (int i = 0; i < 3; i++) {
            double norm = 0;
            for (int a = 0; a < 3; a++) {
                f[i][a] = noise(&state) - 0.5;
                norm += f[i][a] * f[i][a];
            }
            for (int a = 0; a < 3; a++) f[i][a] /= sqrt(norm);
            total += w[i] = noise(&state);
        }
        for (int i = 0; i < 3; i++) w[i] /= total;
        for (size_t t = 0; t < table->n; t++) {
            double s = v == 2   ? 0
                       : v == 0 ? fibres(table, t, fibre, (double[]){1}, 1, 0)
                       : v == 1 ? fibres(table, t, fibre, weight, 3, 0.1)
                                : -1;
            if (s < 0)
                s = fibres(table, t, (const double(*)[3])f, w, 1 + v % 3, 0.2 * (double)(v % 5)) + 100 * noise(&state);
            dwi->data[t * CSD_VOXELS + v] = (float)s;
        }
    }
    return dwi;
}

static inline gls_sphere *make_sphere(size_t n)
{
    double(*d)[3] = malloc(n * sizeof *d);
    gls_sphere *sphere = NULL;
    spiral(n, d);
    assert_int_equal(gls_sphere_create_from((const double(*)[3])d, n, GLS_SPHERE_FOLD, &sphere, NULL), GLS_OK);
    free(d);
    return sphere;
}

static inline void expect(gls_status status, gls_status wanted, const char *part)
{
    if (status != wanted || !strstr(gls_last_error(), part))
        fail_msg("status %d, \"%s\" instead of %d, \"%s\"", status, gls_last_error(), wanted, part);
}

#endif
