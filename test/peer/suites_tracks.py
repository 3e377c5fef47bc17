"""Rows of suites.py: commands of MRtrix3 on tractograms, with the streamlines of suites_scene.py."""
import re
import subprocess

import suites_how as h
from suites_how import group


def tckedit():
    lines = h.lines(3e-5)
    return group("tckedit", "tckedit {} theirs.tck", "glslines edit {} mine.tck --like mrtrix", [
        ("a region", "lines.tck -include a.nii", "lines.tck --include a.nii", lines),
        ("two regions", "lines.tck -include a.nii -include b.nii", "lines.tck --include a.nii --include b.nii", lines),
        ("a sphere", "lines.tck -include 5,-3,2,9", "lines.tck --include 5,-3,2,9", lines),
        ("a sphere and an image", "lines.tck -include a.nii -include -6,-10,4,8", "lines.tck --include a.nii --include -6,-10,4,8", lines),
        ("a region on an oblique grid", "lines.tck -include oblique.nii", "lines.tck --include oblique.nii", lines),
        ("a region on turned axes", "lines.tck -exclude axes.nii -include a.nii", "lines.tck --exclude axes.nii --include a.nii", h.lines(0, empty=True)),
        ("to avoid a region", "lines.tck -exclude b.nii", "lines.tck --exclude b.nii", lines),
        ("to avoid two", "lines.tck -exclude a.nii -exclude 0,-10,0,6", "lines.tck --exclude a.nii --exclude 0,-10,0,6", lines),
        ("to meet one and avoid one", "lines.tck -include a.nii -exclude b.nii", "lines.tck --include a.nii --exclude b.nii", lines),
        ("in order", "lines.tck -include_ordered a.nii -include_ordered b.nii", "lines.tck --include-ordered a.nii --include-ordered b.nii", lines),
        ("in the other order", "lines.tck -include_ordered b.nii -include_ordered a.nii", "lines.tck --include-ordered b.nii --include-ordered a.nii", lines),
        ("ends in regions", "lines.tck -include a.nii -ends_only", "lines.tck --include-end a.nii", lines),
        ("ends in two regions", "lines.tck -include a.nii -include 10,10,0,20 -ends_only", "lines.tck --include-end a.nii --include-end 10,10,0,20", lines, "ends-of-two"),
        ("no end in a region", "lines.tck -exclude c.nii -ends_only", "lines.tck --exclude-end c.nii", lines),
        ("cut by a mask", "lines.tck -mask d.nii", "lines.tck --crop d.nii", lines),
        ("cut by a sphere", "lines.tck -mask 0,0,0,14", "lines.tck --crop 0,0,0,14", lines),
        ("what lies outside a mask", "lines.tck -mask d.nii -inverse", "lines.tck --crop d.nii --inverse", lines),
        ("a region and a mask", "lines.tck -include a.nii -mask d.nii", "lines.tck --include a.nii --crop d.nii", lines),
        ("at least a length", "lines.tck -minlength 40", "lines.tck --min-length 40", lines),
        ("at most a length", "lines.tck -maxlength 40", "lines.tck --max-length 40", lines),
        ("a range of lengths", "lines.tck -minlength 20 -maxlength 50.5", "lines.tck --min-length 20 --max-length 50.5", lines),
        ("the first ones", "lines.tck -number 100", "lines.tck --number 100", lines),
        ("after those that are skipped", "lines.tck -skip 250", "lines.tck --skip 250", lines),
        ("some after those that are skipped", "lines.tck -include a.nii -skip 20 -number 30", "lines.tck --include a.nii --skip 20 --number 30", lines),
        ("more than there are", "few.tck -number 10000", "few.tck --number 10000", lines),
        ("what a test drops", "lines.tck -include a.nii -minlength 30 -inverse", "lines.tck --include a.nii --min-length 30 --inverse", lines),
        ("two files", "few.tck one.tck", "few.tck one.tck", lines),
        ("a file and itself", "few.tck few.tck", "few.tck few.tck", lines),
        ("a file and an empty one", "few.tck empty.tck", "few.tck empty.tck", lines),
        ("an empty file", "empty.tck", "empty.tck", h.lines(0, empty=True)),
        ("a test that no streamline passes", "lines.tck -include a.nii -exclude a.nii", "lines.tck --include a.nii --exclude a.nii", h.lines(0, empty=True)),
        ("a copy", "lines.tck", "lines.tck", h.lines(0)),
        ("at least a weight", "lines.tck -tck_weights_in weights.txt -minweight 0.6", "lines.tck --weights weights.txt --min-weight 0.6", lines),
        ("at most a weight", "lines.tck -tck_weights_in weights.txt -maxweight 0.2", "lines.tck --weights weights.txt --max-weight 0.2", lines),
        ("weights of what is kept", "lines.tck -include a.nii -tck_weights_in weights.txt -tck_weights_out theirs_weights.txt", "lines.tck --include a.nii --weights weights.txt",
         h.held(lines, h.text(1e-6, mine="mine_weights", theirs="theirs_weights"))),
        ("weights of another file", "few.tck -tck_weights_in weights.txt", "few.tck --weights weights.txt", h.we_refuse("weights.txt"), "counts"),
        ("a range that is none", "lines.tck -minlength 50 -maxlength 20", "lines.tck --min-length 50 --max-length 20", h.we_refuse("length"), "empty-range"),
        ("a file that is not there", "none.tck", "none.tck", h.both_refuse("none.tck", "no such file")),
        ("a region that is not there", "few.tck -include none.nii", "few.tck --include none.nii", h.both_refuse("none.nii")),
        ("a sphere of three numbers", "few.tck -include 1,2,3", "few.tck --include 1,2,3", h.both_refuse("1,2,3")),
    ]) + group("tckedit", "cp one.tck theirs.tck && tckedit few.tck theirs.tck {}", "cp one.tck mine.tck && glslines edit few.tck mine.tck {}", [
        ("an output that exists", "", "", h.both_refuse("--force", code=(4,), left="one.tck")),
        ("an output that exists, by force", "-force", "--force", lines),
    ])


