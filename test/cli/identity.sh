# What tells runs apart: --skip-existing and merge take no other run for the same, and refuse none that is. Sourced by run.sh.
files="$dwi $bval $bvec $mask $roi --dg prob --device llvmpipe -q"
few="$files --model opdt --sphere small --nseeds 100"

# made ARGUMENTS...: checks that a run into the output folder is made once, and skipped then
made() {
    succeeds "$@"
    succeeds "$@" --skip-existing
}

# other WHAT ARGUMENTS...: checks that outputs of another run are not taken for this run's
other() {
    what=$1
    shift
    run "$@" --skip-existing
    [ "$code" -eq 4 ] || note "exit code $code, not 4: outputs of another $what: $*"
    grep -q "made with another $what" "$work/stderr" || note "no word of another $what: $*"
}

# changed FILE ARGUMENTS...: checks that an output is recognised that is not the file that the run wrote
changed() {
    what=$1
    shift
    run "$@" --skip-existing
    [ "$code" -eq 4 ] || note "exit code $code, not 4: $what is another file: $*"
    grep -qF "$what: is no file that" "$work/stderr" || note "no word of $what: $*"
}

# words that may stand for a file, and options that differ only in the last digit
made track $few --max-angle 60 --model csd -o a.tck
other max_angle track $few --max-angle 60.00000000000001 --model csd -o a.tck
other sphere track $files --nseeds 100 --sphere symmetric362 --max-angle 60 --model csd -o a.tck
other csd_rule track $few --max-angle 60 --model csd --csd-rule mrtrix -o a.tck
other csd_directions track $few --max-angle 60 --model csd --csd-directions symmetric362 -o a.tck
touch "$work/out/a_weights.txt"
other 'choice of --weights' track $few --max-angle 60 --model csd -o a.tck --weights
clean
made track $few --act "$i/5tt.nii.gz" -o a.tck
other seed_gmwmi track $few --act "$i/5tt.nii.gz" --seed-gmwmi auto -o a.tck
clean
made track $few --act "$i/5tt.nii.gz" --seed-gmwmi auto -o a.tck
other seed_gmwmi track $few --act "$i/5tt.nii.gz" -o a.tck

# the phantom with other files
clean
printf '8 9 9\n' >"$work/one.txt"
printf '9 9 9\n9 10 9\n' >"$work/two.txt"
phantom="track --phantom --model opdt --dg prob --sphere small --device llvmpipe -q -o a.tck"
made $phantom --seeds "$work/one.txt"
other seeds $phantom --seeds "$work/two.txt"
other phantom track $files --model opdt --sphere small --seeds "$work/one.txt" -o a.tck

# transforms of an atlas: which way each goes, and their order; a file counts by its contents
clean
mkdir "$work/models"
printf '1 0 0 1\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' >"$work/there.txt"
printf '0 1 0 0\n-1 0 0 1\n0 0 1 0\n0 0 0 1\n' >"$work/turn.txt"
succeeds track $few -o "$work/models/all.tck"
recognized="track $few -o a.tck --recognize $work/models:t.tsv --recognize-transform"
files_differ='region, tissue image or file for a result such as --connectome'
made $recognized "$work/there.txt"
other "$files_differ" $recognized "$work/there.txt,inverse"
other "$files_differ" $recognized "$work/turn.txt"
cp "$work/there.txt" "$work/moved.txt"
succeeds $recognized "$work/moved.txt" --skip-existing
clean
made $recognized "$work/there.txt" --recognize-transform "$work/turn.txt,inverse"
other "$files_differ" $recognized "$work/there.txt,inverse" --recognize-transform "$work/turn.txt"

# a part of a run is not the whole run
clean
made track $few -o a.tck --shard 1/2
other shard track $few -o a_shard-1of2.tck

