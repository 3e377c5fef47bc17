"use strict";
// Shows what the images and labels of `glslines view` have under the pointer, and where the slices cross: place, voxel, values. ask(make)
// sends the question that make() returns as soon as the server is free; its answer comes to answers.probe.
function glslinesValues(stage, scene, ask, answers) {
  const get = (id) => document.getElementById(id), canvas = get("canvas"), told = get("told");
  const cursor = document.createElement("span");
  const sliders = ["at-x", "at-y", "at-z"].map(get), crossing = () => sliders.map((slider) => Number(slider.value));
  let next = null, asked = null, over = false; // questions that wait and that are under way, { at, tells }; the pointer is on a slice
  cursor.id = "cursor";
  cursor.setAttribute("aria-hidden", "true");
  get("stage").append(cursor);
  if (!stage.slices) return;
  get("values-note").hidden = false;

  // A question that is to be told is not replaced by one of the pointer.
  function probe(at, tells) {
    if (next && next.tells && !tells) return;
    next = { at: at.map((v) => Number(v.toFixed(3))), tells };
    ask(() => {
      [asked, next] = [next, null];
      return { at: asked.at };
    });
  }
  // The shortest text that is this number of 32 bits alone: 7 digits, or 9.
  function number(v) {
    if (v === null) return "not a number";
    const short = Number(v.toPrecision(7));
    return String(Math.fround(short) === v ? short : Number(v.toPrecision(9)));
  }
  function words(answer) {
    const mm = asked.at.map((v) => v.toFixed(1)).join(", ") + " mm (RAS)";
    const values = answer.values.map((entry, i) => entry && scene.images[i].name + ", voxel " + entry.voxel.join(" ") + ": " + number(entry.value));
    const label = answer.label > 0 ? ["label " + answer.label + (answer.name ? " " + answer.name : "")] : [];
    return [mm, ...values.filter((text) => text), ...label].join("; ");
  }
  answers.probe = (answer) => {
    const text = answer.error || words(answer);
    if (asked.tells) told.textContent = text;
    else cursor.textContent = over ? text : "";
  };
  canvas.addEventListener("pointermove", (e) => {
    const found = e.buttons ? null : stage.placeAt(e);
    over = found !== null;
    if (over) probe(found.place, false);
    else cursor.textContent = "";
  });
  canvas.addEventListener("pointerleave", () => { over = false; cursor.textContent = ""; });
  canvas.addEventListener("dblclick", (e) => {
    const found = stage.placeAt(e);
    if (!found) return;
    sliders.forEach((slider, a) => {
      slider.value = found.place[a];
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    });
    probe(found.place, true);
  });
  canvas.addEventListener("keydown", (e) => {
    if (e.key !== "v" || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    probe(crossing(), true);
  });
}
