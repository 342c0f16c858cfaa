"use strict";
(function () {
  let data, records, edges, KINDS, TYPES, around, texts, places; // see `load`
  const MOST_ROWS = 500;
  const COLOURS = ["#0b57d0", "#b3261e", "#0a6b2d", "#8a4b00", "#6b2fa0", "#00696b", "#8a1a5b", "#4a5a00", "#5c4033", "#44546a"];
  const UNSHOWN = ["kind", "type", "name", "key", "edited", "fingerprint"];
  const VIEWS = [["now", "Now"], ["records", "Records"], ["graph", "Graph"], ["campaigns", "Campaigns"]];
  const asked = { text: "", kind: "", relation: "" };
  let picked = null, start = null, drawing = null, camera = null, before = null;
  // What the served page shows more, and does; see live.js.
  const parts = { table, now: () => [], inbox: () => [], item: () => [], record: () => [],
    candidate: (one) => [make("p", {}, make("code", {}, `graphmem review accept ${one.id}`), " or ", make("code", {}, `graphmem review dismiss ${one.id}`))] };

  // Texts of the memory are shown as they are: never as markup, and what no one sees as its code.
  function visible(value) {
    return String(value).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }
  function make(name, given, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(given || {})) {
      if (key === "click") node.addEventListener("click", value); else node.setAttribute(key, value);
    }
    for (const child of children) node.append(typeof child === "object" ? child : visible(child));
    return node;
  }
  function link(place) {
    const ref = records[place].ref; // places change where the memory is loaded again
    return make("button", { type: "button", class: "ref", click: () => { if (places.has(ref)) open(places.get(ref)); } }, ref);
  }
  function table(heads, rows) {
    return make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, cell))))));
  }
  function wanted() {
    const found = [];
    for (let place = 0; place < records.length; place += 1) {
      if (asked.kind && records[place].kind !== asked.kind) continue;
      if (asked.relation && !around[place].some((number) => edges[number].type === asked.relation)) continue;
      if (asked.text && !asked.text.split(/\s+/).every((word) => texts[place].includes(word))) continue;
      found.push(place);
    }
    return found;
  }

  function showNow() {
    const panel = document.getElementById("panel-now");
    panel.replaceChildren(make("h2", {}, `Waiting for a review: ${data.candidates.length}`), ...parts.now());
    if (!data.candidates.length) panel.append(make("p", {}, "No candidate waits. To find some: graphmem import --all"));
    for (const one of data.candidates) panel.append(candidate(one));
    panel.append(make("h2", {}, `Failures without a fix: ${data.unsolved.length}`));
    panel.append(table(["failure", "what happened"], data.unsolved.slice(0, MOST_ROWS).map((place) => [link(place), records[place].title])));
    panel.append(make("h2", {}, `Inbox: ${data.inbox.length}`));
    panel.append(table(["since", "what"], data.inbox.map((one) => [one.at || "", make("span", {}, `${one.type}: ${one.content} `, ...parts.item(one))])), ...parts.inbox());
    panel.append(make("h2", {}, "What happened last"));
    panel.append(table(["when", "what", "about"], [...data.events].reverse().map((one) => [one.at, one.type, one.subject || ""])));
  }
  function candidate(one) {
    const said = one.failure ? one.failure.trigger : one.other.map((part) => part.decision || part.constraint || part.insight || "").join(" ");
    const box = make("article", { id: `candidate-${one.id}`, tabindex: "-1", "aria-label": said || one.id }, make("h3", {}, said || one.id),
      make("p", {}, `worth ${one.worth}, seen ${one.occurrences} time${one.occurrences === 1 ? "" : "s"}`));
    if (one.pattern) box.append(make("p", {}, `fix: ${one.pattern.insight}`));
    for (const seen of one.evidence) {
      if (seen.failed) box.append(make("pre", { tabindex: "0" }, seen.failed));
      for (const edit of seen.edits) {
        box.append(make("p", { class: "ref" }, edit.file), make("pre", { tabindex: "0" },
          ...edit.removed.split("\n").filter(Boolean).map((line) => make("del", {}, `- ${line}`)),
          ...edit.added.split("\n").filter(Boolean).map((line) => make("ins", {}, `+ ${line}`))));
      }
    }
    box.append(...parts.candidate(one));
    return box;
  }
  function showRecords(found) {
    const rows = found.slice(0, MOST_ROWS).map((place) => [link(place), records[place].title, String(around[place].length)]);
    const panel = document.getElementById("panel-records");
    panel.replaceChildren(make("h2", {}, "Records"), table(["record", "what it says", "edges"], rows));
    if (found.length > MOST_ROWS) panel.append(make("p", {}, `${found.length - MOST_ROWS} more: search for fewer`));
  }
  function showCampaigns() {
    const panel = document.getElementById("panel-campaigns");
    panel.replaceChildren(make("h2", {}, "Campaigns"));
    const tasks = records.map((one, place) => place).filter((place) => records[place].kind === "task");
    const campaigns = records.map((one, place) => place).filter((place) => records[place].kind === "campaign");
    if (!campaigns.length) panel.append(make("p", {}, "No campaign yet: graphmem campaign create"));
    for (const place of campaigns) {
      const name = records[place].ref.split("/").slice(1).join("/");
      const own = tasks.filter((task) => records[task].ref.startsWith(`task/${name}/`));
      panel.append(make("h3", {}, link(place), ` ${records[place].fields.status || ""}`),
        table(["task", "status", "objective", "after"], own.map((task) => [link(task), records[task].fields.status || "", records[task].title,
          (records[task].fields.depends || []).join(", ")])));
    }
  }

  function open(place) {
    before = before || document.activeElement;
    picked = place;
    showRecord(place);
    document.querySelector("#record button").focus();
    if (shown === "graph") update();
  }
  function showRecord(place) {
    const one = records[place], panel = document.getElementById("record"), list = make("dl");
    for (const [name, value] of Object.entries(one.fields)) {
      if (UNSHOWN.includes(name)) continue;
      list.append(make("dt", {}, name), make("dd", {}, typeof value === "string" ? value : JSON.stringify(value, null, 1)));
    }
    const rows = around[place].map((number) => {
      const edge = edges[number], other = edge.source === place ? edge.target : edge.source;
      return [`${edge.source === place ? "→" : "←"} ${edge.type} ${edge.weight}`, link(other)];
    });
    const close = make("button", { type: "button", click: shut }, "Close (Escape)");
    panel.replaceChildren(close, make("h2", { class: "ref" }, one.ref), list, make("h3", {}, `Edges: ${rows.length}`), table(["edge", "record"], rows),
      make("button", { type: "button", click: () => { start = picked; explain(); } }, "Explain from here"),
      make("button", { type: "button", click: () => explain(picked) }, "Explain to here"), ...parts.record(one));
    panel.hidden = false;
  }
  function shut() {
    document.getElementById("record").hidden = true;
    picked = null;
    keepFocus(before, () => {});
    before = null;
    if (shown === "graph") update();
  }

  // The strongest explanation: the path with the largest product of weights; a weight above 1 counts as 1 here.
  function strongest(from, to) {
    const best = new Map([[from, 1]]), by = new Map(), open = new Set([from]), done = new Set();
    while (open.size) {
      let at = null;
      for (const place of open) if (at === null || best.get(place) > best.get(at)) at = place;
      open.delete(at);
      done.add(at);
      if (at === to) break;
      for (const number of around[at]) {
        const edge = edges[number], other = edge.source === at ? edge.target : edge.source;
        const strength = best.get(at) * Math.min(1, edge.weight);
        if (!done.has(other) && strength > (best.get(other) || 0)) { best.set(other, strength); by.set(other, number); open.add(other); }
      }
    }
    const path = [];
    for (let at = to; at !== from; ) {
      if (!by.has(at)) return null;
      const edge = edges[by.get(at)];
      path.unshift(by.get(at));
      at = edge.source === at ? edge.target : edge.source;
    }
    return path;
  }
  let path = new Set();
  function explain(to) {
    const said = document.getElementById("path");
    path = new Set();
    if (to === undefined) said.textContent = visible(`From ${records[start].ref}: open another record and choose "Explain to here".`);
    else if (start === null) said.textContent = "Choose \"Explain from here\" at another record first.";
    else {
      const found = strongest(start, to);
      path = new Set(found || []);
      said.textContent = visible(found ? found.map((number) => `${records[edges[number].source].ref} -${edges[number].type} ${edges[number].weight}-> ${records[edges[number].target].ref}`).join("; ") || "It is the same record."
        : `No edges lead from ${records[start].ref} to ${records[to].ref}.`);
    }
    choose("graph");
  }
  function showGraph(found) {
    const kept = new Set(found);
    if (drawing === null) {
      const graph = new graphology.MultiGraph(), scale = Math.min(1, 50 / Math.sqrt(records.length)); // of many each is small
      records.forEach((one, place) => graph.addNode(place, { x: one.x, y: one.y, size: scale * (2 + Math.min(8, Math.sqrt(around[place].length))),
        label: visible(one.ref), color: COLOURS[KINDS.indexOf(one.kind) % COLOURS.length] }));
      edges.forEach((edge, number) => graph.addEdgeWithKey(number, edge.source, edge.target, { size: 1, color: "#c4c4c4" }));
      drawing = new Sigma(graph, document.getElementById("drawing"), { labelRenderedSizeThreshold: 6, allowInvalidContainer: true });
      if (camera) drawing.getCamera().setState(camera);
      drawing.on("clickNode", (event) => open(Number(event.node)));
    }
    // Where nothing is left out or marked, sigma draws what it has: a reducer costs time for each record.
    const isPlain = picked === null && kept.size === records.length && !asked.relation && !path.size;
    drawing.setSetting("nodeReducer", isPlain ? null : (node, given) => {
      const place = Number(node);
      const near = picked === null || place === picked || around[place].some((number) => edges[number].source === picked || edges[number].target === picked);
      if (!kept.has(place)) return { ...given, hidden: true };
      return near ? { ...given, highlighted: place === picked } : { ...given, color: "#dddddd", label: "" };
    });
    drawing.setSetting("edgeReducer", isPlain ? null : (key, given) => {
      const edge = edges[Number(key)];
      if (path.has(Number(key))) return { ...given, color: "#b3261e", size: 4 };
      if (asked.relation && edge.type !== asked.relation) return { ...given, hidden: true };
      return picked === null || edge.source === picked || edge.target === picked ? given : { ...given, hidden: true };
    });
  }

  let shown = "now";
  function choose(name) {
    shown = name;
    for (const [view] of VIEWS) {
      document.getElementById(`panel-${view}`).hidden = view !== name;
      const tab = document.getElementById(`tab-${view}`);
      tab.setAttribute("aria-selected", String(view === name));
      tab.tabIndex = view === name ? 0 : -1;
    }
    update();
  }
  function update() {
    if (!data) return; // it is still asked for
    const found = wanted();
    document.getElementById("count").textContent = `${found.length} of ${records.length} records${data.left_out ? `, ${data.left_out} more are not in this page` : ""}`;
    if (shown === "records") showRecords(found);
    if (shown === "graph") showGraph(found);
  }
  function choices(name, values) {
    const select = document.getElementById(name);
    select.replaceChildren(make("option", { value: "" }, "all"), ...values.map((value) => make("option", { value }, value)));
    select.value = asked[name] = values.includes(asked[name]) ? asked[name] : "";
  }
  for (const name of ["kind", "relation"]) {
    document.getElementById(name).addEventListener("change", (event) => { asked[name] = event.target.value; update(); });
  }
  // Draws again what a person is at, and lets it have the focus as before: itself, or what is the same in its place.
  function keepFocus(node, draw) {
    const home = node && node.closest("[id]");
    draw();
    if (!home || document.activeElement === node) return;
    const again = document.getElementById(home.id), same = [...(again ? again.querySelectorAll(node.localName) : [])].find((one) => one.textContent === node.textContent);
    (node.isConnected ? node : (home !== node && same) || again || document.getElementById(`panel-${shown}`)).focus({ preventScroll: true });
  }
  // Takes the memory as it is now; what is searched, chosen, open and focused stays so.
  function load(found) {
    const refOf = (place) => (place === null ? null : records[place].ref), [pickedRef, startRef] = [picked, start].map(refOf);
    data = found; records = data.records; edges = data.edges;
    KINDS = [...new Set(records.map((one) => one.kind))].sort();
    TYPES = [...new Set(edges.map((one) => one.type))].sort();
    around = records.map(() => []);
    edges.forEach((edge, number) => { around[edge.source].push(number); around[edge.target].push(number); });
    texts = records.map((one) => `${one.ref}\n${JSON.stringify(one.fields)}`.toLowerCase());
    places = new Map(records.map((one, place) => [one.ref, place]));
    [picked, start] = [pickedRef, startRef].map((ref) => places.get(ref) ?? null);
    path = new Set();
    if (drawing) { camera = drawing.getCamera().getState(); drawing.kill(); drawing = null; }
    keepFocus(document.activeElement, show);
  }
  function show() {
    document.getElementById("project").textContent = visible(`Memory of ${data.project}`);
    choices("kind", KINDS);
    choices("relation", TYPES);
    document.getElementById("legend").replaceChildren(...KINDS.map((kind, number) => {
      const sign = make("span", { "aria-hidden": "true" }, "●");
      sign.style.color = COLOURS[number % COLOURS.length];
      return make("span", { class: "sign" }, sign, ` ${kind}`);
    }));
    showNow();
    showCampaigns();
    if (picked !== null) showRecord(picked); else document.getElementById("record").hidden = true;
    choose(shown);
  }
  const tabs = document.getElementById("tabs");
  for (const [name, title] of VIEWS) {
    tabs.append(make("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, click: () => choose(name) }, title));
  }
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = VIEWS.findIndex(([name]) => name === shown), next = VIEWS[(at + step + VIEWS.length) % VIEWS.length][0];
    choose(next);
    document.getElementById(`tab-${next}`).focus();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !document.getElementById("record").hidden) shut(); });
  document.getElementById("search").addEventListener("input", (event) => { asked.text = event.target.value.toLowerCase().trim(); update(); });
  const given = JSON.parse(document.getElementById("data").textContent);
  if (given) load(given); else choose("now");
  window.graphmem = { load, make, visible, parts, shown: () => shown };
}());
