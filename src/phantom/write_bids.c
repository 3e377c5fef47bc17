/* Writes the phantom as a BIDS data set of derivatives, in the form of preprocessing pipelines, for `glslines bids`. */
#include <stdio.h>
#include <string.h>

#include "image/formats.h"
#include "phantom/parts.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* A subject to write. */
typedef struct subject {
    /* images of the subject; borrowed */
    const gls_phantom *phantom;
    /* folder of the data set */
    const char *directory;
    char label[128], session[128]; /* session "": none */
    bool overwrite, again;         /* again: an earlier session of the subject has written the anatomy */
    gls_output_group group;        /* all files of the subject; with the first subject also the files of the data set */
} subject;

/* Path of a file of a subject. Anatomical files lie beside the folders of sessions. */
static void name_file(const subject *s, const char *folder, const char *rest, char path[1536])
{
    bool in_session = *s->session && strcmp(folder, "dwi") == 0;
    const char *session = in_session ? s->session : "";
    snprintf(path, 1536, "%s/sub-%s%s%s/%s/sub-%s%s%s_space-ACPC_%s", s->directory, s->label, in_session ? "/ses-" : "",
             session, folder, s->label, in_session ? "_ses-" : "", session, rest);
}

/* Writes a text file of a subject and empties the text. */
static gls_status write_text(subject *s, const char *folder, const char *rest, gls_text *text)
{
    char path[1536];
    name_file(s, folder, rest, path);
    return gls_text_write(text, path, s->overwrite, &s->group, GLS_OK);
}

/* Writes an image of a subject, in the group of its files. */
static gls_status write_image(subject *s, const char *folder, const char *rest, const gls_image *image,
                              gls_image_type type)
{
    char path[1536];
    name_file(s, folder, rest, path);
    gls_status status = gls_output_check(path, s->overwrite, NULL, 0);
    return status ? status : gls_image_write_grouped(path, s->overwrite, &s->group, image, type);
}

/* Appends MRtrix3's table: a row for each volume, its direction along the scanner axes and its b-value. */
static void print_table(const gls_phantom *phantom, gls_text *text)
{
    const gls_gradients *g = phantom->gradients;
    const gls_grid *grid = &phantom->dwi->grid;
    for (size_t i = 0; i < g->n; i++) {
        for (int k = 0; k < 3; k++) {
            double world = 0;
            /* voxel axes to scanner axes by the rotation of the affine */
            for (int a = 0; a < 3; a++) world += grid->affine[k][a] / grid->voxel_size[a] * g->bvec[i][a];
            gls_text_printf(text, "%.9f ", world + 0.0);
        }
        gls_text_printf(text, "%.10g\n", g->bval[i]);
    }
}

/* Writes the gradient table: FSL's two files, and MRtrix3's rows along the scanner axes. */
static gls_status write_tables(subject *s)
{
    gls_text bval = {0}, bvec = {0}, rows = {0};
    gls_phantom_print_bvals(s->phantom, &bval);
    gls_phantom_print_bvecs(s->phantom, &bvec);
    print_table(s->phantom, &rows);
    gls_status status = write_text(s, "dwi", "desc-preproc_dwi.bval", &bval);
    if (!status) status = write_text(s, "dwi", "desc-preproc_dwi.bvec", &bvec);
    if (!status) status = write_text(s, "dwi", "desc-preproc_dwi.b", &rows);
    gls_text_finish(&bval);
    gls_text_finish(&bvec);
    gls_text_finish(&rows);
    return status;
}

enum { FINER = 2 }; /* number of voxels of the finer grid along the side of a voxel of the phantom */

/* Fraction of tissue `which`: 0 white matter, 1 grey matter, 2 fluid, which takes the remainder of each voxel that has
 * any tissue. */
static float fraction(const gls_image *tissue, size_t which, size_t voxel)
{
    const size_t n = gls_grid_voxels(&tissue->grid);
    const float white = tissue->data[voxel], grey = tissue->data[n + voxel], fluid = tissue->data[2 * n + voxel];
    return which == 0 ? white : which == 1 ? grey : white + grey + fluid > 0 ? 1 - white - grey : 0;
}

/* Makes an image of the fractions of a tissue on a grid of twice the resolution over the same space, like a
 * segmentation of a T1 image. */
