# Inputs that are missing, damaged or do not fit. Sourced by run.sh.
fails 3 "$b/none.nii.gz" track "$b/none.nii.gz" "$bval" "$bvec" "$mask" "$roi"
# a series that does not exist has no table beside it either
for command in "track $b/none.nii.gz" "fit $b/none.nii.gz f" "response $b/none.nii.gz r" "track $b"; do
    # shellcheck disable=SC2086
    fails 3 "cannot be read: " $command
done
fails 3 "cannot be read: No such file" track "$b/none.mif"
fails 3 "no gradient table lies beside it" track "$mask"
# a series in a format that is not read: the message names the format, in each command that reads series and images
printf 'NRRD0005\ntype: float\ndimension: 4\nDWMRI_b-value:=1000\n' > "$work/dwi.nrrd"
printf '\0\0\0\1\0\0\0\5%0400d' 0 > "$work/dwi.mgh"
printf '%0128dDICM%0300d' 0 0 > "$work/dwi.dcm"
printf '\ntype  = string-attribute\nname  = TYPESTRING\n' > "$work/dwi+orig.HEAD"
head -c 1000 /dev/zero > "$work/dwi+orig.BRIK"
for words in "track %s" "fit %s none" "response %s none" "track --sh %s --roi $mask --mask $mask --dg ifod2" "track $dwi --mask %s" \
    "track --phantom --act %s" "track --phantom --include %s" "track --peaks %s --roi $mask --mask $mask --dg fact"; do
    # shellcheck disable=SC2046,SC2059
    fails 3 "an NRRD image" $(printf "$words" "$work/dwi.nrrd")
done
fails 3 "FreeSurfer (MGH)" track "$work/dwi.mgh"
fails 3 "a DICOM file" track "$work/dwi.dcm"
for name in HEAD BRIK; do fails 3 AFNI track "$work/dwi+orig.$name"; done
fails 3 "$b/none.bval" track "$dwi" "$b/none.bval" "$bvec" "$mask" "$roi"
fails 3 "$b/none.bvec" track "$dwi" "$bval" "$b/none.bvec" "$mask" "$roi"
cp "$bval" "$b/of_dsi.b_table.txt"
inputs=$(find "$work/in" "$work/bad" -type f | sort | cksum)
fails 7 "DSI Studio" track "$dwi" "$b/of_dsi.b_table.txt" - "$mask" "$roi"
fails 3 "not read from a pipe" track - "$bval" "$bvec" "$mask" "$roi"
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
# b-values in other units, or without shells: the message says what is wrong with which file, and what to do
for model in opdt csa csd msmt; do
    fails 3 "$b/ms_um2.bval: no diffusion-weighted volume: the largest of 34 b-values is 2 s/mm2" fit "$dwi" "$b/ms_um2.bval" "$bvec" "$mask" f --model $model
    grep -q -e '--b0-threshold 50); multiply b-values in ms/um2 by 1000' "$work/stderr" || note "ms/um2 with $model"
