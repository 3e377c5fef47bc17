#!/bin/sh
# The tool on OpenGL ES: api.sh TOOL WORK_DIR [PART]. same, the default: the same files as on OpenGL, also with no more than every OpenGL ES 3.1 has; others: a driver without OpenGL 4.3 is no
# obstacle, neither is one that mixes up arrays, nor softpipe.
. "$(dirname "$0")/common.sh"
part=${3:-same}

# same API LIMITS OPTIONS... : tracks the phantom, mostly with its 724 directions, and compares the file with that of OpenGL
same() {
    api=$1
    limits=$2
    shift 2
    GLSLINES_FORCE_LIMITS=$limits "$tool" track --phantom --model opdt "$@" --api "$api" -o a.trx --force -q || note "exit code $?: $*, $api, limits '$limits'"
    cmp -s a.trx expected.trx || note "another tractogram: $*, $api, limits '$limits'"
}

# Mesa gives the newest version that it has; set the version, because nothing of 3.2 may be needed
MESA_GLES_VERSION_OVERRIDE=3.1
export MESA_GLES_VERSION_OVERRIDE
if [ "$part" = same ]; then
"$tool" devices --api gles --json > list.json || note "no device with OpenGL ES"
grep -q '"gles":.*true' list.json && ! grep -q '"gles":.*false' list.json || note "the list for OpenGL ES names others"
"$tool" devices --api gl --json > list.json || note "no device with OpenGL"
grep -q '"gles":.*false' list.json && ! grep -q '"gles":.*true' list.json || note "the list for OpenGL names others"
"$tool" devices --api vulkan > /dev/null 2>&1
[ $? -eq 2 ] || note "--api vulkan is not refused"

fi

# a software renderer compiles both in the same way, but compilers of GPUs need not; so the source asks for equal rounding
set -- --device llvmpipe --mapping single
options="--dg ptt --nseeds 20"
if [ "$part" = same ]; then
for options in "--dg boot --nseeds 300" "--dg prob --nseeds 300 --sphere small" "--dg det --nseeds 300" "--dg ptt --nseeds 20"; do
    # shellcheck disable=SC2086
    GLSLINES_ODF_CELLS=0 "$tool" track --phantom --model opdt "$@" $options --api gl -o expected.trx --force -q || note "exit code $?: $options"
    # shellcheck disable=SC2086
    same gles gles31 "$@" $options
done
fi
# if there is a fifth storage block, it has the ODFs of parallel transport
# shellcheck disable=SC2086
"$tool" track --phantom --model opdt "$@" $options --api gl -o expected.trx --force -q || note "exit code $?: $options"
# shellcheck disable=SC2086
if [ "$part" = same ]; then
same auto "" "$@" $options
grep -q '"version":.*OpenGL ES' a.json && note "OpenGL ES was taken where there is OpenGL"
# whole cells instead of pairs of voxels, in one, three and four buffers: 38 layers of 40 x 52 x 362 cells of 16 bytes
GLSLINES_ODF_CELLS=8
export GLSLINES_ODF_CELLS
for layers in 38 13 10; do
    # shellcheck disable=SC2086
    same gl "storage_bytes=$((layers * 40 * 52 * 362 * 16))" "$@" $options
done
# shellcheck disable=SC2086
same gles "" "$@" $options
# if the cells do not fit into memory, pairs are used, and if these do not fit either, single values
for limit in "200000000 436.6" "100000000 109.1"; do
    # shellcheck disable=SC2086
    GLSLINES_INJECT=memory:${limit% *} "$tool" track --phantom --model opdt "$@" $options -o a.trx --force > stdout 2> stderr || note "exit code $?: no memory for cells"
    cmp -s a.trx expected.trx || note "another tractogram without memory for cells"
    grep -q "less than ${limit#* } MiB" stderr || note "that there is no memory for cells is not told: $(cat stderr)"
done
# single values in one buffer and in four, each of which also has the first layer of the next one
GLSLINES_ODF_CELLS=1
for layers in 38 11; do
    # shellcheck disable=SC2086
    same gl "storage_bytes=$((layers * 40 * 52 * 181 * 4))" "$@" $options
done
unset GLSLINES_ODF_CELLS
# getters along tensors read signals from a buffer of texels, which OpenGL ES has as an extension, or from textures, where positions are rounded
for dg in tensordet tensorprob "tensorprob --rk4"; do
    for limits in "" gles31; do
        for api in gl gles; do
            # shellcheck disable=SC2086
            env -u MESA_GLES_VERSION_OVERRIDE GLSLINES_FORCE_LIMITS=$limits "$tool" track --phantom "$@" --dg $dg --nseeds 100 --api $api -o "$api$limits.tck" --force -q || note "exit code $?: $dg, $api"
        done
        cmp -s "gl$limits.tck" "gles$limits.tck" || note "another tractogram: $dg, limits '$limits'"
    done
    ! cmp -s gl.tck glgles31.tck || note "$dg: the limits change nothing"
done

else

# a driver that has no OpenGL above 4.2
(
    MESA_GL_VERSION_OVERRIDE=4.2
    export MESA_GL_VERSION_OVERRIDE
    # shellcheck disable=SC2086
    same auto "" "$@" $options
    grep -q '"version":.*OpenGL ES' a.json || note "OpenGL ES was not taken in place of OpenGL"
    "$tool" track --phantom --model opdt --api gl --device llvmpipe -o b.trx -q 2> stderr
    [ $? -eq 5 ] || note "OpenGL 4.2 is taken for 4.3"
    exit $failures
)
failures=$?

