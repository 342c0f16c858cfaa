// What stays in the page that `graphmem view` serves, and what comes, while others write and answers are late or lost.
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const [address] = process.argv.slice(2);
const { origin, hash } = new URL(address), token = new URLSearchParams(hash.slice(1)).get("token");
const browser = await puppeteer.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell" });
const page = await browser.newPage(), found = { tree: [], health: [], shut: [] };
page.setDefaultTimeout(15000);
process.on("uncaughtException", async (error) => { console.error(error.stack, found); process.exit(1); });
const post = async (name, body, key) => {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...(key ? { "Idempotency-Key": key } : {}) };
  return (await fetch(`${origin}/v1/${name}`, { method: "POST", body: JSON.stringify(body), headers })).json();
};
const said = (part) => page.waitForFunction((wanted) => document.getElementById("said").textContent.startsWith(wanted), {}, part);
const view = (name) => page.evaluate((wanted) => document.getElementById(`tab-${wanted}`).click(), name);
const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
const active = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim());
const WORDS = ["wheel", "door", "lamp", "pump", "roof", "sink", "gate"];
let number = 0;
async function comes() { // another failure, that the page shows
  const before = await page.$eval("#count", (node) => node.textContent);
  await post("failures/add", { trigger: `the ${WORDS[number]} fell off`, name: `a-${WORDS[number]}` });
  number += 1;
  await page.waitForFunction((old) => document.getElementById("count").textContent !== old, {}, before);
}
await page.setViewport({ width: 1000, height: 500 });
await page.goto(address);
await page.waitForSelector("#less");

// What is folded out, focused and scrolled to stays.
await page.evaluate(() => { document.getElementById("less").open = true; const last = [...document.querySelectorAll("#less .ref")].at(-1); last.focus(); last.scrollIntoView(); });
const spot = () => page.evaluate(() => [document.getElementById("less").open, document.activeElement.textContent, scrollY > 500]);
found.less = [await spot()];
await comes();
found.less.push(await spot());
await view("health");
await page.evaluate(() => { for (const one of document.querySelectorAll("#panel-health details")) one.open = true; document.querySelectorAll("#panel-health summary")[1].focus(); });
const folded = () => page.evaluate(() => { const all = [...document.querySelectorAll("#panel-health details")]; return [all.every((one) => one.open), all.findIndex((one) => one.contains(document.activeElement))]; });
found.health.push(await folded());
await comes();
found.health.push(await folded());
await view("campaigns");
await page.$eval(".wide", (node) => { node.scrollLeft = 150; node.focus(); });
await comes();
found.wide = await page.evaluate(() => [document.activeElement.className, document.activeElement.scrollLeft]);
await view("tree");
await page.focus("[role=treeitem]");
await press("p", "ArrowRight", "ArrowDown", "ArrowRight");
const branches = () => page.evaluate(() => [[...document.querySelectorAll("[aria-expanded=true]")].map((one) => one.textContent.trim()), document.activeElement.textContent.trim()]);
found.tree.push(await branches());
await comes();
found.tree.push(await branches());
await press("ArrowUp");
found.up = await active();

// The focus goes back from a record, also where what was focused is drawn again, or is in another view.
await view("records");
await page.evaluate(() => [...document.querySelectorAll("#panel-records td .ref")].find((one) => one.textContent === "pattern/key").focus());
await press("Enter");
await comes();
await press("Escape");
found.shut.push(await active());
await press("Enter");
await page.evaluate(() => [...document.querySelectorAll("#record button")].find((one) => one.textContent === "Explain from here").focus());
await press("Enter", "Escape");
found.shut.push(await active());

// The strongest path is that of `graphmem path`.
await view("records");
const explain = (ref, which) => page.evaluate((wanted, name) => {
  [...document.querySelectorAll("#panel-records td .ref")].find((one) => one.textContent === wanted).click();
  [...document.querySelectorAll("#record button")].find((one) => one.textContent === name).click();
}, ref, which);
await explain("pattern/key", "Explain from here");
await explain("failure/mill", "Explain to here");
await page.waitForFunction(() => document.getElementById("path").textContent.includes("strength"));
found.path = await page.$eval("#path", (node) => node.textContent);
await press("Escape");
await view("records");

