#include "workflow/known_scene.h"

#include <math.h>
#include <stdlib.h>

#include <glslines/glslines.h>

#include "util/log.h"
#include "util/status.h"

/* --- What is certain of the streamlines of the known scene, however a device rounds; written by
 * test/tools/check_lines.py, which says how. */

/* clang-format off */
static const gls_known_line ifod1[] = {
    {0, {-87, -7}, {{-16.547f, -35.291f, 14.613f}, {-6.654f, -10.387f, 6.732f}}},
    {1, {-21, 81}, {{19.100f, 0.820f, 29.204f}, {-7.469f, -4.879f, 14.097f}}},
    {2, {-52, 91}, {{-16.865f, -35.498f, 13.228f}, {-13.136f, 5.713f, -4.846f}}},
    {3, {-59, 45}, {{5.211f, 17.196f, 0.433f}, {-12.273f, 41.118f, 10.062f}}},
    {4, {-33, 20}, {{-20.953f, -31.446f, -6.173f}, {-21.028f, -28.047f, 14.044f}}},
    {5, {-42, 23}, {{-8.482f, -43.509f, 0.745f}, {1.333f, -26.880f, -1.365f}}},
    {6, {-59, -20}, {{-2.849f, 18.962f, -3.359f}, {-14.045f, 41.227f, 7.735f}}},
    {7, {14, 69}, {{21.682f, 25.118f, 19.262f}, {25.488f, -6.231f, 18.847f}}},
    {8, {-42, -35}, {{-23.148f, 8.633f, 24.899f}, {-2.784f, 0.342f, 6.846f}}},
    {9, {-75, -75}, {{-24.169f, -9.065f, 17.253f}, {-23.612f, 4.538f, -11.656f}}},
    {10, {-13, 41}, {{20.317f, -11.986f, 26.525f}, {11.953f, -6.267f, 9.328f}}},
    {11, {19, -71}, {{8.712f, 40.625f, 12.507f}, {-4.592f, 16.623f, 0.654f}}},
    {12, {73, 15}, {{-11.162f, 1.870f, 30.795f}, {-7.907f, -3.799f, -0.756f}}},
    {13, {123, 26}, {{-22.205f, -17.167f, 5.715f}, {-19.635f, 34.912f, 10.609f}}},
    {14, {78, -14}, {{7.464f, 2.819f, 5.532f}, {17.093f, 33.806f, 17.081f}}},
    {17, {-140, -10}, {{-18.697f, 0.158f, 27.241f}, {17.291f, -4.472f, 29.436f}}},
    {18, {6, 32}, {{14.323f, -20.193f, 16.100f}, {11.771f, -32.315f, 20.858f}}},
    {19, {-113, -37}, {{-20.677f, -18.027f, 2.005f}, {-20.538f, 36.120f, 7.708f}}},
    {20, {-86, -16}, {{9.311f, 8.081f, -2.680f}, {-24.027f, -2.558f, -14.280f}}},
    {21, {64, -75}, {{27.035f, -17.647f, 11.671f}, {17.397f, 31.510f, 6.205f}}},
    {23, {-75, -75}, {{-19.578f, -31.051f, -23.128f}, {18.843f, -26.084f, -26.675f}}},
    {24, {-38, 63}, {{-6.113f, 44.628f, 3.260f}, {-3.182f, 9.205f, 15.959f}}},
    {25, {14, -84}, {{-18.893f, 14.493f, 9.738f}, {-2.870f, -11.450f, -8.376f}}},
    {26, {-6, -144}, {{12.776f, -18.029f, 29.004f}, {-21.393f, -10.823f, 20.742f}}},
    {27, {-129, -21}, {{-3.872f, 14.603f, 15.911f}, {-7.862f, -39.467f, 14.678f}}},
    {28, {-89, -61}, {{20.267f, 17.773f, -3.204f}, {19.325f, -36.508f, 7.668f}}},
    {29, {-83, -67}, {{-17.608f, 15.485f, 5.368f}, {-19.877f, -35.682f, 10.782f}}},
    {32, {90, -5}, {{-14.148f, 38.406f, 13.087f}, {-6.769f, 3.429f, 14.068f}}},
    {33, {8, 79}, {{8.193f, -5.711f, 11.053f}, {5.217f, -8.525f, -21.826f}}},
    {34, {-57, -21}, {{0.785f, 3.324f, 6.857f}, {23.732f, 11.746f, 23.758f}}},
    {35, {48, -23}, {{7.141f, -3.329f, 7.141f}, {15.861f, 4.317f, 31.084f}}},
    {36, {103, -8}, {{-13.228f, -7.657f, 10.494f}, {17.573f, -11.170f, 28.732f}}},
    {37, {-61, 45}, {{-15.344f, 31.105f, 21.668f}, {-16.459f, -6.179f, 20.907f}}},
    {38, {-11, 72}, {{23.868f, -30.675f, 7.465f}, {24.991f, -0.275f, -1.360f}}},
    {39, {-10, -130}, {{-19.639f, -30.401f, -28.538f}, {21.497f, -23.684f, -23.439f}}},
    {40, {-14, -66}, {{1.099f, 14.410f, 6.675f}, {-12.876f, 34.819f, 19.740f}}},
    {41, {-10, -126}, {{-6.216f, -42.510f, 5.707f}, {16.608f, -37.480f, 12.138f}}},
    {42, {-138, 11}, {{19.729f, -20.799f, 3.648f}, {19.094f, 25.661f, 20.929f}}},
    {43, {-64, -46}, {{-10.407f, 44.098f, 7.042f}, {-3.721f, 4.340f, 13.676f}}},
    {44, {78, -18}, {{-7.380f, -9.562f, 0.456f}, {-14.127f, -40.928f, 8.447f}}},
    {45, {-46, 9}, {{12.427f, -33.818f, -9.051f}, {3.617f, -28.450f, 8.404f}}},
    {46, {106, -16}, {{-20.229f, -31.601f, -7.238f}, {-21.397f, 13.568f, -13.885f}}},
    {47, {33, 66}, {{25.232f, -5.554f, 2.977f}, {13.924f, -41.176f, 6.148f}}},
};
static const gls_known_line ifod2[] = {
    {0, {-12, -2}, {{-24.358f, -8.499f, 23.648f}, {-5.067f, -10.262f, 7.366f}}},
    {1, {-4, -16}, {{19.556f, 2.982f, 27.985f}, {17.057f, 10.476f, 26.346f}}},
    {2, {-22, -8}, {{-12.830f, -11.681f, 25.425f}, {-13.538f, -11.237f, -8.133f}}},
    {3, {-22, -8}, {{9.174f, 30.934f, 20.808f}, {-11.248f, 37.626f, 16.302f}}},
    {4, {-9, -4}, {{-17.981f, -28.280f, -9.685f}, {-20.948f, -28.071f, 13.717f}}},
    {5, {-11, -16}, {{-8.587f, -19.645f, -12.639f}, {11.811f, -41.549f, 5.722f}}},
    {6, {-15, -3}, {{3.546f, 16.278f, -0.987f}, {-15.533f, 38.893f, 10.777f}}},
    {7, {-3, -27}, {{22.238f, 25.220f, 18.084f}, {21.758f, -29.029f, 12.501f}}},
    {8, {9, -16}, {{-15.862f, 18.592f, 15.821f}, {14.126f, -0.835f, 13.642f}}},
    {9, {-15, -15}, {{-23.881f, -13.313f, 12.592f}, {-23.455f, 4.883f, -11.213f}}},
    {10, {-2, -10}, {{19.360f, -12.551f, 25.274f}, {7.830f, -8.398f, 6.668f}}},
    {12, {-14, -8}, {{-11.685f, -3.289f, 29.668f}, {-8.334f, -2.736f, -9.324f}}},
    {13, {-26, -4}, {{-22.047f, -18.890f, -2.336f}, {-21.242f, 33.464f, 8.127f}}},
    {14, {-19, -2}, {{6.388f, 0.238f, -1.325f}, {16.966f, 32.263f, 16.404f}}},
    {16, {28, 1}, {{-14.842f, -5.982f, 14.826f}, {2.000f, -12.045f, -32.660f}}},
    {17, {-29, -1}, {{-20.940f, -1.517f, 23.683f}, {16.161f, -5.208f, 27.828f}}},
    {18, {23, -5}, {{6.303f, 12.545f, 8.511f}, {12.910f, -30.884f, 19.273f}}},
    {19, {-8, -8}, {{-18.806f, 10.840f, 4.244f}, {-17.257f, 37.747f, 4.302f}}},
    {20, {-10, -3}, {{-3.610f, 2.431f, -7.386f}, {-23.828f, -3.120f, -13.215f}}},
    {21, {-15, -15}, {{24.328f, -22.683f, 8.364f}, {18.194f, 31.622f, 2.930f}}},
    {24, {-7, -10}, {{-4.497f, 41.692f, 2.877f}, {-7.116f, 14.420f, 5.154f}}},
    {25, {-10, -5}, {{-21.909f, 26.504f, 16.902f}, {-8.624f, 5.327f, 5.609f}}},
    {26, {-1, -29}, {{12.654f, -18.441f, 28.369f}, {-14.274f, -30.993f, 15.113f}}},
    {27, {12, -3}, {{7.637f, -20.834f, 9.611f}, {-7.292f, -36.336f, 15.439f}}},
    {28, {-3, -9}, {{25.041f, -9.429f, 1.027f}, {22.614f, -31.576f, 3.779f}}},
    {29, {-12, -15}, {{-23.734f, 8.848f, 21.573f}, {-19.642f, -33.600f, 12.579f}}},
    {32, {-15, 0}, {{-13.603f, 18.955f, 27.544f}, {-7.264f, 5.296f, 13.590f}}},
    {33, {-12, -14}, {{19.617f, -0.994f, 26.295f}, {2.707f, -13.289f, -13.334f}}},
    {34, {-15, -15}, {{-4.807f, 1.857f, 8.395f}, {21.672f, 30.542f, 10.862f}}},
    {35, {-24, -4}, {{-11.235f, 3.779f, 30.480f}, {13.618f, 4.827f, 30.093f}}},
    {36, {14, -1}, {{13.461f, -3.159f, 1.548f}, {16.835f, -10.524f, 27.942f}}},
    {37, {-12, -6}, {{-19.432f, 32.401f, 13.203f}, {-16.203f, -0.375f, 19.799f}}},
    {38, {-1, 13}, {{24.171f, -28.770f, 6.158f}, {26.795f, -10.019f, -8.929f}}},
    {39, {-2, -28}, {{-19.997f, -30.322f, -27.507f}, {-9.755f, -5.710f, 4.130f}}},
    {40, {-16, -13}, {{11.007f, 34.742f, 19.757f}, {-14.403f, 34.916f, 16.970f}}},
    {41, {-1, -16}, {{-8.074f, -41.493f, 5.684f}, {4.304f, -20.380f, 0.254f}}},
    {42, {-10, -3}, {{5.173f, 15.120f, 8.048f}, {18.177f, 28.247f, 19.771f}}},
    {43, {-10, -20}, {{-12.697f, 35.977f, 15.218f}, {-7.992f, -13.657f, 18.152f}}},
    {46, {-23, -7}, {{-10.945f, -27.148f, 3.050f}, {-20.424f, 20.904f, -11.459f}}},
    {47, {-15, -15}, {{22.442f, 9.834f, 0.508f}, {22.703f, -6.404f, -10.732f}}},
};
static const gls_known_line sdstream[] = {
    {0, {-7, 10}, {{-7.357f, -10.770f, 5.688f}, {-10.368f, -13.169f, 11.280f}}},
    {1, {9, 18}, {{18.130f, 1.527f, 24.672f}, {12.157f, 0.713f, 15.746f}}},
    {2, {5, 3}, {{-16.383f, -26.573f, -3.146f}, {-16.296f, -23.385f, -3.365f}}},
    {3, {3, 5}, {{-10.974f, 27.615f, 7.578f}, {-9.513f, 24.906f, 6.716f}}},
    {4, {17, 21}, {{-21.458f, -21.783f, 4.896f}, {-18.774f, -36.523f, 7.260f}}},
    {6, {9, 12}, {{-13.520f, 30.772f, 6.765f}, {-14.979f, 38.836f, 8.553f}}},
    {7, {14, 27}, {{22.083f, 25.236f, 19.093f}, {21.825f, 8.920f, 20.631f}}},
    {8, {33, 13}, {{-22.936f, 4.726f, 22.864f}, {-9.581f, 3.059f, 10.495f}}},
    {9, {8, 24}, {{-23.768f, -23.480f, 0.064f}, {-25.092f, -12.940f, -6.291f}}},
    {10, {9, 11}, {{20.625f, -11.625f, 24.752f}, {16.367f, -10.419f, 18.088f}}},
    {11, {10, 9}, {{8.349f, 37.849f, 10.574f}, {6.931f, 30.633f, 8.717f}}},
    {12, {18, 24}, {{-7.061f, -6.678f, -2.315f}, {-11.941f, -6.295f, 13.154f}}},
    {13, {7, 7}, {{-19.382f, 23.506f, 4.925f}, {-20.537f, 28.752f, 6.496f}}},
    {14, {17, 9}, {{16.274f, 23.601f, 10.594f}, {17.859f, 32.603f, 15.529f}}},
    {16, {40, 11}, {{1.914f, -9.643f, -15.314f}, {1.465f, -13.488f, -35.283f}}},
    {17, {16, -9}, {{13.062f, -4.724f, 20.135f}, {15.877f, -4.798f, 29.713f}}},
    {18, {12, 12}, {{13.508f, -19.340f, 12.168f}, {15.137f, -25.718f, 19.153f}}},
    {19, {9, 24}, {{-17.723f, 20.088f, 0.932f}, {-16.743f, 32.963f, 3.597f}}},
    {20, {13, 23}, {{-22.794f, -3.666f, -13.206f}, {-11.380f, 2.715f, -7.319f}}},
    {21, {25, 51}, {{24.021f, 14.561f, 6.104f}, {22.863f, -15.342f, 7.935f}}},
    {23, {10, 2}, {{-4.308f, -12.537f, -23.000f}, {-0.046f, -10.459f, -22.497f}}},
    {24, {-35, 8}, {{-7.443f, 44.319f, 6.774f}, {-4.852f, 27.720f, 4.867f}}},
    {25, {16, 12}, {{-13.329f, 6.639f, 3.982f}, {-16.736f, 16.444f, 8.167f}}},
    {27, {13, 20}, {{-9.911f, -36.306f, 13.530f}, {-3.049f, -26.044f, 9.504f}}},
    {29, {51, 59}, {{-18.152f, -31.360f, 11.270f}, {-19.695f, 12.248f, 13.223f}}},
    {30, {-22, 25}, {{-31.591f, 12.878f, -0.452f}, {-18.161f, 14.729f, 12.276f}}},
    {31, {-15, 22}, {{0.386f, -9.470f, -33.325f}, {0.088f, -7.109f, -18.746f}}},
    {32, {6, 9}, {{-5.218f, 5.064f, 12.362f}, {-10.034f, 5.815f, 15.822f}}},
    {33, {6, 22}, {{8.957f, -6.456f, 10.294f}, {6.116f, -6.978f, -0.459f}}},
    {34, {16, 18}, {{14.570f, 6.331f, 14.179f}, {23.090f, 8.139f, 24.567f}}},
    {35, {10, 11}, {{14.659f, 2.015f, 26.850f}, {11.419f, 1.066f, 19.179f}}},
    {36, {18, -8}, {{13.296f, -9.206f, 19.733f}, {16.205f, -11.210f, 29.494f}}},
    {37, {28, 76}, {{-17.112f, 22.031f, 16.137f}, {-16.593f, -19.419f, 17.908f}}},
    {38, {5, 5}, {{24.181f, -26.284f, 7.243f}, {23.964f, -27.328f, 3.409f}}},
    {39, {16, -12}, {{-12.678f, -23.143f, -26.694f}, {-20.276f, -31.314f, -27.589f}}},
    {40, {9, 4}, {{-0.066f, 16.296f, 7.505f}, {-5.007f, 17.871f, 7.773f}}},
    {41, {4, 9}, {{-9.239f, -41.504f, 5.610f}, {-8.780f, -36.349f, 5.198f}}},
    {42, {4, 2}, {{18.576f, 23.256f, 16.174f}, {17.506f, 23.373f, 18.316f}}},
    {43, {7, 18}, {{-5.126f, 23.685f, 7.926f}, {-5.070f, 14.759f, 12.349f}}},
    {44, {5, 9}, {{-16.476f, -36.323f, 6.735f}, {-14.517f, -31.125f, 6.191f}}},
    {45, {1, 3}, {{6.139f, -30.718f, 6.662f}, {5.883f, -29.889f, 8.005f}}},
    {46, {15, 59}, {{-20.031f, 14.241f, -12.191f}, {-16.523f, -14.951f, -9.541f}}},
    {47, {36, 68}, {{18.964f, -31.154f, 7.114f}, {20.112f, 9.691f, 0.718f}}},
};

