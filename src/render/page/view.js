"use strict";
// The page of `glslines view`: gets streamlines and slices from its server, and asks it to track from the sphere, to select
// by regions, and to save what was selected.
(async function () {
  const get = (id) => document.getElementById(id);
  const say = (text) => { get("connection").textContent = text; };
  const load = async (path) => {
    const response = await fetch(path);
    if (!response.ok) throw new Error(path + ": " + response.status);
    return response;
  };
  const bytes = async (path) => new Uint8Array(await (await load(path)).arrayBuffer());
  const words = (n) => n.toLocaleString("en"), round = (v) => Number(v.toFixed(2));
  // Numbers within the limits of the server.
  const place = (v) => Math.min(scene.most.place, Math.max(-scene.most.place, round(v)));
  const size = (v) => Math.min(scene.most.radius, Math.max(0.5, round(v)));
  let stage = null, scene = null;
  try {
    scene = await (await load("/scene.json")).json();
    const [lines, columns, image] = await Promise.all([bytes("/lines"), load("/columns").then((r) => r.json()),
      scene.image ? bytes("/slices") : null]);
    stage = await glslinesStage.open(lines, columns, image);
  } catch (error) {
    glslinesStage.fail("The streamlines cannot be shown here (" + error.message + ").");
  }

  const socket = new WebSocket("ws://" + location.host + "/live");
  socket.binaryType = "arraybuffer";
  socket.addEventListener("close", (event) => {
    say("The server has ended the connection" + (event.reason ? ": " + event.reason : ".") + " Load the page again to go on.");
  });
  if (!stage) return;

  // One request of a place is under way at a time, busy. Of each kind the last one waits: what a region passed meanwhile is
  // not asked for.
  const waiting = new Map(), asked = new Map(), answers = {};
  let id = 0, busy = 0;
  function post(kind, body) {
    asked.set(++id, kind);
    socket.send(JSON.stringify({ [kind]: { id, ...body } }));
  }
  function send() {
    if (busy || waiting.size === 0 || socket.readyState !== WebSocket.OPEN) return;
    const [kind, make] = waiting.entries().next().value;
    waiting.delete(kind);
    const body = make();
    if (!body) { send(); return; }
    post(kind, body);
    busy = id;
  }
  function ask(kind, make) {
    waiting.set(kind, make);
    send();
  }
  function answered() {
    busy = 0;
    send();
  }
  socket.addEventListener("open", send);
  socket.addEventListener("message", (event) => {
    if (typeof event.data === "string") {
      const answer = JSON.parse(event.data), kind = asked.get(answer.id);
      asked.delete(answer.id);
      if (!kind) return;
      answers[kind](answer);
      if (answer.id === busy && (answer.error || kind === "pick")) answered();
      return;
    }
    // u8 version, u8 kind, u16, u32 id, u32 streamlines, then the bytes of decode()
    const view = new DataView(event.data);
    if (view.getUint8(0) !== 1) return;
    // the last region may be gone meanwhile
    if (view.getUint8(1) === 1) stage.show("tracked", new Uint8Array(event.data, 12));
    else if (regions.length > 0) stage.show("selected", new Uint8Array(event.data, 12));
    answered();
  });

  // --- The sphere in which seeds lie.
  const fields = ["seed-x", "seed-y", "seed-z", "seed-r"].map(get), seeds = () => fields.map((field) => Number(field.value));
  const track = () => ask("track", () => get("sphere").checkValidity() &&
    { sphere: seeds(), nseeds: Number(get("nseeds").value), seed: Number(get("seed").value) });
  answers.track = (answer) => {
    get("tracked").textContent = answer.error || words(answer.streamlines) + " streamlines from " + words(answer.seeds) +
      " seeds in " + answer.seconds.toFixed(2) + " s";
    if (answer.command) get("command").textContent = answer.command;
  };

  // --- Regions.
  let regions = [], kept = [], number = 0, rest = 0;
  const colours = { include: [86, 180, 233], exclude: [230, 90, 60] };
  const solid = (region) => region.kind !== "label";
  // Handles of all that can be moved.
  function hold(name) {
    const list = regions.filter(solid).map((region) => ({ name: region.name, at: region.at, half: region.half,
      round: region.kind === "sphere", colour: colours[region.role],
      moved(at) { region.at = at.map(place); changed(region, true); },
      sized(factor) { region.half = region.half.map((v) => size(v * factor)); changed(region, true); } }));
    const seed = () => ({ name: "seeds", at: seeds().slice(0, 3), half: [0, 0, 0].fill(seeds()[3]), round: true, colour: [255, 255, 255],
      moved(at) { at.forEach((v, i) => { fields[i].value = place(v); }); hold(); track(); },
      sized(factor) { fields[3].value = size(seeds()[3] * factor); hold(); track(); } });
    stage.hold(scene.live ? [seed(), ...list] : list, name);
  }
  const wire = (region) => ({ role: region.role, ...(region.kind === "sphere" ? { sphere: [...region.at, region.half[0]] }
    : region.kind === "box" ? { box: [...region.at.map((v, a) => round(v - region.half[a])), ...region.at.map((v, a) => round(v + region.half[a]))] }
      : { label: region.label }) });
  // Asks for the selection: while a region moves for few streamlines, for all of them when it rests.
  function choose(moves) {
    clearTimeout(rest);
    if (regions.length === 0) {
      waiting.delete("select");
      stage.show("selected", null);
      get("selected").textContent = get("edit-command").textContent = "";
      return;
    }
    if (!get("regions").checkValidity()) return;
    ask("select", () => regions.length > 0 && { shown: moves ? 2000 : scene.most.shown, regions: regions.map(wire) });
    if (moves) rest = setTimeout(() => choose(false), 200);
  }
  answers.select = (answer) => {
    if (regions.length === 0) return;
    if (!answer.error) get("bundle-name").dataset.count = answer.selected;
    get("selected").textContent = answer.error || words(answer.selected) + " of " + words(answer.of) + " streamlines in " +
      Math.round(1000 * answer.seconds) + " ms" + (answer.shown < answer.selected ? "; " + words(answer.shown) + " are shown" : "");
    if (answer.command) get("edit-command").textContent = answer.command;
  };
  function changed(region, moves) {
    fill(region);
    hold(region.name);
    choose(moves);
  }
  const element = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  // Writes the numbers of a region into its fields.
  function fill(region) {
    if (!solid(region)) return;
    [...region.at, ...(region.kind === "sphere" ? [region.half[0]] : region.half.map((v) => round(2 * v)))]
      .forEach((v, i) => { region.fields[i].value = v; });
  }
  // Shows the regions as rows of fields.
  function list() {
    get("regions").replaceChildren(...regions.map((region) => {
      const role = element("select", { onchange() { region.role = role.value; changed(region, false); } },
        ...[["include", "meet"], ["exclude", "avoid"]].map(([value, text]) => element("option", { value, textContent: text, selected: region.role === value })));
      const names = { sphere: ["x", "y", "z", "radius"], box: ["x", "y", "z", "width", "depth", "height"], label: [] }[region.kind];
      region.fields = names.map((_, i) => element("input", { type: "number", step: "any", required: true, min: i < 3 ? -scene.most.place : 0.1,
        max: i < 3 ? scene.most.place : scene.most.radius * (region.kind === "box" ? 2 : 1),
        oninput() {
          if (!get("regions").checkValidity()) return;
          const v = region.fields.map((field) => Number(field.value));
          region.at = v.slice(0, 3);
          region.half = region.kind === "sphere" ? [v[3], v[3], v[3]] : v.slice(3).map((size) => size / 2);
          hold(region.name);
          choose(true);
        } }));
      fill(region);
      const remove = element("button", { type: "button", textContent: "remove",
        onclick() { regions = regions.filter((r) => r !== region); list(); hold(); choose(false); get("add-sphere").focus(); } });
      remove.setAttribute("aria-label", "remove " + region.title);
      return element("fieldset", { className: "controls" }, element("legend", { textContent: region.title }),
        element("label", {}, "streamlines ", role), ...names.map((name, i) => element("label", {}, name + " ", region.fields[i], i < 3 ? "" : " mm")), remove);
    }));
  }
  function add(region) {
    if (regions.length === scene.most.regions) { get("selected").textContent = "There may be " + scene.most.regions + " regions."; return; }
    number++;
    regions.push({ name: "region " + number, role: "include", title: region.kind + " " + number, ...region });
    list();
    hold("region " + number);
    choose(false);
  }
  const labels = scene.labels ? await (await load("/labels")).json() : [];
  const label = (value, name) => add({ kind: "label", label: value, title: "label " + value + (name ? ", " + name : "") });
  get("add-sphere").addEventListener("click", () => add({ kind: "sphere", at: [...scene.middle], half: [10, 10, 10] }));
  get("add-box").addEventListener("click", () => add({ kind: "box", at: [...scene.middle], half: [10, 10, 10] }));
  get("label").append(...labels.map(([value, name]) => element("option", { value, textContent: value + (name ? " " + name : "") })));
  get("add-label").addEventListener("click", () => label(...labels.find(([value]) => value === Number(get("label").value))));
  get("pick").addEventListener("click", () => stage.pick((at) => {
    if (at) ask("pick", () => ({ at: at.map(round) }));
    else get("selected").textContent = "No slice was clicked.";
  }));
  answers.pick = (answer) => {
    if (answer.label > 0) label(answer.label, answer.name);
    else get("selected").textContent = answer.error || "There is no label.";
  };

  // --- Bundles, and saving.
  const fits = (field) => field.value !== "" && field.checkValidity();
  const copy = (list) => list.map((region) => ({ ...region, at: region.at && [...region.at], half: region.half && [...region.half] }));
  // Keeps the bundle, unless the server would not take all of them. Returns whether it is kept.
  function keep() {
    const others = kept.filter((bundle) => bundle.name !== get("bundle-name").value);
    const all = others.reduce((n, bundle) => n + bundle.regions.length, regions.length);
    if (others.length >= scene.most.bundles || all > scene.most.all_regions) {
      get("saved").textContent = "There may be " + scene.most.bundles + " bundles, with " + scene.most.all_regions + " regions: save these, and remove them.";
      return false;
    }
    kept = [...others, { name: get("bundle-name").value, regions: copy(regions), count: get("bundle-name").dataset.count }];
    show();
    return true;
  }
  function show() {
    get("kept").replaceChildren(...kept.map((bundle) => element("li", {}, bundle.name + ": " + words(Number(bundle.count)) + " streamlines ",
      element("button", { type: "button", textContent: "change", ariaLabel: "change " + bundle.name,
        onclick() { regions = copy(bundle.regions); get("bundle-name").value = bundle.name; list(); hold(); choose(false); } }), " ",
      element("button", { type: "button", textContent: "remove", ariaLabel: "remove " + bundle.name,
        onclick() { kept = kept.filter((b) => b !== bundle); show(); } }))));
  }
  get("keep").addEventListener("click", () => {
    if (regions.length === 0 || !fits(get("bundle-name"))) { get("saved").textContent = "A bundle needs a name of letters, digits, _ and -, and a region."; return; }
    get("saved").textContent = "";
    if (!keep()) return;
    regions = [];
    get("bundle-name").value = "";
    list();
    hold();
    choose(false);
  });
  function save(force) {
    get("replace").hidden = true;
    if (regions.length > 0 && !fits(get("bundle-name"))) {
      get("saved").textContent = "Name the bundle of these regions with letters, digits, _ and -, or remove the regions.";
      return;
    }
    if (regions.length > 0 && !keep()) return;
    if (kept.length === 0 || !fits(get("save-name"))) {
      get("saved").textContent = "Name the bundle, and the files: letters, digits, _ and -.";
      return;
    }
    get("saved").textContent = "Saving ...";
    post("save", { name: get("save-name").value, force,
      bundles: kept.map((bundle) => ({ name: bundle.name, regions: bundle.regions.map(wire) })) });
  }
  answers.save = (answer) => {
    get("saved").textContent = answer.error || "Saved: " + answer.files.join(", ") + (answer.note ? ". No picture: " + answer.note : "");
    get("replace").hidden = !answer.exists;
  };
  get("save-bundles").addEventListener("click", () => save(false));
  get("replace").addEventListener("click", () => save(true));

  for (const button of document.querySelectorAll("button[data-copies]")) {
    button.addEventListener("click", () => navigator.clipboard.writeText(get(button.dataset.copies).textContent)
      .then(() => { button.textContent = "Copied"; }));
    new MutationObserver(() => { button.textContent = "Copy"; }).observe(get(button.dataset.copies), { childList: true });
  }
  get("regions").addEventListener("submit", (event) => event.preventDefault());
  get("sphere").addEventListener("submit", (event) => event.preventDefault());
  get("sphere").addEventListener("input", () => { if (get("sphere").checkValidity()) hold(); track(); });
  get("select").hidden = !scene.select;
  get("labels").hidden = labels.length === 0;
  get("pick").hidden = !scene.image;
  if (scene.live) {
    fields.forEach((field, i) => { field.value = scene.live.sphere[i]; });
    get("nseeds").value = scene.live.nseeds;
    get("seed").value = scene.live.seed;
    get("live").hidden = false;
    track();
  }
  hold();
})();
