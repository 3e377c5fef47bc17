# Shards and their merging: the bytes of one run, and what has to be refused. Sourced by run.sh.
s=$work/shards
mkdir -p "$s"
unset SLURM_PROCID SLURM_NTASKS SLURM_STEP_ID SLURM_STEP_NUM_TASKS OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE PMIX_RANK

# Compares the sidecars of a single and of a merged run: they differ only in names and times of the run.
cat >"$work/same_sidecar.py" <<'PYTHON'
import json, sys
single, merged = (json.load(open(path)) for path in sys.argv[1:])
assert merged["run"]["batches"] == sum(d["batches"] for d in merged["run"]["devices"])
assert len(merged["run"]["shards"]) == int(merged["run"]["shards"][0]["path"].split("of")[-1].split(".")[0])
for d in (single, merged):
    for entry in d["outputs"].values():
        entry.pop("file", None)
    del d["command_line"], d["run"], d["seconds"], d["output"]["path"], d["parameters"]["output"]
assert single == merged and list(single) == list(merged), [key for key in single if single[key] != merged.get(key)]
PYTHON

# whole_and_parts SUFFIX SHARDS OPTIONS... : makes one run, its parts in reverse order, and the merged parts
whole_and_parts() {
    suffix=$1
    parts=$2
    shift 2
    rm -rf "$s" && mkdir "$s"
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" "$@" -o "$s/whole.$suffix" -q
    part=$parts
    while [ "$part" -gt 0 ]; do
        succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" "$@" -o "$s/part.$suffix" --shard "$part/$parts" -q
        require test -s "$s/part_shard-${part}of$parts.$suffix"
        require test -s "$s/part_shard-${part}of$parts.json"
        part=$((part - 1))
    done
    require test "$(find "$s" -type f | wc -l)" -eq $((2 * parts + 2))
    succeeds merge -o "$s/merged.$suffix" "$s"/part_shard-*of"$parts.$suffix"
    require cmp "$s/whole.$suffix" "$s/merged.$suffix"
    require python3 "$work/same_sidecar.py" "$s/whole.json" "$s/merged.json"
}

whole_and_parts trk 3 --nseeds 200 --dg prob --model csd --sh-order 4
whole_and_parts tck 7 --model opdt --nseeds 200 --min-length 10 --chunk-size 13
whole_and_parts trx 2 --nseeds 201 --output-precision half --dg det --model csa
whole_and_parts trx 8 --model opdt --nseeds 5
whole_and_parts trk 2 --model opdt --nseeds 101 --ngpus 2 --chunk-size 20
whole_and_parts trx 1 --model opdt --nseeds 20
printf '%s\n' '9 10 9' '8 9 10' '10 10 9' '9.3 11 8' >"$work/seeds.txt"
whole_and_parts tck 3 --model opdt --seeds "$work/seeds.txt"
whole_and_parts trk 4 --model opdt --nseeds 100 --fa-threshold 2
whole_and_parts trx 3 --model opdt --seeds-per-voxel 1 --rng-seed 5 --seed-seed 18446744073709551615

# the set that is damaged below: three parts of a TRX file, in $s
whole_and_parts trx 3 --model opdt --nseeds 200
p1=$s/part_shard-1of3.trx
p2=$s/part_shard-2of3.trx
p3=$s/part_shard-3of3.trx
require python3 - "$s/part_shard-2of3.json" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["shard"]["index"] == 2 and d["shard"]["count"] == 3 and d["shard"]["total_seeds"] == 200
assert d["shard"]["first_seed"] == 67 and d["shard"]["seeds"] == 67 == d["counts"]["seeds"]
PYTHON
# a merge is killed before the sidecar has its name: the next merge says that the output exists, or writes both
rm "$s/merged.json"
run merge -o "$s/merged.trx" "$p1" "$p2" "$p3"
[ "$code" -eq 4 ] && grep -q "merged.trx: exists already; --force overwrites it" "$work/stderr" || note "a merged file without its sidecar"
succeeds merge --force -o "$s/merged.trx" "$p1" "$p2" "$p3"
require cmp "$s/whole.trx" "$s/merged.trx"
require test -s "$s/merged.json"
clean