def tckresample():
    return group("tckresample", "tckresample {} theirs.tck", "glslines edit {} mine.tck --like mrtrix", [
        ("so many points", "lines.tck -num_points 20", "lines.tck --points 20", h.lines(3e-5)),
        ("two points", "lines.tck -num_points 2", "lines.tck --points 2", h.lines(3e-5)),
        ("many points", "few.tck -num_points 300", "few.tck --points 300", h.lines(3e-5)),
        ("a larger step", "lines.tck -step_size 3.3", "lines.tck --step-size 3.3 --step-from middle", h.lines(3e-5)),
        ("a smaller step", "lines.tck -step_size 0.4", "lines.tck --step-size 0.4 --step-from middle", h.lines(3e-5)),
        ("every second point", "lines.tck -downsample 2", "lines.tck --downsample 2", h.lines(3e-5)),
        ("every fifth point", "lines.tck -downsample 5", "lines.tck --downsample 5", h.lines(3e-5)),
        ("twice the points", "lines.tck -upsample 2", "lines.tck --upsample 2", h.lines(3e-5)),
        ("seven times the points", "few.tck -upsample 7", "few.tck --upsample 7", h.lines(3e-5)),
        ("the ends", "lines.tck -endpoints", "lines.tck --endpoints", h.lines(0)),
        ("an empty file", "empty.tck -num_points 7", "empty.tck --points 7", h.lines(0, empty=True)),
        ("of streamlines of two points", "ends.tck -num_points 9", "ends.tck --points 9", h.lines(3e-5)),
        ("twice the points of two", "ends.tck -upsample 4", "ends.tck --upsample 4", h.lines(3e-5)),
        ("no step", "few.tck -step_size 0", "few.tck --step-size 0", h.we_refuse("--step-size", "more than 0"), "nonsense"),
    ])


