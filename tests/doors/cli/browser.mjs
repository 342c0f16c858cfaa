// A page of `graphmem view` in Chromium: what it says, asks for and looks like, and what axe finds in it.
import fs from "node:fs";
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

export const VIEWS = ["now", "records", "tree", "graph", "campaigns", "health"];

export async function browse(file) {
  const axe = fs.readFileSync("node_modules/axe-core/axe.min.js", "utf8");
  const browser = await puppeteer.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell" });
  const page = await browser.newPage();
  const found = { errors: [], requests: [], violations: [] };
  // A screenshot reads the pixels of the graph, of which Chromium complains.
  page.on("console", (said) => { if (["error", "warn"].includes(said.type()) && !said.text().includes("ReadPixels")) found.errors.push(said.text()); });
  page.on("pageerror", (error) => found.errors.push(error.message));
  page.on("request", (request) => found.requests.push(request.url()));
  await page.goto(`file://${file}`);
  const session = await page.createCDPSession();
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  await session.send("Runtime.evaluate", { expression: axe, contextId }); // in a world of its own: the page lets no other script in
  async function check(name) {
    const expression = "axe.run(document).then((done) => JSON.stringify(done.violations.map((one) => [one.id, one.impact, one.nodes[0].html])))";
    const { result } = await session.send("Runtime.evaluate", { expression, contextId, awaitPromise: true });
    for (const one of JSON.parse(result.value)) found.violations.push([name, ...one]);
  }
  async function end() {
    console.log(JSON.stringify(found));
    await browser.close();
  }
  return { page, found, check, end };
}
