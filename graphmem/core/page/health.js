"use strict";
// Plots of the health of a memory. Each has its numbers as a table; what is full and what is hollow differs without colour.
const health = (function () {
  const SVG = "http://www.w3.org/2000/svg";
  const FEWEST_WEEKS = 12, MOST_WEEKS = 52, DAY = 86400000;
  const HIGH = 44, COLUMN = 12; // of a plot, in its own units

  function svg(name, given, ...children) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(given)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }
  function monday(time) {
    const day = new Date(time);
    day.setUTCDate(day.getUTCDate() - (day.getUTCDay() + 6) % 7);
    return day.toISOString().slice(0, 10);
  }
  // [week, up, down] of each week up to the last with anything, those without anything too.
  function weekly(found) {
    const weeks = [...found.keys()].sort(), rows = [];
    if (!weeks.length) return rows;
    const last = Date.parse(weeks.at(-1));
    for (let day = Math.min(Date.parse(weeks[0]), last - (FEWEST_WEEKS - 1) * 7 * DAY); day <= last; day += 7 * DAY) {
      const week = monday(day);
      rows.push([week, ...(found.get(week) || [0, 0])]);
    }
    return rows.slice(-MOST_WEEKS);
  }
  function count(records, isWanted, isUp) {
    const found = new Map();
    records.forEach((one, place) => {
      const at = Date.parse(one.fields.created_at);
      if (Number.isNaN(at) || !isWanted(one)) return;
      const row = found.get(monday(at)) || [0, 0];
      row[isUp(place) ? 0 : 1] += 1;
      found.set(monday(at), row);
    });
    return weekly(found);
  }
  function columns(rows) {
    const most = (side) => Math.max(0, ...rows.map((row) => row[side])), up = most(1), down = most(2), scale = HIGH / Math.max(1, up + down);
    const width = rows.length * COLUMN, drawn = svg("svg", { viewBox: `0 0 ${width} ${HIGH + 2}`, "aria-hidden": "true", class: "columns" });
    rows.forEach(([, over, under], at) => {
      const x = at * COLUMN + 2, wide = COLUMN - 4;
      if (over) drawn.append(svg("rect", { class: "full", x, width: wide, y: 1 + (up - over) * scale, height: over * scale }));
      if (under) drawn.append(svg("rect", { class: "hollow", x, width: wide, y: 1 + up * scale, height: under * scale }));
    });
    drawn.append(svg("line", { x1: 0, x2: width, y1: 1 + up * scale, y2: 1 + up * scale }));
    return drawn;
  }
  function show(panel, data, { make, table, folded }) {
    const found = data.health, worth = found.worth, unsolved = new Set(data.unsolved);
    function figure(title, ...parts) { return make("figure", {}, make("figcaption", {}, make("h3", {}, title)), ...parts); }
    function overTime(title, rows, up, down, empty) {
      if (!rows.length) return figure(title, make("p", { class: "empty" }, ...empty));
      const total = (side) => rows.reduce((sum, row) => sum + row[side], 0);
      const key = make("p", { class: "key" }, make("span", { class: "mark full", "aria-hidden": "true" }), `${up}: ${total(1)}`);
      if (down) key.append(make("span", { class: "mark hollow", "aria-hidden": "true" }), `${down}: ${total(2)}`);
      const cells = rows.filter((row) => row[1] || row[2]).map((row) => row.slice(0, down ? 3 : 2).map(String));
      return figure(title, key, columns(rows), make("p", { class: "axis" }, make("span", {}, rows[0][0]), make("span", {}, rows.at(-1)[0])),
        folded(`numbers ${title}`, "Numbers", table(down ? ["week", up, down] : ["week", up], cells)));
    }
    function bars(title, what, rows, most = Math.max(1, ...rows.map((row) => row[1]))) {
      const body = rows.map(([name, number, said, whole]) => {
        const wide = 100 * Math.min(1, number / (whole || most));
        const drawn = svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true", class: "bar" },
          svg("rect", { class: "rest", width: 100, height: 8 }), svg("rect", { class: "full", width: wide, height: 8 }));
        return make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, said || String(number)), make("td", {}, drawn));
      });
      return figure(title, make("table", { class: "bars" }, make("thead", {}, make("tr", {}, ...what.map((head) => make("th", { scope: "col" }, head)),
        make("td", {}))), make("tbody", {}, ...body)));
    }
    const code = (text) => make("code", {}, text);
    const percent = (share) => `${Math.round(100 * share)} %`;
    const signs = {};
    for (const one of data.records) for (const sign of new Set(one.doubts.map((doubt) => doubt.sign))) signs[sign] = (signs[sign] || 0) + 1;
    const coverage = found.coverage, failures = coverage.solved + coverage.fix_only + coverage.unsolved;
    const hangs = found.connectivity, bounds = worth.importances;
    const empty = () => ["No record yet: ", code("graphmem import --all")];
    panel.replaceChildren(make("h2", {}, "Health"), make("div", { class: "plots" },
      overTime("Records by week", count(data.records, () => true, () => true), "new records", "", empty()),
      overTime("Failures by week", count(data.records, (one) => one.kind === "failure", (place) => !unsolved.has(place)), "with a fix", "without a fix", empty()),
      overTime("Reports by week", weekly(new Map(found.feedback.map((week) => [week.week, [week.helped, week.failed]]))), "helped", "did not help",
        ["No report yet: ", code("graphmem feedback REF --helped")]),
      bars("What solves the failures", ["solved by", "failures"], [["a pattern", coverage.solved], ["a fix of their own", coverage.fix_only],
        ["nothing yet", coverage.unsolved]], Math.max(1, failures)),
      bars(`Importance, ${worth.mean_importance.toFixed(2)} on the mean`, ["importance", "failures and patterns"],
        bounds.map((one, at) => [at + 1 < bounds.length ? `${one.low} to ${bounds[at + 1].low}` : `from ${one.low}`, one.number])),
      bars("Stale, untested, in doubt", ["sign", "records"], [
        ["old and never returned", Math.round(worth.stale_ratio * worth.memories)], ["without a report", Math.round(worth.untested_ratio * worth.memories)],
        ...Object.keys(signs).sort().map((sign) => [`in doubt: ${sign}`, signs[sign]])], Math.max(1, worth.memories)),
      bars("Room", ["kind", "used"], found.capacity.map((one) => [one.kind, one.used,
        `${one.used} of ${one.limit}${one.prunable ? `, ${one.prunable} to prune` : ""}`, one.limit])),
      figure("How it hangs together", table(["sign", "value"], [["edges of a record, on the mean", hangs.edges_per_node.toFixed(2)],
        ["records without an edge", percent(hangs.isolated_share)], ["parts that no edge joins", String(hangs.components)],
        ["records in the largest part", String(hangs.largest_component)]]))));
    if (data.left_out) panel.append(make("p", {}, `The weeks are those of the ${data.records.length} records of this page.`));
  }
  return { show };
}());
