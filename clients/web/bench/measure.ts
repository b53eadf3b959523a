// Measures how soon a page has the rows: `node build/bench/measure.js --payloads FOLDER`, JSON lines to standard output.
//
// FOLDER holds COUNT/TABLE.FORM, as many as there are; what the tiles must be is taken from COUNT/TABLE.text, which
// has to be there. Each run is in a fresh page, and the runs of all contenders take turns.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, totalmem, release, arch } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { Chromium } from "./chromium.js";
import type * as InPage from "./page.js";
import type { Figure } from "./page.js";
import { package_folder } from "./package-folder.js";
import { expected, payloadsIn, type Payload } from "./payloads.js";
import { Series } from "./series.js";

const { values: options } = parseArgs({
    options: {
        payloads: { type: "string" },
        counts: { type: "string" },
        "cold-runs": { type: "string", default: "15" },
        "warm-runs": { type: "string", default: "5" },
        "warm-ms": { type: "string", default: "500" },
        machine: { type: "string" },
        only: { type: "string" },
    },
});

/** The ways in which a form is read, where there is more than one. */
const ways: { readonly [form: string]: readonly string[] } = { packed: ["packed", "packed/row-objects", "packed/reuse"] };

const gibibytes = Math.round(totalmem() / 2 ** 30);
const machine = options.machine ?? `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, ${gibibytes} GiB, Linux ${release()} ${arch()}`;

/**
 * Lets threads that run go on when others wake, here and in what is started from here, where the system can (Linux).
 * Chromium compiles what is hot on other threads. With few cores it is chance whether the page has to wait for one, and
 * it then waits for as long as the first call takes.
 */
function letThreadsRunOn(): void {
    spawnSync("chrt", ["--batch", "--pid", "0", String(process.pid)]);
}

async function main(): Promise<void> {
    letThreadsRunOn();
    if (options.payloads === undefined) throw new Error("say where the payloads are: --payloads FOLDER");
    const { version } = JSON.parse(readFileSync(join(package_folder, "package.json"), "utf8")) as { version: string };
    const counts = options.counts?.split(",");
    const payloads = payloadsIn(options.payloads).filter(({ count }) => counts === undefined || counts.includes(count));
    if (payloads.length === 0) throw new Error(`there is nothing to measure in ${options.payloads}`);
    const files = new Map([["/page.js", join(package_folder, "build", "page.js")]]);
    const sums = new Map<string, string>();
    for (const { count, table, form, path } of payloads) {
        files.set(`/payload/${count}/${table}.${form}`, path);
        const key = `${count}/${table}`;
        if (!sums.has(key)) sums.set(key, expected(join(dirname(path), `${table}.text`)));
    }
    const chromium = await Chromium.start(files);
    try {
        const series = new Map<string, { fields: object; series: Series }>();
        const measure = async (how: "cold" | "warm", payload: Payload, contender: string): Promise<void> => {
            const { count, table, form } = payload;
            const address = `/payload/${count}/${table}.${form}`;
            const figure = await chromium.withFreshPage((page) =>
                page.evaluate<Figure, [string, string, string, number]>(
                    async ([how, contender, address, milliseconds]) => {
                        const module = (await import("/page.js" as string)) as typeof InPage;
                        return how === "cold" ? module.cold(contender, address) : module.warm(contender, address, milliseconds);
                    },
                    [how, contender, address, Number(options["warm-ms"])],
                ),
            );
            if (figure.checksum !== sums.get(`${count}/${table}`)) {
                throw new Error(`${contender} made other tiles of ${address} than the text holds`);
            }
            const variant = `${count}/${table}/chromium-${how}`;
            const ours = form.startsWith("packed");
            const fields = {
                experiment: "rows",
                variant,
                contender,
                version: ours ? version : `Chromium ${chromium.version}`,
                ours,
                metric: "decode_us",
                unit: "µs",
            };
            const key = `${variant} ${contender}`;
            let entry = series.get(key);
            if (entry === undefined) series.set(key, (entry = { fields, series: new Series() }));
            entry.series.add(figure.micros);
        };
        const runs = { cold: Number(options["cold-runs"]), warm: Number(options["warm-runs"]) };
        for (const how of ["cold", "warm"] as const) {
            for (let run = 0; run < runs[how]; run++) {
                for (const payload of payloads) {
                    for (const contender of ways[payload.form] ?? [payload.form]) {
                        if (options.only === undefined || options.only.split(",").includes(contender)) {
                            await measure(how, payload, contender);
                        }
                    }
                }
            }
        }
        for (const { fields, series: figures } of series.values()) console.log(figures.line(fields, machine));
    } finally {
        await chromium.close();
    }
}

try {
    await main();
} catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
}
