"""Why rows of suites.py differ by decision, and the page of the manual that says so."""

REASONS = {
    "counts": ("A file of weights with another number of values than there are streamlines is an error; tckedit and tck2connectome take the first ones.", "tractograms"),
    "empty-range": ("A range whose least length is above its largest is an error; tckedit takes it.", "editing"),
    "ends-of-two": ("Two regions of `--include-end` want an end in each; with tckedit -ends_only one end may stand for both.", "editing"),
    "nonsense": ("A step, a radius or an angle of 0 and an option that has no effect without another one are errors, which name the option that is meant.", "troubleshooting"),
    "series": ("Each volume of a series is a column; tcksample writes one number for each streamline.", "values"),
    "vtk-space": ("A VTK file that does not say its axes is refused until `--vtk-space` does; tckconvert takes it as its own.", "tractograms"),
    "compact-labels": ("A matrix has rows of the labels that occur; `--labels raw` has rows from 1 to the largest, as tck2connectome.", "connectomes"),
    "term-ratio": ("The smallest ratio of both decreases holds; tcksift 3.0.3 has it with the wrong sign, so that all ratios give the same file.", "streamline-weights"),
    "erosion": ("`glslines response --algorithm fa` erodes a mask that is given, as it does one that it makes, unless `--erode 0` says otherwise; dwi2response takes it as it is.", "differences"),
    "whole-steps": ("Streamlines that reach `--max-length` end with the last whole step within it; tckgen iFOD2 cuts the last step to the length, and iFOD1, SD_STREAM and FACT go on to as many as 3 steps more than the length has, rounded up.", "differences"),
    "float64": ("TCK files of MRtrix3's other types are read; nibabel reads those of float32.", "tractograms"),
    "mgh": ("FreeSurfer's .mgh and .mgz are not read: convert them to NIfTI.", "inputs"),
    "complex": ("Images of complex numbers are refused; tcksample takes them.", "inputs"),
    "tensor-fit": ("The tensor is DIPY's weighted fit, whose weights come from an ordinary one; dwi2tensor weighs otherwise, and FA of bundles differs by up to 2 %.", "models#tensor"),
    "directions": ("Orientation distributions must not be negative in the 300 directions of `repulsion600`; MRtrix3 has 300 others.", "models#the-two-rules-of-csd"),
    "no-affine-trk": ("A TRK file without an affine needs `--reference`; nibabel places its points by the voxel sides.", "tractograms"),
    "cut-off": ("A TCK file that ends after a streamline without the last mark is read, with a warning; nibabel refuses it.", "tractograms"),
    "winding": ("`--max-winding` adds up the angles between steps; DIPY's winding projects them on a plane.", "editing"),
}
