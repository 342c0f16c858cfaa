// Prints for each page, as JSON, the milliseconds from its address to the first picture of the graph, and of one step of zooming.
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell" });
const times = [];
for (const file of process.argv.slice(2)) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1200, height: 800 });
  const frame = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const begun = performance.now();
  await page.goto(`file://${file}`);
  if (await page.$("#tab-graph")) await page.click("#tab-graph");
  await page.waitForSelector("#drawing canvas");
  await frame();
  const first = performance.now() - begun;
  await page.mouse.move(600, 450);
  const steps = [];
  for (let step = 0; step < 5; step += 1) {
    const at = performance.now();
    await page.mouse.wheel({ deltaY: -100 });
    await frame();
    steps.push(performance.now() - at);
  }
  times.push([first, steps.sort((a, b) => a - b)[2]]);
  await page.close();
}
console.log(JSON.stringify(times));
await browser.close();