# if invocations of a work group mix up their own arrays, groups have one invocation
"$tool" track --phantom --model opdt --device llvmpipe --dg det --nseeds 200 --sphere small -q -o apart.tck || note "exit code $?"
GLSLINES_FORCE_LIMITS=apart=0 "$tool" track --phantom --model opdt --device llvmpipe --dg det --nseeds 200 --sphere small -q -o alone.tck 2> stderr || note "exit code $?: groups of one"
cmp -s apart.tck alone.tck || note "groups of one track otherwise"
grep -q 'mixes up what invocations' stderr || note "a renderer that mixes up invocations is not told"

# Mesa's softpipe has OpenGL ES 3.1, but no OpenGL 4.3. It is another implementation with its own rounding, so mistakes show. Larger kernels take it
# minutes.
if GALLIUM_DRIVER=softpipe "$tool" devices 2> /dev/null | grep -q '^0: softpipe'; then
    GALLIUM_DRIVER=softpipe "$tool" devices --json | grep -q '"apart":.*false' || note "softpipe: what it mixes up is not found"
    export GLSLINES_CHECKED="$work/checked.json"
    for dg in det prob; do
        options="--dg $dg --sphere small --nseeds 100 --max-length 30 --sidecar none --force -q"
        # shellcheck disable=SC2086
        GALLIUM_DRIVER=softpipe "$tool" track --phantom --model opdt $options -o softpipe.tck || note "exit code $? on softpipe: $dg"
        # shellcheck disable=SC2086
        "$tool" track --phantom --model opdt --device llvmpipe --mapping single $options -o llvmpipe.tck || note "exit code $?: $dg"
        python3 - << 'PYTHON' || note "softpipe tracks otherwise: $dg"
import re, struct
def lines(path):
    data = open(path, "rb").read()
    data = data[int(re.search(rb"^file: \. (\d+)$", data, re.M).group(1)):]
    at, found, line = 0, [], b""
    while at + 12 <= len(data):
        point = data[at:at + 12]
        at += 12
        x = struct.unpack("<3f", point)[0]
        if x != x:
            found.append(line)
            line = b""
        elif x != float("inf"):
            line += point
    return found
a, b = lines("softpipe.tck"), lines("llvmpipe.tck")
same = len(set(a) & set(b))
print("softpipe: %d streamlines, %d of them as llvmpipe's %d" % (len(a), same, len(b)))
assert len(b) >= 100 and abs(len(a) - len(b)) <= 2 and same >= 0.9 * len(b)
PYTHON
        grep -q "\"${dg}4\":.*\"single\"" checked.json || note "the test of $dg on softpipe is not kept: $(cat checked.json)"
    done
    unset GLSLINES_CHECKED
    # other commands compute the same bytes there; a fit that the device cannot do runs on the CPU, with a message
    "$tool" phantom soft --shape 16 16 16 --voxel-size 8 --bvals 1000 3000 --directions 30 --force -q || note "exit code $?: phantom"
    fit="fit soft/dwi.nii.gz soft/dwi.bval soft/dwi.bvec soft/mask.nii.gz --model msmt --sh-order 4 --force -q"
    # shellcheck disable=SC2086
    GALLIUM_DRIVER=softpipe "$tool" $fit fit_softpipe --fit-device softpipe 2> stderr || note "exit code $?: fit on softpipe"
    grep -q 'multi-tissue deconvolution: by the CPU: softpipe' stderr || note "the fit on softpipe is not told"
    # shellcheck disable=SC2086
    "$tool" $fit fit_cpu || note "exit code $?: fit"
    boot="--dg boot --mapping single --sphere small --nseeds 20 --max-length 20 --sidecar none --force -q"
    for renderer in softpipe llvmpipe; do
        export GALLIUM_DRIVER=$renderer
        # shellcheck disable=SC2086
        "$tool" track --phantom $boot --device $renderer -o boot_$renderer.tck || note "exit code $?: boot on $renderer"
        "$tool" weights llvmpipe.tck fit_softpipe_wm.nii.gz --max-iters 5 --min-iters 3 --device $renderer -o $renderer.txt --force -q ||
            note "exit code $?: weights on $renderer"
        "$tool" render llvmpipe.tck --device $renderer --tile 80x80 -o $renderer.png --force -q || note "exit code $?: render on $renderer"
    done
    unset GALLIUM_DRIVER
    for kind in txt png; do cmp softpipe.$kind llvmpipe.$kind || note "softpipe computes otherwise: $kind"; done
    cmp boot_softpipe.tck boot_llvmpipe.tck || note "softpipe tracks otherwise: boot"
    cmp fit_softpipe_wm.nii.gz fit_cpu_wm.nii.gz || note "the fit of the CPU in place of softpipe differs"
else
    echo "no softpipe"
fi

"$tool" score --device llvmpipe --model opdt --dg det --nseeds 300 --json gl.json -q > /dev/null || note "score on OpenGL"
GLSLINES_FORCE_LIMITS=gles31 "$tool" score --api gles --device llvmpipe --model opdt --dg det --nseeds 300 --json es.json -q > /dev/null || note "score on OpenGL ES"
for file in gl es; do grep -vE 'seconds|version|"(device|command_line|json|api)"' $file.json > $file.txt; done
cmp gl.txt es.txt || note "another score"

fi
finish "OpenGL ES as OpenGL: $part"
