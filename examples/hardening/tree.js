// Binary trees, objects with names, strings: what tree.lua does, in JavaScript.
function tree(depth) {
  return depth === 0 ? {} : { left: tree(depth - 1), right: tree(depth - 1) };
}
function nodes(t) {
  return t.left ? 1 + nodes(t.left) + nodes(t.right) : 1;
}
var total = 0, words = [], seed = 7, i;
for (i = 0; i < 20; ++i) total += nodes(tree(10));
for (i = 0; i < 10000; ++i) {
  seed = (seed * 16807) % 2147483647;
  words.push(seed.toString(16));
}
words.sort();
print(total, words[0], words.join(" ").length);
