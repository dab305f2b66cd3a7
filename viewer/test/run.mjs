// Runs the unit tests: node:test does not read TypeScript in Node 18, so esbuild translates them first.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
const out = join(here, "..", "out");
await build({
  entryPoints: tests.map((name) => join(here, name)),
  bundle: true,
  platform: "node",
  format: "esm",
  outdir: out,
  outExtension: { ".js": ".mjs" },
});
const built = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--test", ...built], { stdio: "inherit" });
process.exit(status ?? 1);