static gls_status make_fine_tissue(const gls_phantom *phantom, size_t which, gls_image **image)
{
    const gls_image *tissue = phantom->tissue;
    gls_grid grid = tissue->grid;
    for (int a = 0; a < 3; a++) {
        grid.dim[a] *= FINER;
        grid.voxel_size[a] /= FINER;
        for (int k = 0; k < 3; k++) {
            /* the centre of the first fine voxel lies a quarter of a coarse voxel nearer to the corner */
            grid.affine[k][3] -= tissue->grid.affine[k][a] * (0.5 - 0.5 / FINER);
            grid.affine[k][a] /= FINER;
        }
    }
    gls_status status = gls_image_create(&grid, 1, image);
    if (status) return status;
    const int32_t *n = tissue->grid.dim;
    size_t v = 0;
    for (int32_t z = 0; z < grid.dim[2]; z++)
        for (int32_t y = 0; y < grid.dim[1]; y++)
            for (int32_t x = 0; x < grid.dim[0]; x++)
                (*image)->data[v++] = fraction(
                    tissue, which,
                    ((size_t)(z / FINER) * (size_t)n[1] + (size_t)(y / FINER)) * (size_t)n[0] + (size_t)(x / FINER));
    return GLS_OK;
}

/* Writes the fractions of one tissue on the finer grid. */
static gls_status write_tissue(subject *s, size_t which, const char *name)
{
    gls_image *fine = NULL;
    gls_status status = make_fine_tissue(s->phantom, which, &fine);
    if (!status) status = write_image(s, "anat", name, fine, GLS_IMAGE_FLOAT32);
    gls_image_destroy(fine);
    return status;
}

/* Writes the sidecars that BIDS asks for beside images. Values that a phantom does not have, such as the field
 * strength, are usual ones. */
static gls_status write_sidecars(subject *s)
{
    static const char *const what[][3] = {
        {"dwi", "desc-preproc_dwi.json",
         "\"SkullStripped\": false, \"RepetitionTime\": 3, \"EchoTime\": 0.1, \"TotalReadoutTime\": 0.05, "
         "\"PhaseEncodingDirection\": \"j\", \"MagneticFieldStrength\": 3, \"Manufacturer\": \"none\""},
        {"dwi", "desc-brain_mask.json", "\"Type\": \"Brain\", \"Sources\": [\"bids::dataset_description.json\"]"},
        {"anat", "label-WM_probseg.json", "\"Description\": \"White matter of the phantom\""},
        {"anat", "label-GM_probseg.json", "\"Description\": \"Grey matter of the phantom\""},
        {"anat", "label-CSF_probseg.json", "\"Description\": \"Cerebrospinal fluid of the phantom\""}};
    gls_status status = GLS_OK;
    for (size_t i = 0; i < (s->again ? 2 : sizeof what / sizeof *what) && !status; i++) {
        gls_text text = {0};
        gls_text_printf(&text,
                        "{\"SpatialReference\": \"bids::sub-%s/anat/sub-%s_space-ACPC_label-WM_probseg.nii.gz\", %s}\n",
                        s->label, s->label, what[i][2]);
        status = write_text(s, what[i][0], what[i][1], &text);
    }
    return status;
}

/* Writes all files of a subject, or none. */
static gls_status write_subject(subject *s)
{
    char path[2][1536], first[2][1536] = {"", ""};
    gls_status status = GLS_OK;
    for (int i = 0; i < 2; i++) {
        name_file(s, i ? "anat" : "dwi", "", path[i]);
        *strrchr(path[i], '/') = '\0';
        if (!status) status = gls_folders_make(path[i], first[i]);
    }
    if (!status) status = write_image(s, "dwi", "desc-preproc_dwi.nii.gz", s->phantom->dwi, GLS_IMAGE_INT16);
    if (!status) status = write_tables(s);
    if (!status) status = write_image(s, "dwi", "desc-brain_mask.nii.gz", s->phantom->mask, GLS_IMAGE_UINT8);
    static const char *const tissue[] = {"label-WM_probseg.nii.gz", "label-GM_probseg.nii.gz",
                                         "label-CSF_probseg.nii.gz"};
    for (size_t i = 0; i < 3 && !s->again && !status; i++) status = write_tissue(s, i, tissue[i]);
    if (!status) status = write_sidecars(s);
    if (!status) status = gls_output_group_commit(&s->group);
    gls_output_group_discard(&s->group);
    for (int i = 2; i-- > 0 && status;) gls_folders_remove(path[i], first[i]);
    return status;
}