static const gls_known_line fact[] = {
    {0, {1, 1}, {{0.f, 0.f, 0.f}, {0.f, 0.f, 0.f}}},
};
static const gls_known_line eudx[] = {
    {0, {1, 1}, {{0.f, 0.f, 0.f}, {0.f, 0.f, 0.f}}},
};

#define LINES(name) {name, sizeof name / sizeof *name}
const gls_known_lines gls_known_lines_fod[] = {
    LINES(ifod1),
    LINES(ifod2),
    LINES(sdstream),
    LINES(fact),
    LINES(eudx),
};
/* clang-format on */

enum { N_SEEDS = 48 };

/* mm; directions are those of a sphere or come from random numbers, so what drivers round differently hardly moves a
 * point before a choice between two directions falls otherwise. */
#define TOLERANCE 0.005f
/* One half of so many may differ. */
#define WRONG_OF 10

const gls_known_variant gls_known_variants[GLS_KNOWN_VARIANTS] = {
    {"boot4", GLS_DG_BOOT, 4},  {"boot8", GLS_DG_BOOT, 8},        {"prob4", GLS_DG_PROB, 4}, {"prob8", GLS_DG_PROB, 8},
    {"det4", GLS_DG_DET, 4},    {"det8", GLS_DG_DET, 8},          {"ptt4", GLS_DG_PTT, 4},   {"ifod1", GLS_DG_IFOD1, 8},
    {"ifod2", GLS_DG_IFOD2, 8}, {"sdstream", GLS_DG_SDSTREAM, 8}, {"fact", GLS_DG_FACT, 8},  {"eudx", GLS_DG_EUDX, 8},
};