def tckmap():
    t = "-template mask.nii"
    both = lambda name, theirs, mine, how=h.image(1e-5), *reason: (name, theirs + " " + t, mine + " --template mask.nii", how, *reason)
    like = "--like mrtrix"
    cases = [
        both("streamlines in each voxel", "lines.tck", f"lines.tck {like}", h.image(0)),
        both("of a thin file", "one.tck", f"one.tck {like}", h.image(0)),
        both("ends", "lines.tck -ends_only", "lines.tck --mapping ends", h.image(0)),
        both("points without upsampling", "lines.tck -upsample 1", "lines.tck --mapping mrtrix --upsample 1", h.image(0)),
        both("upsampled by a number", "lines.tck -upsample 4", "lines.tck --mapping mrtrix --upsample 4", h.image(0)),
        both("streamlines of two points", "ends.tck -upsample 30", "ends.tck --mapping mrtrix --upsample 30", h.image(0)),
        both("lengths in voxels along the spline", "lines.tck -precise", "lines.tck --mapping precise", h.image(2e-3)),
        both("directions", "lines.tck -dec", f"lines.tck --dec {like}"),
        both("weights", "lines.tck -tck_weights_in weights.txt", f"lines.tck --weights weights.txt {like}"),
        both("weighted directions", "lines.tck -dec -tck_weights_in weights.txt", f"lines.tck --dec --weights weights.txt {like}"),
        both("weighted ends", "lines.tck -ends_only -tck_weights_in weights.txt", "lines.tck --mapping ends --weights weights.txt"),
        both("an empty file", "empty.tck", "empty.tck --mapping segment", h.image(0, zero=True)),
        both("counts of scalars", "lines.tck -contrast scalar_map_count -image positive.nii", f"lines.tck {like} --contrast scalar_map_count --image positive.nii"),
    ]
    for contrast in ("length", "invlength"):
        for vox in ("sum", "mean", "min", "max"):
            cases.append(both(f"{contrast}, {vox}", f"lines.tck -contrast {contrast} -stat_vox {vox}", f"lines.tck {like} --contrast {contrast} --stat-vox {vox}"))
    for stat in ("mean", "sum", "min", "max", "median", "mean_nonzero", "ends_min", "ends_max", "ends_mean", "ends_prod"):
        of = "positive.nii" if stat in ("mean_nonzero", "ends_prod") else "fa.nii"
        cases.append(both(f"scalar_map of {stat}", f"lines.tck -contrast scalar_map -image {of} -stat_tck {stat} -stat_vox sum", f"lines.tck {like} --contrast scalar_map --image {of} --stat-tck {stat}"))
    for vox in ("mean", "min", "max"):
        cases.append(both(f"scalar_map in voxels, {vox}", f"lines.tck -contrast scalar_map -image signed.nii -stat_tck mean -stat_vox {vox}",
                          f"lines.tck {like} --contrast scalar_map --image signed.nii --stat-tck mean --stat-vox {vox}"))
    cases += [
        both("scalar_map by its defaults", "lines.tck -contrast scalar_map -image fa.nii", f"lines.tck {like} --contrast scalar_map --image fa.nii"),
        both("weighted scalar_map", "lines.tck -contrast scalar_map -image fa.nii -stat_vox mean -tck_weights_in weights.txt",
             f"lines.tck {like} --contrast scalar_map --image fa.nii --stat-vox mean --weights weights.txt"),
        both("zeros count, too", "lines.tck -contrast scalar_map -image positive.nii -stat_tck min -stat_vox mean -map_zero",
             f"lines.tck {like} --contrast scalar_map --image positive.nii --stat-tck min --stat-vox mean --map-zero"),
        both("zeros do not count", "lines.tck -contrast scalar_map -image positive.nii -stat_tck min -stat_vox mean",
             f"lines.tck {like} --contrast scalar_map --image positive.nii --stat-tck min --stat-vox mean"),
        both("scalar_map of an oblique image", "lines.tck -contrast scalar_map -image fa_oblique.nii -stat_vox sum", f"lines.tck {like} --contrast scalar_map --image fa_oblique.nii"),
        both("scalar_map of an image on turned axes", "lines.tck -contrast scalar_map -image fa_axes.nii -stat_vox sum", f"lines.tck {like} --contrast scalar_map --image fa_axes.nii"),
    ]
    for name, image in (("finer voxels of three sides", "fine.nii"), ("an oblique grid", "oblique.nii"), ("turned axes", "axes.nii"), ("a smaller grid", "crop.nii"), ("left to right", "las.nii")):
        cases.append((f"on {name}", f"lines.tck -template {image}", f"lines.tck {like} --template {image}", h.image(0)))
    cases += [
        ("directions on an oblique grid", "lines.tck -dec -template oblique.nii", f"lines.tck {like} --dec --template oblique.nii", h.image(1e-5)),
        ("directions on turned axes", "lines.tck -dec -template axes.nii", f"lines.tck {like} --dec --template axes.nii", h.image(1e-5)),
        ("a box of voxels", "lines.tck -vox 2", f"lines.tck {like} --voxel-size 2", h.image(0)),
        ("a box of voxels of three sides", "lines.tck -vox 1.3,2.5,4", f"lines.tck {like} --voxel-size 1.3 2.5 4", h.image(0)),
        ("other voxels in the box of an image", "lines.tck -template mask.nii -vox 1.25", f"lines.tck {like} --template mask.nii --voxel-size 1.25", h.image(0)),
        ("no grid", "lines.tck", f"lines.tck {like}", h.both_refuse("--template")),
        ("scalar_map without an image", "lines.tck -template mask.nii -contrast scalar_map", "lines.tck --template mask.nii --contrast scalar_map", h.both_refuse("--image")),
    ]
    return group("tckmap", "tckmap {} theirs.nii", "glslines density {} mine.nii.gz", cases)


