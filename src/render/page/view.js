"use strict";
// The page of `glslines view`: gets streamlines and slices from its server, and asks it to track from the sphere, to select
// by regions, and to save what was selected. All pages of a server show one scene.
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
  let stage = null, scene = null, columns = [];
  try {
    scene = await (await load("/scene.json")).json();
    const [lines, found, image] = await Promise.all([bytes("/lines"), load("/columns").then((r) => r.json()),
      scene.images.length ? bytes("/slices/0") : null]);
    columns = found;
    stage = await glslinesStage.open(lines, columns, scene.box ? { bytes: image, wide: true, box: scene.box, maps: scene.maps, glyphs: scene.glyphs } : null);
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
  // Messages of the server by the kinds that have another name here, and kinds whose answer has no bytes behind it.
  const messages = { probe: "pick" }, brief = ["pick", "probe"];
  // Streamlines of all seeds give way to what moves: the server ends their run for it. urgent: kinds to which they do; refined: asks
  // for them again; null: something else is under way.
  const urgent = ["track", "select", "paint"];
  let id = 0, busy = 0, refined = null;
  // target: where the page shows the answer, if that differs between requests of a kind
  function post(kind, body, target) {
    asked.set(++id, { kind, target });
    socket.send(JSON.stringify({ [messages[kind] || kind]: { id, ...body } }));
  }
  function send() {
    const next = [...waiting.keys()].find((kind) => !busy || (refined && urgent.includes(kind)));
    if (!next || socket.readyState !== WebSocket.OPEN) return;
    const make = waiting.get(next);
    waiting.delete(next);
    const body = make();
    if (!body) { send(); return; }
    if (busy) asked.delete(busy); // its answer may be on the way
    if (busy && next !== "track") waiting.set("track", refined);
    refined = next === "track" && !body.preview ? make : null;
    post(next, body);
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
      const answer = JSON.parse(event.data);
      if (answer.seen) { answers[answer.seen.kind](answer.seen, "seen"); return; } // of another page
      const { kind, target } = asked.get(answer.id) || {};
      asked.delete(answer.id);
      if (answer.kind === "scene" || ["join", "scene", "undo"].includes(kind)) { shared.take(answer, kind); return; }
      if (!kind) return;
      answers[kind](answer, target);
      if (answer.id === busy && (answer.error || brief.includes(kind))) answered();
      return;
    }
    // u8 version, u8 kind, u16, u32 id, 0 for an answer to another page, u32 streamlines, then the bytes of decode()
    const view = new DataView(event.data), of = view.getUint32(4, true), own = of > 0;
    if (view.getUint8(0) !== 1 || (own && of !== busy)) return;
    // the last region may be gone meanwhile
    if (view.getUint8(1) === 1) { tracked = new Uint8Array(event.data, 12); showTracked(); ripen(own); }
    else if (view.getUint8(1) === 3 && fetched) voxels(runsOf(event.data).reduce((n, v, i) => n + (i % 2 ? v : 0), 0), runsOf(event.data));
    else if (view.getUint8(1) === 3) painted(runsOf(event.data));
    else if (view.getUint8(1) === 4) answers.glyphBytes(event.data);
    else if (selecting()) stage.show("selected", new Uint8Array(event.data, 12));
    if (own) answered();
  });
  const runsOf = (data) => new Uint32Array(data.slice(12));

  // The first field of a form whose value cannot be taken, and why; "": all values can.
  function fault(form) {
    const field = [...get(form).elements].find((f) => !f.validity.valid), legend = field && field.closest("fieldset").querySelector(":scope > legend");
    return field ? (legend ? legend.textContent + ", " : "") +
      (field.dataset.name || field.labels[0].firstChild.textContent.trim()) + ": " + field.validationMessage : "";
  }
  // --- The sphere in which seeds lie.
  const fields = ["seed-x", "seed-y", "seed-z", "seed-r"].map(get), seeds = () => fields.map((field) => Number(field.value));
  // Seeds lie in a painted region of this role, or else in the sphere.
  const sown = () => regions.find((region) => region.role === "seed" && region.voxels > 0);
  const stops = (region) => region.role === "stop" && (region.kind !== "paint" || region.voxels > 0);
  // Returns the request for what is tracked, without its number of seeds.
  const sowing = () => ({ ...(sown() ? { mask: sown().mask } : { sphere: seeds() }), seed: Number(get("seed").value), controls: controls(),
    stop: regions.filter(stops).map(wire) });
  const astray = () => fault("sphere") || (regions.some(stops) ? fault("regions") : ""); // why nothing is tracked
  let tracked = null; // streamlines of the last answer
  const showTracked = () => stage.show("tracked", get("live-shown").checked ? tracked : null);
  get("live-shown").addEventListener("change", () => { showTracked(); hold(); });
  let sowed = "", unripe = false, ripening = 0; // what was asked for last; whether a preview is the last answer; timer of its refinement
  // from: the time at which the last preview was asked for; server: the seconds in which the server made it; own: the seconds that this
  // page needed for the last previews, from the request to the picture without those of the server. The longer own is, the fewer seeds
  // the server takes.
  const pace = { from: 0, server: 0, own: 0.1 };
  // Asks for streamlines: for a preview while something moves, and for all of them when it rests.
  function track(moves) {
    clearTimeout(ripening);
    unripe = false;
    if (!scene.live) return;
    ask("track", () => {
      const wrong = astray();
      if (wrong) { get("tracked").textContent = wrong; return null; }
      sowed = JSON.stringify(sowing());
      const page = moves ? { page_seconds: Math.min(pace.own, scene.most.page) } : {};
      pace.from = moves ? performance.now() : 0;
      return { ...sowing(), nseeds: Number(get("nseeds").value), preview: Boolean(moves), ...page };
    });
  }
  answers.track = (answer, target) => {
    get("tracked").textContent = answer.error || (answer.seeds < answer.of ? "preview, " + words(answer.seeds) + " of " + words(answer.of) + " seeds: " : "") +
      words(answer.streamlines) + " streamlines from " + words(answer.seeds) + " seeds in " + answer.seconds.toFixed(2) + " s";
    if (!answer.command) return;
    get("command").textContent = answer.command;
    unripe = target !== "seen" && answer.seeds < answer.of && !waiting.has("track");
    if (target !== "seen") pace.server = answer.seconds;
    for (const [name, value] of Object.entries(answer.values)) {
      get(name).placeholder = value === null ? "none" : Number(value.toPrecision(4)) + (name === "step-size" ? "mm" : "");
    }
  };
  // Takes the time of a preview when it is seen, and asks for all its seeds when it has been seen for a while.
  function ripen(isOwn) {
    const { server } = pace, from = isOwn ? pace.from : 0;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const own = Math.max(0, (performance.now() - from) / 1000 - server);
      if (from) pace.own = Math.max(own, (pace.own + own) / 2);
      if (!unripe) return;
      clearTimeout(ripening);
      ripening = setTimeout(track, 300);
    }));
  }
  // --- Controls of tracking: options of the command line, as text; the server checks them.
  const options = ["max-angle", "cutoff", "step-size"];
  const controls = () => ({ dg: get("getter").value, ...Object.fromEntries(options.map((name) => [name, get(name).value.trim()])), act: get("act").checked });
  function setControls(to) {
    get("getter").value = to.dg;
    for (const name of options) get(name).value = to[name];
    get("act").checked = to.act;
  }
  function showControls() {
    const { getters, getter, tissue, controls: first } = scene.live;
    get("getter").append(...(first.dg ? [] : [element("option", { value: "", textContent: getter + " (default)" })]),
      ...getters.map((name) => element("option", { value: name, textContent: name })));
    setControls(first);
    get("tissue").hidden = !tissue;
    get("tracking").addEventListener("submit", (event) => event.preventDefault());
    get("tracking").addEventListener("change", (event) => {
      get("tracked").textContent = ["getter", "act"].includes(event.target.id) ? "reading, fitting and tracking again ..." : "tracking ...";
      track(true);
      note("");
    });
  }

  // --- Regions.
  let regions = [], kept = [], number = 0, rest = 0;
  const colours = { include: [86, 180, 233], any: [110, 210, 210], exclude: [230, 90, 60], end: [120, 220, 120], "both-ends": [200, 160, 255], "no-end": [255, 150, 90], seed: [255, 255, 255],
    stop: [240, 160, 30] };
  const solid = (region) => region.kind === "sphere" || region.kind === "box";
  // Handles of all that can be moved.
  function hold(name) {
    const list = regions.filter(solid).map((region) => ({ name: region.name, at: region.at, half: region.half,
      round: region.kind === "sphere", colour: colours[region.role],
      moved(at) { region.at = at.map(place); changed(region, true); },
      sized(factor) { region.half = region.half.map((v) => size(v * factor)); changed(region, true); } }));
    const seed = () => ({ name: "seeds", at: seeds().slice(0, 3), half: [0, 0, 0].fill(seeds()[3]), round: true, colour: [255, 255, 255],
      moved(at) { at.forEach((v, i) => { fields[i].value = place(v); }); hold(); track(true); note("seeds"); },
      sized(factor) { fields[3].value = size(seeds()[3] * factor); hold(); track(true); note("seeds"); } });
    const all = [...(scene.live && !sown() && get("live-shown").checked ? [seed()] : []), ...list, ...(active && tool() ? [brush()] : [])];
    stage.hold(all.map((handle) => ({ ...handle, fixed: !shared.writes() })), name);
  }
  const wire = (region) => ({ role: region.role, ...(region.kind === "sphere" ? { sphere: [...region.at, region.half[0]] }
    : region.kind === "paint" ? { mask: region.mask } : region.kind === "box" ? { box: [...region.at.map((v, a) => round(v - region.half[a])), ...region.at.map((v, a) => round(v + region.half[a]))] }
      : { label: region.label }) });
  const criteria = glslinesCriteria(columns, () => {
    // streamlines of bundles that were kept before are counted by other criteria
    kept.forEach((bundle) => { delete bundle.count; });
    show();
    choose(false);
  });
  // Whether regions or criteria select streamlines.
  const chosen = () => criteria.wire() ? { criteria: criteria.wire() } : {};
  const selecting = () => !refusal() && (regions.some(selects) || criteria.wire() !== null);
  const refusal = () => fault("criteria") || fault("regions"); // why nothing is selected or saved; "": the fields are valid
  // Whether a region is one of a bundle: those of tracking are not.
  const bundled = (region) => region.role !== "seed" && region.role !== "stop";
  // Whether a region selects streamlines: what is not painted yet does not.
  const selects = (region) => bundled(region) && (region.kind !== "paint" || region.voxels > 0);
  // Asks for the selection: while a region moves for few streamlines, for all of them when it rests.
  function choose(moves) {
    clearTimeout(rest);
    if (!stroke) note(moves || "");
    if (!scene.select) return;
    const asks = regions.filter(selects);
    delete get("bundle-name").dataset.count;
    if (!selecting()) {
      waiting.delete("select");
      stage.show("selected", null);
      get("selected").textContent = refusal();
      get("edit-command").textContent = "";
      return;
    }
    ask("select", () => asks.every((region) => regions.includes(region)) && { shown: moves ? 2000 : scene.most.shown,
      regions: asks.map(wire), ...chosen() });
    if (moves) rest = setTimeout(() => choose(false), 200);
  }
  answers.select = (answer) => {
    if (!selecting()) return;
    if (!answer.error) get("bundle-name").dataset.count = answer.selected;
    get("selected").textContent = answer.error || words(answer.selected) + " of " + words(answer.of) + " streamlines in " +
      Math.round(1000 * answer.seconds) + " ms" + (answer.shown < answer.selected ? "; " + words(answer.shown) + " are shown" : "");
    if (answer.command) get("edit-command").textContent = answer.command;
  };
  function changed(region, moves) {
    fill(region);
    hold(region.name);
    choose(moves && region.name);
    if (region.role === "stop") track(moves);
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
      const role = element("select", { onchange() { become(region, role.value); } },
        ...[...(scene.select ? [["include", "meet"], ["any", "meet any of"], ["exclude", "avoid"], ["end", "end in"], ["both-ends", "have both ends in any of"], ["no-end", "have no end in"]] : []), ...(scene.live && region.kind === "paint" ? [["seed", "start in"]] : []),
          ...(scene.live ? [["stop", "stop in"]] : [])].map(([value, text]) => element("option", { value, textContent: text, selected: region.role === value })));
      const names = { sphere: ["x", "y", "z", "radius"], box: ["x", "y", "z", "width", "depth", "height"], label: [], paint: [] }[region.kind];
      region.fields = names.map((_, i) => element("input", { type: "number", step: "any", required: true, min: i < 3 ? -scene.most.place : 0.1,
        max: i < 3 ? scene.most.place : scene.most.radius * (region.kind === "box" ? 2 : 1),
        oninput() {
          if (!fault("regions")) {
            const v = region.fields.map((field) => Number(field.value));
            region.at = v.slice(0, 3);
            region.half = region.kind === "sphere" ? [v[3], v[3], v[3]] : v.slice(3).map((size) => size / 2);
            hold(region.name);
          }
          choose(region.name);
          if (region.role === "stop") track(true);
        } }));
      fill(region);
      const remove = element("button", { type: "button", textContent: "remove",
        onclick() { regions = regions.filter((r) => r !== region); refresh(); get("add-sphere").focus(); } });
      remove.setAttribute("aria-label", "remove " + region.title);
      const on = region.kind === "paint" ? [element("output", { textContent: words(region.voxels) + " voxels" }),
        element("button", { type: "button", textContent: "paint on it", ariaLabel: "paint on it: " + region.title, onclick() { activate(region); } })] : [];
      return element("fieldset", { className: "controls" }, element("legend", { textContent: region.title }),
        element("label", {}, "streamlines ", role), ...names.map((name, i) => element("label", {}, name + " ", region.fields[i], i < 3 ? "" : " mm")), ...on, remove);
    }));
    if (scene.paint) stage.painted(scene.paint, regions.filter((region) => region.voxels > 0).map((region) => ({ runs: region.runs || [], colour: colours[region.role] })));
    if (active && !regions.some((region) => region.name === active)) activate(null);
  }
  // Shows all regions as they are now, and asks for their streamlines.
  function refresh(name) {
    list();
    hold(name);
    choose(false);
    if (scene.live && sowed !== JSON.stringify(sowing())) track();
  }
  // Gives a region a role. Seeds lie in one region, and a streamline has two ends.
  function become(region, role) {
    const others = regions.filter((r) => r !== region && r.role === role);
    if (role === "seed") others.forEach((r) => { r.role = scene.select ? "include" : "stop"; });
    if (role === "end" && others.length > 1) others[0].role = "include";
    region.role = role;
    refresh(region.name);
  }
  // Where regions begin: where the slices cross that were moved, or else in the middle of the tractogram, or beside the seeds.
  const crossing = () => stage.slices ? stage.slices.plane.map((plane) => place(plane.at)) : null, unmoved = String(crossing());
  const middle = () => String(crossing()) !== unmoved ? crossing() : scene.select ? [...scene.middle] : scene.live ? scene.live.sphere.slice(0, 3).map((v, a) => round(a ? v : v + 20)) : [...scene.middle];
  function add(region) {
    if (regions.length === scene.most.regions) { get("selected").textContent = "There may be " + scene.most.regions + " regions."; return; }
    number++;
    regions.push({ name: "region " + number, role: scene.select ? "include" : "stop", title: (region.kind === "paint" ? "painted region" : region.kind) + " " + number, ...region });
    refresh("region " + number);
  }

  // --- The scene that pages share.
  const named = (region) => ({ name: region.name, ...wire(region) });
  const everywhere = () => [...regions, ...kept.flatMap((bundle) => bundle.regions)];
  // The voxels of painted regions by their number, so that undo shows them at once; a page keeps those of the last 200.
  const masks = new Map();
  function learn(mask, n, runs) {
    masks.delete(mask);
    masks.set(mask, { voxels: n, runs });
    if (masks.size > 200) masks.delete(masks.keys().next().value);
  }
  // A region of a message. before: the same one, which stays where parts of the page know it.
  function unwire({ name, role, ...shape }, before) {
    const kind = Object.keys(shape)[0].replace("mask", "paint"), v = shape[kind], n = name.replace(/\D/g, "");
    const region = Object.assign(before && before.kind === kind ? before : {}, { name, role, kind,
      title: kind === "label" ? labelled(shape.label) : (kind === "paint" ? "painted region" : kind) + " " + n });
    if (kind === "sphere") return Object.assign(region, { at: v.slice(0, 3), half: [v[3], v[3], v[3]] });
    if (kind === "box") return Object.assign(region, { at: [0, 1, 2].map((a) => (v[a] + v[a + 3]) / 2), half: [0, 1, 2].map((a) => (v[a + 3] - v[a]) / 2) });
    if (kind === "label") return Object.assign(region, { label: shape.label });
    const { mask } = shape, { voxels: count, runs } = masks.get(mask) || (mask ? { voxels: 1 } : { voxels: 0, runs: new Uint32Array(0) });
    return Object.assign(region, { mask, voxels: count, runs });
  }
  // The scene of this page; null: a field cannot be taken.
  function read() {
    if (refusal() || (scene.live && fault("sphere"))) return null;
    const track = { sphere: seeds(), nseeds: Number(get("nseeds").value), seed: Number(get("seed").value), controls: controls() };
    return { regions: regions.map(named), bundles: kept.map(({ name, regions: list, count }) => ({ name, regions: list.map(named),
      ...(count === undefined ? {} : { count: Number(count) }) })), ...(scene.live ? { track } : {}), ...chosen() };
  }
  // Shows the scene of the server. asks: this page asks for its results, as after undo; else those of another page come.
  function apply(next, asks) {
    const before = regions;
    regions = next.regions.map((w) => unwire(w, before.find((region) => region.name === w.name)));
    kept = next.bundles.map((bundle) => ({ ...bundle, regions: bundle.regions.map((w) => unwire(w, null)) }));
    number = Math.max(0, ...everywhere().map((region) => Number(region.name.replace(/\D/g, ""))));
    criteria.set(next.criteria || {});
    if (scene.live && next.track) {
      next.track.sphere.forEach((v, i) => { fields[i].value = v; });
      for (const name of ["nseeds", "seed"]) get(name).value = next.track[name];
      setControls(next.track.controls);
    }
    show();
    if (asks) { refresh(); fetchVoxels(); return; }
    list();
    hold();
    if (!selecting()) choose(false);
    sowed = scene.live ? JSON.stringify(sowing()) : "";
    fetchVoxels();
  }
  let fetched = 0; // the painted region that was asked for
  // Asks for voxels that another page has painted.
  function fetchVoxels() {
    ask("voxels", () => {
      const lacks = everywhere().find((region) => region.mask > 0 && !region.runs);
      fetched = lacks ? lacks.mask : 0;
      return lacks && { mask: fetched };
    });
  }
  function voxels(n, runs) {
    learn(fetched, n, runs);
    everywhere().filter((region) => region.mask === fetched && !region.runs).forEach((region) => Object.assign(region, { voxels: n, runs }));
    fetched = 0;
    list();
    fetchVoxels();
  }
  answers.voxels = (answer) => { if (answer.error) voxels(0, new Uint32Array(0)); };
  const shared = glslinesShared({ read, apply, post, say, joined(writes, isNew) {
    get("changes").disabled = !writes;
    if (!writes) say("This page is read-only: it follows the pages that were opened with the first address.");
    else if (isNew) track();
    hold();
  } });
  const note = (by) => shared.note(by), undo = () => { if (!stroke) shared.undo(false); }, redo = () => { if (!stroke) shared.undo(true); };
  get("undo").addEventListener("click", undo);
  get("redo").addEventListener("click", redo);
  document.addEventListener("keydown", (e) => {
    const typing = e.target.matches("input[type=text], input[type=number]");
    if (!(e.ctrlKey || e.metaKey) || typing || !["z", "y", "Z"].includes(e.key)) return;
    e.preventDefault();
    (e.key === "z" && !e.shiftKey ? undo : redo)();
  });

  // --- Painting. The server paints, on the voxels of the image; the voxels come back.
  let active = null, stroke = null; // name of the region that is painted; the movement of the brush that goes on
  const spot = ["brush-x", "brush-y", "brush-z"].map(get), spotAt = () => spot.map((field) => Number(field.value));
  const put = (at) => at.forEach((v, i) => { spot[i].value = place(v); });
  const tool = () => get("tool").value, radius = () => Number(get("brush-r").value);
  const limit = (name) => get(name).value === "" ? null : Number(get(name).value);
  const canvas = () => regions.find((region) => region.name === active);
  const brush = () => ({ name: "brush", at: spotAt(), half: [0, 0, 0].fill(Math.max(radius(), 0.5)), round: true, colour: [255, 220, 80],
    moved(at) { put(at); hold("brush"); },
    sized(factor) { get("brush-r").value = Math.min(scene.most.brush, Math.max(0.5, round(radius() * factor))); hold("brush"); } });
  // Paints on a region from now on; null: on none.
  function activate(region) {
    active = region && region.name;
    get("painting").hidden = !region;
    get("painting-title").textContent = region ? "painting on " + region.title : "";
    get("painted").textContent = "";
    arm();
  }
  // Gives the pointer to the brush, or takes it.
  function arm() {
    stage.paint(!active || !tool() ? null : {
      down(at, axis) { begin(at, axis); },
      move(at) { put(at); hold("brush"); more(at); },
      up() { if (stroke) { stroke.ends = true; settle(); } },
      hover(at) { put(at); hold("brush"); },
      press(axis) { begin(spotAt(), axis); if (stroke) stroke.ends = true; },
    });
    hold(active ? "brush" : undefined);
  }
  function begin(at, axis) {
    if (stroke || !get("painting").checkValidity()) return;
    const part = tool() === "fill" || tool() === "clear";
    stroke = { region: canvas(), axis: get("flat").checked ? axis : null, part, adds: tool() === "brush" || tool() === "fill", way: [],
      last: null, begun: false, ends: part, asks: false };
    put(at);
    hold("brush");
    get("painted").textContent = "";
    more(at);
  }
  function more(at) {
    if (!stroke || (stroke.part && stroke.last)) return;
    stroke.way.push(at);
    step();
  }
  // Asks for the way that the brush went since the last answer.
  function step() {
    stroke.asks = true;
    ask("paint", () => {
      const s = stroke, way = s.way.splice(0, scene.most.places - 1), at = s.last ? [s.last, ...way] : way;
      s.last = at[at.length - 1];
      return { mask: s.region.mask, replaces: s.begun, adds: s.adds, part: s.part, plane: s.axis, radius: radius(), low: limit("low"), high: limit("high"),
        at: at.map((p) => p.map(place)) };
    });
  }
  answers.paint = (answer) => {
    if (answer.error) {
      get("painted").textContent = answer.error;
      stroke.asks = false;
      stroke.way = [];
      settle();
      return;
    }
    Object.assign(stroke.region, { mask: answer.mask, voxels: answer.voxels });
    stroke.begun = true;
  };
  function painted(runs) {
    stroke.region.runs = runs;
    learn(stroke.region.mask, stroke.region.voxels, runs);
    stroke.asks = false;
    get("painted").textContent = words(stroke.region.voxels) + " voxels, " + words(Math.round(stroke.region.voxels *
      scene.paint.voxel.reduce((a, b) => a * b))) + " mm³";
    list();
    if (stroke.way.length > 0) step();
    if (stroke.region.role === "seed" || stroke.region.role === "stop") track(true);
    else choose(true);
    settle();
  }
  // Ends the stroke, if the brush is up and all of its way is painted.
  function settle() {
    if (!stroke || !stroke.ends || stroke.asks || stroke.way.length > 0) return;
    stroke = null;
    refresh("brush");
  }
  get("tool").addEventListener("change", arm);
  get("painting").addEventListener("input", () => { if (get("painting").checkValidity()) hold("brush"); });
  get("painting").addEventListener("submit", (event) => event.preventDefault());
  get("paint-here").addEventListener("click", () => {
    if (!tool()) return;
    begin(spotAt(), stage.facing());
    if (stroke) stroke.ends = true;
    settle();
  });
  get("add-paint").addEventListener("click", () => {
    const n = regions.length;
    add({ kind: "paint", mask: 0, voxels: 0, runs: new Uint32Array(0), role: scene.select ? "include" : sown() ? "stop" : "seed" });
    if (regions.length === n) return;
    if (!get("brush-x").value) put(middle());
    activate(regions[n]);
  });
  const labels = scene.labels ? await (await load("/labels")).json() : [];
  const label = (value, name) => add({ kind: "label", label: value, title: "label " + value + (name ? ", " + name : "") });
  const labelled = (value) => "label " + value + labels.filter(([v, name]) => v === value && name).map(([, name]) => ", " + name).join("");
  get("add-sphere").addEventListener("click", () => add({ kind: "sphere", at: middle(), half: [10, 10, 10] }));
  get("add-box").addEventListener("click", () => add({ kind: "box", at: middle(), half: [10, 10, 10] }));
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
  // Why the regions are no bundle; "": they are one.
  function lack() {
    const empty = regions.find((region) => region.kind === "paint" && region.voxels === 0);
    return refusal() ? refusal() : empty ? "The " + empty.title + " is empty: paint on it, or remove it."
      : regions.some(selects) ? "" : "A bundle needs a region that streamlines meet, avoid or end in.";
  }
  // Keeps the bundle, unless the server would not take all of them. Returns whether it is kept.
  function keep() {
    if (lack()) { get("saved").textContent = lack(); return false; }
    const others = kept.filter((bundle) => bundle.name !== get("bundle-name").value);
    const all = others.reduce((n, bundle) => n + bundle.regions.length, regions.filter(bundled).length);
    if (others.length >= scene.most.bundles || all > scene.most.all_regions) {
      get("saved").textContent = "There may be " + scene.most.bundles + " bundles, with " + scene.most.all_regions + " regions: save these, and remove them.";
      return false;
    }
    kept = [...others, { name: get("bundle-name").value, regions: copy(regions.filter(bundled)), count: get("bundle-name").dataset.count }];
    show();
    return true;
  }
  // The regions of tracking, which stay when a bundle is changed.
  const others = (bundle) => regions.filter((region) => !bundled(region) && bundle.regions.every((r) => r.name !== region.name));
  function show() {
    get("kept").replaceChildren(...kept.map((bundle) => element("li", {}, bundle.name + (bundle.count === undefined ? " " : ": " + words(Number(bundle.count)) + " streamlines "),
      element("button", { type: "button", textContent: "change", ariaLabel: "change " + bundle.name,
        onclick() { regions = [...others(bundle), ...copy(bundle.regions)]; get("bundle-name").value = bundle.name; refresh(); } }), " ",
      element("button", { type: "button", textContent: "remove", ariaLabel: "remove " + bundle.name,
        onclick() { kept = kept.filter((b) => b !== bundle); show(); note(""); } }))));
  }
  get("keep").addEventListener("click", () => {
    if (regions.length === 0 || !fits(get("bundle-name"))) { get("saved").textContent = "A bundle needs a name of letters, digits, _ and -, and a region."; return; }
    get("saved").textContent = "";
    if (!keep()) return;
    regions = regions.filter((region) => !bundled(region));
    get("bundle-name").value = "";
    refresh();
  });
  function save(force) {
    get("replace").hidden = true;
    if (refusal()) { get("saved").textContent = refusal(); return; }
    // regions of tracking alone are no bundle, and are saved beside those that are kept
    const holds = regions.length > 0 && (kept.length === 0 || regions.some(bundled));
    if (holds && !fits(get("bundle-name"))) {
      get("saved").textContent = "Name the bundle of these regions with letters, digits, _ and -, or remove the regions.";
      return;
    }
    if (holds && !keep()) return;
    if (kept.length === 0 || !fits(get("save-name"))) {
      get("saved").textContent = "Name the bundle, and the files: letters, digits, _ and -.";
      return;
    }
    const wired = (bundle) => bundle.regions.filter(selects).map(wire);
    get("saved").textContent = "Saving ...";
    post("save", { name: get("save-name").value, force, ...(sown() ? { seeds: sown().mask } : {}), ...chosen(), bundles: kept.map((bundle) => ({ name: bundle.name, regions: wired(bundle) })) },
      { said: "saved", again: "replace" });
  }
  // Saves what is tracked.
  function saveTracks(force) {
    get("replace-tracks").hidden = true;
    const wrong = astray();
    if (wrong || !fits(get("track-name"))) {
      get("tracks-saved").textContent = wrong || "Name the files: letters, digits, _ and -.";
      return;
    }
    get("tracks-saved").textContent = "Saving ...";
    post("save", { name: get("track-name").value, force, track: { ...sowing(), nseeds: Number(get("nseeds").value) } },
      { said: "tracks-saved", again: "replace-tracks" });
  }
  get("save-tracks").addEventListener("click", () => saveTracks(false));
  get("replace-tracks").addEventListener("click", () => saveTracks(true));
  answers.save = (answer, target) => {
    get(target.said).textContent = answer.error || "Saved: " + answer.files.join(", ") + (answer.note ? ". No picture: " + answer.note : "");
    get(target.again).hidden = !answer.exists;
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
  get("sphere").addEventListener("input", () => { if (get("sphere").checkValidity()) { hold(); note("seeds"); } track(true); });
  get("select").hidden = !scene.select && !scene.live;
  get("select-title").textContent = scene.select ? "Select" : "Regions";
  get("bundles").hidden = get("criteria").hidden = !scene.select;
  get("add-paint").hidden = !scene.paint;
  get("labels").hidden = labels.length === 0;
  get("pick").hidden = !stage.slices;
  if (scene.live) {
    fields.forEach((field, i) => { field.value = scene.live.sphere[i]; });
    get("nseeds").value = scene.live.nseeds;
    get("seed").value = scene.live.seed;
    showControls();
    get("live").hidden = false;
  }
  glslinesImages(stage, scene, labels, bytes);
  glslinesFods(stage, scene, (make) => ask("glyphs", make), answers);
  glslinesValues(stage, scene, (make) => ask("probe", make), answers);
  hold();
  if (socket.readyState === WebSocket.OPEN) shared.join();
  else socket.addEventListener("open", () => shared.join());
})();
