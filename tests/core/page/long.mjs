// Lists of a page in Chromium that are longer than what is drawn at once, by keyboard; and where the page begins.
import { browse } from "./browser.mjs";

const { page, found, check, end } = await browse(process.argv[2]);
const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
const focused = () => page.evaluate(() => document.activeElement.textContent.trim().split(/\s/)[0]);
const rows = () => page.$$eval("#panel-records tbody tr", (nodes) => nodes.length);
const more = (list) => page.$$eval(`${list} button`, (nodes) => nodes.filter((one) => one.textContent.startsWith("Show")).map((one) => one.textContent));
const choose = (name) => page.evaluate((view) => document.getElementById(`tab-${view}`).click(), name);
found.nodes = await page.evaluate(() => document.querySelectorAll("*").length);
await choose("records");
found.rows = [[await rows(), ...await more("#panel-records")]];
await check("records");
for (let turn = 0; turn < 2; turn += 1) {
  await page.evaluate(() => [...document.querySelectorAll("#panel-records button")].find((one) => one.textContent.startsWith("Show")).focus());
  await press("Enter");
  found.rows.push([await rows(), await focused(), ...await more("#panel-records")]);
}
await page.focus("#search");
await page.keyboard.type("broke");
found.searched = [await rows(), ...await more("#panel-records")];
await choose("tree");
await page.focus("[role=treeitem][tabindex='0']");
await press("ArrowRight", "ArrowDown");
const items = () => page.$$eval("[role=treeitem][aria-level='2']", (nodes) => [nodes.length, nodes.at(-1).textContent.trim()]);
found.tree = [await items()];
await press("End", "Enter");
found.tree.push([...await items(), await focused(), await page.evaluate(() => document.activeElement.getAttribute("aria-posinset"))]);
found.top = [];
for (const place of ["panel-now", "events", "unsolved-less"]) {
  await page.goto("about:blank");
  await page.goto(`file://${process.argv[2]}#${place}`);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  found.top.push(await page.evaluate(() => scrollY));
}
await end();
