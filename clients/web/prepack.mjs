// Run by npm before it packs or publishes: makes what is published, and fails where that cannot be made. `npm pack` itself
// is content with a package that has nothing in it.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));

function fail(reason) {
    console.error(`@tamtam/web was not packed: ${reason}`);
    process.exit(1);
}

const missing = ["esbuild", "tsc"].filter((tool) => !existsSync(`node_modules/.bin/${tool}`));
if (missing.length > 0) fail(`${missing.join(" and ")} of its development dependencies are missing; run npm ci --ignore-scripts first`);

// Nothing of an earlier build goes into the package.
rmSync("dist", { recursive: true, force: true });
const { status } = spawnSync("npm", ["run", "--silent", "build"], { stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
if (status !== 0) fail("npm run build failed");

const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
for (const file of new Set(Object.values(exports).flatMap(Object.values))) {
    if (!existsSync(file) || statSync(file).size === 0) fail(`npm run build made no ${file}`);
}
