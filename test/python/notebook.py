"""The notebook of the manual runs from its first cell to its last, and a tractogram in it shows its picture.

    notebook.py NOTEBOOK WORK_FOLDER"""

import os
import sys

import nbclient
import nbformat

if __name__ == "__main__":
    source, folder = sys.argv[1:3]
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
    print("ok: %d cells, %d pictures" % (len(notebook.cells), len(pictures)))
