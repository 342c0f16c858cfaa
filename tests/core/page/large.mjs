// A memory of more records than are fetched first: what waits is there before all of it, and after each action at once.
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const [address] = process.argv.slice(2);
const browser = await puppeteer.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell" });
const page = await browser.newPage(), found = { asked: [], counts: [], awake: 0 };
page.setDefaultTimeout(15000);
process.on("uncaughtException", async (error) => { console.error(error.stack, found); process.exit(1); });
page.on("request", (one) => { if (one.url().endsWith("/v1/view")) found.asked.push(JSON.parse(one.postData()).most || "all"); });
await page.evaluateOnNewDocument(() => { // the minutes after which an open page asks again are over at once, when they are asked for
  window.setInterval = (run) => { window.later = run; };
  new MutationObserver(() => {
    const text = document.getElementById("count")?.textContent;
    if (text) { window.seen = window.seen || []; if (window.seen.at(-1) !== text) window.seen.push(text); }
  }).observe(document, { childList: true, subtree: true, characterData: true });
});
const counts = (wanted) => page.waitForFunction((text) => document.getElementById("count").textContent.startsWith(text), {}, wanted);
await page.setViewport({ width: 800, height: 250 }); // so low that the first candidate, which has the focus, is below
await page.goto(address);
await counts("601 of 601");
found.counts = await page.evaluate(() => window.seen);
found.first = found.asked.splice(0);
found.top = await page.evaluate(() => [document.activeElement.id.split("-")[0], scrollY, document.getElementById("project").getBoundingClientRect().top >= 0]);
await page.keyboard.press("a");
await page.waitForFunction(() => document.getElementById("said").textContent.startsWith("accepted"));
found.acted = found.asked[0];
found.left = await page.$$eval("#panel-now article", (all) => all.length);
await counts("603 of 603");
found.asked.splice(0);
await page.evaluate(() => window.later());
await page.waitForResponse((one) => one.url().endsWith("/v1/view"));
found.awake = found.asked.length;
console.log(JSON.stringify(found));
await browser.close();
