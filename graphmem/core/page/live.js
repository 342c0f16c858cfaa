"use strict";
// The page as the service gives it: asks for the memory with the token of its address, and changes it.
(function () {
  const { load, make, visible, parts, shown } = window.graphmem;
  const TOKEN = "graphmem-token", TRIES = 5, SOON_MS = 300, MOST_WAIT_MS = 30000, FIRST = 500, REST = 2, AWAKE_MS = 300000, REPORTED = ["failure", "pattern", "lesson"];
  const KEYS = [["j, k", "the next, the previous candidate; the arrows do the same at a candidate"], ["a", "accept the candidate"],
    ["e", "change its words, or add it to a record, and accept it"], ["d", "dismiss it"], ["u", "take back the last write"], ["?", "show or hide this"]];
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) sessionStorage.setItem(TOKEN, given);
  history.replaceState(null, "", location.pathname);
  window.addEventListener("hashchange", () => location.reload()); // another address was put into this tab
  const token = sessionStorage.getItem(TOKEN) || "";
  let tag = null, mayWrite = false, isOver = false, isBusy = false, waits = 0, last = null, views = 0, newest = 0, whole = null, took = 0;

  const said = make("p", { id: "said", role: "status" }), failed = make("p", { id: "failed", role: "alert" }), link = make("p", { id: "link", role: "status" });
  const notes = make("footer", { id: "notes" }, said, failed, link); // always in sight
  document.body.append(notes);
  function say(text) { said.textContent = visible(text); failed.textContent = ""; }
  function fail(text) { failed.textContent = visible(text); }
  function lock(why) {
    isOver = true;
    sessionStorage.removeItem(TOKEN);
    document.querySelector("header").replaceChildren(make("h1", {}, "graphmem"));
    notes.remove();
    document.getElementById("record").hidden = true;
    const head = make("h2", { tabindex: "-1" }, why);
    document.querySelector("main").replaceChildren(head, make("p", {}, "Run ", make("code", {}, "graphmem view"), " in the project again, and open the address that it prints."));
    head.focus();
  }

  // --- the service ---------------------------------------------------------------------------------------------------

  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  async function ask(path, more) {
    const { headers, ...rest } = more || {};
    const answer = await fetch(path, { credentials: "omit", cache: "no-store", redirect: "error", ...rest, headers: { Authorization: `Bearer ${token}`, ...headers } });
    if (answer.status === 401) lock("The token is missing or wrong");
    mayWrite = answer.headers.get("Graphmem-May") === "write";
    return answer;
  }
  function post(name, body, headers) {
    return ask(`/v1/${name}`, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers } });
  }
  async function answerOf(answer) {
    const found = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(found.hint ? `${found.detail}; ${found.hint}` : found.detail), { status: answer.status });
    return found;
  }
  const read = async (name, body) => answerOf(await post(name, body));
  // A write has an id of its own: where its answer is lost it is sent again, and not carried out a second time.
  // It keeps it where it was never answered, and a person does the same once more.
  let unanswered = {};
  async function write(name, body) {
    const what = JSON.stringify([name, body]);
    if (unanswered.what !== what) unanswered = { what, key: [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("") };
    const { key } = unanswered;
    for (let turn = 1; ; turn += 1) {
      try {
        const answer = await post(name, body, { "Idempotency-Key": key });
        if (answer.status !== 503 || !answer.headers.get("Retry-After") || turn === TRIES) {
          const found = await answerOf(answer);
          unanswered = {};
          return found;
        }
      } catch (error) {
        if (error.status) unanswered = {};
        if (!(error instanceof TypeError)) throw error;
        if (turn === TRIES) throw new Error("the service does not answer; it is not known whether this was carried out; to do it again now does it once");
      }
      await pause(SOON_MS * turn);
    }
  }
  // One write at a time: a key that is held down does nothing twice.
  async function act(doing, done) {
    if (isBusy || isOver) return;
    isBusy = true;
    try { await done(await doing()); } catch (error) { fail(error.message); } finally { isBusy = false; }
  }
  async function refresh() {
    const turn = views += 1, began = performance.now(), first = whole === null;
    const answer = await post("view", first ? { most: FIRST } : {}, tag ? { "If-None-Match": tag } : {});
    if (answer.status === 304 || isOver) return;
    const data = await answerOf(answer);
    if (turn < newest) return; // it was asked for before what is shown
    newest = turn;
    tag = answer.headers.get("ETag");
    load(whole = data);
    took = performance.now() - began;
    if (!first) return;
    move(0);
    if (data.left_out) await refresh(); // a large memory takes seconds: what waits is shown before all of it
  }
  // After an action: what waits and what happened, at once; the records of a large memory follow.
  async function renew() {
    if (whole.records.length <= FIRST) return refresh();
    const turn = views += 1, { records, edges, unsolved, left_out, ...rest } = await read("view", { most: FIRST });
    if (turn < newest || isOver) return;
    newest = turn;
    load(whole = { ...whole, ...rest });
    soon();
  }
  function soon() { // what comes at once is fetched once, and the service is not kept busy by a large memory
    clearTimeout(waits);
    waits = setTimeout(() => refresh().catch((error) => fail(error.message)), Math.max(SOON_MS, REST * took));
  }
  setInterval(() => { if (!document.hidden && !isOver) soon(); }, AWAKE_MS); // the service ends where nobody asks
  async function follow() {
    for (let turn = 0; !isOver; turn += 1) {
      try {
        const answer = await ask("/v1/events?changes=true", { headers: last ? { "Last-Event-ID": last } : {} });
        if (isOver) return;
        if (!answer.ok) await answerOf(answer);
        await refresh();
        link.textContent = "";
        turn = 0;
        await messages(answer.body.getReader());
      } catch (error) {
        if (isOver) return;
        if (error.status === 403) return lock(error.message);
      }
      link.textContent = "The service does not answer: what is shown may be old. If this stays, run graphmem view in the project again.";
      await pause(Math.min(MOST_WAIT_MS, SOON_MS * 2 ** turn));
    }
  }
  async function messages(reader) {
    const decoder = new TextDecoder();
    for (let text = ""; ;) {
      const { done, value } = await reader.read();
      if (done || isOver) return;
      const whole = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = whole.pop();
      for (const message of whole) {
        const id = /^id: (.*)$/m.exec(message);
        if (id) last = id[1];
        if (/^event: /m.test(message)) soon();
      }
    }
  }

  // --- candidates ----------------------------------------------------------------------------------------------------

  const button = (text, click, more) => make("button", { type: "button", class: "act", click, ...more }, text);
  const forms = new Map(); // by candidate: what is typed stays when the page is drawn again
  const boxes = () => [...document.querySelectorAll("#panel-now article")];
  const boxOf = (node) => node instanceof Element && node.closest("#panel-now article");
  const idOf = (box) => box.id.replace("candidate-", "");
  function move(step) {
    const all = boxes(), at = all.indexOf(boxOf(document.activeElement));
    const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + step))];
    if (next) next.focus({ preventScroll: !step }); // the first one, where the page opens, does not scroll it
  }
  // Shows what became of a candidate, and goes on with the next one.
  async function settled(id, text, answer) {
    const all = boxes().map(idOf), at = all.indexOf(id), next = all[at + 1] || all[at - 1];
    forms.delete(id);
    await renew();
    (document.getElementById(`candidate-${next}`) || document.getElementById("panel-now")).focus();
    say(`${text}; ${answer.waiting} wait${answer.waiting === 1 ? "s" : ""}`);
  }
  function accept(id, words) {
    return act(() => write("candidates/accept", { id, ...words }), (answer) => settled(id, `accepted: ${answer.reviewed[0].refs.join(", ")}`, answer));
  }
  function dismiss(id, words) {
    return act(() => write("candidates/dismiss", { id, ...words }), (answer) => settled(id, "dismissed", answer));
  }
  function field(name, label, value, isLong) {
    const input = make(isLong ? "textarea" : "input", { name, autocomplete: "off", ...(isLong ? { rows: "3" } : { type: "text" }) });
    input.value = value || "";
    input.before = input.value;
    return make("label", {}, label, input);
  }
  function words(form) { // those that were changed
    const changed = [...form.elements].filter((one) => one.name && one.value !== one.before && (one.value.trim() || one.before));
    return Object.fromEntries(changed.map((one) => [one.name, one.value]));
  }
  function formOf(title, fields, send, shut) {
    const form = make("form", { "aria-label": title }, ...fields, make("button", { class: "act" }, title), button("Cancel (Escape)", shut));
    form.addEventListener("submit", (event) => { event.preventDefault(); send(words(form)); });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { event.stopPropagation(); shut(); }
      if (event.key === "Enter" && event.ctrlKey) { event.preventDefault(); form.requestSubmit(); }
    });
    return form;
  }
  function openForm(one, make_) {
    const box = document.getElementById(`candidate-${one.id}`), old = forms.get(one.id);
    if (old) old.remove();
    const form = make_(() => { form.remove(); forms.delete(one.id); document.getElementById(`candidate-${one.id}`).focus(); });
    forms.set(one.id, form);
    box.append(form);
    form.elements[0].focus();
  }
  function edit(one) {
    const texts = one.failure ? [["trigger", "Error", one.failure.trigger], ["fix", "Fix", one.failure.fix]] : [];
    if (one.pattern) texts.push(["insight", "What to do", one.pattern.insight]);
    for (const other of one.other) {
      if (other.constraint !== undefined) texts.push(["trigger", "Constraint", other.constraint]);
      if (other.insight !== undefined) texts.push(["insight", "Insight", other.insight]);
      if (other.decision !== undefined) texts.push(["trigger", "Decision", other.decision], ["insight", "Reasoning", other.reasoning]);
    }
    const into = one.near ? `Add it to this record instead, such as ${one.near}` : "Add it to this record instead";
    const fields = [...texts.map(([name, label, value]) => field(name, label, value, true)), field("name", "Name"), field("into", into)];
    openForm(one, (shut) => formOf("Accept these words", fields, (changed) => accept(one.id, changed), shut));
  }
  function refuse(one) {
    openForm(one, (shut) => formOf("Dismiss it", [field("reason", "Why it is of no use, if you like")], (changed) => dismiss(one.id, changed), shut));
  }
  const candidates = new Map();
  parts.candidate = (one) => {
    candidates.set(one.id, one);
    if (!mayWrite) return [];
    const form = forms.get(one.id);
    return [make("p", {}, button("Accept (a)", () => accept(one.id)), button("Edit (e)", () => edit(one)), button("Dismiss (d)", () => refuse(one))), ...(form ? [form] : [])];
  };

  // --- undo, keys, inbox ---------------------------------------------------------------------------------------------

  const back = make("div", { id: "back" });
  const told = (one) => `${one.command}, ${one.at}: ${one.rows.join(", ")}`;
  function undo(before) {
    return act(async () => (await read("undoable", {})).writes[0], async (found) => {
      const shut = button("Keep it", () => { back.replaceChildren(); document.getElementById("panel-now").focus(); });
      if (!found) { back.replaceChildren(); return say("nothing can be taken back"); }
      if (before !== told(found)) { // shown first; and again where another write came meanwhile
        const go = button("Take it back", () => undo(told(found)));
        back.replaceChildren(make("p", {}, `The last write of this clone: ${told(found)}`), go, shut);
        return go.focus();
      }
      await write("undo", {});
      back.replaceChildren();
      await renew();
      document.getElementById("panel-now").focus();
      say(`taken back: ${told(found)}`);
    });
  }
  const help = make("dl", { id: "keys", hidden: "" }, ...KEYS.flatMap(([key, meaning]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, meaning)]));
  function showKeys() { help.hidden = !help.hidden; say(help.hidden ? "" : "the keys are shown above the candidates"); }
  const tools = make("p", { id: "tools" }, button("Keys (?)", showKeys), button("Undo… (u)", () => undo()));
  parts.now = () => (mayWrite ? [tools, help, back] : [make("p", {}, "The token of this page may only read.")]);

  const item = make("form", { id: "add-item", "aria-label": "Add to the inbox" }, make("label", {}, "What is to be looked at later", make("input", { name: "content", type: "text", autocomplete: "off", required: "" })),
    make("label", {}, "What it is", make("select", { name: "type" }, ...["feature", "reference", "evolve"].map((value) => make("option", { value }, value)))), make("button", { class: "act" }, "Add"));
  item.addEventListener("submit", (event) => {
    event.preventDefault();
    const { content, type } = item.elements;
    act(() => write("inbox/add", { content: content.value, type: type.value }), async () => { content.value = ""; await renew(); say("added to the inbox"); });
  });
  parts.inbox = () => (mayWrite ? [item] : []);
  parts.item = (one) => {
    const end = (name, text) => act(() => write(`inbox/${name}`, { id: one.id }), async () => { await renew(); item.elements.content.focus(); say(text); });
    return mayWrite ? [make("span", { id: `item-${one.id}` }, button("Done", () => end("finish", "done")), button("Dismiss", () => end("dismiss", "dismissed")))] : [];
  };
  document.addEventListener("keydown", (event) => {
    if (isOver || shown() !== "now" || event.ctrlKey || event.metaKey || event.altKey || !mayWrite) return;
    if (event.target.closest("input, textarea, select, header, aside")) return;
    const box = boxOf(event.target), one = box && candidates.get(idOf(box)), isThere = event.target === box;
    const step = { j: 1, k: -1, ...(isThere ? { ArrowDown: 1, ArrowUp: -1 } : {}) }[event.key];
    const doing = { "?": showKeys, u: () => undo(), ...(one ? { a: () => accept(one.id), e: () => edit(one), d: () => refuse(one) } : {}) }[event.key];
    if (!step && !doing) return;
    event.preventDefault();
    if (step) move(step); else doing();
  });

  // --- a record ------------------------------------------------------------------------------------------------------

  function onDemand(title, fetched, ...before) {
    const place = make("div"), box = make("details", {}, make("summary", {}, title), ...before, place);
    box.fetch = async () => {
      try { place.replaceChildren(...fetched(await box.ask())); } catch (error) { place.replaceChildren(make("p", { role: "alert" }, error.message)); }
    };
    box.addEventListener("toggle", () => { if (box.open) box.fetch(); });
    return box;
  }
  const { table } = parts;
  function whyOf(ref) {
    const query = make("input", { type: "search", autocomplete: "off" });
    const form = make("form", {}, make("label", {}, "Its place for this query", query), make("button", { class: "act" }, "Ask"));
    const box = onDemand("Why it is here", (why) => [
      make("dl", {}, ...Object.entries(why.origin).filter(([, value]) => value && value.length).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, [value].flat().join(", "))])),
      ...(why.ranking ? [make("p", { role: "status" }, why.ranking.place ? `place ${why.ranking.place} of ${why.ranking.results}, certainty ${why.ranking.certainty}` : `not among the ${why.ranking.results} results`)] : []),
      ...why.merged.map((one) => make("p", {}, `merged into it: ${one.text}`)),
      make("h3", {}, `Reports: ${why.reports.length}`),
      table(["when", "what", "task", "question", "note"], why.reports.map((one) => [one.at, one.wrong ? "wrong" : one.helped ? "helped" : "did not help", one.task || "", one.question || "", one.note || ""])),
      make("h3", {}, `Relations: ${why.relations.length}`),
      table(["from", "relation", "to", "weight"], why.relations.map((one) => [one.from, one.type, one.to, one.weight])),
    ], form);
    box.ask = () => read("why", { ref, ...(query.value.trim() ? { query: query.value } : {}) });
    form.addEventListener("submit", (event) => { event.preventDefault(); box.fetch(); });
    return box;
  }
  function historyOf(ref) {
    const box = onDemand("History", (found) => [table(["when", "who", "commit", "what"], found.results.map((one) => [one.at || "not committed yet", one.author || "",
      `${(one.commit || "").slice(0, 10)} ${one.subject || ""}`, `${one.change.action} ${one.change.fields.map((changed) => changed.field).join(", ")}`])),
      ...(found.events.length ? [table(["when", "what happened"], found.events.reverse().map((one) => [one.at, one.type]))] : []),
      ...(found.truncated ? [make("p", {}, "More commits changed it: ", make("code", {}, "graphmem history REF --limit N"))] : []), ...(found.shallow ? [make("p", {}, "The clone is shallow: what happened before is not here.")] : [])]);
    box.ask = () => read("log", { ref });
    return box;
  }
  const local = parts.path;
  parts.path = async (source, target) => { // of the whole memory, as it is now
    const found = await read("path", { source, target }).catch(() => null);
    return found ? (found.hops ? found.path : null) : local(source, target);
  };
  let open = { ref: null, nodes: [] };
  parts.record = (one) => {
    if (open.ref === one.ref) return open.nodes;
    const why = whyOf(one.ref), report = (helped) => act(() => write("feedback", { ref: one.ref, helped }), async (answer) => {
      await renew();
      if (why.open) why.fetch();
      say(`reported: ${answer.ref} helped ${answer.helped}, failed ${answer.failed}`);
    });
    const buttons = mayWrite && REPORTED.includes(one.kind) ? [make("p", {}, button("It helped", () => report(true)), button("It did not help", () => report(false)))] : [];
    open = { ref: one.ref, nodes: [...buttons, why, historyOf(one.ref)] };
    return open.nodes;
  };

  if (/^[!-~]+$/.test(token)) follow(); else lock("The token is missing or wrong");
}());
