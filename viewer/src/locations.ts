/** Names of lines and functions, short enough to read. Nothing here touches the document. */

const CALLED_FROM = " < ";
/** A caller that is out of scope. */
const OUT_OF_SCOPE = "?";
const WAITING = /^(wait|lock) /;
/** Regions and classes of waits have names instead of paths. */
const NAMES = /^(region |wait \(|lock \()/;

function withoutWait(location: string): string {
  return location.replace(WAITING, "");
}

/** The directory, with its final slash, that all locations share; empty if only the root. */
export function commonDirectory(locations: string[]): string {
  const paths = locations.filter((l) => !NAMES.test(l));
  const parts = paths
    .map(withoutWait)
    .flatMap((l) => l.split(CALLED_FROM))
    .filter((part) => part !== OUT_OF_SCOPE);
  const folders = parts.map((part) => part.slice(0, part.lastIndexOf("/") + 1));
  const first = folders[0];
  if (first === undefined || folders.some((folder) => !folder.startsWith("/"))) return "";
  let shared = first;
  for (const folder of folders) {
    while (!folder.startsWith(shared))
      shared = shared.slice(0, shared.lastIndexOf("/", shared.length - 2) + 1);
  }
  return shared === "/" ? "" : shared;
}

/** A location without the directory that all share. */
export function shorten(location: string, prefix: string): string {
  const kind = WAITING.exec(location)?.[0] ?? "";
  const parts = location.slice(kind.length).split(CALLED_FROM);
  return (
    kind + parts.map((part) => (part.startsWith(prefix) ? part.slice(prefix.length) : part)).join(CALLED_FROM)
  );
}

/** File and line of a location; of functions, regions and classes of waits the line is 0. */
export function splitLocation(location: string): [string, number] {
  if (NAMES.test(location)) return ["", 0];
  const own = withoutWait(location.split(CALLED_FROM)[0] ?? "");
  const colon = own.lastIndexOf(":");
  const line = /^[0-9]+$/.test(own.slice(colon + 1)) ? Number(own.slice(colon + 1)) : 0;
  // A function of a file, `path:f(a::b)`: the path ends at the first colon after the last folder.
  const end = line > 0 ? colon : own.indexOf(":", own.split("(")[0]?.lastIndexOf("/") ?? 0);
  return [end < 0 ? own : own.slice(0, end), line];
}

/** Names of operators, whose signs and spaces are part of the name. */
const OPERATOR = /\boperator *(\(\)|\[\]|(<=>|->\*?|<<=?|>>=?|[<>]=?)( (?=<))?|[a-z]\w*( ?\[\])?)/g;

/** A function without its parameters, and without the return type that names of templates begin with. */
export function shortFunction(name: string): string {
  const plain = name.replaceAll("(anonymous namespace)::", "").trim();
  const scanned = plain.replace(OPERATOR, (found) => "x".repeat(found.length));
  let begin = 0;
  let depth = 0;
  for (let at = 0; at < scanned.length; at += 1) {
    const letter = scanned.charAt(at);
    depth += Number("<{".includes(letter)) - Number(">}".includes(letter));
    if (depth === 0 && letter === " ") begin = at + 1;
    if (depth === 0 && letter === "(") return plain.slice(begin, at) || plain;
  }
  return plain.slice(begin) || plain;
}
