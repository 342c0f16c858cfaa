// Prints for each page, as JSON, the milliseconds from its address to the first picture of the graph, and of one step of zooming.
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell" });
const ROUNDS = 3;
const files = process.argv.slice(2), times = files.map(() => ({ first: [], steps: [] }));
const middle = (found) => found.sort((a, b) => a - b)[Math.floor(found.length / 2)];
for (let round = 0; round < ROUNDS; round += 1) { // in turns: what else the machine does is the same for each
  for (const [at, file] of files.entries()) {
    const page = await browser.newPage();
    await page.setViewport({ width: 1200, height: 800 });
    const frame = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const begun = performance.now();
    await page.goto(`file://${file}`);
    if (await page.$("#tab-graph")) await page.click("#tab-graph");
    await page.waitForSelector("#drawing canvas");
    await frame();
    times[at].first.push(performance.now() - begun);
    await page.mouse.move(600, 450);
    for (let step = 0; step < 5; step += 1) {
      const now = performance.now();
      await page.mouse.wheel({ deltaY: -100 });
      await frame();
      times[at].steps.push(performance.now() - now);
    }
    await page.close();
  }
}
console.log(JSON.stringify(times.map((one) => [middle(one.first), middle(one.steps)])));
await browser.close();
