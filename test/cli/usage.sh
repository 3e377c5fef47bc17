# Usage: options, values, help. Sourced by run.sh.
fails 2 --nseed track --nseed 5
grep -q 'did you mean --nseeds' "$work/stderr" || note "no suggestion for --nseed"
fails 2 --no-such-thing track --no-such-thing
fails 2 -x track -x
# options and words of other programs
bridged() { # WHAT STANDS HERE, COMMAND LINE
    stands=$1
    shift
    fails 2 "here it is" "$@"
    grep -qF -e "$stands" "$work/stderr" || note "$*: no word of $stands"
}
bridged --max-angle track -angle 45
bridged --max-angle track --max_angle 45
bridged --cutoff track -cutoff 0.1
# a word behind a single dash is not read as a letter with its value
bridged --output track -output x.tck
bridged --output-seeds track -output_seeds x.txt
bridged --quiet track -quiet
bridged --nseeds track -seeds 5
# a row of a program also serves the command that does only its work
bridged --pft-back track -back 2
fails 2 "unknown option" render -back 2
! grep -q pft-back "$work/stderr" || note "render -back speaks of tracking"
bridged "'glslines track'" dipy_track_pft
# a word that two programs use
bridged "tckgen's -stop is --stop" track -stop
bridged "tckgen's -samples is --samples N" track -samples 4
bridged "--seed-grid N" track -seed_grid_per_voxel x.nii 2
bridged "--seeds FILE --seed-space world" track -seed_coordinates_fixed x.txt 3
bridged "--seed-dynamic FOD" track -seed_dynamic x.nii
bridged --seed-direction track -initdirection 1,0,0
bridged "--assign all --roi-test vertex" connectome t.tck l.nii c.csv -assignment_all_voxels
bridged "--preset tckgen --dg ifod1" track --phantom --preset mrtrix-ifod1
bridged "no preset: --bedpostx DIR has probtrackx2's values" track --phantom --preset probtrackx
bridged "--bedpostx DIR" track -s x.bedpostX/merged
bridged "--bedpostx DIR" track --samples=x.bedpostX/merged
bridged "--roi IMAGE" track --seed=x.nii.gz
bridged "no option: all images" track --xfm=x.mat
fails 2 "unknown option -f" weights x.tck x.nii -f
bridged density tckmap x.tck
bridged "help --format bash" completions bash
bridged "glslines --version" version
# an output is an argument or --output; not both
fails 2 "did you mean --output" connectome t.tck l.nii --out c.csv
fails 2 "names the output already" connectome t.tck l.nii c.csv -o d.csv
fails 2 "names the output already" peaks sh.nii p.nii -o q.nii
fails 2 "takes IN and OUT, got 1 argument" convert -o c.trx
# an output that is JSON here
for words in "info t.tck -o t.json" "info t.tck --out=t.json" "score t.tck --output t.json" "devices -o t.json"; do
    # shellcheck disable=SC2086
    bridged "--json FILE.json" $words
