// The graph of a page in Chromium: what it labels, what it leaves out, and how two records hang together.
import { browse } from "./browser.mjs";

const { page, found, check, end } = await browse(process.argv[2]);
const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
await page.setViewport({ width: 1500, height: 900 });
await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
await page.evaluate(() => { // the labels of the last picture, as they are drawn
  window.labels = [];
  const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function clear(...box) { if (this.canvas.className.includes("labels")) window.labels = []; return clearRect.apply(this, box); };
  CanvasRenderingContext2D.prototype.fillText = function draw(text, x, y) {
    if (this.canvas.className.includes("labels")) window.labels.push({ text, x, y, wide: this.measureText(text).width });
    return fillText.call(this, text, x, y);
  };
  document.getElementById("tab-graph").click();
});
const drawn = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))).then(() => page.evaluate(() => window.labels));
const said = () => page.$eval("#path", (node) => node.textContent);
const overlaps = (all) => all.flatMap((one, at) => all.slice(0, at).filter((other) => one.x < other.x + other.wide && other.x < one.x + one.wide && Math.abs(one.y - other.y) < 13)).length;
await drawn();
const far = await drawn();
await page.focus("#drawing");
await press("+", "+", "+", "+");
const near = await drawn();
found.labels = { first: far.slice(0, 2).map((one) => one.text), some: far.length > 5, overlaps: overlaps(far) + overlaps(near), twice: far.length - new Set(far.map((one) => one.text)).size, more: near.some((one) => !far.some((other) => other.text === one.text)),
  alone: [...far, ...near].filter((one) => one.text.includes("alone")).length };
await press("0");

// What has no edge is in a list, and is opened from there.
found.summary = await page.$eval("#alone summary", (node) => node.textContent);
await page.focus("#alone summary");
await press("Enter");
await check("list");
found.alone = await page.$$eval("#alone tbody .ref", (nodes) => nodes.map((node) => node.textContent));
await page.focus("#alone tbody .ref");
await press("Enter");
found.opened = await page.$eval("#record h2", (node) => node.textContent);
await press("Escape");
const search = async (text) => { await page.$eval("#search", (input, words) => { input.value = words; input.dispatchEvent(new Event("input")); }, text); return (await drawn()).map((one) => one.text); };
found.searched = [await search("nothing with"), (await search("root")).length, (await search("")).length > 5];

// A click on a record, then one on another, says how they hang together.
async function click(ref) { // the record is left or right of its label
  const { x, y, wide } = (await drawn()).find((one) => one.text === ref), box = await (await page.$("#drawing")).boundingBox();
  for (const at of [x - 5, x + wide + 5]) {
    await page.mouse.click(box.x + at, box.y + y - 4);
    await new Promise((done) => setTimeout(done, 400)); // another click before is a double one, which zooms
    if (await page.$eval("#record", (node, wanted) => !node.hidden && node.querySelector("h2").textContent === wanted, ref)) return;
  }
}
await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
await click("pattern/hub");
found.one = await said();
await click("failure/root");
found.two = await said();
await check("path");
await press("Escape");
const marked = (await drawn()).slice(0, 3).map((one) => one.text).sort();
found.marked = marked;
await page.evaluate(() => [...document.querySelectorAll("#path button")].find((one) => one.textContent === "Hide the path").focus());
await press("Enter");
found.hidden = [await said(), await page.evaluate(() => document.activeElement.id)];

// The strongest path between any two records, by the edges that the page has.
found.paths = await page.evaluate(async (refs) => {
  const { parts } = window.graphmem, found = {};
  for (const one of refs) for (const other of refs) if (one < other) found[`${one} ${other}`] = (await parts.path(one, other) || []).map(({ from, type, weight, to }) => [from, type, weight, to]);
  return found;
}, process.argv.slice(3));
await end();