# names of outputs
mkdir "$work/out/a.b"
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model opdt --nseeds 9 --shard 1/2 --output-prefix a.b/c --write-method tck --sidecar a.b/side.json -q
require test -s "$work/out/a.b/c_shard-1of2.tck"
require test -s "$work/out/a.b/side_shard-1of2.json"
require test "$(find "$work/out" -type f | wc -l)" -eq 2
clean
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model opdt --nseeds 9 --shard 2/2 --dry-run
grep -q '^shard  *2 of 2, of 9 seeds' "$work/stdout" || note "--dry-run does not show the shard"

# a finished shard is an output like any other
cksum "$p2" >"$work/before"
run track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model opdt --nseeds 200 -o "$s/part.trx" --shard 2/3
[ "$code" -eq 4 ] || note "an existing shard: exit code $code, not 4"
grep -q 'part_shard-2of3.trx: exists already' "$work/stderr" || note "an existing shard is not named"
cksum "$p2" | cmp -s - "$work/before" || note "an existing shard was changed"
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model opdt --nseeds 200 -o "$s/part.trx" --shard 2/3 --force -q
cksum "$p2" | cmp -s - "$work/before" || note "a shard has other bytes the second time"

for wrong in 0/3 4/3 -1/3 1/0 1/4097 3 1/ /3 1/3/4 x/3 1.0/3 99999999999999999999/3 1/99999999999999999999; do fails 2 "--shard" track --phantom --shard "$wrong"; done
fails 2 "shards are counted from 1: 1/3 is the first, 3/3 the last" track --phantom --shard 0/3
fails 2 "--rng-seed random" track --shard 1/3 --rng-seed random
fails 2 "--seed-seed random" track --shard 1/3 --seed-seed random
fails 2 "--fail-if-empty" track --phantom --shard 1/3 --fail-if-empty

# auto: what launchers set
fails 2 "none of SLURM_PROCID" track --phantom --shard auto
# auto_is SHARD NAME=VALUE...
auto_is() {
    shard=$1
    shift
    (cd "$work/out" && env "$@" "$tool" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model opdt --nseeds 9 --shard auto -o a.tck -q 2>"$work/stderr")
    checks=$((checks + 1))
    [ "$(cd "$work/out" && echo *.tck)" = "a_shard-$shard.tck" ] || note "$*: not shard $shard but $(cd "$work/out" && echo *.tck)"
    clean
}
auto_is 2of3 SLURM_PROCID=1 SLURM_NTASKS=3 SLURM_STEP_ID=0
auto_is 3of3 SLURM_PROCID=2 SLURM_NTASKS=3 SLURM_STEP_ID=1 SLURM_STEP_NUM_TASKS=3
auto_is 1of1 SLURM_PROCID=0 SLURM_NTASKS=1
auto_is 3of3 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 PMIX_RANK=2
auto_is 1of2 PMI_RANK=0 PMI_SIZE=2
auto_is 4of4 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 SLURM_PROCID=0 SLURM_NTASKS=4
auto_is 2of4 PMI_RANK=1 PMI_SIZE=4 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4
# auto_fails TEXT NAME=VALUE...
auto_fails() {
    text=$1
    shift
    for variable in "$@"; do export "${variable?}"; done
    fails 2 "$text" track --phantom --nseeds 9 --shard auto
    for variable in "$@"; do unset "${variable%%=*}"; done
}
auto_fails "start glslines with srun" SLURM_PROCID=0 SLURM_NTASKS=3
auto_fails "start glslines with srun" SLURM_PROCID=0
auto_fails "start glslines with srun" SLURM_PROCID=0 SLURM_NTASKS=3 SLURM_STEP_ID=4294967290 SLURM_STEP_NUM_TASKS=1
auto_fails "start glslines with srun" SLURM_NTASKS=3
auto_fails "not less than SLURM_NTASKS, 3" SLURM_PROCID=3 SLURM_NTASKS=3 SLURM_STEP_ID=0
auto_fails "SLURM_PROCID is 'one', not a whole number" SLURM_PROCID=one SLURM_NTASKS=3 SLURM_STEP_ID=0
auto_fails "OMPI_COMM_WORLD_RANK is set, but OMPI_COMM_WORLD_SIZE is not" OMPI_COMM_WORLD_RANK=0
auto_fails "PMI_RANK and PMI_SIZE are 0 and 2" OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMI_RANK=0 PMI_SIZE=2
auto_fails "PMIX_RANK is 1, but OMPI_COMM_WORLD_RANK is 0" OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1
auto_fails "no variable with the number of processes" PMIX_RANK=1
auto_fails "at most 4096 shards" PMI_RANK=0 PMI_SIZE=5000