# the files exist, but this run did not write them
clean
made track $few -o a.tck --density "$work/out/d.nii.gz" --write-mask m.nii.gz
succeeds track $few -o a.tck --density d.nii.gz --skip-existing
cp "$work/out/d.nii.gz" "$work/out/e.nii.gz" # a map counts as the same wherever the file lies
succeeds track $few -o a.tck --density e.nii.gz --skip-existing
cp "$mask" "$work/out/e.nii.gz"
changed e.nii.gz track $few -o a.tck --density e.nii.gz
mkdir "$work/out/x" "$work/out/y"
succeeds track $few -o x.tck --density x/d.nii.gz
succeeds track $few --rng-seed 7 -o y.tck --density y/d.nii.gz
changed y/d.nii.gz track $few -o x.tck --density y/d.nii.gz
made track $few -o z.tck --density x/z.nii.gz --dec z_dec.nii.gz --output-seeds z.csv --model csd --weights
changed e.nii.gz track $few -o a.tck --dec e.nii.gz # the run made no such map

# every output is recognised by its contents: emptied, cut, or of another run
clean
printf 'bundle\tinclude\nA\t%s\n' "$roi" >"$work/rules.tsv"
all="track $few --model csd -o a.tck --weights --density d.nii.gz --dec e.nii.gz --connectome $roi:c.csv --connectome $mask:c2.csv --profile $work/rules.tsv:p.csv
    --sample $mask:v.tsv --segment $work/rules.tsv:b.tsv --cluster 8:k.tck --output-seeds s.csv --write-mask m.nii.gz"
made $all
outputs="a.tck a_weights.txt d.nii.gz e.nii.gz c.csv c2.csv p.csv v.tsv b.tsv k.tck s.csv m.nii.gz"
python3 - "$work/out/a.json" $outputs <<'PYTHON' || note "outputs in the sidecar"
import json, os, sys
outputs = json.load(open(sys.argv[1]))["outputs"]
sizes = [os.path.getsize(os.path.join(os.path.dirname(sys.argv[1]), name)) for name in sys.argv[2:]]
assert sorted(entry["bytes"] for entry in outputs.values()) == sorted(sizes), outputs
PYTHON
for name in $outputs; do
    cp "$work/out/$name" "$work/kept"
    : >"$work/out/$name"
    changed "$name" $all
    [ ! -s "$work/out/$name" ] || note "$name was written"
    python3 -c 'import sys; d = bytearray(open(sys.argv[1], "rb").read()); d[-1] ^= 1; open(sys.argv[2], "wb").write(d)' "$work/kept" "$work/out/$name"
    changed "$name" $all
    cp "$work/kept" "$work/out/$name"
done
succeeds $all --skip-existing
# a sidecar that says nothing of outputs
sed 's/"outputs"/"other"/' "$work/out/a.json" >"$work/kept" && cp "$work/kept" "$work/out/a.json"
run $all --skip-existing
[ "$code" -eq 4 ] || note "exit code $code, not 4: a sidecar without checksums"
grep -q "a.json: has no checksums of outputs" "$work/stderr" || note "no word of a sidecar without checksums"

# with --force, too, inputs are not changed, and changed outputs are made again
cp "$mask" "$work/mask.nii.gz"
run track "$dwi" "$bval" "$bvec" "$work/mask.nii.gz" "$roi" --nseeds 99 -q -o a.tck --density "$work/mask.nii.gz" --skip-existing --force
[ "$code" -eq 4 ] || note "exit code $code, not 4: an input as output, --skip-existing --force"
require cmp "$mask" "$work/mask.nii.gz"
printf x >>"$work/out/a.tck"
succeeds track $few -o a.tck --skip-existing --force
succeeds track $few -o a.tck --skip-existing

# equal outputs that a store keeps as one file count as two
succeeds track $few --min-length 240 -o a.tck --density d.nii.gz --fdt-paths e.nii.gz --force
require cmp "$work/out/d.nii.gz" "$work/out/e.nii.gz"
ln -f "$work/out/d.nii.gz" "$work/out/e.nii.gz"
succeeds track $few --min-length 240 -o a.tck --density d.nii.gz --fdt-paths e.nii.gz --skip-existing

# reports and pictures are outputs like the others
clean
report="track $few -o a.trx --report r.html --picture p.png"
made $report
for name in r.html p.png; do
    mv "$work/out/$name" "$work/kept"
    run $report --skip-existing
    [ "$code" -eq 4 ] || note "exit code $code, not 4: without $name"
    grep -q "$name: is missing" "$work/stderr" || note "no word of $name"
    mv "$work/kept" "$work/out/$name"