done
"$tool" help quickstart > "$work/stdout" && "$tool" help getting-started | cmp -s - "$work/stdout" || note "help quickstart"
bridged --roi track -seed_image x.nii.gz
bridged --sh-order fit -lmax 8
# words of other programs that have a counterpart are accepted, with a message
taken() { # TEXT OF THE PLAN, OPTIONS
    plan=$1
    shift
    expect 0 track "$dwi" "$bval" "$bvec" "$mask" "$roi" --dry-run -o taken.trx "$@"
    grep -qE -e "$plan" "$work/stdout" "$work/stderr" || note "$*: no $plan"
    grep -qE 'taken as|not needed here' "$work/stderr" || note "$*: not said"
}
taken 'model  *opdt' --model default
taken 'model  *csd' --dg prob --model default
taken 'max-angle 45' --model csd --dg iFOD2
taken 'max-angle 45' --model CSD --dg ifod2
taken 'precision' --output-precision float32 --precision float16
taken 'max-angle 25' --model csd --dg deterministic
taken 'direction  *tensordet' --dg Tensor_Det
taken 'direction  *tensorprob' --dg Tensor_Prob
taken 'direction  *closest' --model csd --dg closestpeaks
taken 'direction  *nulldist1' --dg NullDist1
fails 2 "--model cannot be used with --dg tensordet, which fits no ODFs" track --phantom --dg tensordet --model csd
taken 'software renderer' --device numba
taken 'software renderer' --device cpu --use-fast-write
fails 2 "in 'glslines track' it is --fa IMAGE" fit "$dwi" f --stopping_path x.nii.gz
# options that a getter of ODFs needs, and a getter that works without them
fails 2 "take --dg ifod2, ifod1 or sdstream, which end streamlines by the FODs" track --sh "$b/sh15.nii.gz" --select 100
fails 2 "msmt has --response-wm, --response-gm and --response-csf" track --phantom --model msmt --response r.txt
# each heading stands once in a help
list_commands
for command in $commands; do
    checks=$((checks + 1))
    twice=$("$tool" "$command" --help | grep -E '^[A-Z][A-Za-z0-9, -]*:$' | sort | uniq -d)
    [ -z "$twice" ] || note "$command --help has the heading $twice twice"
    # an output is no input, so no file stands twice in an example
    twice=$("$tool" "$command" --help | awk '/^    glslines / { split("", seen); for (i = 2; i <= NF; i++) if ($i ~ /^[^-].*\./ && seen[$i]++) print }')
    [ -z "$twice" ] || note "$command --help: a file stands twice in $twice"
    # it begins with what the command does, as the list of commands has it, and a name of an argument does not run into its text
    does=$("$tool" --help | awk -v c="$command" '/^Commands:/ { on = 1 } /^Topics/ { on = 0 } on && $1 == c { at = 1; $1 = ""; text = $0; next } on && at && /^      / { text = text " " $0; next } { at = 0 } END { gsub(/ +/, " ", text); print substr(text, 2) }')
    "$tool" "$command" --help | tr '\n' ' ' | tr -s ' ' | grep -qF -e " $does. " || note "$command --help does not say: $does"
    "$tool" "$command" --help | sed -n '/^Arguments:/,/^$/p' | grep -qE '^  [A-Z]+[A-Z][a-z]' && note "$command --help: a name runs into its text"
done
# values that mean another option here
bridged "--nseeds N for N seeds, or --select N" track --phantom --seeds 1000
bridged "--nseeds N without --select" track --phantom --select 0
bridged "--seed-sphere x,y,z,r" track "$dwi" --roi 1,2,-3,4.5
bridged "--fa-threshold X" track --phantom --fa 0.2
bridged "--response-voxels N or --response-fa X" fit "$dwi" f --model csd --response 300
bridged "--voxel-size X" density t.tck d.nii --template 2
bridged "--number N" edit t.tck u.tck --ids 100
# in every command the message names first the command's own counterpart, then a command that has the option, then the place of the option
bridged "--crop REGION" edit t.tck u.tck -mask m.nii
bridged "--endpoints" edit t.tck u.tck -ends_only
bridged "--mapping ends" density t.tck -ends_only
bridged "--by voxel" sample t.tck fa.nii -precise
bridged "--voxel-size" density t.tck -vox 2
bridged "--assign radial:R" connectome t.tck l.nii c.csv -assignment_radial_search 4
bridged "--mu FILE" weights t.tck fod.nii -out_mu mu.txt
bridged "--number N" peaks fod.nii -num 3
bridged "BVAL and BVEC" response d.nii r -fslgrad a b
bridged "BVAL, with - in place of BVEC" fit d.nii r -grad a.b
bridged "--max-angle" edit t.tck u.tck -angle 45
bridged "--fa-threshold" response d.nii r -fa 0.2
bridged "--sh-order" fit d.nii f --sh_order_max 8
bridged peaks sh2peaks fod.nii
bridged "help anatomy" 5ttgen fsl t1.nii 5tt.nii
fails 2 "unknown option -output; it is not needed here" stats t.tck -output mean
for word in mean median std min max count; do
    fails 2 "a column of the table, which has all of them" stats t.tck --output $word
