"use strict";
(function () {
  let data, records, edges, KINDS, TYPES, around, texts, places; // see `load`
  const PAGE = 100; // rows of a list that are drawn at once
  const DARK = matchMedia("(prefers-color-scheme: dark)");
  const COLOURS = { // of the kinds, in their order; of edges, of what is not near what is picked, of a path
    light: ["#2f6fbd", "#b3261e", "#0a7a35", "#9a5b00", "#7a3fb0", "#00797b", "#a3246f", "#5b6e00", "#6d4c41", "#546478"],
    dark: ["#6ea3e8", "#ff8a80", "#6fd08c", "#e6b25c", "#c39bf0", "#5cc9cb", "#f08bc0", "#b8cc4d", "#c9a79a", "#a3b4c9"],
  };
  const UNSHOWN = ["kind", "type", "name", "key", "edited", "fingerprint"];
  const VIEWS = [["now", "Now"], ["records", "Records"], ["tree", "Tree"], ["graph", "Graph"], ["campaigns", "Campaigns"], ["health", "Health"]];
  const FILTERED = ["records", "tree", "graph"];
  const MOST_UNSOLVED = 8;
  const MOST_MOVING = 5000; // edges that are drawn while the picture moves
  const MOST_LABELS = 60, MOST_TRIED = 1000, MOST_LABEL = 40, LABEL = 13, FONT = "system-ui, sans-serif"; // at once, records, characters, pixels high
  const asked = { text: "", kind: "", relation: "", order: "importance" };
  const lengths = new Map(); // of the lists that are drawn further than their first page
  let picked = null, start = null, drawing = null, camera = null, before = null;
  // What the served page shows more, and does; see live.js.
  const parts = { table, now: () => [], inbox: () => [], item: () => [], record: () => [], path: strongest, candidate: () => [] };

  // Texts of the memory are shown as they are: never as markup, and what no one sees as its code (`visible` in names.py).
  const PICTURE = "\\p{Extended_Pictographic}\\p{Emoji_Modifier}", JOINING = "\\u0620-\\u0dff\\u1780-\\u18aa"; // what joiners are a part of stays
  const UNSEEN = new RegExp(`(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])|(?<=[${PICTURE}])[\\ufe0e\\ufe0f]|(?<=[0-9#*])\\ufe0f(?=\\u20e3)|(?<=[${
    PICTURE}\\ufe0f])\\u200d(?=[${PICTURE}])|((?![\\t\\n])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}])`, "gu");
  function visible(value) {
    return String(value).replace(UNSEEN, (sign, unseen) => {
      const code = sign.codePointAt(0).toString(16);
      return !unseen ? sign : code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
    });
  }
  function make(name, given, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(given || {})) {
      if (key === "click") node.addEventListener("click", value); else node.setAttribute(key, visible(value));
    }
    for (const child of children) node.append(typeof child === "object" ? child : visible(child));
    return node;
  }
  function link(place) {
    const ref = records[place].ref; // places change where the memory is loaded again
    return make("button", { type: "button", class: "ref", click: () => { if (places.has(ref)) open(places.get(ref)); } }, ref);
  }
  function table(heads, rows) {
    return make("table", { class: "rows" }, make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...rows.map((row) => rowOf(heads, row))));
  }
  function rowOf(heads, row) { return make("tr", {}, ...row.map((cell, at) => make("td", { "data-head": heads[at] }, cell))); }
  const lengthKey = (id) => `${id} ${JSON.stringify(asked)}`; // another search begins with its first page
  const lengthOf = (id) => lengths.get(lengthKey(id)) || PAGE;
  function lengthen(id) { lengths.set(lengthKey(id), lengthOf(id) + PAGE); }
  function moreOf(left) { return left > PAGE ? `Show ${PAGE} more of ${left}` : `Show ${left} more`; }
  // A table of any length: a page of it, and a button that adds the next one.
  function paged(id, heads, every, cells) {
    const first = table(heads, []), [body] = first.tBodies, box = make("div", { id }, first);
    const more = make("button", { type: "button", class: "act", click: () => {
      const next = body.rows.length;
      lengthen(id);
      fill();
      body.rows[next].tabIndex = -1;
      body.rows[next].focus();
    } });
    function fill() {
      body.append(...every.slice(body.rows.length, lengthOf(id)).map((one) => rowOf(heads, cells(one))));
      const left = every.length - body.rows.length;
      more.textContent = moreOf(left);
      if (left) box.append(more); else more.remove();
    }
    fill();
    return box;
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

  function code(text) { return make("code", {}, text); }
  function folded(id, title, ...inside) { return make("details", { id }, make("summary", {}, title), ...inside); } // by its id it stays open
  function empty(...parts) { return make("p", { class: "empty" }, ...parts); }
  function tile(number, text, view) {
    return make("button", { type: "button", class: "tile", click: () => { choose(view); document.getElementById(`tab-${view}`).focus(); } },
      make("strong", {}, String(number)), make("span", {}, text));
  }
  function showNow() {
    const panel = document.getElementById("panel-now");
    const every = records.length + data.left_out, doubted = records.filter((one) => one.doubts.length).length, reports = data.health.feedback;
    const helped = reports.reduce((sum, week) => sum + week.helped, 0), failed = reports.reduce((sum, week) => sum + week.failed, 0);
    panel.replaceChildren(make("div", { class: "tiles" }, tile(every, "records", "records"), tile(Math.round(data.health.connectivity.edges_per_node * every), "edges", "graph"),
      tile(data.unsolved.length, "failures without a fix", "health"), tile(`${helped} : ${failed}`, "helped : did not help", "health"),
      tile(doubted, "in doubt", "health")));
    panel.append(...goingOn(data.run || {}));
    if (data.works.length) panel.append(make("h2", {}, `Guarded work: ${data.works.length}`), table(["work", "state", "not resolved", "next", "why"],
      data.works.map((one) => [`${one.ref}: ${one.objective}`, `${one.status}, ${one.cycle} ${one.iteration}`, String(one.unresolved), one.next || "", one.why.join("; ")])));
    panel.append(make("h2", {}, data.waiting === null ? "Waiting for a review" : `Waiting for a review: ${data.waiting}`), ...parts.now());
    if (data.waiting === null) panel.append(empty("Candidates are on the machine that found them, and not in this file: ", code("graphmem review")));
    else if (!data.waiting) panel.append(empty("No candidate waits. To find some: ", code("graphmem import --all")));
    for (const one of data.candidates) panel.append(candidate(one));
    if (data.waiting > data.candidates.length) panel.append(empty(`${data.waiting - data.candidates.length} worth less come when some of these are reviewed.`));
    panel.append(make("h2", {}, `Failures without a fix: ${data.unsolved.length}`));
    const failures = (places) => [["failure", "what happened"], places, (place) => [link(place), records[place].title]];
    const first = data.unsolved.slice(0, MOST_UNSOLVED), less = data.unsolved.slice(MOST_UNSOLVED);
    if (!first.length) panel.append(records.length ? empty("Each failure has a fix or a pattern that solves it.") : empty("Nothing is recorded yet. To begin: ", code("graphmem add failure --trigger TEXT")));
    else panel.append(paged("unsolved", ...failures(first)));
    if (less.length) panel.append(folded("less", `${less.length} less important`, paged("unsolved-less", ...failures(less))));
    panel.append(make("h2", {}, `Inbox: ${data.inbox.length}`));
    panel.append(data.inbox.length ? paged("items", ["since", "what"], data.inbox, (one) => [one.at || "", make("span", {}, `${one.type}: ${one.content} `, ...parts.item(one))])
      : empty("The inbox is empty. To put something there: ", code("graphmem inbox add TEXT")), ...parts.inbox());
    panel.append(make("h2", {}, "What happened last"));
    panel.append(data.events.length ? paged("events", ["when", "what", "about"], [...data.events].reverse(), (one) => [one.at, one.type, one.subject || ""])
      : empty("No event yet: ", code("graphmem event add TYPE")));
  }
  // The run state of the machine: what is worked on, and the build, whose chunks stand below the one that they wait for.
  function goingOn(run) {
    const section = run.active_section, score = run.scenario_score, build = run.build_run, found = [];
    const lines = [["section", section && [section.number, section.alias].filter((part) => part !== null && part !== undefined).join(" ")], ["command", run.current_command],
      ["workflow", run.workflow], ["step", run.workflow_step], ["done", (run.completed_steps || []).join(", ")], ["left out", (run.skipped_steps || []).join(", ")], ["next", run.next_step],
      ["scenarios", score && `${score.satisfied} of ${score.total}`], ["ready", Object.entries(run.readiness || {}).map(([name, count]) => `${name} ${count}`).join(", ")],
      ["version of the specification", run.spec_version],
      ["changed outside of the plan", (run.untracked_changes || []).map((one) => (one.section ? `${one.file} (${one.section})` : one.file)).join(", ")]].filter(([, value]) => value);
    if (lines.length || build) found.push(make("h2", {}, "What is going on"));
    if (lines.length) found.push(make("dl", {}, ...lines.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])));
    if (build) {
      const built = build.chunks.filter((one) => one.status === "completed").length;
      found.push(make("h3", {}, `Build: ${build.status}, ${built} of ${build.chunks.length} chunks completed`), chunks(build.chunks));
    }
    return found;
  }
  function chunks(every) {
    const ids = new Set(every.map((one) => one.id)), left = new Set(every);
    const below = (id) => every.filter((one) => (one.depends_on.find((need) => ids.has(need)) ?? null) === id);
    const list = (some) => make("ul", { class: "chunks" }, ...some.filter((one) => left.delete(one)).map((one) => {
      const after = one.depends_on.slice(1), begun = one.attempt > 1 ? `, attempt ${one.attempt}` : "";
      const line = make("li", { "data-status": one.status }, make("strong", {}, one.id), ` [${one.status}${begun}] ${one.name}${after.length ? `, after ${after.join(", ")} too` : ""}`);
      const next = below(one.id);
      if (next.length) line.append(list(next));
      return line;
    }));
    const tree = list(below(null));
    if (left.size) tree.append(...list([...left]).childNodes); // those that wait for each other in a file that was changed by hand
    return tree;
  }
  function candidate(one) {
    const said = one.failure ? one.failure.trigger : one.other.map((part) => part.decision || part.constraint || part.insight || "").join(" ");
    const box = make("article", { id: `candidate-${one.id}`, tabindex: "-1", "aria-label": said || one.id }, make("h3", {}, said || one.id),
      make("p", {}, `worth ${one.worth}, seen ${one.occurrences} time${one.occurrences === 1 ? "" : "s"}${one.proof ? ", proven" : ""}${
        one.failure && one.failure.flaky ? ", passed again with nothing changed" : ""}`));
    if (one.failure && one.failure.fix) box.append(make("p", {}, `fix of its own: ${one.failure.fix}`));
    if (one.pattern) box.append(make("p", {}, `fix: ${one.pattern.insight}`));
    for (const { reasoning } of one.other) if (reasoning) box.append(make("pre", { tabindex: "0" }, reasoning));
    if (places.has(one.near)) box.append(make("p", {}, "A record has this error: ", link(places.get(one.near))));
    for (const seen of one.evidence) {
      const where = seen.session ? `session ${seen.session.slice(0, 8)}` : (seen.commit || "").slice(0, 12) || seen.run || "";
      box.append(make("p", { class: "about" }, ...(seen.command ? [code(seen.command), " "] : []),
        [seen.folder && `in ${seen.folder}`, seen.passed && `passed ${seen.passed}`, `${seen.source} ${where}`.trim(), seen.at].filter(Boolean).join(", ")));
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
  // What has no importance comes after what has one; among equals the order of the names stays.
  const ORDERS = {
    importance: (a, b) => (records[b].importance ?? -1) - (records[a].importance ?? -1),
    edges: (a, b) => around[b].length - around[a].length,
    record: () => 0,
  };
  function showRecords(found) {
    const panel = document.getElementById("panel-records");
    const ordered = [...found].sort((a, b) => ORDERS[asked.order](a, b) || a - b);
    const list = paged("rows", ["record", "what it says", "importance", "edges"], ordered, (place) => [link(place), records[place].title,
      records[place].importance === null ? "" : records[place].importance.toFixed(2), String(around[place].length)]);
    for (const head of list.querySelectorAll("th")) {
      const name = head.textContent;
      if (!(name in ORDERS)) continue;
      const isThis = asked.order === name;
      if (isThis) head.setAttribute("aria-sort", name === "record" ? "ascending" : "descending");
      head.replaceChildren(make("button", { type: "button", class: "sort", click: () => {
        asked.order = name;
        update();
        document.querySelector("#panel-records th[aria-sort] button").focus();
      } }, name, make("span", { "aria-hidden": "true" }, isThis ? (name === "record" ? " ↑" : " ↓") : "")));
    }
    panel.replaceChildren(make("h2", {}, "Records"), found.length ? list : nothing());
  }
  function nothing() {
    return records.length ? empty("No record fits the search: use fewer words, or all kinds and relations.")
      : empty("Nothing is recorded yet. To begin: ", code("graphmem add failure --trigger TEXT"));
  }
  function showTree(found) {
    const kept = new Set(found), panel = document.getElementById("panel-tree");
    const capped = (key, places, node) => {
      const id = `tree ${key}`, most = lengthOf(id), left = places.length - most;
      return left <= 0 ? places.map(node) : [...places.slice(0, most).map(node), { key: node(places[most]).key, text: moreOf(left), open: () => {
        lengthen(id); // the item has the key of the next record, so that this one is reached in its place
        update();
        document.querySelector("#panel-tree [role=treeitem][tabindex='0']").focus();
      } }];
    };
    function branch(key, place, before) {
      const near = around[place].filter((number) => kept.has(far(number, place)) && (!asked.relation || edges[number].type === asked.relation));
      return { key, text: `${before}${records[place].ref}`, about: records[place].title, open: () => open(place), children: near.length ? () => capped(key, near, (number) => {
        const edge = edges[number];
        return branch(`${key} ${edge.type} ${edge.source === place} ${records[far(number, place)].ref}`, far(number, place), `${edge.source === place ? "→" : "←"} ${edge.type} ${edge.weight} `);
      }) : null };
    }
    const kinds = KINDS.map((kind) => [kind, found.filter((place) => records[place].kind === kind)]).filter(([, places]) => places.length);
    const root = make("ul", { role: "tree", "aria-label": "Records by kind" });
    panel.replaceChildren(make("h2", {}, "Tree"), kinds.length ? root : nothing());
    tree.show(root, kinds.map(([kind, places]) => ({ key: kind, text: `${kind}: ${places.length}`,
      children: () => capped(kind, [...places].sort((a, b) => ORDERS.importance(a, b) || a - b), (place) => branch(`${kind} ${records[place].ref}`, place, "")) })), make);
  }
  function far(number, place) {
    return edges[number].source === place ? edges[number].target : edges[number].source;
  }
  function showCampaigns() {
    const panel = document.getElementById("panel-campaigns");
    panel.replaceChildren(make("h2", {}, "Campaigns"));
    const tasks = records.map((one, place) => place).filter((place) => records[place].kind === "task");
    const campaigns = records.map((one, place) => place).filter((place) => records[place].kind === "campaign");
    if (!campaigns.length) panel.append(empty("No campaign yet: ", code("graphmem campaign create")));
    for (const place of campaigns) {
      const name = records[place].ref.split("/").slice(1).join("/"), prefix = `task/${name}/`;
      const own = tasks.filter((task) => records[task].ref.startsWith(prefix)), at = new Map(own.map((task, number) => [task, number]));
      const status = (task) => records[task].fields.status || "pending";
      panel.append(make("h3", {}, link(place), ` ${records[place].fields.status || "active"}`), make("p", {}, records[place].title));
      if (!own.length) { panel.append(empty("No task yet: ", code(`graphmem campaign add-tasks ${name}`))); continue; }
      const order = edges.filter((edge) => edge.type === "depends_on" && at.has(edge.source) && at.has(edge.target)).map((edge) => [at.get(edge.target), at.get(edge.source)]);
      panel.append(dag.show(`tasks ${records[place].ref}`, own.map((task) => ({ place: task, name: records[task].ref.slice(prefix.length), status: status(task), title: records[task].title })), order, { make, open }),
        folded(`table ${records[place].ref}`, "The same as a table", table(["task", "status", "objective", "after"], own.map((task) => [link(task), status(task), records[task].title,
          (records[task].fields.depends || []).join(", ")]))));
    }
  }

  function open(place) {
    before = before || focusKept();
    picked = place;
    showRecord(place);
    document.querySelector("#record button").focus();
    if (shown === "graph") update();
  }
  function asText(value) { // of a field
    if (typeof value === "string") return value;
    const isList = Array.isArray(value) && value.every((one) => typeof one === "string");
    return isList ? value.join(", ") : JSON.stringify(value, null, 1);
  }
  function showRecord(place) {
    const one = records[place], panel = document.getElementById("record"), list = make("dl");
    for (const [name, value] of Object.entries(one.fields)) {
      if (UNSHOWN.includes(name)) continue;
      list.append(make("dt", {}, name), make("dd", {}, asText(value)));
    }
    const row = (number) => {
      const edge = edges[number], other = far(number, place);
      return [`${edge.source === place ? "→" : "←"} ${edge.type} ${edge.weight}`, link(other)];
    };
    const close = make("button", { type: "button", click: shut }, "Close (Escape)");
    panel.replaceChildren(close, make("h2", { class: "ref" }, one.ref), list, make("h3", {}, `Edges: ${around[place].length}`), ...(around[place].length ? [paged(`edges ${one.ref}`, ["edge", "record"], around[place], row)] : []),
      make("button", { type: "button", click: () => { start = picked; explain(); } }, "Explain from here"),
      make("button", { type: "button", click: () => explain(picked) }, "Explain to here"), ...parts.record(one));
    panel.hidden = false;
  }
  function shut() {
    document.getElementById("record").hidden = true;
    picked = null;
    if (before) before();
    before = null;
    if (shown === "graph") update();
  }

  function strongest(...ends) {
    const found = paths.strongest(...ends.map((ref) => places.get(ref)), edges, around);
    return found && found.map((number) => ({ from: records[edges[number].source].ref, type: edges[number].type, weight: edges[number].weight, to: records[edges[number].target].ref }));
  }
  let path = new Set(), steps = []; // of the path that is drawn: the numbers of its edges, and what they are
  function numbers() {
    const found = steps.map((one) => (around[places.get(one.from)] || []).find((number) => edges[number].type === one.type
      && edges[number].source === places.get(one.from) && edges[number].target === places.get(one.to)));
    return new Set(found.filter((number) => number !== undefined)); // not each edge has to be in the page
  }
  let asking = 0; // an answer that comes after a later question is not shown
  async function explain(to) {
    const said = document.getElementById("path");
    [path, steps] = [new Set(), []];
    if (to === undefined) said.textContent = visible(`From ${records[start].ref}: open another record and choose "Explain to here".`);
    else if (start === null) said.textContent = "Choose \"Explain from here\" at another record first.";
    else {
      const ends = [records[start].ref, records[to].ref], question = asking += 1;
      const found = ends[0] === ends[1] ? [] : await parts.path(...ends);
      if (question !== asking) return;
      steps = found || [];
      path = numbers();
      const hide = make("button", { type: "button", class: "act", click: () => { [path, steps, start] = [new Set(), [], null]; said.textContent = ""; document.getElementById("drawing").focus(); update(); } }, "Hide the path");
      if (found && found.length) said.replaceChildren(...paths.sentence(found, (ref) => (places.has(ref) ? link(places.get(ref)) : ref)).map((one) => (typeof one === "string" ? visible(one) : one)), " ", hide);
      else said.textContent = visible(found ? "It is the same record." : `No path of at most ${paths.MOST_HOPS} edges leads from ${ends.join(" to ")}.`);
    }
    choose("graph");
  }
  function colour(kind) {
    const every = COLOURS[DARK.matches ? "dark" : "light"];
    return every[KINDS.indexOf(kind) % every.length];
  }
  function showLegend() {
    document.getElementById("legend").replaceChildren(...KINDS.map((kind) => {
      const sign = make("span", { "aria-hidden": "true" }, "●");
      sign.style.color = colour(kind);
      return make("span", {}, sign, ` ${kind}`);
    }), make("span", { class: "about" }, "The larger, the more important. Choose one record, then another: how they hang together is drawn and said. With the keyboard: arrows move the picture, + and - zoom, 0 shows all."));
  }
  // The label of the record that the pointer is at, on the colour of the page: sigma's own is white.
  function hover(context, node) {
    if (!node.label) return;
    context.font = `600 ${LABEL}px ${FONT}`;
    const wide = context.measureText(node.label).width, x = node.x + node.size, high = LABEL + 8;
    context.fillStyle = is.back;
    context.fillRect(x, node.y - high / 2, wide + 12, high);
    context.strokeStyle = is.text;
    context.strokeRect(x, node.y - high / 2, wide + 12, high);
    context.fillStyle = is.text;
    context.fillText(node.label, x + 6, node.y + LABEL / 3);
  }
  // The labels: of what is picked and on the path, then of what has most edges and importance, as many as do not overlap.
  function drawLabels(first) {
    const context = drawing.getCanvases().labels.getContext("2d"), { width, height } = drawing.getDimensions(), taken = [];
    context.clearRect(0, 0, width, height);
    Object.assign(context, { font: `${LABEL}px ${FONT}`, lineWidth: 4, lineJoin: "round", strokeStyle: is.card });
    let tried = 0; // of the records in sight; each costs time in every frame
    for (const place of new Set([...first, ...ranked])) {
      const one = drawing.getNodeDisplayData(place);
      if (!one || one.hidden || !one.label) continue;
      const { x, y } = drawing.framedGraphToViewport(one);
      if (x < 0 || x > width || y < 0 || y > height) continue;
      if (taken.length === MOST_LABELS || (tried += 1) > MOST_TRIED) return;
      const text = one.label.length > MOST_LABEL ? `${one.label.slice(0, MOST_LABEL)}…` : one.label;
      const wide = context.measureText(text).width, beside = drawing.scaleSize(one.size) + 3, above = beside + LABEL / 2;
      const sides = [[x + beside, y], [x - beside - wide, y], ...(first.includes(place) ? [[x - wide / 2, y - above], [x - wide / 2, y + above]] : [])];
      const room = sides.find(([left, middle]) => left >= 0 && left + wide <= width
        && middle >= LABEL && middle <= height - LABEL && !taken.some((other) => left < other.right && left + wide > other.left && Math.abs(middle - other.middle) < LABEL + 3));
      if (!room) continue;
      const [left, middle] = room;
      taken.push({ left, right: left + wide, middle });
      context.fillStyle = one.color === is.far ? is.muted : is.text;
      context.strokeText(text, left, middle + LABEL / 3);
      context.fillText(text, left, middle + LABEL / 3);
    }
  }
  // Where some records are, so that the picture is as large as these.
  function boxOf(found) {
    const side = (name) => found.reduce(([least, most], place) => [Math.min(least, records[place][name]), Math.max(most, records[place][name])], [Infinity, -Infinity]);
    return { x: side("x"), y: side("y") };
  }
  document.getElementById("drawing").addEventListener("keydown", (event) => {
    if (drawing === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const { x, y, ratio } = drawing.getCamera().getState(), step = ratio / 8;
    const to = { ArrowLeft: { x: x - step }, ArrowRight: { x: x + step }, ArrowUp: { y: y + step }, ArrowDown: { y: y - step },
      "+": { ratio: ratio / 1.5 }, "-": { ratio: ratio * 1.5 }, 0: { x: 0.5, y: 0.5, ratio: 1 } }[event.key];
    if (!to) return;
    event.preventDefault();
    drawing.getCamera().setState(to);
  });
  let is = {}, ranked = [], marked = []; // the colours that sigma has to be told; whose labels are drawn first
  function showGraph(found) {
    const kept = new Set(found);
    // What has no edge to another one here is in a list beside the picture.
    const linked = new Set(edges.filter((edge) => kept.has(edge.source) && kept.has(edge.target) && (!asked.relation || edge.type === asked.relation)).flatMap((edge) => [edge.source, edge.target]));
    const alone = found.filter((place) => !linked.has(place));
    const list = document.getElementById("alone"), isOpen = list.querySelector("details[open]");
    list.replaceChildren(...(alone.length ? [folded("alone-list", `${alone.length} of these ${found.length} records ${alone.length === 1 ? "has" : "have"} no edge to another of them, and ${alone.length === 1 ? "is" : "are"} not in the picture`,
      paged("alone-rows", ["record", "what it says"], alone, (place) => [link(place), records[place].title]))] : []));
    if (alone.length && (isOpen || !linked.size)) list.firstChild.open = true;
    if (drawing === null) {
      is = DARK.matches ? { text: "#e6e9ed", back: "#262b32", card: "#1c2026", muted: "#a3acb6", edge: "#3c444e", far: "#2b3138", path: "#ff9e94" }
        : { text: "#1b1f24", back: "#ffffff", card: "#ffffff", muted: "#57606a", edge: "#c9ced4", far: "#e2e5e8", path: "#b3261e" };
      showLegend();
      const graph = new graphology.MultiGraph(), scale = Math.min(1, 35 / Math.sqrt(linked.size)); // of many each is small
      const most = records.reduce((found, one) => Math.max(found, one.importance ?? 0), 2), still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      const worth = (place) => around[place].length / mostEdges + (records[place].importance ?? 0) / most;
      const mostEdges = around.reduce((found, own) => Math.max(found, own.length), 1);
      ranked = records.map((one, place) => place).filter((place) => around[place].length).sort((a, b) => worth(b) - worth(a));
      for (const place of ranked) graph.addNode(place, { x: records[place].x, y: records[place].y, size: scale * (3 + 5 * Math.sqrt((records[place].importance ?? 0) / most)),
        label: visible(records[place].ref), color: colour(records[place].kind) });
      edges.forEach((edge, number) => graph.addEdgeWithKey(number, edge.source, edge.target, { size: 1, color: is.edge }));
      drawing = new Sigma(graph, document.getElementById("drawing"), { renderLabels: false, allowInvalidContainer: true, defaultDrawNodeHover: hover, hideEdgesOnMove: edges.length > MOST_MOVING,
        ...(still ? { zoomDuration: 1, doubleClickZoomingDuration: 1, inertiaDuration: 1 } : {}) });
      if (camera) drawing.getCamera().setState(camera);
      drawing.on("clickNode", (event) => {
        const to = Number(event.node);
        open(to);
        if (start !== null && start !== to) explain(to);
        start = to; // of the next one
      });
      drawing.on("afterRender", () => drawLabels(marked));
    }
    drawing.resize(); // an open record takes room
    const ends = new Set([...path].flatMap((number) => [edges[number].source, edges[number].target]));
    drawing.setCustomBBox(linked.size && found.length < records.length ? boxOf([...linked, ...ends]) : null);
    marked = [...ends, ...(picked === null || path.size ? [] : [picked, ...around[picked].map((number) => far(number, picked))])];
    // Where nothing is left out or marked, sigma draws what it has: a reducer costs time for each record.
    const isPlain = picked === null && kept.size === records.length && !asked.relation && !path.size;
    const nodeReducer = isPlain ? null : (node, given) => {
      const place = Number(node);
      const near = picked === null || place === picked || around[place].some((number) => edges[number].source === picked || edges[number].target === picked);
      if (ends.has(place)) return given;
      if (!linked.has(place)) return { ...given, hidden: true };
      return near && !path.size ? { ...given, highlighted: place === picked } : { ...given, color: is.far };
    };
    const edgeReducer = isPlain ? null : (key, given) => {
      const edge = edges[Number(key)];
      if (path.has(Number(key))) return { ...given, color: is.path, size: 4, zIndex: 1 };
      if (asked.relation && edge.type !== asked.relation) return { ...given, hidden: true };
      if (path.size) return { ...given, color: is.far };
      return picked === null || edge.source === picked || edge.target === picked ? given : { ...given, hidden: true };
    };
    drawing.setSettings({ zIndex: path.size > 0, nodeReducer, edgeReducer });
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
    document.getElementById("filters").hidden = !FILTERED.includes(shown);
    if (shown === "records") showRecords(found);
    if (shown === "tree") showTree(found);
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
  // Returns what gives the focus back: to what has it now, to what is the same in its place, or to the view.
  function focusKept() {
    const node = document.activeElement, home = node.closest("[id]"), text = node.textContent, isItem = node.matches("[role=treeitem]");
    return () => {
      const place = home && document.getElementById(home.id);
      const same = place && [...place.querySelectorAll(isItem ? "[role=treeitem][tabindex='0']" : node.localName)].find((one) => isItem || one.textContent === text);
      [node, home !== node && same, place, document.getElementById(`panel-${shown}`)].find((one) => {
        if (!one || !one.getClientRects().length) return false; // it is gone, or not shown
        one.focus({ preventScroll: true });
        return document.activeElement === one;
      });
    };
  }
  // Takes the memory as it is now; what is searched, chosen, open and focused stays so.
  function load(found) {
    const refOf = (place) => (place === null ? null : records[place].ref), [pickedRef, startRef] = [picked, start].map(refOf);
    data = found; records = data.records; edges = data.edges;
    KINDS = [...new Set(records.map((one) => one.kind))].sort();
    TYPES = [...new Set(edges.map((one) => one.type))].sort();
    around = records.map(() => []);
    edges.forEach((edge, number) => { around[edge.source].push(number); around[edge.target].push(number); });
    const said = (value) => (value !== null && typeof value === "object" ? Object.values(value).map(said).join("\n") : String(value));
    texts = records.map((one) => [one.ref, one.title, ...Object.entries(one.fields).map(([name, value]) => (UNSHOWN.includes(name) ? "" : said(value)))].join("\n").toLowerCase());
    places = new Map(records.map((one, place) => [one.ref, place]));
    [picked, start] = [pickedRef, startRef].map((ref) => places.get(ref) ?? null);
    path = numbers();
    if (drawing) { camera = drawing.getCamera().getState(); drawing.kill(); drawing = null; }
    const isAnywhere = document.activeElement !== document.body, back = focusKept(), opened = [...document.querySelectorAll("main details[open][id]")], [left, top] = [scrollX, scrollY];
    const scrolled = [...document.querySelectorAll("main [id]")].filter((one) => one.scrollLeft).map((one) => [one.id, one.scrollLeft]);
    show();
    for (const { id } of opened) if (document.getElementById(id)) document.getElementById(id).open = true;
    for (const [id, far] of scrolled) if (document.getElementById(id)) document.getElementById(id).scrollLeft = far;
    if (isAnywhere) back();
    scrollTo(left, top);
  }
  function show() {
    document.getElementById("project").textContent = visible(`Memory of ${data.project}`);
    choices("kind", KINDS);
    choices("relation", TYPES);
    showNow();
    showCampaigns();
    health.show(document.getElementById("panel-health"), data, { make, table, folded });
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
  DARK.addEventListener("change", () => {
    if (drawing !== null) drawing.kill();
    drawing = null;
    update();
  });
  history.scrollRestoration = "manual"; // the page begins at its top, also where its address ends in a place on it
  const given = JSON.parse(document.getElementById("data").textContent);
  if (given) history.replaceState(null, "", location.href.replace(/#.*/s, ""));
  if (given) load(given); else choose("now");
  window.graphmem = { load, make, visible, parts, shown: () => shown };
}());