def tcksample():
    # tcksample -precise follows a spline, which touches other voxels at corners, in one streamline of a hundred
    cases = []
    for stat in ("mean", "median", "min", "max"):
        cases.append((stat, f"lines.tck fa.nii theirs.txt -stat_tck {stat}", f"lines.tck fa.nii --stat-tck {stat} -o mine.txt", h.text(5e-6)))
        cases.append((f"{stat} of nearest voxels", f"lines.tck fa.nii theirs.txt -stat_tck {stat} -nointerp", f"lines.tck fa.nii --stat-tck {stat} --interp nearest -o mine.txt", h.text(5e-6)))
        cases.append((f"{stat} by voxels", f"lines.tck fa.nii theirs.txt -stat_tck {stat} -precise", f"lines.tck fa.nii --stat-tck {stat} --by voxel -o mine.txt", h.text(5e-6, rare=23)))
    cases += [
        ("mean of an oblique image", "lines.tck fa_oblique.nii theirs.txt -stat_tck mean", "lines.tck fa_oblique.nii -o mine.txt", h.text(5e-6)),
        ("mean of turned axes", "lines.tck fa_axes.nii theirs.txt -stat_tck mean", "lines.tck fa_axes.nii -o mine.txt", h.text(5e-6)),
        ("mean with voxels that are NaN", "lines.tck holes.nii theirs.txt -stat_tck mean", "lines.tck holes.nii -o mine.txt", h.text(5e-6)),
        ("mean of .mif", "lines.tck x.mif theirs.txt -stat_tck mean", "lines.tck x.mif -o mine.txt", h.text(5e-6)),
        ("mean of two points", "ends.tck fa.nii theirs.txt -stat_tck mean", "ends.tck fa.nii -o mine.txt", h.text(5e-6)),
        ("share of a voxel's density", "lines.tck fa.nii theirs.txt -stat_tck mean -precise -use_tdi_fraction", "lines.tck fa.nii --by voxel --fraction -o mine.txt", h.text(1e-2)),
        ("a series", "lines.tck series.nii theirs.txt -stat_tck mean", "lines.tck series.nii -o mine.txt", lambda trial: ("differ", "a column and two") if [len(h.numbers(f"{who}.txt")[-1]) for who in ("theirs", "mine")] != [1, 2] and len(h.numbers("mine.txt")[0]) == 2 else ("fail", "no two columns"), "series"),
                ("an image that is not there", "lines.tck none.nii theirs.txt -stat_tck mean", "lines.tck none.nii -o mine.txt", h.both_refuse("none.nii")),
    ]
    return group("tcksample", "tcksample {}", "glslines sample {} --like mrtrix", cases) + group(
        "tcksample", "tcksample few.tck {} t.tsf && tsfinfo t.tsf -ascii t_ && cat t_-*.txt > theirs.txt",
        "glslines sample few.tck {} --like mrtrix --tsf m.tsf && tsfinfo m.tsf -ascii m_ && cat m_-*.txt > mine.txt", [
            ("values of points", "fa.nii", "fa.nii", h.text(5e-6)),
            ("values of points of an oblique image", "fa_oblique.nii", "fa_oblique.nii", h.text(5e-6)),
            ("values of points of nearest voxels", "labels.nii -nointerp", "labels.nii --interp nearest", h.text(0)),
        ])


