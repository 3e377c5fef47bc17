# Inputs that are missing, damaged or do not fit. Sourced by run.sh.
fails 3 "$b/none.nii.gz" track "$b/none.nii.gz" "$bval" "$bvec" "$mask" "$roi"
fails 3 "$b/none.bval" track "$dwi" "$b/none.bval" "$bvec" "$mask" "$roi"
fails 3 "$b/none.bvec" track "$dwi" "$bval" "$b/none.bvec" "$mask" "$roi"
fails 3 "$b/none.nii" track "$dwi" "$bval" "$bvec" "$b/none.nii" "$roi"
fails 3 "$b/none.nii" track "$dwi" "$bval" "$bvec" "$mask" "$b/none.nii"
fails 3 "$b" track "$b" "$bval" "$bvec" "$mask" "$roi"
for file in truncated short header_only text nothing; do
    fails 3 "$b/$file.nii.gz" track "$b/$file.nii.gz" "$bval" "$bvec" "$mask" "$roi"
done
fails 3 "$mask" track "$mask" "$bval" "$bvec" "$mask" "$roi"
fails 3 "$dwi" track "$dwi" "$bval" "$bvec" "$dwi" "$roi"
fails 3 "$b/short.bval" track "$dwi" "$b/short.bval" "$bvec" "$mask" "$roi"
fails 3 "$b/words.bval" track "$dwi" "$b/words.bval" "$bvec" "$mask" "$roi"
fails 3 "$b/no_b0.bval" track "$dwi" "$b/no_b0.bval" "$bvec" "$mask" "$roi"
for file in short nan long two_rows; do
    fails 3 "$b/$file.bvec" track "$dwi" "$bval" "$b/$file.bvec" "$mask" "$roi"
done
fails 3 "$b/empty.nii.gz" track "$dwi" "$bval" "$bvec" "$b/empty.nii.gz" "$roi"
fails 3 "$b/empty.nii.gz" track "$dwi" "$bval" "$bvec" "$mask" "$b/empty.nii.gz"
fails 3 "$b/outside.nii.gz" track "$dwi" "$bval" "$bvec" "$mask" "$b/outside.nii.gz"
fails 3 "$b/zeros.nii.gz" track "$b/zeros.nii.gz" "$bval" "$bvec" "$mask" "$roi"
for file in moved smaller; do
    fails 3 "$b/$file.nii.gz" track "$dwi" "$bval" "$bvec" "$b/$file.nii.gz" "$roi"
    fails 3 "$b/$file.nii.gz" track "$dwi" "$bval" "$bvec" "$mask" "$b/$file.nii.gz"
    fails 3 "$b/$file.nii.gz" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --fa "$b/$file.nii.gz"
done
fails 3 "$b/none.nii" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --fa "$b/none.nii"
fails 3 "$b/none.txt" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --seeds "$b/none.txt"
for file in words empty far; do
    fails 3 "$b/$file.txt" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --seeds "$b/$file.txt"
done
fails 3 "$b/none.txt" track --sphere "$b/none.txt"
fails 3 "$b/few.txt" track --sphere "$b/few.txt"
# more coefficients than directions
fails 3 "30" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --sh-order 8

fails 5 no-such-device track --device no-such-device
fails 5 /dev/dri/renderD250 track --device /dev/dri/renderD250
fails 5 99 track --device 99
