"""
How long a page of 10,000 records takes beside sigma alone: ``python -m tests.bench.page``.

Both pages have the same records at the same places; the other one only draws them. Chromium draws in software where
there is no graphics card. It needs npm, and fetches a browser from its registry.
"""

import random
import tempfile
from pathlib import Path

from graphmem.core.page.drawing import drawn
from graphmem.core.page.operations import DrawnEdge, DrawnRecord, PageData
from graphmem.core.page.render import FILES, IN_HTML, SCRIPTS, page_of
from tests.npm import in_chromium
from tests.sample import open_memory

RECORDS, EDGES = 10_000, 20_000
BARE = """<!doctype html><meta charset="utf-8"><title>sigma</title>
<div id="drawing" style="height: 70vh"></div><script type="application/json" id="data">{data}</script>
<script>{graphology}</script><script>{sigma}</script><script>
const data = JSON.parse(document.getElementById("data").textContent), graph = new graphology.MultiGraph();
data.records.forEach((one, place) => graph.addNode(place, {{ x: one.x, y: one.y, size: 3, label: one.ref }}));
data.edges.forEach((edge, number) => graph.addEdgeWithKey(number, edge.source, edge.target));
window.drawing = new Sigma(graph, document.getElementById("drawing"));
</script>"""


def large() -> PageData:
    """Return a page of many records, each with two edges to others on average."""
    chance = random.Random(1)
    edges = [(chance.randrange(RECORDS), chance.randrange(RECORDS)) for _ in range(EDGES)]
    records = [
        DrawnRecord(
            ref=f"failure/f{n}",
            kind="failure",
            title=f"error {n} of the shop",
            x=x,
            y=y,
            importance=n % 40 / 10,
            fields={"fix": "wait"},
        )
        for n, (x, y) in enumerate(drawn(RECORDS, edges))
    ]
    made = [DrawnEdge(source=a, target=b, type="causes", weight=1.0) for a, b in edges]
    with tempfile.TemporaryDirectory() as folder, open_memory(Path(folder)) as memory:
        health = memory.stats()
    return PageData(project="large", records=records, edges=made, unsolved=[], health=health)


def main() -> None:
    """Measure both pages, and print the times in milliseconds."""
    data = large()
    parts = {name: (FILES / path).read_text("utf-8") for name, path in SCRIPTS.items()}
    with tempfile.TemporaryDirectory() as folder:
        pages = {"page": page_of(data), "sigma": BARE.format(data=data.model_dump_json().translate(IN_HTML), **parts)}
        files = {name: Path(folder) / f"{name}.html" for name in pages}
        for name, text in pages.items():
            files[name].write_text(text, "utf-8")
        times = in_chromium(Path(__file__).with_name("page.mjs"), *map(str, files.values()))
    for name, (first, zoom) in zip(pages, times, strict=True):
        print(f"{name}: first picture {first:.0f} ms, a step of zooming {zoom:.0f} ms")


if __name__ == "__main__":
    main()
