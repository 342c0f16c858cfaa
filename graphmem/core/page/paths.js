"use strict";
// How two records hang together: the strongest path between them, and the path in words.
const paths = (function () {
  const MOST_HOPS = 6, TOLERANCE = 1e-9; // as `graphmem path` has them
  const MOST_TRIALS = 20000; // a second at most, in which the page answers nothing
  const VERBS = new Map(Object.entries({ prerequisite: "is a prerequisite of", co_occurs: "occurs together with", variant: "is a variant of", handed_out: "was given",
    seen_in: "was seen in", about: "is about" })); // of types whose name is none

  // The strongest path between two places as `graphmem path` finds it (core/search/paths.py): the largest product of weights,
  // no record twice. Returns the numbers of its edges, or null; `around` has those at each place, and places are in the order of names.
  // What a walk to the end is worth at most, by its edges, says where to go first and where no better path can be.
  function strongest(from, to, edges, around) {
    const bounds = [new Map([[to, 1]])], far = (number, place) => (edges[number].source === place ? edges[number].target : edges[number].source);
    while (bounds.length <= MOST_HOPS) {
      const next = new Map();
      for (const [place, strength] of bounds.at(-1)) {
        for (const number of around[place]) {
          const other = far(number, place), worth = strength * edges[number].weight;
          if (other !== to && worth > (next.get(other) || 0)) next.set(other, worth);
        }
      }
      bounds.push(next);
    }
    const way = [], passed = [from];
    let best = null, line = [], most = 0, trials = MOST_TRIALS; // of the best one: its edges, its records, its strength
    function isBetter(strength, hops, records) { // of equal ones, that with fewer edges, then the first by name, as records are in this order
      if (!best || Math.abs(strength - most) > TOLERANCE) return strength > most + TOLERANCE;
      const differs = records.findIndex((one, at) => one !== line[at]);
      return hops !== best.length ? hops < best.length : differs < 0 ? records.length < line.length : records[differs] < line[differs];
    }
    function walk(place, strength) {
      if (place === to && isBetter(strength, way.length, passed)) [best, line, most] = [[...way], [...passed], strength];
      if (place === to) return;
      const options = around[place].filter((number) => !passed.includes(far(number, place))).map((number) => {
        const other = far(number, place), product = strength * edges[number].weight, one = { number, other, product, bound: 0, hops: 0 };
        for (let left = 0; left < MOST_HOPS - way.length; left += 1) {
          const bound = product * (bounds[left].get(other) || 0);
          if (bound > one.bound + TOLERANCE) Object.assign(one, { bound, hops: way.length + 1 + left });
        }
        return one;
      });
      const isOut = ({ number }) => edges[number].source === place, typeOf = ({ number }) => edges[number].type;
      options.sort((a, b) => (Math.abs(a.bound - b.bound) > TOLERANCE ? b.bound - a.bound : 0) || a.hops - b.hops || a.other - b.other
        || (typeOf(a) < typeOf(b) ? -1 : Number(typeOf(a) > typeOf(b))) || isOut(b) - isOut(a));
      for (const { number, other, product, bound, hops } of options) {
        if (!isBetter(bound, hops, [...passed, other]) || (trials -= 1) < 0) continue;
        way.push(number);
        passed.push(other);
        walk(other, product);
        passed.pop();
        way.pop();
      }
    }
    walk(from, 1);
    return best;
  }
  // A path as a sentence: each edge in its own direction, from the end where more of them read on from the last one.
  // Returns texts, and what `named` makes of each record.
  function sentence(path, named) {
    const goesOn = (all, at) => at > 0 && all[at - 1].to === all[at].from, joined = (all) => all.filter((one, at) => goesOn(all, at)).length;
    const back = [...path].reverse(), all = joined(back) > joined(path) ? back : path;
    const verb = (type) => VERBS.get(type) || `${/_(of|by|from)$/.test(type) ? "is " : ""}${type.replaceAll("_", " ")}`;
    const weights = path.map((one) => one.weight), strength = Number(weights.reduce((product, weight) => product * weight, 1).toPrecision(3));
    const subject = (one, at) => (goesOn(all, at) ? [", which"] : at && all[at - 1].from === one.from ? [", and"] : [at ? "; " : "", named(one.from)]);
    return [...all.flatMap((one, at) => [...subject(one, at), ` ${verb(one.type)} `, named(one.to)]),
      ` (strength ${weights.length > 1 ? `${weights.join(" × ")} = ` : ""}${strength})`];
  }
  return { MOST_HOPS, strongest, sentence };
}());