# what merge refuses
fails 2 "needs the shards" merge -o m.trx
fails 2 "needs --output" merge "$p1" "$p2" "$p3"
fails 2 "suffix is of another format" merge -o m.trk "$p1" "$p2" "$p3"
fails 2 "must end in .trx" merge -o m.txt "$p1" "$p2" "$p3"
fails 4 "is an input" merge --force -o "$p1" "$p1" "$p2" "$p3"
fails 4 "is an input" merge --force -o m.trx --sidecar "$s/part_shard-2of3.json" "$p1" "$p2" "$p3"
fails 3 "of 3 shards 2 is missing" merge -o m.trx "$p3" "$p1"
fails 3 "is shard 1 of 3, and so is" merge -o m.trx "$p1" "$p2" "$p1"
fails 3 "$s/none.trx" merge -o m.trx "$p1" "$s/none.trx"
fails 3 "$s/whole.json: is not the sidecar of a shard: give files of 'track --shard'; if $s/whole.trx is one" merge -o m.trx "$s/whole.trx"
fails 3 "$s/whole.trx: is no shard" merge -o m.trx "$s/whole.trx" --sidecar none
fails 4 "$work/none/m.trx" merge -o "$work/none/m.trx" "$p1" "$p2" "$p3"

# other REASON OPTIONS... : checks that a part of another run is recognised, with and without its sidecar
mkdir "$work/other"
other() {
    reason=$1
    reason_without=$2
    shift 2
    rm -f "$work/other/"*
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model opdt --nseeds 200 -o "$work/other/part.trx" -q "$@"
    o=$(echo "$work"/other/part_shard-*.trx)
    fails 3 "$reason" merge -o m.trx "$p1" "$o" "$p3"
    fails 3 "$reason_without" merge -o m.trx "$p1" "$o" "$p3" --sidecar none
}
other "parameters.rng_seed is 1, not 0" "the parameters differ" --shard 2/3 --rng-seed 1
other "parameters.seed_seed is 7, not 0" "the parameters differ" --shard 2/3 --seed-seed 7
other "parameters.max_angle_degrees is 50, not 45" "the parameters differ" --shard 2/3 --max-angle 50
other "parameters.output_precision is \"half\", not \"float\"" "the parameters differ" --shard 2/3 --output-precision half
other "is shard 2 of 4, but" "is shard 2 of 4, but" --shard 2/4
other "parameters.nseeds is 201, not 200" "of 201 seeds, not 200" --shard 2/3 --nseeds 201
cp "$mask" "$work/other_roi.nii.gz"
roi=$work/other_roi.nii.gz other "the input data differ" "the input data differ" --shard 2/3
rm -f "$work/other/"*
succeeds phantom "$work/other/in" --shape 18 20 19 --directions 30 -q
succeeds track "$work/other/in/dwi.nii.gz" "$work/other/in/dwi.bval" "$work/other/in/dwi.bvec" "$work/other/in/mask.nii.gz" "$work/other/in/roi.nii.gz" --model opdt --nseeds 200 \
    --shard 2/3 -o "$work/other/part.trx" -q
fails 3 "grid.dimensions is [18,20,19], not [18,20,18]" merge -o m.trx "$p1" "$work/other/part_shard-2of3.trx" "$p3"
fails 3 "its reference grid differs" merge -o m.trx "$p1" "$work/other/part_shard-2of3.trx" "$p3" --sidecar none

