/* Writes the files of a phantom, and describes them in words; writes phantoms as a BIDS data set of derivatives, in the
 * form of preprocessing pipelines, for `glslines bids`. The files of a phantom, or of a subject, get their names
 * together, so that a full disk leaves none behind. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glslines/phantom.h>

#include "phantom/write.h"
#include "image/image_write.h"
#include "util/file.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

#define MAX_PATH 4096
#define MAX_NAME 64 /* largest length of a name: "bundles/", the name of a bundle and "_end0.nii.gz" fit */

/* Content of a file: series, b-values, b-vectors, image of floats, mask, centre line, five tissues. */
typedef enum what { DWI, BVAL, BVEC, IMAGE, LABEL, LINE, TISSUE } what;

/* A file of the phantom: its name relative to the directory, and the image or bundle that the file holds. */
typedef struct item {
    char name[MAX_NAME];
    what what;
    const gls_image *image;
    const gls_phantom_bundle *bundle;
} item;

/* The list of files; item is from calloc. */
typedef struct writer {
    const char *directory;
    item *item;
    size_t n;
} writer;

/* Appends the file prefix + name + suffix to the list, which has room. */
static void add(writer *w, what what, const gls_image *image, const gls_phantom_bundle *bundle, const char *prefix,
                const char *name, const char *suffix)
{
    item *it = &w->item[w->n++];
    *it = (item){.what = what, .image = image, .bundle = bundle};
    snprintf(it->name, sizeof it->name, "%s%s%s", prefix, name, suffix);
}

/* Lists all files with their names and contents. */
static gls_status items_list(writer *w, const gls_phantom *p)
{
    w->item = calloc(8 + 4 * p->n_bundles, sizeof *w->item);
    if (!w->item) return gls_fail(GLS_ERR_MEMORY, "out of memory for the phantom's files");
    add(w, DWI, p->dwi, NULL, "", "dwi", ".nii.gz");
    add(w, BVAL, NULL, NULL, "", "dwi", ".bval");
    add(w, BVEC, NULL, NULL, "", "dwi", ".bvec");
    add(w, LABEL, p->mask, NULL, "", "mask", ".nii.gz");
    add(w, LABEL, p->roi, NULL, "", "roi", ".nii.gz");
    add(w, IMAGE, p->tissue, NULL, "", "tissue", ".nii.gz");
    add(w, TISSUE, p->tissue, NULL, "", "5tt", ".nii.gz");
    if (p->peaks) add(w, IMAGE, p->peaks, NULL, "", "peaks", ".nii.gz");
    for (size_t i = 0; i < p->n_bundles; i++) {
        const gls_phantom_bundle *b = &p->bundle[i];
        add(w, LABEL, b->mask, b, "bundles/", b->name, ".nii.gz");
        add(w, LABEL, b->ends[0], b, "bundles/", b->name, "_end0.nii.gz");
        add(w, LABEL, b->ends[1], b, "bundles/", b->name, "_end1.nii.gz");
        add(w, LINE, NULL, b, "bundles/", b->name, ".txt");
    }
    return GLS_OK;
}

/* Stores folder/name in path. GLS_ERR_OUTPUT: the path would be too long. */
static gls_status path_join(char path[MAX_PATH], const char *folder, const char *name)
{
    int n = snprintf(path, MAX_PATH, "%s/%s", folder, name);
    if (n < 0 || n >= MAX_PATH)
        return gls_fail(
            GLS_ERR_OUTPUT,
            "%s: the paths of the files in this directory would be too long: choose a directory with a shorter path",
            folder);
    return GLS_OK;
}

/* Checks the path of each file before anything is written. GLS_ERR_OUTPUT: for example, a file exists already and must
 * not be overwritten. */
static gls_status targets_check(const writer *w, bool overwrite)
{
    char path[MAX_PATH];
    gls_status status = GLS_OK;
    for (size_t i = 0; i < w->n && !status; i++) {
        status = path_join(path, w->directory, w->item[i].name);
        if (!status) status = gls_output_check(path, overwrite, NULL, 0);
    }
    return status;
}

/* Appends the b-values in one line. */
static void print_bvals(const gls_phantom *phantom, gls_text *text)
{
    const gls_gradients *g = phantom->gradients;
    for (size_t i = 0; i < g->n; i++) gls_text_printf(text, "%s%.10g", i ? " " : "", g->bval[i]);
    gls_text_puts(text, "\n");
}