def tckstats():
    rows = []
    for file in ("lines.tck", "one.tck", "ends.tck"):
        rows += group("tckstats", f"tckstats {file} {{}} > theirs.txt", f"glslines stats {file} -o m.tsv && cut -f{{}} m.tsv | tail -n 1 > mine.txt", [
            (f"mean of {file}", "-output mean", "$(head -n 1 m.tsv | tr '\\t' '\\n' | grep -n '^mean_mm$' | cut -d: -f1)", h.text(2e-6)),
            (f"median of {file}", "-output median", "$(head -n 1 m.tsv | tr '\\t' '\\n' | grep -n '^median_mm$' | cut -d: -f1)", h.text(2e-6)),
            (f"sd of {file}", "-output std", "$(head -n 1 m.tsv | tr '\\t' '\\n' | grep -n '^sd_mm$' | cut -d: -f1)", h.text(5e-6)),
            (f"least and largest of {file}", "-output min -output max", "$(head -n 1 m.tsv | tr '\\t' '\\n' | grep -nE '^(min|max)_mm$' | cut -d: -f1 | paste -sd,)", h.text(2e-6)),
            (f"number of {file}", "-output count", "$(head -n 1 m.tsv | tr '\\t' '\\n' | grep -n '^count$' | cut -d: -f1)", h.text(0)),
        ])
    rows += group("tckstats", "tckstats lines.tck {}", "glslines stats lines.tck {}", [
        ("each length", "-dump theirs.txt", "--dump mine.txt", h.text(2e-6)),
        ("weighted mean", "-tck_weights_in weights.txt -output mean > theirs.txt", "--weights weights.txt -o m.tsv && cut -f$(head -n 1 m.tsv | tr '\\t' '\\n' | grep -n '^mean_mm$' | cut -d: -f1) m.tsv | tail -n 1 > mine.txt", h.text(5e-6)),
        ("histogram", "-histogram h.txt && grep '^[0-9]' h.txt > theirs.txt", "-o m.tsv --histogram h.tsv && cut -f2-9 h.tsv | grep '^[0-9]' > mine.txt", histogram),
    ])
    return rows


def histogram(trial):
    """Compares histograms; the peer's bins are centred on whole steps."""
    a, b = (h.numbers(name) for name in ("mine.txt", "theirs.txt"))
    count = [sum(row[-1] for row in rows) for rows in (a, b)]
    return ("agree" if count[0] == count[1] > 0 else "fail"), f"{count} streamlines in {len(a)} and {len(b)} bins"


