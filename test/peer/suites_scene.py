"""Makes the data of the rows of suites.py from the built-in phantom with MRtrix3: a series, its fits, streamlines, regions,
images on other grids."""
import os
import subprocess

import nibabel as nib
import numpy as np

from responses import mrtrix_with_directions

# runs in a shell in the folder of the data; MRtrix3 has one thread, so that random numbers come in one order
STEPS = """
glslines phantom phantom --shape 24 28 22 --voxel-size 2.5 --bvals 1000 2000 --directions 32 --b0s 4 --orientation RAS -q
mrconvert phantom/dwi.nii.gz -fslgrad phantom/dwi.bvec phantom/dwi.bval dwi.mif
mrconvert dwi.mif dwi.nii -export_grad_fsl dwi.bvec dwi.bval -export_grad_mrtrix dwi.b
dwiextract dwi.mif -shells 0,2000 -singleshell shell.mif
mrconvert shell.mif shell.nii -export_grad_fsl shell.bvec shell.bval
mrconvert phantom/mask.nii.gz mask.nii -datatype uint8
mrconvert phantom/roi.nii.gz seed.nii -datatype uint8
mrconvert phantom/5tt.nii.gz 5tt.nii -datatype float32
dwi2tensor dwi.mif tensor.mif -mask mask.nii
tensor2metric tensor.mif -mask mask.nii -fa fa.nii -adc md.nii -vector v1.nii -modulate none
dwi2response msmt_5tt dwi.mif 5tt.nii wm.txt gm.txt csf.txt -mask mask.nii -wm_algo fa -pvf 0.5 -scratch .
dwi2response fa shell.mif single.txt -mask mask.nii -threshold 0.6 -scratch .
dwi2fod msmt_csd dwi.mif wm.txt wm_raw.mif gm.txt gm_raw.mif csf.txt csf_raw.mif -mask mask.nii
mtnormalise wm_raw.mif wm.mif gm_raw.mif gm.mif csf_raw.mif csf.mif -mask mask.nii
mrconvert wm.mif fod.nii -strides 1,2,3,4
tckgen wm.mif lines.tck -seed_image seed.nii -mask mask.nii -seeds 2500 -select 0
tckgen wm.mif one.tck -algorithm SD_STREAM -seed_image seed.nii -mask mask.nii -seeds 600 -select 0
tckedit lines.tck few.tck -number 150
tckedit lines.tck empty.tck -minlength 5000
tckresample few.tck ends.tck -endpoints
tcksample lines.tck fa.nii fa.txt -stat_tck mean
tckstats lines.tck -dump length.txt
warpinit mask.nii at.mif
mrconvert at.mif -coord 3 0 -axes 0,1,2 x.mif
mrconvert at.mif -coord 3 1 -axes 0,1,2 y.mif
mrconvert at.mif -coord 3 2 -axes 0,1,2 z.mif
mrcalc x.mif 20 -div -floor 2 -add y.mif 20 -div -floor 2 -add 4 -mult -add z.mif 20 -div -floor 2 -add 16 -mult -add mask.nii -mult labels.nii -datatype uint16
mrcalc labels.nii 0 -gt labels.nii 100 -add 0 -if high.nii -datatype uint16
mrcalc x.mif 8 -sub 2 -pow y.mif 2 -pow -add z.mif 2 -pow -add 144 -le a.nii -datatype uint8
mrcalc x.mif 6 -add 2 -pow y.mif 10 -add 2 -pow -add z.mif 4 -sub 2 -pow -add 120 -le b.nii -datatype uint8
mrcalc x.mif 0 -ge c.nii -datatype uint8
mrcalc y.mif -abs 14 -le d.nii -datatype uint8
mrcalc at.mif at.mif 9 -div -sin 2 -mult -add warp.nii -datatype float32
mrcalc fa.nii 0.35 -gt fa.nii 0 -if positive.nii
mrcalc fa.nii 0.3 -sub signed.nii
mrcalc fa.nii 0.1 -lt nan fa.nii -if holes.nii
mrcat fa.nii md.nii series.nii -axis 3
mrgrid mask.nii regrid -voxel 3.1,2.2,1.7 -interp nearest fine.nii
mrgrid mask.nii pad -uniform -5 crop.nii
printf '0.9848 -0.1736 0 3\\n0.1710 0.9698 0.1736 -2\\n-0.0301 -0.1710 0.9848 1\\n0 0 0 1\\n' > turn.txt
mrtransform mask.nii -linear turn.txt oblique.nii
mrconvert mask.nii -strides -3,1,-2 axes.nii
mrconvert mask.nii -strides -1,2,3 las.nii
mrtransform fa.nii -linear turn.txt fa_oblique.nii
mrconvert fa.nii -strides -3,1,-2 fa_axes.nii
5tt2gmwmi 5tt.nii gmwmi.nii
tck2connectome lines.tck labels.nii counts.csv -out_assignments nodes.txt
mrcalc fa.nii 0.5 -gt single.nii -datatype uint8
"""


def environment(tool):
    path = os.pathsep.join([os.path.dirname(tool), os.environ["PATH"]])
    return dict(os.environ, PATH=path, MRTRIX_QUIET="1", MRTRIX_NTHREADS="0", MRTRIX_RNG_SEED="1", OMP_NUM_THREADS="1", GLSLINES_CHECKED="")


def make(tool, folder):
    os.makedirs(folder)
    rng = np.random.default_rng(3)
    for step in filter(None, STEPS.split("\n")):
        done = subprocess.run(["sh", "-ec", step], cwd=folder, env=environment(tool), capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{step}: {done.stderr}")
    n = len(np.loadtxt(os.path.join(folder, "length.txt")))
    np.savetxt(os.path.join(folder, "weights.txt"), rng.random(n), "%.9g")
    i = np.arange(300) + 0.5  # a spiral of directions, azimuth and elevation; no two are opposite
    np.savetxt(os.path.join(folder, "dirs.txt"), np.c_[np.mod(i * np.pi * (3 - np.sqrt(5)), 2 * np.pi), np.arccos(1 - i / 300)], "%.17g")
    # in dwi2response the directions in which FODs must not be negative cannot be chosen
    mrtrix_with_directions(os.path.join(folder, "mrtrix"), os.path.join(folder, "dirs.txt"))
    labels = [int(label) for label in np.unique(nib.load(os.path.join(folder, "high.nii")).dataobj) if label]
    for name, places in (("in", labels), ("out", range(1, len(labels) + 1))):
        with open(os.path.join(folder, f"lut_{name}.txt"), "w") as file:
            file.writelines(f"{place} Region{label}\n" for place, label in zip(places, labels))