/* Writes the files that describe the data set. */
static gls_status describe(subject *s, char first[1536])
{
    static const char *const files[][2] = {
        /* The validator accepts gradient tables only in raw data. */
        {".bidsignore", "*_dwi.b\n*_dwi.bval\n*_dwi.bvec\n"},
        {"dataset_description.json",
         "{\n    \"Name\": \"Phantom of glslines\",\n    \"BIDSVersion\": \"1.10.0\",\n    \"DatasetType\": "
         "\"derivative\",\n    \"License\": \"CC0\",\n    \"Authors\": [\"The glslines developers\", \"their "
         "phantom\"],\n    \"GeneratedBy\": [{\"Name\": \"glslines phantom\"}]\n}\n"},
        {"README.md",
         "# Phantom\n\nA synthetic diffusion data set in the form in which preprocessing pipelines leave theirs, for "
         "trying out and testing\n`glslines bids`. Each subject has the same anatomy, with noise of its own. Tissues "
         "stand on a finer grid than the\nseries, as segmentations of T1 images do.\n"}};
    char path[1536];
    gls_status status = gls_folders_make(s->directory, first);
    for (size_t i = 0; i < sizeof files / sizeof *files && !status; i++) {
        snprintf(path, sizeof path, "%s/%s", s->directory, files[i][0]);
        status = gls_file_write(path, s->overwrite, &s->group, files[i][1], strlen(files[i][1]));
    }
    return status;
}

/* Takes the next subject of a list such as "01,02/pre,sub-03". GLS_ERR_ARGUMENT: an invalid label. */
static gls_status next_label(const char **list, subject *s)
{
    char word[128];
    size_t n = strcspn(*list, ",");
    if (n >= sizeof word)
        return gls_fail(GLS_ERR_ARGUMENT, "--bids: '%.40s...' is too long for the label of a subject", *list);
    snprintf(word, sizeof word, "%.*s", (int)n, *list);
    *list += n + ((*list)[n] == ',');
    const char *label = strncmp(word, "sub-", 4) == 0 ? word + 4 : word;
    char *slash = strchr(word, '/');
    if (slash) *slash++ = '\0';
    snprintf(s->label, sizeof s->label, "%s", label);
    snprintf(s->session, sizeof s->session, "%s", !slash ? "" : strncmp(slash, "ses-", 4) == 0 ? slash + 4 : slash);
    if (gls_is_label(s->label) && (!slash || gls_is_label(s->session))) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT,
                    "--bids: '%s' is no label of a subject or session: give letters, digits and +, as in 01 or 01/1",
                    gls_is_label(s->label) ? s->session : s->label);
}

gls_status gls_phantom_write_bids(const gls_phantom_params *params, const char *directory, const char *labels,
                                  bool overwrite, size_t *n)
{
    subject s = {.directory = directory, .overwrite = overwrite};
    gls_phantom_params own = *params;
    gls_status status = GLS_OK;
    const char *rest = labels;
    /* all labels are checked before the first phantom is made */
    for (*n = 0; *rest && !status;) status = next_label(&rest, &s);
    char first[1536] = "";
    if (!status) status = describe(&s, first);
    for (rest = labels; *rest && !status; ++*n) {
        gls_phantom *phantom = NULL;
        subject other = s;
        const char *here = rest;
        status = next_label(&rest, &s);
        s.again = false;
        for (const char *before = labels; before < here && !next_label(&before, &other);)
            s.again |= strcmp(other.label, s.label) == 0;
        /* the k-th subject has its own noise */
        own.seed = params->seed + *n;
        if (!status) status = gls_phantom_create(&own, &phantom);
        s.phantom = phantom;
        if (!status) status = write_subject(&s);
        gls_phantom_destroy(phantom);
    }
    gls_output_group_discard(&s.group);
    if (status) gls_folders_remove(directory, first);
    return status;
}