done
for name in r.html p.png; do
    mv "$work/out/$name" "$work/kept"
    : >"$work/out/$name"
    run $report --skip-existing
    [ "$code" -eq 4 ] || note "exit code $code, not 4: an empty $name"
    grep -q "$name: is not the file that was made from this run" "$work/stderr" || note "no word of an empty $name"
    mv "$work/kept" "$work/out/$name"
done
succeeds $report --skip-existing
rm "$work/out/a.trx" "$work/out/a.json"
run $report --skip-existing
[ "$code" -eq 4 ] || note "exit code $code, not 4: a report of another run"

# the second file of a pair is a part of its input
clean
mkdir "$work/pairs"
pairs() { # pairs OF NAME...: makes a .hdr and .img pair of each image, with a changed value in the pair of OF
    of=$1
    shift
    for image in "$@"; do python3 "$here/pair.py" "$i/$image.nii.gz" "$work/pairs/$image.hdr" $([ "$image" != "$of" ] || echo changed); done
}
pairs none dwi mask roi
pair="track $work/pairs/dwi.hdr $bval $bvec $work/pairs/mask.hdr $work/pairs/roi.img --dg prob --device llvmpipe -q --sphere small --nseeds 100"
made $pair -o a.tck --connectome "$work/pairs/mask.hdr:c.csv" --sample "$work/pairs/roi.hdr:v.tsv"
python3 - "$work/out/a.json" <<'PYTHON' || note "companions in the sidecar"
import json, sys
dwi = json.load(open(sys.argv[1]))["inputs"]["dwi"]
assert dwi["companion"]["path"].endswith("dwi.img") and dwi["companion"]["xxh3_64"] != dwi["xxh3_64"], dwi
PYTHON
for name in dwi mask roi; do
    pairs $name dwi mask roi
    other $name $pair -o a.tck --connectome "$work/pairs/mask.hdr:c.csv" --sample "$work/pairs/roi.hdr:v.tsv"
done
pairs none dwi mask roi
clean
made track $few -o b.tck --connectome "$work/pairs/mask.hdr:c.csv"
pairs mask mask
other "region, tissue image or file for a result such as --connectome" track $few -o b.tck --connectome "$work/pairs/mask.hdr:c.csv"
clean

# an empty result still counts as a result
clean
for again in "" --skip-existing; do
    run track $few --min-length 240 --fail-if-empty -o a.tck $again
    [ "$code" -eq 6 ] || note "exit code $code, not 6: an empty result $again"
    grep -q ': a.tck: has no streamline (--fail-if-empty)' "$work/stderr" || note "the message: $(cat "$work/stderr")"
done

# a sidecar that is a pipe counts as none, and the program does not wait for it
rm "$work/out/a.json"
mkfifo "$work/out/a.json"
(cd "$work/out" && timeout 60 "$tool" track $few --min-length 240 -o a.tck --skip-existing >"$work/stdout" 2>"$work/stderr")
code=$?
[ "$code" -eq 4 ] || note "exit code $code, not 4: a pipe as sidecar"

# shards of runs that differ in such words
clean
succeeds track $few --model csd -o a.tck --shard 1/2
succeeds track $few --model csd -o a.tck --shard 2/2
succeeds track $few --model csd --csd-directions symmetric362 -o b.tck --shard 2/2
succeeds merge a_shard-1of2.tck a_shard-2of2.tck -o whole.tck -q
for sidecar in "" "--sidecar none"; do
    run merge a_shard-1of2.tck b_shard-2of2.tck -o other.tck -q $sidecar
    [ "$code" -eq 3 ] || note "exit code $code, not 3: shards with other directions of the constraint $sidecar"
done

