# command_history: mrconvert -quiet -force series.nii -grad table.b mrtrix_scheme.mif -export_grad_mrtrix mrtrix.b -export_grad_fsl mrtrix.bvec mrtrix.bval -coord 0 '0:1' -datatype uint8  (version=3.0.3)
0 0 0 0
1 0 0 1000
0 1 0 1000
0 0 1 1000
0 0 0 0
0.5773502692 0.5773502692 0.5773502692 2500
0.6 0.8 0 2500
0 -0.6 0.8 2500