# another version, a truncated file, a changed byte, a sidecar that is missing or belongs to another file
cp "$s/part_shard-2of3.json" "$work/part2.json"
cp "$p2" "$work/part2.trx"
sed 's/"version":\t"[0-9.]*"/"version":\t"99.0"/' "$work/part2.json" >"$s/part_shard-2of3.json"
fails 3 "software.version is \"99.0\"" merge -o m.trx "$p1" "$p2" "$p3"
cp "$s/part_shard-3of3.json" "$s/part_shard-2of3.json"
fails 3 "part_shard-2of3" merge -o m.trx "$p1" "$p2" "$p3"
for wrong in 's/"first_seed":\t67/"first_seed":\t66/' 's/"total_seeds":\t200/"total_seeds":\t201/' 's/"seeds":\t67/"seeds":\t68/' 's/"parameters_hash":\t"./&0/'; do
    sed "$wrong" "$work/part2.json" >"$s/part_shard-2of3.json"
    require sh -c '! cmp -s "$0" "$1"' "$work/part2.json" "$s/part_shard-2of3.json"
    fails 3 "is not the sidecar of $p2" merge -o m.trx "$p1" "$p2" "$p3"
done
rm "$s/part_shard-2of3.json"
fails 3 "its sidecar $s/part_shard-2of3.json cannot be read" merge -o m.trx "$p1" "$p2" "$p3"
succeeds merge -o m.trx "$p1" "$p2" "$p3" --sidecar none
require cmp "$work/out/m.trx" "$s/whole.trx"
require test "$(find "$work/out" -type f | wc -l)" -eq 1
clean
cp "$work/part2.json" "$s/part_shard-2of3.json"
size=$(wc -c <"$work/part2.trx")
head -c $((size - 100)) "$work/part2.trx" >"$p2"
fails 3 "$p2: truncated" merge -o m.trx "$p1" "$p2" "$p3"
fails 3 "$p2: truncated" merge -o m.trx "$p1" "$p2" "$p3" --sidecar none
: >"$p2"
fails 3 "$p2: truncated" merge -o m.trx "$p1" "$p2" "$p3" --sidecar none
cp "$work/part2.trx" "$p2"
printf 'x' | dd of="$p2" bs=1 seek=2000 conv=notrunc 2>/dev/null
fails 3 "$p2: damaged" merge -o m.trx "$p1" "$p2" "$p3"
cp "$work/part2.trx" "$p2"

# parts of another device: one message, which the sidecar has, too
for part in 2 3; do sed -i 's/"renderer":\t"[^"]*"/"renderer":\t"Other GPU"/' "$s/part_shard-${part}of3.json"; done
succeeds merge -o m.trx "$p1" "$p2" "$p3"
[ "$(grep -c 'on different devices (.* and Other GPU)' "$work/stderr")" -eq 1 ] || note "another device is not told once"
grep -q 'on different devices' "$work/out/m.json" || note "another device is not in the sidecar"
require cmp "$work/out/m.trx" "$s/whole.trx"
clean

# existing outputs, and outputs that cannot be written to the end
echo old >"$work/out/m.trx"
run merge -o m.trx "$p1" "$p2" "$p3"
[ "$code" -eq 4 ] || note "merge: existing output: exit code $code, not 4"
require test "$(cat "$work/out/m.trx")" = old
succeeds merge -o m.trx "$p1" "$p2" "$p3" --force
require cmp "$work/out/m.trx" "$s/whole.trx"
clean
(trap '' XFSZ && ulimit -f 8 && cd out && "$tool" merge -o m.trx "$p1" "$p2" "$p3" -q 2>"$work/stderr")
code=$?
checks=$((checks + 1))
[ "$code" -eq 4 ] || note "merge: full disk: exit code $code, not 4"
require test -z "$(find "$work/out" -type f)"
whole_and_parts trk 2 --model opdt --nseeds 20 --fa-threshold 2
run merge -o m.trk "$s/part_shard-1of2.trk" "$s/part_shard-2of2.trk" --fail-if-empty
[ "$code" -eq 6 ] || note "merge --fail-if-empty: exit code $code, not 6"
clean