def tckinfo():
    return group("tckinfo", "tckinfo {} -count", "glslines info {} --count --json mine.json && cat mine.json", [
        (f"number of {name}", name, name, h.said(r'"counted".*?"streamlines":\s*(\d+)', r"actual count in file: (\d+)")) for name in ("lines.tck", "one.tck", "ends.tck")
    ] + [("an empty file", "empty.tck", "empty.tck", nothing)])


def nothing(trial):
    good = re.search(r'"counted".*?"streamlines":\s*0', trial.ours.out, re.S) and "actual count in file: 0" in trial.peer.out
    return "agree" if good else "fail", "0 streamlines"


def tckconvert():
    return group("tckconvert", "{}", "{}", [
        ("TCK to VTK", "tckedit lines.tck theirs.tck", "glslines convert lines.tck w.vtk && tckconvert w.vtk mine.tck", h.lines(1e-4)),
        ("VTK of MRtrix3", "tckconvert lines.tck x.vtk && tckedit lines.tck theirs.tck", "tckconvert lines.tck w.vtk && glslines convert w.vtk mine.tck --vtk-space ras", h.lines(1e-4)),
        ("VTK of MRtrix3 that names no space", "tckconvert few.tck v.vtk", "tckconvert lines.tck w.vtk && glslines convert w.vtk mine.tck", h.we_refuse("--vtk-space"), "vtk-space"),
        ("text files of points", "tckconvert few.tck p[].txt && tckconvert p[].txt theirs.tck", "glslines convert few.tck mine.tck", h.lines(1e-4)),
        ("VTK of an empty file", "tckconvert empty.tck v.vtk && cp empty.tck theirs.tck", "glslines convert empty.tck w.vtk && glslines convert w.vtk mine.tck", h.lines(0, empty=True)),
        ("another suffix", "tckconvert few.tck theirs.xyz", "glslines convert few.tck mine.xyz", h.both_refuse(".xyz")),
    ]) + group("tcktransform", "tcktransform {} theirs.tck", "glslines edit {} mine.tck", [
        ("a warp", "lines.tck warp.nii", "lines.tck --warp warp.nii --invalid drop", h.lines(1e-4)),
        ("a warp as .mif", "few.tck at.mif", "few.tck --warp at.mif --invalid drop", h.lines(1e-4)),
        ("an empty file", "empty.tck warp.nii", "empty.tck --warp warp.nii", h.lines(0, empty=True)),
        ("an image of one volume", "few.tck fa.nii", "few.tck --warp fa.nii", h.both_refuse("fa.nii", "three")),
    ])