done
# options of track stand behind --; an option that is not needed takes its value with it
for option in nseeds model dg step_size mask; do
    fails 2 "it is an option of 'track': put options of 'track' behind --" bids A B participant --$option 3
done
fails 3 "A: cannot be read" bids --work-dir X A B participant
(cd "$work" && ! "$tool" bids A B participant --work-dir=X > stdout 2> stderr)
grep -q -e '--work-dir.*: not needed here: there is no working folder' "$work/stderr" || note "--work-dir: $(cat "$work/stderr")"
fails 2 "in 'glslines track' it is --seeds-per-voxel N" edit t.tck u.tck --npv 3
fails 2 "in 'glslines connectome' it is --scale invlength" stats t.tck -scale_invlength
checks=$((checks + 1))
"$tool" render t.tck --device numba -o "$work/none.png" > "$work/stdout" 2> "$work/stderr" && note "a picture of nothing"
grep -q '^--device numba: taken as cpu' "$work/stderr" || note "render: --device numba is not said"
# an option that names one file, or takes a list at once, may be given once, in every command; of other settings the last one counts, with a message;
# options that may be repeated add up
fails 2 "--crop: given twice" edit t.tck u.tck --crop a.nii --crop b.nii
fails 2 "--reference: given twice" info t.tck --reference a.nii --reference=b.nii
fails 2 "--output: given twice" track --phantom -o a.trx --output b.trx
fails 2 "--shells: given twice; give all its values at once" fit "$dwi" f --shells 1000 --shells 2000
fails 2 "--report: given twice" track --phantom --report --report b.html
succeeds track --phantom --include 20,26,19,9 --include 25,26,19,9 --dry-run --dry-run -qq
succeeds track --phantom --nseeds 5 --dg det --nseeds 7 --model csd --dg prob --dry-run
grep -q '^seeds: 7 ' "$work/stderr" || note "--nseeds 5 --nseeds 7: not 7"
for option in nseeds dg; do
    grep -q -e "--$option: given twice; the last value holds" "$work/stderr" || note "--$option twice: not said"
done
succeeds track --phantom --nseeds 5 --nseeds 7 --dg det --model csd --dry-run -q
grep -q -e "--nseeds: given twice; the last value holds" "$work/stderr" || note "--nseeds twice: not said with -q"
# an empty argument, such as an unset variable in quotes, is no file
for words in "peaks" "info" "track" "convert a.tck" "density a.tck" "merge" "fit" "report" "render" "connectome a.tck"; do
    # shellcheck disable=SC2086
    fails 2 "is empty" $words ""
done
# --json: the same in all commands that have it
for words in "track --phantom --dry-run" "devices" "devices --doctor" "info $work/json.tck" \
    "score $work/json.tck --against $work/json.tck --template $mask"; do
    [ -e "$work/json.tck" ] || "$tool" track --phantom --model opdt --nseeds 20 -o "$work/json.tck" -q || note "no tractogram"
    # shellcheck disable=SC2086
    succeeds $words -q
    cp "$work/stdout" "$work/text"
    # shellcheck disable=SC2086
    succeeds $words -q --json
    require python3 -m json.tool "$work/stdout" "$work/printed.json"
    # shellcheck disable=SC2086
    succeeds $words -q --json "$work/told.json"
    require python3 -m json.tool "$work/told.json" "$work/written.json"
    case $words in info* | score*) require cmp "$work/stdout" "$work/text" ;; esac
    # shellcheck disable=SC2086
    fails 4 told.json $words -q --json "$work/told.json"
    # shellcheck disable=SC2086
    succeeds $words -q --json "$work/told.json" --force
    rm "$work/told.json"
