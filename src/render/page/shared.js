"use strict";
// The scene that all pages of `glslines view` share. read(): the scene of this page, as the server takes it; null: it has fields that
// cannot be taken. apply(scene, asks): shows another scene; asks: this page asks for its results. post(kind, body): sends a message.
// joined(writes, isNew): called once; writes: whether this page may change the scene; isNew: there is none yet. say(text): shows a fault.
function glslinesShared({ read, apply, post, joined, say }) {
  const get = (id) => document.getElementById(id);
  // text: the scene of this page, as it was last sent or applied; heard: that of the server; key, time: of the last change
  // busy: an answer is due, or a scene is shown, so that nothing is sent; steps: steps of undo (false) and redo (true) that wait for that
  let text = "", heard = "", version = 0, busy = false, writes = null, key = "", time = 0, joins = false;
  const steps = [];
  const plain = () => JSON.stringify(read());
  // Sends the scene, if it differs, and no other one is under way.
  function send() {
    const scene = writes && !busy ? read() : null, now = JSON.stringify(scene);
    if (!scene || now === text) return;
    text = heard = now;
    busy = true;
    post("scene", { base: version, joins, ...scene });
  }
  // Goes back or forth once all changes of this page are with the server.
  function step() {
    if (busy || steps.length === 0) return;
    busy = true;
    post("undo", { base: version, forward: steps.shift() });
  }
  return {
    join() { post("join", {}); },
    // Takes a message of the server. kind: of the message of this page that it answers; undefined: of none.
    take(answer, kind) {
      if (kind) busy = false;
      if (answer.error) {
        say(answer.error);
        if (kind === "scene") post("join", {}); // this page goes on with the scene of the server
        return;
      }
      const { id: _, base: __, joins: ___, ...scene } = answer.message ? answer.message.scene : {};
      const first = writes === null, now = JSON.stringify(scene);
      if (!answer.taken) steps.length = 0; // they were meant for the scene before that of another page
      ({ version, writes } = answer);
      get("undo").disabled = !answer.past;
      get("redo").disabled = !answer.future;
      if (first) joined(writes, !answer.message);
      if (answer.message && now !== heard) {
        const due = busy;
        busy = true; // what changes now is not sent back
        apply(scene, kind === "undo" || (first && writes)); // a page that has gone may have left older results
        busy = due;
        heard = now;
        text = plain();
      }
      send();
      step();
    },
    // Notes a change. by: changes of the same that follow at once are undone together.
    note(by) {
      if (!writes || plain() === text) return;
      joins = Boolean(by) && by === key && Date.now() - time < 1000;
      key = by;
      time = Date.now();
      send();
    },
    undo(forward) {
      if (!writes) return;
      key = "";
      steps.push(forward);
      send();
      step();
    },
    writes: () => writes,
  };
}
