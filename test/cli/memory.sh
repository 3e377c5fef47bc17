# --memory-limit: what is said before a run, what it takes then, and that the result is the same. Sourced by run.sh.
# peak PROGRAM ARGUMENTS... : the most memory that it had, in MB, after the words of its own
cat > "$work/peak.py" <<'PYTHON'
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1000, file=open(sys.argv[1], "w"))
sys.exit(code)
PYTHON
brain=$work/brain
"$tool" phantom "$brain" --shape 60 60 40 --directions 48 -q || note "no phantom of a brain"
files="$brain/dwi.nii.gz $brain/dwi.bval $brain/dwi.bvec $brain/mask.nii.gz $brain/roi.nii.gz"

# the smallest limit is below the need of batches of the size that long runs have, as the program itself says; with the fewest buffers of OpenGL ES it
# is a test of its own
limits=${4:-}
[ -z "$limits" ] || export GLSLINES_FORCE_LIMITS="$limits"
for getter in prob boot; do
    # the second run compiles the kernels that the third takes: compilers need memory of their own
    for limit in 0 0 250; do
        argument=
        [ $limit -eq 0 ] || argument="--memory-limit $limit"
        (cd "$work/out" && python3 "$work/peak.py" "$work/peak" "$tool" track $files --model opdt --dg $getter --sh-order 8 --sphere small --nseeds 1000 --chunk-size 25000 --device llvmpipe -o $getter-$limit.tck --force $argument \
            > "$work/stdout" 2> "$work/stderr") || note "$getter, limit $limit, $limits"
        checks=$((checks + 1))
        require grep -q '^memory: at most about .* of the host' "$work/stderr"
        # sanitizers take memory of their own
        [ $limit -eq 0 ] || [ -n "${ASAN_OPTIONS:-}" ] || [ "$(cat "$work/peak")" -le $limit ] || note "$getter, limit $limit, $limits: took $(cat "$work/peak") MB"
    done
    require grep -q '^memory: batches of .* keep --memory-limit' "$work/stderr"
    require cmp "$work/out/$getter-0.tck" "$work/out/$getter-250.tck"
    clean
done
unset GLSLINES_FORCE_LIMITS
[ -z "$limits" ] || return 0

# eudx along tensors needs less than is announced before the run
"$tool" phantom "$work/large" --shape 110 120 110 --voxel-size 2 --directions 7 -q || note "no large phantom"
large="$work/large/dwi.nii.gz $work/large/dwi.bval $work/large/dwi.bvec $work/large/mask.nii.gz $work/large/roi.nii.gz"
(cd "$work/out" && python3 "$work/peak.py" "$work/peak" "$tool" track $large --dg eudx --nseeds 100 --device llvmpipe -o eudx.tck > "$work/stdout" 2> "$work/stderr") || note "eudx of a large series"
checks=$((checks + 1))
announced=$(sed -n 's/^memory: at most about \([0-9]*\)[0-9.]* MB of the host.*/\1/p' "$work/stderr")
[ -n "${ASAN_OPTIONS:-}" ] || [ "$(cat "$work/peak")" -le "${announced:-0}" ] || note "eudx: took $(cat "$work/peak") MB, announced '$announced'"
clean

# limits that are too small: for the images, before they are read, and for the smallest batch
fails 2 "the input images alone take at least" track $files --memory-limit 10
fails 2 "with the smallest batches this run takes" track $files --model opdt --memory-limit 100 --sh-order 8 --device llvmpipe
fails 2 "--memory-limit" track --memory-limit 0
fails 2 "--memory-limit" track --memory-limit 1GB
run track $files --memory-limit 300 --device llvmpipe --dry-run
require grep -q '^memory ' "$work/stdout"
