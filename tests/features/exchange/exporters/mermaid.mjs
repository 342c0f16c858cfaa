// Prints what Mermaid's own parser finds in each of the files that are named: its nodes and its edges, as JSON.
import fs from "node:fs";
import { JSDOM } from "jsdom";

globalThis.window = new JSDOM("<body></body>").window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");
mermaid.initialize({ startOnLoad: false });
for (const file of process.argv.slice(2)) {
  const text = fs.readFileSync(file, "utf8");
  await mermaid.parse(text);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  const nodes = [...db.getVertices().values()].map((node) => [node.id, node.text]);
  const edges = db.getEdges().map((edge) => [edge.start, edge.text, edge.end]);
  console.log(JSON.stringify({ nodes, edges }));
}
