"use strict";
// A form for what streamlines are to have beside regions: a length, a value of a column, groups; the same for all bundles. columns: those of the
// tractogram; changed(): called after each change.
function glslinesCriteria(columns, changed) {
  const get = (id) => document.getElementById(id), form = get("criteria"), field = get("criteria-column");
  const values = columns.filter((c) => c.of === "lines"), groups = columns.filter((c) => c.of === "group");
  const element = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const selects = groups.map((group) => element("select", {}, ...[["", "in it or not"], ["groups", "in it"], ["not_groups", "not in it"]]
    .map(([value, textContent]) => element("option", { value, textContent }))));
  get("criteria-groups").append(...groups.map((group, i) => element("label", {}, group.name + " ", selects[i])));
  get("criteria-groups").hidden = groups.length === 0;
  field.append(element("option", { value: "", textContent: "none" }), ...values.map((c) => element("option", { value: c.name, textContent: c.name })));
  get("criteria-values").hidden = values.length === 0;
  const limit = (name) => get(name).value === "" ? null : Number(get(name).value);
  const limits = (name) => [limit(name + "-from"), limit(name + "-to")];
  // Two fields of which the second one must not be below the first one.
  function order(name) {
    const [low, high] = limits(name);
    get(name + "-to").setCustomValidity(low !== null && high !== null && high < low ? "must not be below the first value" : "");
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    ["criteria-length", "criteria-value"].forEach(order);
    changed();
  });
  return {
    // Sets the form to criteria of wire().
    set({ length = [null, null], column = "", values: range = [null, null], groups: within = [], not_groups: without = [] }) {
      field.value = column;
      [["criteria-length", length], ["criteria-value", range]].forEach(([name, [low, high]]) => {
        get(name + "-from").value = low ?? "";
        get(name + "-to").value = high ?? "";
        order(name);
      });
      selects.forEach((select, i) => {
        select.value = within.includes(groups[i].name) ? "groups" : without.includes(groups[i].name) ? "not_groups" : "";
      });
    },
    // The criteria of the form, which must be valid, as the server takes them; null: there are none.
    wire() {
      const length = limits("criteria-length"), found = {};
      if (length.some((v) => v !== null)) found.length = length;
      if (field.value && limits("criteria-value").some((v) => v !== null)) Object.assign(found, { column: field.value, values: limits("criteria-value") });
      selects.forEach((select, i) => { if (select.value) (found[select.value] = found[select.value] || []).push(groups[i].name); });
      return Object.keys(found).length ? found : null;
    },
  };
}