void gls_known_scene_finish(gls_known_scene *s)
{
    gls_seeds_destroy(s->seeds);
    gls_odf_source_destroy(s->odf);
    gls_image_destroy(s->sh);
    gls_image_destroy(s->peaks);
    gls_image_destroy(s->stop_map);
    gls_qball_destroy(s->qball);
    gls_sphere_destroy(s->sphere);
    gls_phantom_destroy(s->phantom);
}

static gls_status make_model(gls_known_scene *s, const gls_known_variant *variant)
{
    gls_qball_options options = gls_qball_options_default();
    gls_odf_options clipped = gls_odf_options_default();
    const gls_phantom *p = s->phantom;
    options.sh_order = variant->sh_order;
    gls_status status = gls_qball_create(p->gradients, &options, GLS_SHELLS_ANY, &s->qball);
    if (status || variant->dg == GLS_DG_BOOT) return status;
    status = gls_qball_fit_image(s->qball, p->dwi, p->gradients, p->mask, &s->sh);
    if (!status)
        status = gls_odf_source_create_sh(s->sh, "phantom", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, s->sphere,
                                          &clipped, &s->odf);
    if (!status && (variant->dg == GLS_DG_FACT || variant->dg == GLS_DG_EUDX))
        status = gls_peaks_of_sh(s->sh, "phantom", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, 3, 0, &s->peaks);
    return status;
}