done
fails 2 "--json: has no effect with --check" devices --check --json
# a file that the program writes beside the outputs must not be one of the outputs
fails 4 "is the same file as another output" track --phantom -o a.trx --trace a.json
fails 4 "is the same file as another output" track --phantom -o a.trx --dry-run --json a.json
fails 4 "is the same file as another output" track --phantom -o a.trx --dry-run --trace b.json --json b.json
fails 2 "cannot be used with input files, such as report.txt" track --phantom --report report.txt
fails 2 "unknown value 'tensor'; here it is --model opdt" track --phantom --model tensor
# a file may have the name of an option
printf '20 26 19\n' > "$work/7"
(cd "$work" && "$tool" track --phantom --seeds 7 --dry-run > stdout 2> stderr) || note "--seeds 7, a file"
checks=$((checks + 1))
# a GPU, or only the word that leads on
for name in gpu metal cuda; do
    code=0
    "$tool" track --phantom --device $name --dry-run -o taken.trx > "$work/stdout" 2> "$work/stderr" || code=$?
    { [ $code -eq 5 ] && grep -q 'no GPU.*; --device cpu tracks on the processor' "$work/stderr"; } || { [ $code -eq 0 ] && ! grep -q 'software renderer' "$work/stderr"; } ||
        note "--device $name: exit code $code"
done
# interfaces that have devices on the CPU, too, take any device
for name in webgpu opencl cpu; do succeeds track --phantom --device $name --dry-run -o taken.trx; done
# variables of the environment: those in the manual are known, others give a warning
variables=$(grep -o '^| `GLSLINES_[A-Z_]*`' "$here/../../src/doc/environment.md" | grep -o 'GLSLINES_[A-Z_]*')
[ "$(echo "$variables" | wc -l)" -ge 12 ] || note "only these variables: $variables"
for variable in $variables GLSLINES_ROOT; do
    checks=$((checks + 1))
    env "$variable=" "$tool" help getters > "$work/stdout" 2> "$work/stderr" && [ ! -s "$work/stderr" ] || note "$variable"
done
checks=$((checks + 1))
GLSLINES_SHADERDIR=. GLSLINES_QUITE_ANOTHER=1 "$tool" help getters > "$work/stdout" 2> "$work/stderr" || note "unknown variables"
grep -q '^glslines: warning: the variable GLSLINES_SHADERDIR .*did you mean GLSLINES_SHADER_DIR?' "$work/stderr" || note "GLSLINES_SHADERDIR"
grep '^glslines: warning: the variable GLSLINES_QUITE_ANOTHER ' "$work/stderr" | grep -qv 'did you mean' || note "GLSLINES_QUITE_ANOTHER"
[ "$(wc -l < "$work/stderr")" -eq 2 ] || note "more than a line for each unknown variable"
# findings of the doctor are statements, not boxes to tick
succeeds devices --doctor
! grep -qF '[  ]' "$work/stdout" || note "the doctor has empty boxes"
checks=$((checks + 1))
container=1 "$tool" devices --doctor > "$work/stdout" 2> "$work/stderr" || note "the doctor in a container"
grep -q '^  note glslines runs inside a container' "$work/stdout" || note "the doctor does not see the container"
checks=$((checks + 1))
__EGL_VENDOR_LIBRARY_FILENAMES=/nowhere.json "$tool" devices --doctor > "$work/stdout" 2> "$work/stderr"
[ $? -eq 5 ] && ! grep -q 'Nothing to fix' "$work/stdout" && grep -q 'env -u __EGL_VENDOR_LIBRARY_FILENAMES glslines devices' "$work/stdout" ||
    note "the doctor does not name the variable that hides devices"
