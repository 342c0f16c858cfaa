// Looks at a page of `graphmem view` in Chromium, by keyboard, and prints what is there as JSON.
import fs from "node:fs";
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const axe = fs.readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const browser = await puppeteer.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell" });
const page = await browser.newPage();
const found = { errors: [], requests: [], views: {}, counts: [], violations: [] };
page.on("console", (said) => { if (["error", "warn"].includes(said.type())) found.errors.push(said.text()); });
page.on("pageerror", (error) => found.errors.push(error.message));
page.on("request", (request) => found.requests.push(request.url()));
await page.goto(`file://${process.argv[2]}`);
const session = await page.createCDPSession();
const { frameTree } = await session.send("Page.getFrameTree");
const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
await session.send("Runtime.evaluate", { expression: axe, contextId }); // in a world of its own: the page lets no other script in
async function check(name) {
  const expression = `axe.run(document).then((done) => JSON.stringify(done.violations.filter((one) =>
    ["serious", "critical"].includes(one.impact)).map((one) => [one.id, one.nodes[0].html])))`;
  const { result } = await session.send("Runtime.evaluate", { expression, contextId, awaitPromise: true });
  for (const one of JSON.parse(result.value)) found.violations.push([name, ...one]);
}
const text = (selector) => page.$eval(selector, (node) => node.textContent);
for (const scheme of ["light", "dark"]) {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.focus("#tab-now");
  for (const name of ["now", "records", "graph", "campaigns"]) {
    found.views[name] = name === "graph" ? ((await page.$("#drawing canvas")) ? "canvas" : "") : await text(`#panel-${name} h2`);
    await check(`${scheme} ${name}`);
    await page.keyboard.press("ArrowRight");
  }
}
found.counts.push(await text("#count"));
await page.focus("#tab-now");
await page.keyboard.press("ArrowRight");
await page.focus("#search");
await page.keyboard.type("onerror");
found.counts.push(await text("#count"));
await page.focus("#panel-records button");
await page.keyboard.press("Enter");
found.record = (await text("#record h2")) + (await text("#record dl"));
await check("record");
await page.keyboard.press("Escape");
await page.focus("#search");
for (let sign = 0; sign < 7; sign += 1) await page.keyboard.press("Backspace");
async function open(ref, button) {
  await page.evaluate((name) => document.getElementById("tab-records").click(), ref);
  const rows = await page.$$("#panel-records .ref");
  for (const row of rows) if ((await row.evaluate((node) => node.textContent)) === ref) { await row.focus(); break; }
  await page.keyboard.press("Enter");
  await page.evaluate((name) => [...document.querySelectorAll("#record button")].find((one) => one.textContent === name).focus(), button);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
}
await open("pattern/key", "Explain from here");
await open("failure/gone", "Explain to here");
found.path = await text("#path");
await page.evaluate(() => document.getElementById("tab-records").click());
const gone = (await page.$$("#panel-records .ref"));
for (const row of gone) if ((await row.evaluate((node) => node.textContent)) === "failure/gone") await row.focus();
await page.keyboard.press("Enter");
await page.keyboard.press("Escape");
found.focus = await page.evaluate(() => document.activeElement.textContent);
found.title = await page.title();
console.log(JSON.stringify(found));
await browser.close();