gls_status gls_known_scene_create(size_t variant, gls_known_scene *s)
{
    const gls_known_variant *v = &gls_known_variants[variant];
    const bool fod = gls_getter_ends_itself(v->dg);
    gls_phantom_params shape = gls_phantom_params_default();
    for (int a = 0; a < 3; a++) {
        shape.shape[a] = (int32_t[]){20, 26, 20}[a];
        shape.voxel_size[a] = 4;
    }
    shape.ground_truth = false;
    *s = (gls_known_scene){.variant = variant,
                           .params = fod ? gls_track_params_default_for(v->dg) : gls_track_params_default()};
    gls_status status = gls_phantom_create(&shape, &s->phantom);
    const gls_phantom *p = s->phantom;
    if (!status) status = gls_sphere_create("default", &s->sphere);
    if (!status) status = gls_tensor_fit(p->dwi, p->gradients, p->mask, NULL, &s->stop_map, NULL, NULL);
    if (!status) status = make_model(s, v);
    if (!status) status = gls_seeds_create_random(p->roi, p->mask, N_SEEDS, 0, &s->seeds);
    if (status) return status;
    gls_track_params_scale(&s->params, shape.voxel_size[0]);
    s->params.dg = v->dg;
    /* steps add up what drivers round differently; GPUs filter textures with few bits */
    s->params.max_length = 60;
    s->input = (gls_track_input){.odf = s->odf, .peaks = s->peaks, .stop_map = s->stop_map, .sphere = s->sphere};
    if (v->dg == GLS_DG_BOOT) {
        s->input.dwi = p->dwi;
        s->input.gradients = p->gradients;
        s->input.qball = s->qball;
    }
    return GLS_OK;
}

