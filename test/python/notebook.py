"""The notebook of the manual runs from its first cell to its last, and a tractogram in it shows its picture.

    notebook.py NOTEBOOK WORK_FOLDER"""

import base64
import os
import re
import sys

import nbclient
import nbformat

if __name__ == "__main__":
    source, folder = sys.argv[1:3]
    os.environ.pop("TQDM_DISABLE", None)  # the kernel shows bars
    os.makedirs(folder, exist_ok=True)
    notebook = nbformat.read(source, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "the notebook of the manual has no outputs"
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": folder}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    errors = [output for output in outputs if output["output_type"] == "error"]
    assert not errors, errors
    pictures = [output for output in outputs if "data:image/png;base64," in output.get("data", {}).get("text/html", "")]
    assert len(pictures) == 2, "%d pictures of tractograms" % len(pictures)
    drawn = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    assert len(drawn) == 1 and base64.b64decode(drawn[0])[:4] == b"\x89PNG", "%d pictures of render" % len(drawn)
    for number, picture in enumerate([output["data"]["text/html"].split("base64,")[1].split('"')[0] for output in pictures] + drawn):
        with open(os.path.join(folder, "shown%d.png" % number), "wb") as file:
            file.write(base64.b64decode(picture))
    bars = {}
    for number, cell in enumerate(notebook.cells):
        text = "".join(output["text"] for output in cell.get("outputs", []) if output["output_type"] == "stream")
        bars.update({(number, name): percent for name, percent in re.findall(r"(\w+: \w+): +(\d+)%\|", text)})
    assert bars and set(bars.values()) == {"100"}, bars
    widgets = [output for output in outputs if "%|" in output.get("data", {}).get("text/plain", "")]
    assert not widgets, "a saved notebook has the first state of a widget: %s" % widgets
    print("ok: %d cells, %d pictures" % (len(notebook.cells), len(pictures) + 1))