def tck2connectome():
    matrix = h.held(h.text(1e-5), h.text(0, mine="mine_a", theirs="theirs_a"))
    cases = [(name, theirs, mine, matrix) for name, theirs, mine in (
        ("counts", "", ""),
        ("radius of 2", "-assignment_radial_search 2", "--radius 2"),
        ("ends in voxels", "-assignment_end_voxels", "--assign end"),
        ("reverse search", "-assignment_reverse_search 0", "--assign reverse"),
        ("reverse search of 6 mm", "-assignment_reverse_search 6", "--assign reverse:6"),
        ("forward search of 3 mm", "-assignment_forward_search 3", "--assign forward:3"),
        ("forward search of 8 mm", "-assignment_forward_search 8", "--assign forward:8"),
        ("all voxels", "-assignment_all_voxels", "--assign all --roi-test vertex"),
        ("lengths", "-scale_length", "--scale length"),
        ("mean length", "-scale_length -stat_edge mean", "--scale length --stat-edge mean"),
        ("least length", "-scale_length -stat_edge min", "--scale length --stat-edge min"),
        ("largest length", "-scale_length -stat_edge max", "--scale length --stat-edge max"),
        ("inverse lengths", "-scale_invlength", "--scale invlength"),
        ("by the volume of nodes", "-scale_invnodevol", "--scale invnodevol"),
        ("by length and the volume of nodes", "-scale_length -scale_invnodevol", "--scale length --scale invnodevol"),
        ("by a file", "-scale_file fa.txt", "--scale-file fa.txt"),
        ("mean of a file", "-scale_file fa.txt -stat_edge mean", "--scale-file fa.txt --stat-edge mean"),
        ("weights", "-tck_weights_in weights.txt", "--weights weights.txt"),
        ("weighted mean of a file", "-tck_weights_in weights.txt -scale_file fa.txt -stat_edge mean", "--weights weights.txt --scale-file fa.txt --stat-edge mean"),
        ("symmetric", "-symmetric", "--symmetric"),
        ("diagonal of 0", "-zero_diagonal", "--zero-diagonal"),
        ("symmetric with a diagonal of 0", "-symmetric -zero_diagonal", "--symmetric --zero-diagonal"),
        ("ends without a node", "-keep_unassigned -assignment_end_voxels", "--keep-unassigned --assign end"),
        ("all voxels by volume", "-assignment_all_voxels -scale_invnodevol", "--assign all --roi-test vertex --scale invnodevol"),
        ("all voxels, symmetric", "-assignment_all_voxels -symmetric -zero_diagonal", "--assign all --roi-test vertex --symmetric --zero-diagonal"),
    )]
    out = group("tck2connectome", "tck2connectome lines.tck labels.nii theirs.csv -out_assignments theirs_a.txt {}",
                "glslines connectome lines.tck labels.nii mine.csv --labels raw --assignments mine_a.txt {}", cases)
    plain = h.text(1e-5)
    return out + group("tck2connectome", "tck2connectome {}", "glslines connectome {}", [
        ("labels with gaps", "lines.tck high.nii theirs.csv", "lines.tck high.nii mine.csv --labels raw", plain),
        ("rows of labels that occur", "lines.tck high.nii theirs.csv", "lines.tck high.nii mine.csv", lambda trial: ("differ" if len(h.numbers("mine.csv")) < len(h.numbers("theirs.csv")) else "fail", "fewer rows"), "compact-labels"),
        ("one file of a subject with an empty one", "empty.tck labels.nii theirs.csv", "empty.tck labels.nii mine.csv --labels raw", lambda trial: ("agree" if h.numbers("mine.csv") == h.numbers("theirs.csv") else "fail", "all 0")),
        ("labels that are no whole numbers", "lines.tck fa.nii theirs.csv", "lines.tck fa.nii mine.csv", h.both_refuse("whole numbers")),
        ("labels of a series", "lines.tck series.nii theirs.csv", "lines.tck series.nii mine.csv", h.both_refuse("series.nii")),
        ("weights of another file", "few.tck labels.nii theirs.csv -tck_weights_in weights.txt", "few.tck labels.nii mine.csv --weights weights.txt", h.we_refuse("weights.txt", "150"), "counts"),
        ("a radius of 0", "lines.tck labels.nii theirs.csv -assignment_radial_search 0", "lines.tck labels.nii mine.csv --radius 0", h.we_refuse("--assign end"), "nonsense"),
    ]) + group("connectome2tck", "connectome2tck lines.tck nodes.txt theirs.tck -files single {}", "glslines edit lines.tck mine.tck --assignments nodes.txt {}", [
        ("an edge", "-nodes 41,42 -exclusive", "--connect 41,42", h.lines(0)),
        ("an edge, the other way round", "-nodes 46,38 -exclusive", "--connect 46,38", h.lines(0)),
        ("edges among three nodes", "-nodes 37,38,46 -exclusive", "--connect 37,38 --connect 38,46 --connect 37,46", h.lines(0)),
    ])


