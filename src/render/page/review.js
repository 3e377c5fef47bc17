"use strict";
// The page of `glslines view` for a data set: pictures of one participant after the other, and what a person judges of them.
(async function () {
  const get = (id) => document.getElementById(id);
  const list = await (await fetch("/participants")).json(), form = get("form"), note = get("note");
  const socket = new WebSocket("ws://" + location.host + "/live");
  socket.addEventListener("close", (event) => {
    get("connection").textContent = "The server has ended the connection" + (event.reason ? ": " + event.reason : ".") +
      " Load the page again to go on.";
  });
  // One judgement is under way at a time; others wait in their order, so that none is lost.
  const waiting = [];
  let id = 0, busy = false, at = Math.max(0, list.findIndex((p) => p.judgement === "n/a"));
  function send() {
    if (busy || waiting.length === 0 || socket.readyState !== WebSocket.OPEN) return;
    busy = true;
    socket.send(JSON.stringify({ judge: { id: ++id, ...waiting.shift() } }));
  }
  socket.addEventListener("open", () => {
    socket.send(JSON.stringify({ join: { id: 0 } }));
    send();
  });
  let writes = false; // whether this page may judge
  socket.addEventListener("message", (event) => {
    const answer = JSON.parse(event.data);
    if (answer.kind === "scene") {
      // the first one answers this page; others say that another page has judged
      if (form.dataset.joined) restore();
      form.dataset.joined = "yes";
      writes = answer.writes;
      form.elements[0].disabled = !writes;
      if (!writes) get("connection").textContent = "This page is read-only: it follows the pages that were opened with the first address.";
      return;
    }
    get("saved").textContent = answer.error ? "Not written: " + answer.error : "Written to " + answer.table;
    busy = false;
    if (answer.error) restore();
    send();
  });
  // Shows what the server has, where judgements were not written.
  async function restore() {
    const written = await (await fetch("/participants")).json(), typed = document.activeElement === note && note.value;
    list.forEach((p, i) => {
      if (!waiting.some((w) => w.participant === i)) Object.assign(p, { judgement: written[i].judgement, note: written[i].note });
      option(i);
    });
    show();
    if (typed) note.value = typed;
  }
  function judge(judgement) {
    const p = list[at];
    p.judgement = judgement;
    p.note = note.value.replace(/\p{Surrogate}/gu, ""); // half a character is no JSON
    waiting.push({ participant: at, judgement, note: p.note });
    send();
    show();
  }
  function option(i) {
    const p = list[i];
    get("participant").options[i].textContent = p.name + (p.judgement === "n/a" ? "" : ": " + p.judgement);
  }
  function show() {
    const p = list[at];
    get("name").textContent = p.name;
    get("participant").value = at;
    option(at);
    form.elements.judgement.value = p.judgement;
    note.value = p.note;
    get("before").disabled = at === 0;
    get("next").disabled = at === list.length - 1;
    const judged = list.filter((q) => q.judgement !== "n/a").length;
    get("count").textContent = at + 1 + " of " + list.length + ", " + judged + " judged";
    if (get("pictures").dataset.of === p.name) return;
    get("pictures").dataset.of = p.name;
    get("pictures").replaceChildren(...(p.pictures.length ? p.pictures : [null]).map((name, k) => {
      if (name === null) return document.createTextNode("There is no picture.");
      const figure = document.createElement("figure"), image = document.createElement("img"), caption = document.createElement("figcaption");
      image.src = "/picture/" + at + "/" + k;
      image.alt = name;
      caption.textContent = name;
      figure.append(image, caption);
      return figure;
    }));
  }
  function go(to) {
    at = Math.min(list.length - 1, Math.max(0, to));
    show();
  }
  list.forEach((_, i) => {
    const made = document.createElement("option");
    made.value = i;
    get("participant").append(made);
    option(i);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => judge(form.elements.judgement.value));
  get("participant").addEventListener("change", () => go(Number(get("participant").value)));
  get("before").addEventListener("click", () => go(at - 1));
  get("next").addEventListener("click", () => go(at + 1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.target === note) {
      if (event.key === "Enter" || event.key === "Escape") note.blur();
      return;
    }
    const judgements = { g: "good", d: "doubtful", b: "bad", 0: "n/a" };
    const acts = { n: () => writes && note.focus(), ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1) };
    if (judgements[event.key]) {
      if (!writes) return;
      event.preventDefault();
      judge(judgements[event.key]);
      if (event.key !== "0") go(at + 1);
    } else if (acts[event.key] && !["SELECT", "INPUT"].includes(event.target.tagName)) {
      event.preventDefault();
      acts[event.key]();
    }
  });
  show();
})();
