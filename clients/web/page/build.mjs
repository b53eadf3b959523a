// Makes the scripts of the gateway's service browser; with --check it only says whether those files are what their source gives. The
// licences of libraries that are in one stand at its end.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = new URL("../", import.meta.url);
/** Those that the page loads when they are first wanted. */
const later = ["arrow", "parquet"];
/** What a library says of how it may be used. */
const papers = ["LICENSE", "LICENSE.txt", "NOTICE.txt"];

await make("main", "page");
for (const name of later) await make(name, name);

async function make(source, name) {
    const made = await build({
        absWorkingDir: fileURLToPath(root),
        entryPoints: [fileURLToPath(new URL(`${source}.ts`, import.meta.url))],
        external: later.map((name) => `./${name}.js`),
        bundle: true,
        format: "esm",
        target: "es2022",
        minify: true,
        legalComments: "none",
        banner: { js: "// Made of clients/web/page by `npm run service-page`; a test compares the two." },
        metafile: true,
        write: false,
    });
    const text = made.outputFiles[0].text + licences(Object.keys(made.metafile.inputs));
    const target = fileURLToPath(new URL(`../../../crates/tamtam-gateway/src/page/${name}.js`, import.meta.url));
    if (process.argv.includes("--check")) {
        if (readFileSync(target, "utf8") !== text) {
            console.error(`${target} is not what clients/web/page gives: npm run service-page`);
            process.exitCode = 1;
        }
    } else {
        writeFileSync(target, text);
        console.log(`${name}.js: ${text.length} bytes of script`);
    }
}

/** The papers of all libraries that some files belong to. */
function licences(paths) {
    // The folder of packages may be a link to another place: then its files have paths that lead out of the root.
    const libraries = new Map();
    for (const path of paths) {
        const library = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
        if (library) {
            libraries.set(library[1], library[0]);
        } else if (!/^(page|src)\//.test(path)) {
            throw new Error(`${path} is neither the page's, nor the package's, nor a library's: its licence is not known`);
        }
    }
    /** Many have the same. */
    const namesOf = new Map();
    for (const name of [...libraries.keys()].sort()) {
        const files = papers.map((paper) => new URL(`${libraries.get(name)}${paper}`, root)).filter((file) => existsSync(file));
        if (files.length === 0) throw new Error(`${name} has no licence`);
        for (const text of files.map((file) => readFileSync(file, "utf8").trim())) {
            namesOf.set(text, [...(namesOf.get(text) ?? []), name]);
        }
    }
    const said = [...namesOf].map(([text, names]) => `/*! ${names.join(", ")}\n\n${text.replaceAll("*/", "* /")}\n*/\n`);
    return said.join("");
}