static const gls_known_lines *lines_of(const gls_known_scene *s)
{
    return s->variant < GLS_KNOWN_ODF_VARIANTS ? &gls_known_lines_odf[s->variant]
                                               : &gls_known_lines_fod[s->variant - GLS_KNOWN_ODF_VARIANTS];
}

static bool near(const float a[3], const float b[3], float tolerance)
{
    return fabsf(a[0] - b[0]) < tolerance && fabsf(a[1] - b[1]) < tolerance && fabsf(a[2] - b[2]) < tolerance;
}

size_t gls_known_find_seed(const gls_known_scene *s, uint32_t seed, const float (*point)[3], size_t n)
{
    float voxel[1][3], world[3];
    gls_seeds_get(s->seeds, seed, 1, voxel);
    for (int a = 0; a < 3; a++) {
        const double *row = s->phantom->mask->grid.affine[a];
        world[a] = (float)(row[0] * voxel[0][0] + row[1] * voxel[0][1] + row[2] * voxel[0][2] + row[3]);
    }
    for (size_t i = 0; i < n; i++)
        if (near(point[i], world, TOLERANCE)) return i;
    return n;
}

/* Half 0 goes back from the seed, half 1 forward. */
static bool near_half(const gls_known_line *line, int half, const float (*point)[3], size_t n, size_t seed)
{
    size_t wanted = (size_t)abs(line->n[half]), there = half ? n - 1 - seed : seed;
    if (seed == n || there < wanted || (line->n[half] < 0 && there > wanted)) return false;
    return near(point[half ? seed + wanted : seed - wanted], line->end[half], TOLERANCE);
}