// Who types "trigger" looks for the word, not for the field; and a quoted text is found.
await page.focus("#search");
await page.keyboard.type("trigger");
found.counts = [await page.$eval("#count", (node) => node.textContent)];
await page.$eval("#search", (input) => { input.value = "\"no key\""; input.dispatchEvent(new Event("input")); });
found.counts.push(await page.$eval("#count", (node) => node.textContent));
await page.$eval("#search", (input) => { input.value = ""; input.dispatchEvent(new Event("input")); });

// What another process does with candidates is shown; what is said of one is in sight, and its evidence is there.
await view("now");
found.candidate = await page.$eval("#panel-now article", (node) => node.textContent);
const ids = await page.$$eval("#panel-now article", (nodes) => nodes.map((node) => node.id));
await post("candidates/dismiss", { id: ids[1].replace("candidate-", "") });
await page.waitForFunction(() => document.querySelectorAll("#panel-now article").length === 2);
await page.evaluate(() => { const all = document.querySelectorAll("#panel-now article"); all[1].focus(); });
await press("a");
await said("accepted");
found.inSight = await page.$eval("#said", (node) => { const { top, bottom } = node.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; });

// An answer that is lost each time, and the same again: it is carried out once.
let mode = "lost", late = null, keys = new Set();
await page.setRequestInterception(true);
page.on("request", async (request) => {
  const name = new URL(request.url()).pathname;
  if (name === "/v1/inbox/add") keys.add(request.headers()["idempotency-key"]);
  if (mode === "lost" && name === "/v1/inbox/add") {
    await post("inbox/add", JSON.parse(request.postData()), request.headers()["idempotency-key"]);
    return request.abort();
  }
  if (mode === "late" && name === "/v1/view" && !late) { // its answer is what was there before, and comes last
    late = { request, answer: fetch(request.url(), { method: "POST", body: "{}", headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" } }).then((one) => one.text()) };
    await late.answer;
    return undefined;
  }
  return request.continue();
});
await page.focus("#add-item input");
await page.keyboard.type("once");
await press("Enter");
await page.waitForFunction(() => document.getElementById("failed").textContent);
found.lost = await page.$eval("#failed", (node) => node.textContent);
mode = "";
await press("Enter");
await said("added");
found.keys = keys.size;
await page.keyboard.type("once");
await press("Enter");
await page.waitForFunction(() => [...document.querySelectorAll("span[id^=item-]")].length === 2);
found.again = keys.size;

// An answer that is late changes nothing that is newer.
mode = "late";
await post("failures/add", { trigger: "the first of two", name: "first" });
while (!late) await new Promise((done) => setTimeout(done, 50));
const old = await late.answer;
await comes();
await late.request.respond({ status: 200, contentType: "application/json", body: old, headers: { "Graphmem-May": "write", ETag: "\"old\"" } });
await new Promise((done) => setTimeout(done, 300));
found.newest = await page.evaluate((name) => document.getElementById("panel-now").textContent.includes(name), `a-${WORDS[number - 1]}`);

// The keys of the picture.
await view("graph");
await page.focus("#drawing");
const picture = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))).then(() => page.screenshot({ encoding: "base64" }));
found.pictures = [await picture()];
for (const key of ["ArrowLeft", "+", "0"]) { await press(key); found.pictures.push(await picture()); }
found.pictures = [found.pictures[1] !== found.pictures[0], found.pictures[2] !== found.pictures[1], found.pictures[3] === found.pictures[0]];

// What nobody sees is shown as its code, and what belongs to a word or a picture stays.
found.visible = await page.evaluate(() => ["\u061c", "\u{e0041}", "\u2028", "\u202e", "\u{1f469}\u200d\u{1f692}", "\u2764\ufe0f", "1\ufe0f\u20e3", "\u0645\u06cc\u200c\u062e", "a\u200db", "1\ufe0f"].map(window.graphmem.visible));
console.log(JSON.stringify(found));
await browser.close();
