// Looks at a page of `graphmem view` in Chromium, by keyboard, and prints what is there as JSON.
import { VIEWS, browse } from "./browser.mjs";

const { page, found, check, end } = await browse(process.argv[2]);
Object.assign(found, { views: {}, counts: [], overflows: [], orders: {}, tree: {} });
const text = (selector) => page.$eval(selector, (node) => node.textContent);
const texts = (selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent));
const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
const focused = () => page.evaluate(() => document.activeElement.textContent);
const view = async (name) => { // by the arrows, from the first
  await page.focus("[role=tab][aria-selected=true]");
  while ((await page.$eval("[role=tab][aria-selected=true]", (tab) => tab.id)) !== `tab-${name}`) await press("ArrowRight");
};
const search = async (words) => {
  await page.focus("#search");
  for (let sign = 0; sign < 12; sign += 1) await press("Backspace");
  await page.keyboard.type(words);
};
// Every view, in both schemes, wide and narrow; what is folded is unfolded for axe.
for (const scheme of ["light", "dark"]) {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setViewport(scheme === "light" ? { width: 1280, height: 800 } : { width: 390, height: 844 });
  await page.focus("#tab-now");
  for (const name of VIEWS) {
    found.views[name] = name === "graph" ? ((await page.$("#drawing canvas")) ? "canvas" : "") : await text(`#panel-${name} h2`);
    await page.$$eval(`#panel-${name} details`, (nodes) => nodes.forEach((node) => { node.open = true; }));
    await check(`${scheme} ${name}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) found.overflows.push([scheme, name, wide]);
    await press("ArrowRight");
  }
}
// What is going on: the section, and the chunks of the build with how deep each stands.
found.run = await page.evaluate(() => {
  const own = (node) => [...node.childNodes].filter((one) => one.nodeName !== "UL").map((one) => one.textContent).join("");
  const depth = (node) => { let count = -1; for (let at = node; at; at = at.parentElement.closest("ul.chunks")) count += 1; return count; };
  return { section: document.querySelector("#panel-now dd").textContent, build: document.querySelector("#panel-now h3").textContent,
    chunks: [...document.querySelectorAll("#panel-now ul.chunks li")].map((one) => [depth(one.parentElement), own(one)]) };
});
await page.setViewport({ width: 1280, height: 800 });
async function choose(ref) {
  for (const row of await page.$$("#panel-records .ref")) if ((await row.evaluate((node) => node.textContent)) === ref) { await row.focus(); break; }
  await press("Enter");
}
// The records: orders, search, a record.
await view("records");
found.counts.push(await text("#count"));
for (const order of ["importance", "record", "edges"]) {
  await page.evaluate((name) => [...document.querySelectorAll("#panel-records th button")].find((one) => one.textContent.startsWith(name)).focus(), order);
  await press("Enter");
  found.orders[order] = [await page.$eval("#panel-records th[aria-sort]", (head) => head.getAttribute("aria-sort")), await text("#panel-records td .ref")];
}
await search("hostile");
found.counts.push(await text("#count"));
await choose("failure/hostile");
found.record = (await text("#record h2")) + (await text("#record dl"));
await check("record");
await press("Escape");
await search("");
// The strongest explanation.
async function open(ref, button) {
  await view("records");
  await choose(ref);
  if (button) {
    await page.evaluate((name) => [...document.querySelectorAll("#record button")].find((one) => one.textContent === name).focus(), button);
    await press("Enter");
  }
  await press("Escape");
}
await open("pattern/key", "Explain from here");
await open("failure/gone", "Explain to here");
found.path = await text("#path");
await open("failure/gone");
found.focus = await focused();
// The tree: the keys of the ARIA Authoring Practices, one stop of the Tab key.
await view("tree");
const label = () => page.evaluate(() => document.activeElement.textContent.trim());
found.tree.kinds = await page.$$eval("[aria-level='1']", (nodes) => nodes.map((node) => node.textContent.trim()));
await page.focus("[role=treeitem][tabindex='0']");
await press("End", "Home", "ArrowDown", "ArrowRight", "ArrowRight");
found.tree.first = await label();
await press("ArrowRight", "ArrowRight");
found.tree.relation = await label();
found.tree.level = await page.evaluate(() => ["level", "posinset", "setsize"].map((name) => document.activeElement.getAttribute(`aria-${name}`)));
await check("tree");
await press("Enter");
found.tree.opened = await text("#record h2");
await press("Escape");
found.tree.back = await label();
await press("ArrowLeft", "ArrowLeft");
found.tree.closed = await page.evaluate(() => [document.activeElement.textContent.trim(), document.activeElement.getAttribute("aria-expanded")]);
await press("ArrowLeft");
found.tree.up = await label();
await press("t");
found.tree.typed = await label();
await search("hostile");
await page.select("#kind", "failure");
found.tree.filtered = await page.$$eval("[aria-level='1']", (nodes) => nodes.map((node) => node.textContent.trim()));
found.tree.stops = await page.$$eval("[role=treeitem][tabindex='0']", (nodes) => nodes.length);
await search("");
await page.select("#kind", "");
// The campaigns: the order of the Tab key is that of the picture.
await view("campaigns");
found.tasks = await page.$$eval(".task", (nodes) => nodes.map((node) => [".status", ".name"].map((part) => node.querySelector(part).textContent).join(" ")));
await page.focus(".wide");
await press("Tab", "Enter");
found.opened = await text("#record h2");
await press("Escape");
found.layouts = await page.evaluate(() => { // of plans made by chance: no arrow leads back, and no task is lost
  let seed = 7, backwards = 0, lost = 0;
  const chance = (most) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor(seed / 65536) % most; };
  for (let turn = 0; turn < 200; turn += 1) {
    const number = 1 + chance(30), edges = [];
    for (let edge = 0; edge < 2 * number; edge += 1) { const a = chance(number), b = chance(number); if (a < b) edges.push([a, b]); }
    const layers = dag.layout(number, edges), at = new Map(layers.flatMap((nodes, column) => nodes.map((node) => [node, column])));
    lost += number - at.size;
    backwards += edges.filter(([from, to]) => at.get(from) >= at.get(to)).length;
  }
  const [, second, third] = dag.layout(6, [[0, 3], [1, 2], [2, 5], [3, 4]]); // two chains that cross in the order of their numbers
  const crossing = second.indexOf(3) === third.indexOf(4) ? 0 : 1;
  return { backwards, lost, crossing, circle: dag.layout(3, [[0, 1], [1, 2], [2, 1]]) };
});
// The health: each plot has its numbers, and a mark for each of them.
await view("health");
const figures = await page.$$eval("#panel-health figure", (nodes) => nodes.map((node) => [node.querySelector("h3").textContent,
  [...node.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent).filter(Boolean)),
  [".columns .full", ".columns .hollow"].map((mark) => node.querySelectorAll(mark).length), node.querySelectorAll("svg.columns").length]));
found.numbers = Object.fromEntries(figures.filter(([name]) => !/^(Records|Importance|How)/.test(name)).map(([name, rows]) => [name, rows]));
found.drawn = Object.fromEntries(figures.filter((one) => one[3]).map(([name, , marks]) => [name, marks]));
// Who wants no motion sees none: the picture is the same after two frames and later.
await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }, { name: "prefers-color-scheme", value: "light" }]);
await view("graph");
await page.mouse.move(640, 500);
await page.mouse.wheel({ deltaY: -300 });
const picture = async () => (await page.screenshot({ encoding: "base64" }));
for (let frame = 0; frame < 4; frame += 1) await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
const early = await picture();
await new Promise((done) => setTimeout(done, 400));
found.moves = early !== (await picture());
found.title = await page.title();
await end();