/* Lines come in the order of seeds, then of directions. */
gls_status gls_known_compare(void *comparison, const gls_streamlines *found)
{
    gls_known_comparison *c = comparison;
    const gls_known_lines *known = lines_of(c->scene);
    const gls_column *seed_index = gls_column_find(found->dps, found->n_dps, GLS_DPS_SEED_INDEX);
    for (size_t i = 0; i < found->n; i++) {
        const float(*point)[3] = &found->point[found->offset[i]];
        size_t n = (size_t)(found->offset[i + 1] - found->offset[i]);
        uint32_t seed = (uint32_t)gls_column_value(seed_index, i);
        size_t at = gls_known_find_seed(c->scene, seed, point, n);
        c->seen = seed + 1;
        while (c->next < known->n && known->line[c->next].seed < seed) c->next++;
        if (c->next == known->n || known->line[c->next].seed != seed) continue;
        const gls_known_line *line = &known->line[c->next++];
        for (int half = 0; half < 2; half++) c->same += line->n[half] != 0 && near_half(line, half, point, n, at);
    }
    return GLS_OK;
}

size_t gls_known_halves(const gls_known_scene *s, uint64_t seeds)
{
    const gls_known_lines *known = lines_of(s);
    size_t n = 0;
    for (size_t i = 0; i < known->n && known->line[i].seed < seeds; i++)
        n += (size_t)((known->line[i].n[0] != 0) + (known->line[i].n[1] != 0));
    return n;
}

bool gls_known_fits(size_t same, size_t halves)
{
    return halves > 0 && (halves - same) * WRONG_OF <= halves;
}
