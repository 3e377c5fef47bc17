"use strict";
// The images of `glslines view`: which one lies behind the streamlines, which one over it, in which window and colours, and how opaque
// labels are. An image is loaded when it is chosen. labels: [value, name, colour or nothing] of each. bytes(path): what the server has there.
function glslinesImages(stage, scene, labels, bytes) {
  const get = (id) => document.getElementById(id), slices = stage.slices, loaded = new Map();
  if (!slices) return;
  const option = (value, textContent) => Object.assign(document.createElement("option"), { value, textContent });
  const map = (name) => scene.maps.findIndex((m) => m.name === name);
  // The volume of an image, or of the labels, while it is not replaced by another choice.
  async function load(name) {
    if (!loaded.has(name)) loaded.set(name, bytes("/slices/" + name).then((values) => slices.read(values, true)));
    return loaded.get(name);
  }
  // A layer of the slices, with the controls whose names begin with `which`. signed: the map of images with values below 0.
  function layer(which, at, unsigned) {
    const part = (name) => get(which + "-" + name), choice = get(which), shown = slices.layers[at];
    choice.append(...(at > 0 ? [option("", "none")] : []), ...scene.images.map((image, i) => option(i, image.name)));
    part("map").append(...scene.maps.map((m, i) => option(i, m.name)));
    function look() {
      const ends = ["low", "high"].map((end) => Number(part(end).value));
      part("high").setCustomValidity(ends[1] > ends[0] ? "" : "must be above the first value");
      if (!part("low").checkValidity() || !part("high").checkValidity()) return;
      Object.assign(shown, { window: ends, map: Number(part("map").value), opacity: at === 0 ? 1 : Number(part("opacity").value) / 100 });
      stage.ask();
    }
    async function choose() {
      const chosen = choice.value, image = scene.images[chosen];
      if (at > 0) part("how").hidden = !image;
      if (image) {
        const most = Math.max(...image.window.map(Math.abs)), window = at > 0 && image.signed ? [-most, most] : image.window;
        window.forEach((v, i) => { part(i ? "high" : "low").value = Number(v.toPrecision(4)); });
        part("map").value = map(at > 0 && image.signed ? "redblue" : unsigned);
      }
      const volume = image ? await load(chosen) : slices.none;
      if (choice.value !== chosen) return;
      shown.volume = volume;
      if (image) look();
      if (at === 0 && image) document.querySelector("#slices legend").textContent = "slices of " + image.name;
      stage.ask();
    }
    choice.addEventListener("change", choose);
    for (const name of ["low", "high", "map", ...(at > 0 ? ["opacity"] : [])]) part(name).addEventListener("input", look);
    return choose();
  }
  get("images").hidden = false;
  if (scene.images.length) {
    loaded.set("0", Promise.resolve(slices.layers[0].volume));
    layer("back", 0, "grey");
    layer("front", 1, "hot");
  }
  // The colour of the table of labels, or else a hue of its own; neighbours in the list have unlike ones.
  const colours = labels.map(([, , colour], i) => colour || [0, 4, 2].map((turn) => {
    const hue = Math.abs((6 * ((i + 1) * 0.618034 % 1) + turn) % 6 - 3) - 1;
    return Math.round(255 * Math.min(1, Math.max(0.15, hue)));
  }));
  slices.colours(colours);
  const legend = get("labels-legend");
  legend.hidden = labels.length === 0;
  legend.addEventListener("toggle", () => {
    const list = legend.querySelector("ul");
    if (list.children.length) return;
    list.append(...labels.map(([value, name], i) => {
      const entry = document.createElement("li"), swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.backgroundColor = "rgb(" + colours[i].join() + ")";
      entry.append(swatch, value + (name ? " " + name : ""));
      return entry;
    }));
  });
  const opacity = get("labels-opacity");
  get("over-labels").hidden = !scene.labels;
  opacity.addEventListener("input", async () => {
    slices.layers[2].opacity = Number(opacity.value) / 100;
    if (opacity.value > 0) slices.layers[2].volume = await load("labels");
    stage.ask();
  });
  if (scene.images.length) return;
  // without an image the labels are shown at once
  document.querySelector("#slices legend").textContent = "slices of labels";
  get("back").closest("fieldset").hidden = true;
  get("front").closest("label").hidden = get("front-how").hidden = true;
  opacity.value = 70;
  opacity.dispatchEvent(new Event("input"));
}
