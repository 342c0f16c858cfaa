// Looks at the page of an empty memory, and prints as JSON what each view says to do.
import { VIEWS, browse } from "./browser.mjs";

const { page, found, check, end } = await browse(process.argv[2]);
found.commands = {};
for (const name of VIEWS) {
  await page.evaluate((view) => document.getElementById(`tab-${view}`).click(), name);
  found.commands[name] = await page.$$eval(`#panel-${name} .empty code`, (nodes) => nodes.map((node) => node.textContent.replace("graphmem ", "")));
  await check(name);
}
await end();
