// Takes the pictures of the docs: `node pictures.mjs PAGE FOLDER`; prints what went wrong in the page.
import { browse } from "./browser.mjs";

const [file, folder] = process.argv.slice(2);
const { page, end } = await browse(file);
const choose = (name) => page.evaluate((view) => document.getElementById(`tab-${view}`).click(), name);
const take = (name) => page.screenshot({ path: `${folder}/view-${name}.png` });

await page.setViewport({ width: 1100, height: 760 });
await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
await take("now");
const explain = async (ref, which) => {
  await choose("records");
  await page.focus("#search");
  await page.$eval("#search", (input, text) => { input.value = text; input.dispatchEvent(new Event("input")); }, ref);
  await page.evaluate((wanted) => [...document.querySelectorAll("#panel-records td .ref")].find((one) => one.textContent === wanted).click(), ref);
  await page.evaluate((wanted) => [...document.querySelectorAll("#record button")].find((one) => one.textContent === wanted).click(), which);
  await page.keyboard.press("Escape");
};
await explain("pattern/carefully-control-access-to-physical-log-files", "Explain from here");
await explain("failure/stored-xss", "Explain to here");
await page.$eval("#search", (input) => { input.value = ""; input.dispatchEvent(new Event("input")); });
await page.select("#relation", "causes");
await choose("graph");
await page.waitForFunction(() => document.querySelector("#drawing canvas"));
await new Promise((done) => setTimeout(done, 500));
await page.evaluate(() => document.activeElement.blur());
await take("graph");
await page.select("#relation", "");
for (const name of ["records", "tree", "campaigns", "health"]) {
  await choose(name);
  if (name === "tree") await page.evaluate(() => document.querySelectorAll("#panel-tree [role=treeitem] .twist")[2].click());
  await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
  await take(name);
}
await end();