/* Appends the vectors as FSL reads them: three lines, x negated if the determinant of the affine is positive. */
static void print_bvecs(const gls_phantom *phantom, gls_text *text)
{
    const gls_gradients *g = phantom->gradients;
    bool flip = gls_grid_determinant(&phantom->dwi->grid) > 0;
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < g->n; i++) {
            double v = k == 0 && flip ? -g->bvec[i][k] : g->bvec[i][k];
            gls_text_printf(text, "%s%.9f", i ? " " : "", v + 0.0); /* adding 0.0 turns -0 into 0 */
        }
        gls_text_puts(text, "\n");
    }
}

/* Writes b-values, b-vectors, or the centre line of a bundle in world mm. */
static gls_status text_write(const char *path, bool overwrite, gls_output_group *group, const item *it,
                             const gls_phantom *p)
{
    gls_text text = {0};
    if (it->what == BVAL) print_bvals(p, &text);
    if (it->what == BVEC) print_bvecs(p, &text);
    for (size_t i = 0; it->what == LINE && i < it->bundle->n_points; i++) {
        const double *c = it->bundle->centre_line[i];
        gls_text_printf(&text, "%.4f %.4f %.4f\n", c[0], c[1], c[2]);
    }
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

/* Writes the phantom's three tissues as the five of MRtrix3, for anatomically constrained tracking. */
static gls_status tissue_write(const char *path, bool overwrite, gls_output_group *group, const gls_phantom *p)
{
    gls_image *image = NULL;
    gls_status status = gls_phantom_five_tissues(p, &image);
    if (!status) status = gls_image_write_grouped(path, overwrite, group, image, GLS_IMAGE_FLOAT32);
    gls_image_destroy(image);
    return status;
}

/* Writes all files of the phantom into a group, which the caller commits. */
static gls_status items_write(const writer *w, const gls_phantom *p, bool overwrite, gls_output_group *group)
{
    char path[MAX_PATH];
    for (size_t i = 0; i < w->n; i++) {
        const item *it = &w->item[i];
        gls_status status = path_join(path, w->directory, it->name);
        if (status) return status;
        switch (it->what) {
        case DWI: status = gls_image_write_grouped(path, overwrite, group, it->image, GLS_IMAGE_INT16); break;
        case IMAGE: status = gls_image_write_grouped(path, overwrite, group, it->image, GLS_IMAGE_FLOAT32); break;
        case LABEL: status = gls_image_write_grouped(path, overwrite, group, it->image, GLS_IMAGE_UINT8); break;
        case TISSUE: status = tissue_write(path, overwrite, group, p); break;
        case BVAL:
        case BVEC:
        case LINE: status = text_write(path, overwrite, group, it, p); break;
        }
        if (status) return status;
    }
    return GLS_OK;
}

/* Makes a directory, if there is none. *made: whether the directory is new, so that a failure can remove it. */
static gls_status folder_make(const char *path, bool *made)
{
    struct stat info;
    *made = !mkdir(path, 0777);
    if (*made) return GLS_OK;
    int reason = errno;
    if (reason == EEXIST && !stat(path, &info)) {
        if (S_ISDIR(info.st_mode)) return GLS_OK;
        reason = ENOTDIR;
    }
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot make the directory: %s", path, strerror(reason));
}

/* Whether a bundle, which a caller may have made itself, has all parts that are written. */
static bool bundle_is_whole(const gls_phantom_bundle *b)
{
    return b->mask && b->ends[0] && b->ends[1] && (b->centre_line || b->n_points == 0);
}

gls_status gls_phantom_write(const gls_phantom *phantom, const char *directory, gls_existing existing)
{
    bool overwrite = existing == GLS_EXISTING_REPLACE;
    GLS_REQUIRE(phantom && directory && directory[0]);
    GLS_REQUIRE(phantom->dwi && phantom->gradients && phantom->mask && phantom->roi && phantom->tissue);
    GLS_REQUIRE(phantom->bundle || phantom->n_bundles == 0);
    for (size_t b = 0; b < phantom->n_bundles; b++) GLS_REQUIRE(bundle_is_whole(&phantom->bundle[b]));
    writer w = {.directory = directory};
    gls_output_group group = {0};
    bool new_root = false, new_bundles = false;
    char path[MAX_PATH] = "";
    gls_status status = items_list(&w, phantom);
    if (!status) status = targets_check(&w, overwrite);
    if (!status) status = folder_make(directory, &new_root);
    if (!status) status = path_join(path, directory, "bundles");
    if (!status && phantom->n_bundles) status = folder_make(path, &new_bundles);
    if (!status) status = items_write(&w, phantom, overwrite, &group);
    status = gls_output_group_end(&group, status);
    if (status && new_bundles) rmdir(path);
    if (status && new_root) rmdir(directory);
    free(w.item);
    return status;
}

/* --- The description of the files, for people. */

/* Number of voxels above 0. */
static uint64_t count_voxels(const gls_image *image)
{
    uint64_t count = 0;
    size_t n = gls_grid_voxels(&image->grid);
    for (size_t i = 0; i < n; i++) count += image->data[i] > 0;
    return count;
}

char *gls_phantom_text(const gls_phantom *phantom, const char *folder)
{
    gls_text out = {0}, shown = {0};
    gls_text_show(&shown, folder);
    char *directory = gls_text_take(&shown);
    if (!directory) return NULL;
    const gls_grid *grid = &phantom->dwi->grid;
    char axes[4], text[32];
    gls_grid_axis_codes(grid, axes);
    gls_text_printf(
        &out, "%s/dwi.nii.gz     %d x %d x %d voxels of %.4g x %.4g x %.4g mm, axes %s, %zu volumes, %zu of them b0\n",
        directory, grid->dim[0], grid->dim[1], grid->dim[2], grid->voxel_size[0], grid->voxel_size[1],
        grid->voxel_size[2], axes, phantom->dwi->n_volumes, phantom->gradients->n_b0);
    gls_text_printf(&out, "%s/dwi.bval       b-values\n%s/dwi.bvec       directions, FSL's rule\n", directory,
                    directory);
    gls_text_printf(&out, "%s/mask.nii.gz    brain, %s voxels\n", directory,
                    gls_format_count(count_voxels(phantom->mask), text, sizeof text));
    gls_text_printf(&out, "%s/roi.nii.gz     white matter, %s voxels\n", directory,
                    gls_format_count(count_voxels(phantom->roi), text, sizeof text));
    gls_text_printf(&out, "%s/tissue.nii.gz  volume fractions of white matter, grey matter and CSF\n", directory);
    gls_text_printf(&out, "%s/5tt.nii.gz     the same as five tissues, for --act of 'glslines track'\n", directory);
    gls_text_printf(
        &out, "%s/peaks.nii.gz   the three largest fibre populations of each voxel: direction and volume fraction\n",
        directory);
    gls_text_printf(
        &out,
        "%s/bundles        %zu bundles: NAME.nii.gz, their ends NAME_end0.nii.gz and NAME_end1.nii.gz, centre lines "
        "NAME.txt (world mm)\n",
        directory, phantom->n_bundles);
    for (size_t i = 0; i < phantom->n_bundles; i++)
        gls_text_printf(&out, "    %-28s %8s voxels\n", phantom->bundle[i].name,
                        gls_format_count(count_voxels(phantom->bundle[i].mask), text, sizeof text));
    gls_text_printf(
        &out, "Track it with: glslines track %s/dwi.nii.gz %s/dwi.bval %s/dwi.bvec %s/mask.nii.gz %s/roi.nii.gz\n",
        directory, directory, directory, directory, directory);
    free(directory);
    return gls_text_take(&out);
}

/* --- A data set of BIDS. */

/* An entry of the list of subjects: a subject, or one session of a subject. */
typedef struct subject {
    /* images of the subject; borrowed */
    const gls_phantom *phantom;
    /* folder of the data set */
    const char *directory;
    char label[128], session[128]; /* session "": none */
    bool overwrite, again;         /* again: true: an earlier session of the subject has written the anatomical files */
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
    print_bvals(s->phantom, &bval);
    print_bvecs(s->phantom, &bvec);
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

/* Writes all files of an entry of the list, or none; the anatomical files only if `again` is false. */
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
    status = gls_output_group_end(&s->group, status);
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
    /* check all labels before the first phantom is made */
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
        /* each entry of the list has a seed, and so noise, of its own */
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