# the plan says which model and getter were chosen, and why: only by the data, wherever masks come from
chosen() { # MODEL, ITS REASON, GETTER, ITS REASON, ARGUMENTS
    model=$1 why=$2 getter=$3 because=$4
    shift 4
    succeeds track "$@" --dry-run
    grep -q "^model  *$model,.* (--model: $why)" "$work/stdout" || note "$*: model $model is not told"
    grep -q "^direction  *$getter (--dg: $because)" "$work/stdout" || note "$*: getter $getter is not told"
}
series="of a series: all shells and tissues together"
chosen msmt "$series" ifod2 "goes with the FODs of msmt" "$dwi"
chosen msmt "$series" ifod2 "goes with the FODs of msmt" "$dwi" --mask "$mask" --roi "$roi"
# one shell of high b with many directions, in any form of the table; every other series, and whatever is given, has msmt or what goes with it
"$tool" phantom "$work/one" --shape 16 16 16 --directions 45 --b0s 2 -q
"$tool" phantom "$work/pair" --shape 16 16 16 --directions 45 --bvals 1000 2000 -q
one=$work/one/dwi.nii.gz vectors=$work/one/dwi.bvec pair=$work/pair/dwi.nii.gz
python3 - "$work/one" <<'PYTHON'
import gzip, os, struct, sys
os.chdir(sys.argv[1])
b = [float(v) for v in open("dwi.bval").read().split()]
v = [[float(x) for x in line.split()] for line in open("dwi.bvec")]
def bvals(name, of): open(name, "w").write(" ".join("%g" % of(i, x) for i, x in enumerate(b)))
bvals("low.bval", lambda i, x: x / 2)
bvals("near.bval", lambda i, x: x and 1975 + i % 11 * 4)
bvals("stray.bval", lambda i, x: 700 if i == 20 else x)
bvals("high.bval", lambda i, x: x * 2)
bvals("bad.bval", lambda i, x: -x)
def vectors(name, of): open(name, "w").write("\n".join(" ".join("%.9g" % of(axis[i], i) for i in range(len(b))) for axis in v))
vectors("half.bvec", lambda x, i: x * 0.5 ** 0.5)
vectors("equal.bvec", lambda x, i: x)
# the directions of 44 volumes: the last two are opposite
vectors("twice.bvec", lambda x, i: x)
rows = [line.split() for line in open("equal.bvec")]
for row in rows: row[-1] = "%.9g" % -float(row[-2])
open("twice.bvec", "w").write("\n".join(map(" ".join, rows)))
open("table.b", "w").write("\n".join("%.9g %.9g %.9g %g" % (v[0][i], v[1][i], v[2][i], b[i]) for i in range(len(b))))
head = gzip.open("dwi.nii.gz").read()
size, kind = struct.unpack_from("<8h", head, 40)[1:5], {4: "Int16LE", 16: "Float32LE"}[struct.unpack_from("<h", head, 70)[0]]
text = "mrtrix image\ndim: %s\nvox: 2,2,2,1\nlayout: +0,+1,+2,+3\ndatatype: %s\ntransform: 1,0,0,0\ntransform: 0,1,0,0\ntransform: 0,0,1,0\n" % (",".join(map(str, size)), kind)
text += "".join("dw_scheme: %.9g,%.9g,%.9g,%g\n" % (v[0][i], v[1][i], v[2][i], b[i]) for i in range(len(b)))
open("scheme.mif", "wb").write((text + "file: . 65536\nEND\n").encode().ljust(65536, b"\0") + head[int(struct.unpack_from("<f", head, 108)[0]):])
PYTHON
shell="one shell of high b and many directions"
valid="of one such shell more streamlines are valid than with msmt and ifod2: 'glslines help getters'"
high() { chosen csd "$shell" det "$valid" "$@"; }
other() { chosen msmt "$series" ifod2 "goes with the FODs of msmt" "$@"; }
high --phantom
high "$one"
high "$one" --mask "$work/one/mask.nii.gz" --roi "$work/one/roi.nii.gz"
high "$one" "$work/one/near.bval" "$vectors"
high "$one" "$work/one/table.b" -
high "$work/one/scheme.mif"
high "$pair" --shells 2000
high "$one" "$work/one/high.bval" "$work/one/half.bvec"
high "$one" --shard 2/3 --nseeds 30
other "$one" "$work/one/low.bval" "$vectors"
other "$one" "$work/one/stray.bval" "$vectors"
other "$one" "$work/one/dwi.bval" "$work/one/half.bvec"
high "$one" "$work/one/dwi.bval" "$work/one/half.bvec" --bvalue-scaling off
other "$one" "$work/one/dwi.bval" "$work/one/twice.bvec"
other "$pair"
other "$pair" --shells 1000
chosen msmt "as dwi2fod msmt_csd" ifod2 "as tckgen" "$one" --preset tckgen
chosen csd "as pyAFQ and TractoFlow" prob "as pyAFQ and TractoFlow" "$one" --preset pyafq
succeeds track "$one" --model csd --dry-run
grep -q '^direction  *prob (--dg: goes with csd' "$work/stdout" || note "prob does not go with --model csd"
succeeds track "$one" --dg det --dry-run
grep -q '^model  *csd,.* (--model: one shell of high b' "$work/stdout" || note "--dg det: the model is not that of one shell"
for dg in prob ifod2; do
    succeeds track "$one" --dg $dg --dry-run
    grep -q "^model  *msmt,.* (--model: $series)" "$work/stdout" || note "--dg $dg: the model is not that of the data"
