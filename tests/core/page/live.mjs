// Works with the page that `graphmem view` serves in Chromium, by keyboard, and prints what is there as JSON.
import fs from "node:fs";
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const [address, readToken] = process.argv.slice(2);
const { origin, hash } = new URL(address), token = new URLSearchParams(hash.slice(1)).get("token");
const axe = fs.readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const browser = await puppeteer.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell" });
const found = { errors: [], urls: [], said: [], violations: [] };
let losing = true;
const page = await browser.newPage();
page.on("console", (said) => { if (["error", "warn"].includes(said.type())) found.errors.push(said.text()); });
page.on("pageerror", (error) => found.errors.push(error.message));
page.on("request", (request) => found.urls.push(request.url()));
async function check(name) {
  const session = await page.createCDPSession();
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  await session.send("Runtime.evaluate", { expression: axe, contextId });
  for (const scheme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    const expression = `axe.run(document).then((done) => JSON.stringify(done.violations.filter((one) =>
      ["serious", "critical"].includes(one.impact)).map((one) => [one.id, one.nodes[0].html])))`;
    const { result } = await session.send("Runtime.evaluate", { expression, contextId, awaitPromise: true });
    for (const one of JSON.parse(result.value)) found.violations.push([name, scheme, ...one]);
  }
}
const text = (selector) => page.$eval(selector, (node) => node.textContent);
const waiting = (number) => page.waitForFunction((wanted) => document.querySelectorAll("#panel-now article").length === wanted, {}, number);
const post = (name, body, given = token) => fetch(`${origin}/v1/${name}`, { method: "POST", body: JSON.stringify(body), headers: { Authorization: `Bearer ${given}`, "Content-Type": "application/json" } });
const active = () => page.evaluate(() => document.activeElement.id || document.activeElement.name || document.activeElement.textContent);
const heading = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
// At once: the page may be drawn again between a look for an element and its focus, and then that is gone.
const focus = (selector) => page.evaluate((wanted) => document.querySelector(wanted).focus(), selector);
const said = async (about) => {
  await page.waitForFunction((part) => document.getElementById("said").textContent.startsWith(part), {}, about);
  found.said.push(await text("#said"));
};

page.setDefaultTimeout(10000);
process.on("uncaughtException", async (error) => { console.error(error.stack.split("\n").at(-1), found, await page.evaluate(() => document.body.innerText.slice(0, 1500))); process.exit(1); });
await page.goto(address);
await waiting(5);
found.address = await page.evaluate(() => location.href);
await check("now");
const order = [await heading()];
for (const key of ["j", "ArrowDown", "k", "ArrowUp"]) { await page.keyboard.press(key); order.push(await heading()); }
found.order = order;
await page.keyboard.press("a");
await waiting(4);
await said("accepted");
found.next = await heading();
await page.keyboard.press("d");
await page.keyboard.type("a dead end"); // each of its letters is a key elsewhere
await check("form");
await page.keyboard.press("Enter");
await waiting(3);
await said("dismissed");
await page.keyboard.press("e");
await page.keyboard.type("half");
await post("failures/add", { trigger: "it came meanwhile", name: "meanwhile" });
await post("events/add", { type: "lunch" });
await page.waitForFunction(() => document.getElementById("panel-now").textContent.includes("it came meanwhile") && document.getElementById("panel-now").textContent.includes("lunch"));
await page.keyboard.type(" a word");
found.typed = await page.evaluate(() => [document.activeElement.name, document.activeElement.value]);
await page.keyboard.press("Escape");
found.escaped = await heading();
await page.keyboard.press("e");
for (const press of ["Tab", "Tab"]) await page.keyboard.press(press);
await page.keyboard.down("Control");
await page.keyboard.press("a");
await page.keyboard.up("Control");
await page.keyboard.type("wait for it");
await page.keyboard.press("Tab");
await page.keyboard.type("edited");
await page.keyboard.press("Enter");
await waiting(2);
await said("accepted");
await page.keyboard.press("e");
await focus("input[name=into]");
await page.keyboard.type("failure/nothing");
await page.keyboard.press("Enter");
await page.waitForFunction(() => document.getElementById("failed").textContent);
found.refused = await text("#failed");
await page.keyboard.press("Escape");
await page.keyboard.press("?");
found.keys = await page.$eval("#keys", (node) => !node.hidden);
await page.keyboard.press("u");
await page.waitForFunction(() => document.activeElement.textContent === "Take it back");
found.back = await text("#back p");
await page.keyboard.press("Enter");
await waiting(3);
await said("taken back");

await page.setRequestInterception(true); // the answer to what is added is lost once
page.on("request", async (request) => {
  if (!request.url().endsWith("/inbox/add") || !losing) return request.continue();
  losing = false;
  const { authorization, "idempotency-key": key } = request.headers();
  await fetch(request.url(), { method: "POST", body: request.postData(), headers: { authorization, "content-type": "application/json", "idempotency-key": key } });
  await request.abort();
});
await focus("#add-item input");
await page.keyboard.type("a dark mode");
await page.keyboard.press("Enter");
await said("added");
found.errors = found.errors.filter((one) => !/ERR_FAILED|status of 404/.test(one)); // what was lost, and refused, as the browser says
await page.waitForFunction(() => document.querySelector("span[id^=item-] button"));
await focus("span[id^=item-] button");
await page.keyboard.press("Enter");
await said("done");

await page.evaluate(() => document.getElementById("tab-records").click());
await focus("#search");
await page.keyboard.type("meanwhile");
await focus("#panel-records td button");
await page.keyboard.press("Enter");
for (const name of ["Why it is here", "History"]) {
  await page.evaluate((wanted) => [...document.querySelectorAll("#record summary")].find((one) => one.textContent === wanted).focus(), name);
  await page.keyboard.press("Enter");
}
await page.waitForFunction(() => document.querySelectorAll("#record details table").length === 3);
await focus("#record details input");
await page.keyboard.type("meanwhile");
await page.keyboard.press("Enter");
await page.waitForFunction(() => /place 1 of/.test(document.getElementById("record").textContent));
await check("record");
await page.evaluate(() => [...document.querySelectorAll("#record .act")].find((one) => one.textContent === "It helped").focus());
await page.keyboard.press("Enter");
await said("reported");
await page.waitForFunction(() => document.querySelector("#record details table").textContent.includes("helped"));
found.stays = [await active(), await page.$eval("#search", (node) => node.value), await text("#count")];

await page.reload();
await waiting(3);
found.reloaded = await page.evaluate(() => [location.href, document.querySelectorAll("#panel-now .act").length > 0]);
await page.goto(`${origin}/view#token=${readToken}`);
await page.waitForFunction(() => /may only read/.test(document.body.textContent) && !document.querySelector(".act"));
await page.keyboard.press("a");
await waiting(3);
const before = found.errors.length;
for (const [name, where] of [["wrong", `${origin}/view#token=wrong`], ["none", `${origin}/view`]]) {
  await page.goto(where);
  await page.waitForSelector("main > h2");
  found[name] = await text("main");
  await check(name);
}
found.errors = [...found.errors.slice(0, before), ...found.errors.slice(before).filter((one) => !/status of 401/.test(one))];
found.title = await page.title();
console.log(JSON.stringify(found));
await browser.close();
