// Makes the script of the gateway's service browser; with --check it only says whether that file is what its source gives. The
// licences of libraries that are in it stand at its end.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const target = fileURLToPath(new URL("../../../crates/tamtam-gateway/src/page/page.js", import.meta.url));
const root = new URL("../", import.meta.url);
const made = await build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: [fileURLToPath(new URL("main.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    banner: { js: "// Made of clients/web/page by `npm run service-page`; a test compares the two." },
    metafile: true,
    write: false,
});
// The folder of packages may be a link to another place: then its files have paths that lead out of the root.
const libraries = new Map();
for (const path of Object.keys(made.metafile.inputs)) {
    const library = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (library) {
        libraries.set(library[1], library[0]);
    } else if (!/^(page|src)\//.test(path)) {
        throw new Error(`${path} is neither the page's, nor the package's, nor a library's: its licence is not known`);
    }
}
const licences = [...libraries.keys()].sort().map((name) => {
    const said = readFileSync(new URL(`${libraries.get(name)}LICENSE`, root), "utf8").trim();
    return `/*! ${name}\n\n${said.replaceAll("*/", "* /")}\n*/\n`;
});
const text = made.outputFiles[0].text + licences.join("");

if (process.argv.includes("--check")) {
    if (readFileSync(target, "utf8") !== text) {
        console.error(`${target} is not what clients/web/page gives: npm run service-page`);
        process.exit(1);
    }
} else {
    writeFileSync(target, text);
    console.log(`${text.length} bytes of script`);
}