done
fails 2 "--power: only --dg ifod2 can use it: the default for this series, of one shell, is det" track "$one" --power 3
fails 2 "--backtrack: --dg det is deterministic" track --phantom --backtrack
fails 2 "--no-normalise: only --model msmt can use it" track "$one" --no-normalise
succeeds track "$one" --power 3 --dg ifod2 --dry-run
fails 3 "bad.bval: volume 2 (counted from 0): negative b-value" track "$one" "$work/one/bad.bval" "$vectors"
chosen opdt "goes with --dg boot, which takes opdt or csa" boot "goes with opdt and csa" "$dwi" --dg boot
chosen opdt "as GPUStreamlines" boot "goes with opdt and csa" "$dwi" --preset gpustreamlines
# a run says it before all else
checks=$((checks + 1))
"$tool" track "$one" --dry-run > "$work/stdout" 2> "$work/stderr" || note "a dry run"
head -n 1 "$work/stderr" | grep -qxF "method: model csd ($shell), direction getter det ($valid)" || note "the first line is not the method of one shell"
"$tool" track "$dwi" --mask "$mask" --roi "$roi" --dry-run > "$work/stdout" 2> "$work/stderr" || note "a dry run with masks"
head -n 1 "$work/stderr" | grep -qxF "method: model auto ($series), direction getter ifod2 (goes with the FODs of msmt)" || note "the first line is not the method"
succeeds track "$dwi" --mask "$mask" --roi "$roi" --model csd --dry-run
grep -q '^model  *csd[^(]*$' "$work/stdout" || note "a model that was named is told as a default"
grep -q '^direction  *prob (--dg: goes with csd' "$work/stdout" || note "the getter of csd is not told"
fails 2 trak trak
fails 2 --max-angle track --max-angle 95
fails 2 --max-angle track --max-angle=0
fails 2 --max-angle track --max-angle 12abc
fails 2 --max-angle track --max-angle nan
fails 2 --max-angle track --max-angle ''
fails 2 --nseeds track --nseeds 0
fails 2 --nseeds track --nseeds -5
fails 2 --nseeds track --nseeds 1.5
fails 2 --nseeds track --nseeds 99999999999999999999999
fails 2 --rng-seed track --rng-seed 18446744073709551616
fails 2 --step-size track --step-size 0
fails 2 --step-size track --step-size 1cm
fails 2 --sh-order track --sh-order 3
fails 2 --sh-order track --model opdt --sh-order 10
fails 2 --chunk-size track --chunk-size 0
fails 2 --fa-threshold track --fa-threshold inf
fails 2 --dg track --dg fact4
fails 2 --write-method track --write-method vtk
fails 2 --force track --force=yes
fails 2 --min-length track --min-length 20 --max-length 10
fails 2 --seeds track --seeds "$b/far.txt" --nseeds 10
fails 2 --seed-space track --seed-space world
fails 2 --output-prefix track --phantom -o a.trx --output-prefix b
fails 2 --write-method track --phantom -o a.trx --write-method trk
fails 2 --output-precision track --phantom -o a.tck --output-precision half
fails 2 ROI track "$dwi" "$bval"
fails 2 --roi track "$dwi" "$bval" "$bvec" "$mask" "$roi" --roi "$roi"
fails 3 "bvals and bvecs" track "$mask"
fails 2 six track "$dwi" "$bval" "$bvec" "$mask" "$roi" six
# the phantom is tracked only if it is asked for, not if a list of files turns out empty
nothing=
fails 2 "no input files; usage: glslines track" track
fails 2 "no input files" track $nothing -o sub-01.trx --nseeds 1000
fails 2 --phantom track "$dwi" --phantom
fails 2 --phantom track --phantom --sh "$dwi" --fa "$mask" --roi "$roi"
for input in sh odf peaks; do
    fails 2 "--phantom and --$input are both inputs of a run: leave one of them out" track --phantom --$input "$dwi"