def sift():
    old = "3.0.3" in subprocess.run(["tcksift2", "-version"], capture_output=True, text=True).stdout
    visit = "--single-visit keep" if old else ""
    weights = h.correlated(0.9999)
    rows = group("tcksift2", "tcksift2 lines.tck wm.mif theirs.txt -nthreads 1 {}", f"glslines weights lines.tck fod.nii -o mine.txt {visit} --device cpu {{}}", [
        ("defaults", "", "", weights),
        ("with tissue", "-act 5tt.nii", "--act 5tt.nii", weights),
        ("with tissue and less grey matter", "-act 5tt.nii -fd_scale_gm", "--act 5tt.nii --fd-scale-gm", weights),
        ("a mask of fractions", "-proc_mask mask.nii", "--proc-mask mask.nii", weights),
        ("no dilation", "-no_dilate_lut", "--no-dilate", weights),
        ("without fixels that have no streamline", "-remove_untracked", "--remove-untracked", weights),
        ("a threshold of density", "-fd_thresh 0.1", "--fd-threshold 0.1", weights),
        ("Tikhonov", "-reg_tikhonov 0.5", "--reg-tikhonov 0.5", weights),
        ("no total variation", "-reg_tv 0", "--reg-tv 0", weights),
        ("more total variation", "-reg_tv 1", "--reg-tv 1", weights),
        ("fewer fixels excluded", "-min_td_frac 0.02", "--min-td-frac 0.02", weights),
        ("three iterations", "-min_iters 1 -max_iters 3", "--min-iters 1 --max-iters 3", weights),
        ("a least coefficient", "-min_coeff -2", "--min-coeff -2", weights),
        ("a largest coefficient", "-max_coeff 1", "--max-coeff 1", weights),
        ("a largest factor", "-max_factor 2.5", "--max-factor 2.5", weights),
        ("small steps", "-max_coeff_step 0.1", "--max-coeff-step 0.1", weights),
        ("linear", "-linear", "--method linear", weights),
        ("mu", "-out_mu theirs_mu.txt -linear", "--mu mine_mu.txt --method linear", h.text(2e-5, mine="mine_mu", theirs="theirs_mu")),
    ])
    # each choice depends on those before: FODs that differ by 1e-4 give other ends, which is chance
    again = "mrcalc randn 1e-4 -mult 1 -add wm.mif -mult noisy.mif && tcksift lines.tck noisy.mif again.tck -nthreads 1 {0} && tcksift lines.tck wm.mif theirs.tck -nthreads 1 {0}"
    rows += group("tcksift", again, "glslines weights lines.tck fod.nii -o mine.tck --method sift --device cpu {}", [
        ("a number", "-term_number 1200", "--term-number 1200", h.held(h.chance(), same_number)),
        ("while the cost falls", "", "", h.chance(2305)),
        ("a mu", "-term_mu 0.05", "--term-mu 0.05", h.chance(2305)),
        ("with tissue", "-act 5tt.nii", "--act 5tt.nii", h.chance(2305)),
        ("a ratio", "-term_ratio 1", "--term-ratio 1", lambda trial: ("differ" if len(h.points("mine.tck")) > len(h.points("theirs.tck")) else "fail", f"{len(h.points('mine.tck'))} and {len(h.points('theirs.tck'))} kept"), "term-ratio"),
    ])
    return rows + group("fod2fixel", "fod2fixel wm.mif theirs -nii -afd fd.nii {}", "glslines fixels fod.nii mine {}", [
        ("defaults", "", "", h.fixels(2e-3)),
        ("a higher peak", "-fmls_peak_value 0.2", "--fixel-peak 0.2", h.fixels(2e-3)),
        ("a larger integral", "-fmls_integral 0.2", "--fixel-integral 0.2", h.fixels(2e-3)),
        ("a lower peak", "-fmls_peak_value 0.05", "--fixel-peak 0.05", h.fixels(2e-3)),
    ])


def same_number(trial):
    n = [len(h.points(f"{who}.tck")) for who in ("mine", "theirs")]
    return "agree" if n[0] == n[1] else "fail", f"{n} kept"


def rows():
    return [*tckedit(), *tckresample(), *tckmap(), *tcksample(), *tckstats(), *tckinfo(), *tckconvert(), *tck2connectome(), *sift()]