# a number that no JSON has becomes null
python3 - "$work/out/a_shard-1of2.json" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
d["voxels"]["mask"] = "huge"
open(sys.argv[1], "w").write(json.dumps(d).replace('"huge"', "1e999"))
PYTHON
require grep -q 1e999 "$work/out/a_shard-1of2.json"
succeeds merge a_shard-1of2.tck a_shard-2of2.tck -o null.tck -q
require python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["voxels"]["mask"] is None' "$work/out/null.json"
# a pipe beside a shard is no sidecar
rm "$work/out/a_shard-2of2.json"
mkfifo "$work/out/a_shard-2of2.json"
(cd "$work/out" && timeout 60 "$tool" merge a_shard-1of2.tck a_shard-2of2.tck -o pipe.tck -q 2>"$work/stderr")
code=$?
[ "$code" -eq 3 ] || note "exit code $code, not 3: a pipe beside a shard"

# maps of shards can be merged if they are parts of one map and one run, wherever they lie
clean
mkdir "$work/out/a" "$work/out/b"
for k in 1 2; do
    succeeds track $few -o a/t.tck --shard $k/2 --density a/d.nii.gz --connectome "$mask:a/c.csv" --output-seeds a/s.csv --write-mask a/m.nii.gz
    succeeds track $few --rng-seed 1 -o b/t.tck --shard $k/2 --density b/d.nii.gz
done
succeeds track $few -o w.tck --density w.nii.gz --connectome "$mask:w.csv"
cp "$work/out/a/d_shard-2of2.nii.gz" "$work/out"
succeeds merge a/d_shard-1of2.nii.gz d_shard-2of2.nii.gz -o sum.nii.gz -q
require cmp "$work/out/sum.nii.gz" "$work/out/w.nii.gz"
succeeds merge a/c_shard-2of2.csv a/c_shard-1of2.csv -o sum.csv -q
require cmp "$work/out/sum.csv" "$work/out/w.csv"
# unlike TEXT SHARD SHARD OUTPUT: checks that the merge is refused with this text
unlike() {
    run merge "$2" "$3" -o "$4" -q
    [ "$code" -eq 3 ] || note "exit code $code, not 3: merge $2 $3"
    grep -qF "$1" "$work/stderr" || note "no word of '$1': merge $2 $3"
    [ ! -e "$work/out/$4" ] || note "$4 was written"
}
unlike "of another run than a/d_shard-1of2.nii.gz: the parameters differ" a/d_shard-1of2.nii.gz b/d_shard-2of2.nii.gz x.nii.gz
# a shard lacks the map that the other one has; no sidecar of the merged run would name its labels
mkdir "$work/out/c"
succeeds track $few -o c/t.tck --shard 2/2 --density c/d.nii.gz
unlike "a region, tissue image or file for a result such as --connectome differs" a/t_shard-1of2.tck c/t_shard-2of2.tck x.tck
unlike "a region, tissue image or file for a result such as --connectome differs" c/t_shard-2of2.tck a/t_shard-1of2.tck x.tck
mkdir "$work/out/alone"
cp "$work/out/a/d_shard-1of2.nii.gz" "$work/out/b/d_shard-2of2.nii.gz" "$work/out/alone"
succeeds merge alone/d_shard-1of2.nii.gz alone/d_shard-2of2.nii.gz -o alone.nii.gz
require grep -q "of its parts, 2 of 2 have no sidecar beside them that records them" "$work/stderr"
# parts that another run wrote with the same bytes under other names belong to the run that wrote them under their own
for k in 1 2; do
    succeeds track $few --fa-threshold 2 -o alone/t.tck --shard $k/2 --density alone/e.nii
    succeeds track $few --fa-threshold 2 --rng-seed 1 -o alone/u.tck --shard $k/2 --density alone/f.nii
done
require cmp "$work/out/alone/e_shard-1of2.nii" "$work/out/alone/f_shard-1of2.nii"
succeeds merge alone/e_shard-1of2.nii alone/e_shard-2of2.nii -o empty.nii
if grep -q "have no sidecar" "$work/stderr"; then note "parts of equal bytes: the sidecar of one run was not found"; fi
unlike "is a list of seeds" a/s_shard-1of2.csv a/s_shard-2of2.csv x.csv
# each kind of map: a part with two bytes changed and its time kept, a part of another run under its name, no part
mkdir "$work/out/e" "$work/out/f"
for k in 1 2; do
    for to in e f; do
        [ $to = e ] && other= || other="--rng-seed 1"
        succeeds track $few $other -o $to/t.tck --shard $k/2 --density $to/d.nii --fdt-paths $to/p.nii.gz \
            --connectome "$mask:$to/c.csv" --fdt-targets "$mask:$to/o.nii"
    done