done
fails 2 a.xyz track --phantom -o a.xyz
fails 2 tracks track --phantom -o tracks
fails 2 --shape phantom d --shape 40 52
fails 2 --shape phantom d --shape 40 52 5
fails 2 --orientation phantom d --orientation LLS
fails 2 --voxel-size phantom d --voxel-size 0
fails 2 phantom phantom
succeeds devices --doctor --json
require python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["devices"] and d["looked_for"] and d["system"] and d["experience"] and isinstance(d["to_fix"], list)' "$work/stdout"

# the argument after "--output" is missing, not called --force
fails 2 --output track --output --force

fails 2 --ngpus track --ngpus 65
fails 2 --ngpus track --device llvmpipe,llvmpipe --ngpus 3
# malformed names are refused before any file is read, unknown devices before a large file is
cp "$bval" "$work/large.nii"
fails 2 "empty name" track "$work/large.nii" "$bval" "$bvec" "$mask" --device llvmpipe,,llvmpipe
fails 3 large.nii track "$work/large.nii" "$bval" "$bvec" "$mask" --device llvmpipe,nobody
truncate -s 257M "$work/large.nii"
fails 5 nobody track "$work/large.nii" "$bval" "$bvec" "$mask" --device llvmpipe,nobody
rm "$work/large.nii"

