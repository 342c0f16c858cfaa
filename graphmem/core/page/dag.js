"use strict";
// The tasks of a campaign as a picture: what comes first is left, an arrow leads to what depends on it.
const dag = (function () {
  const SVG = "http://www.w3.org/2000/svg";
  const WIDE = 208, HIGH = 76, ASIDE = 64, BELOW = 16; // of a task, and of the room between two
  const SWEEPS = 4;
  const SIGNS = { pending: "○", active: "◐", complete: "✓", blocked: "✕", unreachable: "⊘" };

  // The layers of `number` nodes; `edges` lead from what comes first. A node is one layer after the last it depends on.
  // Nodes of a circle, which a merge can make, share the layer after all others.
  function layout(number, edges) {
    const layer = new Array(number).fill(0), missing = new Array(number).fill(0);
    const after = Array.from({ length: number }, () => []), before = Array.from({ length: number }, () => []);
    for (const [from, to] of edges) { after[from].push(to); before[to].push(from); missing[to] += 1; }
    const free = missing.flatMap((left, node) => left ? [] : [node]);
    for (let at = 0; at < free.length; at += 1) {
      for (const next of after[free[at]]) {
        layer[next] = Math.max(layer[next], layer[free[at]] + 1);
        missing[next] -= 1;
        if (!missing[next]) free.push(next);
      }
    }
    const last = free.reduce((most, node) => Math.max(most, layer[node]), -1);
    const layers = [];
    for (let node = 0; node < number; node += 1) {
      const at = missing[node] ? last + 1 : layer[node];
      (layers[at] = layers[at] || []).push(node);
    }
    const place = new Array(number).fill(0);
    const settle = (nodes) => nodes.forEach((node, at) => { place[node] = at - (nodes.length - 1) / 2; });
    layers.forEach(settle);
    for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
      const near = sweep % 2 ? after : before, order = sweep % 2 ? [...layers].reverse() : layers;
      for (const nodes of order) {
        const middle = new Map(nodes.map((node) => [node, near[node].length
          ? near[node].reduce((sum, other) => sum + place[other], 0) / near[node].length : place[node]]));
        nodes.sort((a, b) => middle.get(a) - middle.get(b) || a - b);
        settle(nodes);
      }
    }
    return layers;
  }
  function show(id, tasks, edges, { make, open }) {
    const layers = layout(tasks.length, edges), most = Math.max(...layers.map((nodes) => nodes.length));
    const width = layers.length * (WIDE + ASIDE) - ASIDE, height = most * (HIGH + BELOW) - BELOW;
    const at = new Map(), arrows = document.createElementNS(SVG, "svg");
    layers.forEach((nodes, column) => nodes.forEach((node, row) => at.set(node,
      { x: column * (WIDE + ASIDE), y: (row + (most - nodes.length) / 2) * (HIGH + BELOW) })));
    arrows.setAttribute("aria-hidden", "true");
    arrows.setAttribute("width", width);
    arrows.setAttribute("height", height);
    for (const [from, to] of edges) {
      const { x, y } = at.get(from), end = at.get(to), path = document.createElementNS(SVG, "path");
      const x1 = x + WIDE, y1 = y + HIGH / 2, x2 = end.x, y2 = end.y + HIGH / 2, bend = ASIDE / 2;
      path.setAttribute("d", `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 2} ${y2}m-7 -4l7 4l-7 4`);
      arrows.append(path);
    }
    const box = make("div", { class: "dag" }, arrows);
    box.style.width = `${width}px`;
    box.style.height = `${height}px`;
    for (const node of layers.flat()) { // the order of the Tab key is that of the picture
      const { place, name, status, title } = tasks[node];
      const button = make("button", { type: "button", class: `task ${status}`, title, click: () => open(place) },
        make("span", { class: "status" }, `${SIGNS[status] || "?"} ${status}`), make("span", { class: "name" }, name), make("span", { class: "what" }, title));
      button.style.left = `${at.get(node).x}px`;
      button.style.top = `${at.get(node).y}px`;
      box.append(button);
    }
    return make("div", { id, class: "wide", tabindex: "0", role: "group", "aria-label": "Tasks in their order, as a picture" }, box);
  }
  return { layout, show };
}());
