"use strict";
// The page of `glslines view`: gets streamlines and slices from its server, and asks it to track from the sphere.
(async function () {
  const get = (id) => document.getElementById(id);
  const say = (text) => { get("connection").textContent = text; };
  const load = async (path) => {
    const response = await fetch(path);
    if (!response.ok) throw new Error(path + ": " + response.status);
    return response;
  };
  const bytes = async (path) => new Uint8Array(await (await load(path)).arrayBuffer());
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
  if (!stage || !scene.live) return;

  const fields = ["seed-x", "seed-y", "seed-z", "seed-r"].map(get);
  fields.forEach((field, i) => { field.value = scene.live.sphere[i]; });
  get("nseeds").value = scene.live.nseeds;
  get("seed").value = scene.live.seed;
  get("live").hidden = false;

  // One request is under way at a time; when it is answered, the last place of the sphere is asked for.
  let id = 0, busy = false, changed = false;
  const round = (v) => Number(v.toFixed(2));
  function ask() {
    changed = true;
    if (busy || socket.readyState !== WebSocket.OPEN || !get("sphere").checkValidity()) return;
    changed = false;
    busy = true;
    socket.send(JSON.stringify({ track: { id: ++id, sphere: fields.map((field) => Number(field.value)),
      nseeds: Number(get("nseeds").value), seed: Number(get("seed").value) } }));
  }
  function answered() {
    busy = false;
    if (changed) ask();
  }
  const hold = () => stage.hold({ at: fields.slice(0, 3).map((field) => Number(field.value)), radius: Number(fields[3].value),
    moved(at) {
      at.forEach((v, i) => { fields[i].value = round(v); });
      hold();
      ask();
    } });
  get("sphere").addEventListener("input", () => { if (get("sphere").checkValidity()) hold(); ask(); });
  get("sphere").addEventListener("submit", (event) => event.preventDefault());
  get("copy").addEventListener("click", () => navigator.clipboard.writeText(get("command").textContent)
    .then(() => { get("copy").textContent = "Copied"; }));
  socket.addEventListener("message", (event) => {
    if (typeof event.data === "string") {
      const answer = JSON.parse(event.data);
      get("tracked").textContent = answer.error || answer.streamlines.toLocaleString("en") + " streamlines from " +
        answer.seeds.toLocaleString("en") + " seeds in " + answer.seconds.toFixed(2) + " s";
      if (answer.command) get("command").textContent = answer.command;
      get("copy").textContent = "Copy";
      if (answer.error) answered();
      return;
    }
    // u8 version, u8 kind, u16, u32 id, u32 streamlines, then the bytes of decode()
    const view = new DataView(event.data);
    if (view.getUint8(0) !== 1 || view.getUint8(1) !== 1) return;
    stage.track(new Uint8Array(event.data, 12));
    answered();
  });
  hold();
  if (socket.readyState === WebSocket.OPEN) ask();
  else socket.addEventListener("open", ask);
})();
