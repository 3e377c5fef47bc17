"""Rows of suites.py for tckgen. Streamlines are random, so tckgen runs twice; the difference of its runs is chance."""
import nibabel as nib
import numpy as np

import suites_how as h
from suites_how import group

N = 2000
DIFFER = {"largest length": "whole-steps"}


def twice(words):
    return f"tckgen wm.mif theirs.tck -mask mask.nii {words} {{0}} && MRTRIX_RNG_SEED=77 tckgen wm.mif again.tck -mask mask.nii {words} {{0}}"


def options():
    """For each algorithm."""
    out = []
    like = h.chance(N)
    for theirs, ours in (("iFOD2", "ifod2"), ("iFOD1", "ifod1"), ("SD_STREAM", "sdstream")):
        peer = twice(f"-algorithm {theirs} -seeds {N} -select 0")
        mine = f"glslines track --sh fod.nii --dg {ours} --mask mask.nii --nseeds {N} -o mine.tck {{}}"
        s, r = "-seed_image seed.nii", "--roi seed.nii"
        cases = [
            ("defaults", s, r),
            ("step", f"{s} -step 0.8", f"{r} --step-size 0.8mm"),
            ("angle", f"{s} -angle 25", f"{r} --max-angle 25"),
            ("cutoff", f"{s} -cutoff 0.2", f"{r} --cutoff 0.2"),
            ("least length", f"{s} -minlength 25", f"{r} --min-length 25"),
            ("largest length", f"{s} -maxlength 45", f"{r} --max-length 45"),
            ("a region to meet", f"{s} -include a.nii", f"{r} --include a.nii"),
            ("a region to avoid", f"{s} -exclude b.nii", f"{r} --exclude b.nii"),
            ("one direction from the seed", f"{s} -seed_unidirectional", f"{r} --seed-unidirectional"),
            ("a direction at the seed", f"{s} -seed_direction 0,1,0", f"{r} --seed-direction 0,1,0"),
            ("with tissue", f"{s} -act 5tt.nii", f"{r} --act 5tt.nii"),
        ]
        if ours != "sdstream":
            cases += [("with tissue and back-tracking", f"{s} -act 5tt.nii -backtrack", f"{r} --act 5tt.nii --backtrack")]
        if ours == "ifod2":
            cases += [
                ("two regions", f"{s} -include a.nii -include 5,-3,2,14", f"{r} --include a.nii --include 5,-3,2,14"),
                ("to stop where all regions are met", f"{s} -include a.nii -stop", f"{r} --include a.nii --stop"),
                ("regions in order", f"{s} -include_ordered a.nii -include_ordered 5,-3,2,14 -seed_unidirectional", f"{r} --include-ordered a.nii --include-ordered 5,-3,2,14 --seed-unidirectional"),
                ("cut at grey matter", f"{s} -act 5tt.nii -crop_at_gmwmi", f"{r} --act 5tt.nii --crop-at-gmwmi"),
                ("samples", f"{s} -samples 3", f"{r} --samples 3"),
                ("power", f"{s} -power 1", f"{r} --power 1"),
                ("trials", f"{s} -trials 20", f"{r} --trials 20"),
                ("cutoff at the seed", f"{s} -seed_cutoff 0.3", f"{r} --seed-cutoff 0.3"),
                ("attempts at a seed", f"{s} -max_attempts_per_seed 3", f"{r} --max-attempts-per-seed 3"),
                ("a sphere of seeds", "-seed_sphere 0,0,5,15", "--seed-sphere 0,0,5,15"),
                ("seeds by the values of an image", "-seed_rejection fa.nii", "--seed-rejection fa.nii"),
                ("seeds at the border of grey matter", "-act 5tt.nii -seed_gmwmi gmwmi.nii", "--act 5tt.nii --seed-gmwmi gmwmi.nii"),
                ("every third point", f"{s} -downsample 3", f"{r} --downsample 3"),
            ]
        out += group("tckgen", peer, mine, [(f"{theirs}, {name}", a, b, like, DIFFER.get(name)) for name, a, b in cases])
    return out


def seeds():
    """Rows in which the number of seeds follows from the voxels, and rows with a fixed number of streamlines."""
    peer = twice("-select 0")
    mine = "glslines track --sh fod.nii --dg ifod2 --mask mask.nii -o mine.tck {}"
    rows = group("tckgen", peer, mine, [
        ("seeds in each voxel", "-seed_random_per_voxel single.nii 2", "--roi single.nii --seeds-per-voxel 2", per_voxel("single.nii", 2)),
        ("a grid of seeds in each voxel", "-seed_grid_per_voxel single.nii 2", "--roi single.nii --seed-grid 2", per_voxel("single.nii", 8)),
    ])
    inside = "mrcalc d.nii mask.nii -mult inside.nii && " + twice("-seeds 2000 -select 0 -seed_image seed.nii").replace("-mask mask.nii", "-mask inside.nii")
    rows += group("tckgen", inside, mine, [("a second mask", "", "--nseeds 2000 --roi seed.nii --tracking-mask d.nii", h.chance(N))])
    peer = twice("")
    return rows + group("tckgen", peer, mine, [
        ("a number of streamlines", "-seed_image seed.nii -select 900", "--roi seed.nii --select 900", h.chance()),
        ("a number of streamlines that meet a region", "-seed_image seed.nii -include a.nii -select 300", "--roi seed.nii --include a.nii --select 300", h.chance()),
    ]) + group("tckgen", "tckgen wm.mif theirs.tck {}", mine, [
        ("no seeds", "-mask mask.nii", "--seeds-per-voxel 1 --roi none.nii", h.both_refuse("none.nii")),
        ("an angle of 0", "-seed_image seed.nii -angle 0", "--roi seed.nii --max-angle 0", h.we_refuse("--max-angle", "more than 0"), "nonsense"),
        ("an algorithm that there is not", "-seed_image seed.nii -algorithm iFOD3", "--roi seed.nii --dg ifod3", h.both_refuse("ifod3")),
        ("back-tracking without tissue", "-seed_image seed.nii -backtrack", "--roi seed.nii --backtrack", h.we_refuse("--act"), "nonsense"),
    ])


def per_voxel(image, each):
    def how(trial):
        return h.chance(each * np.count_nonzero(nib.load(image).dataobj))(trial)

    return how


def rows():
    return [*options(), *seeds()]