# models and direction getters
fails 2 csd track --dg boot --model csd
fails 2 --sh track --dg boot --sh "$dwi" --fa "$mask" --roi "$roi"
fails 2 "--dg prob ends streamlines by a map of FA: add --fa FILE, or DWI BVAL BVEC, to which FA is fitted; or take --dg ifod2" track --sh "$dwi" --roi "$roi" --select 100
fails 2 "add --fa FILE, or DWI BVAL BVEC" track --odf "$dwi" --roi "$roi"
fails 2 --fa track --sh "$dwi"
fails 2 --roi track --sh "$dwi" --dg ifod2
fails 2 --sh track --sh "$dwi" --odf "$dwi" --fa "$mask" --roi "$roi"
fails 2 --sphere track --odf "$dwi" --fa "$mask" --roi "$roi"
fails 2 --model track --sh "$dwi" --fa "$mask" --roi "$roi" --model csa
fails 2 --mask track --mask "$mask"
fails 2 --sh-basis track --sh-basis tournier07
fails 2 "unknown value 'tournier08'" track --sh "$dwi" --fa "$mask" --roi "$roi" --sh-basis tournier08
fails 2 --response track --model msmt --response "$i/dwi.bval"
fails 2 --csd-directions track --model opdt --csd-directions small
fails 2 --response-fa track --model csd --response-fa 0.5 --response-voxels 300
fails 2 --response-radius track --model csd --response "$i/dwi.bval" --response-radius 3
fails 2 --sm-lambda track --model csd --sm-lambda 0.1
fails 2 --probe-length track --dg prob --probe-length 2
fails 2 --probe-radius track --dg ptt --probe-radius 1mm
fails 2 --probe-length track --dg ptt --probe-length 1cm
fails 2 --angular-weight track --dg ptt --angular-weight 0.5
fails 2 --angular-weight track --angular-weight 1.5
fails 2 --shells track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model csd --shells 2000 2000
fails 2 fit fit "$dwi" "$bval" "$bvec"
fails 2 PREFIX fit "$dwi" "$bval" "$bvec" "$mask"
fails 2 PREFIX response "$dwi" "$bval" "$bvec" "$mask"
fails 2 "need a beginning after the folder" fit "$dwi" "$bval" "$bvec" "$mask" "$work/new/"
fails 2 "need a beginning after the folder" track "$dwi" "$bval" "$bvec" "$mask" --output-prefix "$work/"
# a mask has one option in all commands that take a series
fails 2 "--mask FILE and --roi FILE" track "$dwi" "$mask"
fails 2 "--mask FILE" fit "$dwi" "$mask" f
fails 2 "--mask: the argument MASK names the mask already" fit "$dwi" "$bval" "$bvec" "$mask" f --mask "$mask"
fails 2 "--mask: the argument MASK names the mask already" response "$dwi" "$bval" "$bvec" "$mask" r --mask "$mask"
fails 3 "$b/none.nii" response "$dwi" r --mask "$b/none.nii"
# habits of other programs: a method in the place of the series, the output as an argument, viewers
fails 2 "chosen by --algorithm dhollander" response dhollander "$dwi" wm.txt gm.txt csf.txt
fails 2 "chosen by --model msmt" fit msmt_csd "$dwi" f
fails 2 "a tractogram is no input; the last argument or --output names the one to write" track --sh "$dwi" tracks.tck "$dwi"
fails 2 "a tractogram is no input" track "$dwi" one.tck -o two.tck
fails 2 "unexpected argument 'g'" track "$dwi" b c d e g
fails 2 "here it is 'glslines render'" mrview "$dwi"
fails 2 "--tissue and --pve-gm both name the tissue of each series: leave one" bids a b participant --tissue -- --pve-gm gm.nii
fails 2 "here it is --preset qsirecon, behind --" bids a b participant --recon-spec x
fails 2 "here it is 'glslines bids'" qsirecon a b participant
fails 2 "--output: the argument OUT names the output already" weights t.tck "$dwi" w.txt -o w.txt
# FODs with an FA image are tracked without a seed region, as a series is
fails 2 "or --fa FILE, which puts seeds where FA is above 0.2" track --sh "$dwi" -o t.tck --dg ifod2
for words in "fit $dwi --model csd" "response $dwi --algorithm fa"; do
    # shellcheck disable=SC2086
    succeeds $words by_option --mask "$mask"
    # shellcheck disable=SC2086
    succeeds ${words%% *} "$dwi" "$bval" "$bvec" "$mask" by_place ${words#* "$dwi"}
    require cmp "$work/out/by_option_response.txt" "$work/out/by_place_response.txt"
    require test ! -e "$work/out/by_option_mask.nii.gz"
    clean
done
fails 2 --voxels response "$dwi" r --voxels 100
fails 2 --wm-percent response "$dwi" r --algorithm fa --wm-percent 1
fails 2 --response-wm track --model csd --response-wm "$bval"
fails 2 --normalise track --model msmt --normalise --no-normalise
fails 2 --fit-device track --model csd --fit-device cpu
fails 2 --response-gm track --model msmt --response-gm "$bval"
fails 2 --sh-order track --model opdt --sh-order 10
fails 2 --sh-order fit "$dwi" "$bval" "$bvec" "$mask" f --sh-order 5

succeeds --version
grep -q '^glslines [0-9]' "$work/stdout" || note "--version"
for command in track merge fit response score phantom bench devices help; do
    succeeds help "$command"
    grep -q -e '--help' "$work/stdout" || note "help $command"
    cp "$work/stdout" "$work/help"
    succeeds "$command" --help
    cmp -s "$work/help" "$work/stdout" || note "$command --help differs from help $command"
    succeeds "$command" --no-such-option -h
    succeeds help --format markdown "$command"
    awk -F'[^\\\\][|]' 'NF != 5 { exit 1 }' "$work/stdout" || note "help --format markdown $command: a row without five borders"
    COLUMNS=60 "$tool" help "$command" | awk 'length > 60 && !/^    (glslines|source)/ && !/^Usage/ { exit 1 }' || note "help $command is wider than the terminal"
done
fails 2 getters help getter
fails 2 "'x y'" help 'x y'
fails 2 markdown help --format markdown
fails 2 track help --format bash track
fails 2 --format help --directory d --format man
run
[ "$code" -eq 2 ] || note "no command: exit code $code, not 2"
# a result that cannot be printed is a failure
(cd out && "$tool" help track >/dev/full 2>"$work/stderr")
code=$?
checks=$((checks + 1))
[ "$code" -eq 4 ] || note "standard output is full: exit code $code, not 4"