done
cp -r "$work/out/e" "$work/out/kept"
for file in d_shard-2of2.nii p_shard-2of2.nii.gz c_shard-2of2.csv o_shard-2of2.nii; do
    first=$(echo $file | sed 's/2of2/1of2/') sum=x.${file#*.}
    succeeds merge e/$first e/$file -o good.${file#*.} -q
    if grep -q "no sidecar" "$work/stderr"; then note "$file: a sidecar that is there was not found"; fi
    rm "$work/out/good.${file#*.}"
    python3 - "$work/out/e/$file" <<'PYTHON'
import os, sys
info = os.stat(sys.argv[1])
data = bytearray(open(sys.argv[1], "rb").read())
data[-2:] = bytes(b ^ 3 for b in data[-2:])
open(sys.argv[1], "r+b").write(data)
os.utime(sys.argv[1], ns=(info.st_atime_ns, info.st_mtime_ns))
PYTHON
    unlike "e/$file: is not the file that its sidecar e/t_shard-2of2.json records" e/$first e/$file $sum
    cp "$work/out/f/$file" "$work/out/e/$file"
    unlike "e/$file: is not the file that its sidecar e/t_shard-2of2.json records" e/$first e/$file $sum
    cp "$work/out/kept/$file" "$work/out/e/$file"
    run merge e/$first -o $sum -q
    [ "$code" -eq 3 ] && grep -q "part 2 of 2 of this map is missing" "$work/stderr" || note "merge without $file"
done
mv "$work/out/a/c_shard-2of2.csv" "$work/out/a/e_shard-2of2.csv"
unlike "is a part of another map" a/c_shard-1of2.csv a/e_shard-2of2.csv x.csv
cp "$work/out/a/c_shard-1of2.csv" "$work/out/a/c_shard-1of4294967297.csv"
unlike "does not say which part" a/c_shard-1of4294967297.csv a/c_shard-1of2.csv x.csv

# numbers of seeds have 32 bits
clean
run track --phantom --model opdt --seeds-per-voxel 1000000 --sphere small --shard 4096/4096 -o many.trx -q
[ "$code" -eq 7 ] || note "exit code $code, not 7: more than 2^32 seeds"
grep -q "a run has at most 4294967296 seeds" "$work/stderr" || note "no word of too many seeds"
[ -z "$(ls "$work/out")" ] || note "files of a run of too many seeds"

# lengths in the merged run are those of the whole run, also if last steps are parts of a step
clean
crop="$few --act $i/5tt.nii.gz --crop-at-gmwmi"
succeeds track $crop -o w.tck
for k in 1 2; do succeeds track $crop -o p.tck --shard $k/2; done
succeeds merge p_shard-1of2.tck p_shard-2of2.tck -o m.tck -q
require python3 - "$work/out/w.json" "$work/out/m.json" <<'PYTHON'
import json, sys
whole, merged = (json.load(open(name))["lengths"] for name in sys.argv[1:])
assert whole["min_mm"] != round(whole["min_mm"])
assert all(abs(whole[key] - merged[key]) < 1e-9 for key in whole if key != "median_mm") and merged["median_mm"] is None
PYTHON

# if other files give directions, mask, FA and seeds, only the header and the table of the series are read
clean
run fit $dwi $bval $bvec $mask "$work/f" --model opdt --sh-order 4 -q
head -c 2000 "$dwi" >"$b/cut.nii.gz"
inputs=$(find "$work/in" "$work/bad" -type f | sort | cksum)
given="$bval $bvec $mask $roi --sh $work/f_sh.nii.gz --dg prob --sphere small --device llvmpipe --nseeds 100 -q --sidecar none"
succeeds track "$dwi" $given --fa "$work/f_fa.nii.gz" -o whole.tck
succeeds track "$b/cut.nii.gz" $given --fa "$work/f_fa.nii.gz" -o cut.tck
require cmp "$work/out/whole.tck" "$work/out/cut.tck"
clean
fails 3 "cut.nii.gz" track "$b/cut.nii.gz" $given -o o.tck
