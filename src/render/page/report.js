"use strict";
// The page of a report: the streamlines of its 3-D view are in the page itself. Nothing is loaded from anywhere.
(function () {
  const copy = document.getElementById("copy");
  if (copy) copy.hidden = false;
  if (copy) copy.addEventListener("click", () => navigator.clipboard.writeText(
    document.getElementById("command").textContent).then(() => { copy.textContent = "Copied"; }));

  const text = (id) => document.getElementById(id).textContent.trim();
  const lines = text("glslines-lines"), image = text("glslines-slices");
  if (!glslinesStage.canvas || !lines) return;
  Promise.all([glslinesStage.unpack(lines), image ? glslinesStage.unpack(image) : null])
    .then(([bytes, values]) => glslinesStage.open(bytes, JSON.parse(text("glslines-columns")), values))
    .then((stage) => { if (!stage) document.getElementById("status").textContent += " The pictures above show the same streamlines."; })
    .catch((error) => glslinesStage.fail("The streamlines cannot be shown here (" + error.message +
      "). The pictures above show the same streamlines."));
})();
