// Compiles kernels.ts to WebAssembly and writes src/rows/kernels.wasm.ts; with --check it only says whether that file
// is what the source gives.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const folder = new URL(".", import.meta.url);
const target = new URL("../src/rows/kernels.wasm.ts", folder);

const { error, stderr, binary } = await (async () => {
    let binary;
    const result = await asc.main(
        ["kernels.ts", "-O3", "--shrinkLevel", "1", "--converge", "--enable", "simd", "--runtime", "stub", "--noAssert", "--use", "abort=", "--initialMemory", "1", "--outFile", "kernels.wasm"],
        {
            readFile: (name) => {
                try {
                    return readFileSync(new URL(name, folder), "utf8");
                } catch {
                    return null;
                }
            },
            writeFile: (_name, contents) => {
                binary = contents;
            },
            listFiles: () => [],
        },
    );
    return { ...result, binary };
})();
if (error) {
    console.error(`kernels.ts does not compile: ${error.message}\n${stderr}`);
    process.exit(1);
}

const lines = Buffer.from(binary).toString("base64").match(/.{1,116}/g);
const text = `// Made of kernels/kernels.ts by \`npm run kernels\`; a test compares the two.
export const encoded =
${lines.map((line) => `    "${line}"`).join(" +\n")};
`;

if (process.argv.includes("--check")) {
    if (readFileSync(target, "utf8") !== text) {
        console.error(`${fileURLToPath(target)} is not what kernels.ts gives: npm run kernels`);
        process.exit(1);
    }
} else {
    writeFileSync(target, text);
    console.log(`${binary.length} bytes of WebAssembly`);
}