done
fails 3 "$dwi: CSD needs a shell" fit "$dwi" "$b/one.bval" "$bvec" "$mask" f --model csd
fails 3 "$dwi: 1 diffusion-weighted volume is too few" fit "$dwi" "$b/one.bval" "$bvec" "$mask" f --model opdt
fails 3 "three volumes or more of nearly one b-value; the weighted volumes (1, of b = 1000 to 1000" fit "$dwi" "$b/one.bval" "$bvec" "$mask" f --model csd
fails 3 "a shell is three volumes or more of nearly one b-value" fit "$dwi" "$b/one.bval" "$bvec" "$mask" f --model csd --shells 1000
fails 3 "three volumes or more of nearly one b-value): take --model opdt" fit "$dwi" "$b/one.bval" "$bvec" "$mask" f --model msmt
fails 3 "glslines: $dwi: no shell has b = 300 s/mm2" fit "$dwi" "$bval" "$bvec" "$mask" f --model msmt --shells 300
fails 3 "three weighted volumes or more of nearly one b-value" response "$dwi" "$b/one.bval" "$bvec" "$mask" r --algorithm tournier
fails 3 "the shells are: 300 (30 volumes); --shells B uses the shell" fit "$dwi" "$b/low.bval" "$bvec" "$mask" f --model csd
# responses that cannot be estimated: the message names options that the command has
fails 3 "lower --fa-threshold (--algorithm fa)" response "$dwi" "$bval" "$bvec" "$mask" r --algorithm fa --fa-threshold 0.99
python3 - "$roi" "$b/few.nii.gz" <<'PYTHON'
import gzip, sys
data = bytearray(gzip.open(sys.argv[1]).read())
for i in [i for i in range(352, len(data)) if data[i]][3:]: data[i] = 0
gzip.open(sys.argv[2], "wb").write(data)
PYTHON
inputs=$(find "$work/in" "$work/bad" -type f | sort | cksum)
fails 3 "$dwi: responses: a tissue has no voxels" fit "$dwi" "$bval" "$bvec" "$b/few.nii.gz" f --model msmt
fails 3 "take responses of other series by --response-wm, --response-gm and --response-csf, or --model csd" fit "$dwi" "$bval" "$bvec" "$b/few.nii.gz" f --model msmt
# Files that results and regions read are checked before any work: missing files before the series is read, others before it is fitted.
printf 'bundle\tinclude\nmiddle\t0,0,0,30\n' > "$work/bundles.tsv"
for words in "--connectome $b/none.nii:c.csv" "--sample $mask,$b/none.nii:s.csv" "--profile $b/none.nii:p.csv" \
    "--profile $work/bundles.tsv:$b/none.nii:p.csv" "--segment $b/none.nii:s.tsv" "--fdt-network $b/none.nii:n" "--fdt-targets $b/none.nii:t.nii" \
    "--fdt-matrix2 $b/none.nii:m" "--include $b/none.nii" "--exclude-end $b/none.nii:3" "--stop-at $b/none.nii" "--tracking-mask $b/none.nii"; do
    # shellcheck disable=SC2086
    fails 3 "$b/none.nii: cannot be read" track "$b/zeros.nii.gz" "$bval" "$bvec" "$mask" "$roi" -o t.tck $words
done
for words in "--connectome $dwi:c.csv" "--fdt-network $dwi:n" "--fdt-targets $dwi:t.nii" "--fdt-matrix3 $dwi:m"; do
    # shellcheck disable=SC2086
    fails 3 "$dwi: is a 4D series" track "$dwi" "$bval" "$bvec" "$b/few.nii.gz" "$roi" --model msmt -o t.tck $words
done
for words in "--sample $bval:s.csv" "--profile $work/bundles.tsv:$bval:p.csv"; do
    # shellcheck disable=SC2086
    fails 3 "$bval: is not a NIfTI image" track "$dwi" "$bval" "$bvec" "$b/few.nii.gz" "$roi" --model msmt -o t.tck $words
done
# only regions may have labels behind the name
for words in "$mask $roi:1" "$mask:1 $roi" "$mask $roi --fa $mask:1,2"; do
    # shellcheck disable=SC2086
    fails 3 "make a mask of the labels" track "$dwi" "$bval" "$bvec" $words
done
# habits of FSL and of shells: abbreviated names, packed texts, standard output
fails 3 "No such file or directory: give the name of a folder" track --bedpostx "$b/merged" --roi "$roi"
gzip -c "$bval" > "$work/packed.txt"
for words in "$work/packed.txt $bvec $mask $roi" "$bval $work/packed.txt $mask $roi" "$bval $bvec $mask $roi --seeds $work/packed.txt" \
    "$bval $bvec $mask $roi --sphere $work/packed.txt" "$bval $bvec $mask $roi --model csd --response $work/packed.txt"; do
    # shellcheck disable=SC2086
    fails 3 "packed.txt: is compressed by gzip" track "$dwi" $words
done
for words in "--output-seeds -" "--connectome $roi:-" "--sidecar -" "--trace -"; do
    # shellcheck disable=SC2086
    fails 2 "-: this output is not written to standard output" track "$dwi" "$bval" "$bvec" "$mask" "$roi" -o t.tck $words
done
fails 3 "$b/none.tck: cannot be read: No such file" report "$b/none.tck"
# a byte order mark is no part of a number
succeeds fit "$dwi" "$b/marked.bval" "$bvec" "$mask" f --model csd
clean
for file in short nan two_rows; do
    fails 3 "$b/$file.bvec" track "$dwi" "$bval" "$b/$file.bvec" "$mask" "$roi"
