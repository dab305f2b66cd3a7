// Builds the page's template: node build.mjs OUTPUT. Must run where `npm ci` has been run.
//
// One file, with script and style inside. The policy lets nothing be loaded, and no script run but this one, by its
// hash. @DATA@ is left for `coz view` (cozcli/reports/page.py), which puts the profile there.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const LIMIT = 200_000;

/** Over everything that the result depends on, so that a test can tell without Node whether it is up to date. */
function digestOfSources() {
  const hash = createHash("sha256");
  const files = readdirSync(join(here, "src")).map((name) => `src/${name}`);
  for (const name of [...files, "build.mjs", "package-lock.json"].sort()) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(here, name)))
      .update("\0");
  }
  return hash.digest("hex");
}

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    charset: "ascii",
    legalComments: "none",
    target: ["chrome100", "firefox100", "safari15.4"],
    logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

function policyHash(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

const script = await bundle("main.ts");
const style = await bundle("style.css");
if (/<\/(script|style)|<!--/i.test(script + style)) throw new Error("script or style would end its element");

const policy = [
  "default-src 'none'",
  `script-src ${policyHash(script)}`,
  `style-src ${policyHash(style)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const values = { POLICY: policy, SOURCES: digestOfSources(), STYLE: style, SCRIPT: script };
const page = readFileSync(join(here, "src", "page.html"), "utf8").replace(
  /@(POLICY|SOURCES|STYLE|SCRIPT)@/g,
  (_, name) => values[name],
);
if (page.split("@DATA@").length !== 2) throw new Error("@DATA@ must be in the template once");
if (page.length > LIMIT) throw new Error(`the template has ${page.length} characters; the limit is ${LIMIT}`);
writeFileSync(process.argv[2], page);
console.log(`${process.argv[2]}: ${page.length} characters`);
