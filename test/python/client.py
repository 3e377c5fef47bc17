"""What a scientist types, which `mypy --strict` checks against the package; it is not run."""
from typing import Any, Dict, List

import numpy as np
from numpy.typing import NDArray

import glslines

lines: glslines.Result = glslines.track("dwi.nii.gz", nseeds=1000, dg="ifod2", step_size="0.5mm")
tracked: glslines.Tracked = glslines.track("dwi.nii.gz", out="tracks.trx")
stats: Dict[str, Any] = tracked.stats
lines = glslines.load("tracks.trx")
points: NDArray[np.float32] = lines.points
first: NDArray[np.float32] = lines[0]
first = tracked[0]
n: int = tracked["streamlines"]
fits = glslines.fit("dwi.nii.gz", mask="mask.nii.gz", model="msmt")
density, affine = glslines.density(lines, voxel_size=2.0)
matrix: NDArray[np.float64] = glslines.connectome(lines, "labels.nii.gz")
weights: NDArray[np.float64] = glslines.weights(lines, fits["wm"])
part: glslines.Result = glslines.edit([lines, "more.tck"], min_length=20, include=["a.nii.gz", "b.nii.gz"])
table: List[Dict[str, Any]] = glslines.profile(part, "fa.nii.gz", progress=False)
values: NDArray[np.float64] = glslines.sample(part, "fa.nii.gz")
glslines.response("dwi.nii.gz", algorithm="tournier", out="sub01")
glslines.segment(lines, "bundles.tsv", out="bundles.trx")
picture: glslines.Picture = glslines.render(lines)
glslines.render(lines, "a.png", views="superior,left")
glslines.report("tracks.trx", image="fa.nii.gz")
glslines.bids("data", "out", track={"nseeds": 1000})
peaks, _ = glslines.peaks(fits["wm"])
gradients = glslines.Gradients.read("dwi.bval", "dwi.bvec", affine, 65)
sh = glslines.csd("dwi.nii.gz", gradients)
odf = glslines.ODF.from_sh(sh, affine=affine)
with glslines.Tracker("auto", glslines.Params(dg="prob", max_angle=30), odf=odf, stop_map=density) as tracker:
    result = tracker.run(glslines.Seeds.random(density, 100, affine=affine))
result.save("out.tck")
result.to_nibabel()
result.to_stateful()