done
fails 3 "$b/empty.nii.gz" track "$dwi" "$bval" "$bvec" "$b/empty.nii.gz" "$roi"
fails 3 "$b/empty.nii.gz" track "$dwi" "$bval" "$bvec" "$mask" "$b/empty.nii.gz"
fails 3 "$b/outside.nii.gz" track "$dwi" "$bval" "$bvec" "$mask" "$b/outside.nii.gz"
fails 3 "$b/zeros.nii.gz" track "$b/zeros.nii.gz" "$bval" "$bvec" "$mask" "$roi"
# masks on another grid are resampled, with a warning, if half of them or more is left; a stop map is not
for file in moved smaller; do
    succeeds track "$dwi" "$bval" "$bvec" "$b/$file.nii.gz" "$roi" --dry-run
    grep -q "$file.nii.gz: lies on another grid" "$work/stderr" || note "no warning of another grid: $file"
    fails 3 "$b/$file.nii.gz" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --fa "$b/$file.nii.gz"
done
fails 3 "$b/away.nii.gz" track "$dwi" "$bval" "$bvec" "$b/away.nii.gz" "$roi"
fails 3 "$b/away.nii.gz" track "$dwi" "$bval" "$bvec" "$mask" "$b/away.nii.gz"
fails 3 "$b/none.nii" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --fa "$b/none.nii"
fails 3 "$b/none.txt" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --seeds "$b/none.txt"
for file in words empty far; do
    fails 3 "$b/$file.txt" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --seeds "$b/$file.txt"
done
fails 3 "$b/none.txt" track --phantom --sphere "$b/none.txt"
fails 3 "$b/few.txt" track --phantom --sphere "$b/few.txt"
# more coefficients than directions
fails 3 "30" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model opdt --sh-order 8

fails 3 "$b/none.nii" fit "$dwi" "$bval" "$bvec" "$b/none.nii" f
fails 3 "$b/away.nii.gz" fit "$dwi" "$bval" "$bvec" "$b/away.nii.gz" f
fails 3 "$b/away.nii.gz" response "$dwi" "$bval" "$bvec" "$b/away.nii.gz" r
succeeds fit "$dwi" "$bval" "$bvec" "$b/smaller.nii.gz" f
grep -q "smaller.nii.gz: lies on another grid" "$work/stderr" || note "fit: no warning of another grid"
clean
fails 3 "$b/zeros.nii.gz" fit "$b/zeros.nii.gz" "$bval" "$bvec" "$mask" f

# SH and ODF images: wrong counts, wrong grids, directions that do not match
fails 3 "$dwi: 34 volumes fit no SH order" track --sh "$dwi" --fa "$mask" --roi "$roi"
fails 3 "$b/sh14.nii.gz: 14 volumes" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --sh "$b/sh14.nii.gz"
fails 3 "$b/smaller.nii.gz" track --sh "$b/sh15.nii.gz" --fa "$b/smaller.nii.gz" --roi "$roi"
fails 3 "$b/none.nii" track --sh "$b/none.nii" --fa "$mask" --roi "$roi"
fails 3 "$b/sh15.nii.gz has 15 volumes, but $b/twelve.txt has 12 directions" track --odf "$b/sh15.nii.gz" --sphere "$b/twelve.txt" --fa "$mask" --roi "$roi"
fails 3 "$b/words.txt" track --odf "$b/sh15.nii.gz" --sphere "$b/words.txt" --fa "$mask" --roi "$roi"

# responses and shells of the deconvolution
csd="$dwi $bval $bvec $mask $roi --model csd"
fails 3 "$b/none.txt" track $csd --response "$b/none.txt"
for file in words three growing; do fails 3 "$b/$file.txt" track $csd --response "$b/$file.txt"; done
fails 3 "$b/words.txt" track $csd --csd-directions "$b/words.txt"
fails 3 "--csd-directions takes" track $csd --csd-directions nowhere
fails 3 "$b/zonal3.txt" track $csd --response "$b/zonal3.txt" --sh-order 6
fails 3 "the shells are: 2000" track $csd --shells 700
fails 3 "the shells are: 2000" track $csd --shells 1000
fails 3 "the shells are: 2000" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --shells 700
fails 4 "$dwi" track $csd --cache-dir "$dwi"
fails 4 "$b/none/cache" track $csd --cache-dir "$b/none/cache"

fails 5 no-such-device track --phantom --device no-such-device
fails 5 /dev/dri/renderD250 track --phantom --device /dev/dri/renderD250
fails 5 99 track --phantom --device 99
