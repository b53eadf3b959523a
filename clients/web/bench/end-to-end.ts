// Measures from the request to the last tile, through a gateway: `node build/bench/end-to-end.js ORDER FIGURES`.
//
// ORDER is what `tamtam lab run rows --browser --end-to-end` wants measured, and where its gateways are behind their links;
// FIGURES is the file of JSON lines that comes of it. Before anything is measured, each link has to be as fast as it should
// be and the processor as slow; tiles other than the table's are an error.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type CDPSession, type Page } from "playwright-core";
import { findChromium } from "./chromium.js";
import type * as InPage from "./end-to-end/page.js";
import type { Call } from "./end-to-end/page.js";
import { ways } from "./end-to-end/ways.js";
import { package_folder } from "./package-folder.js";
import { expected } from "./payloads.js";
import { Series } from "./series.js";

declare const endToEnd: typeof InPage;

interface Link {
    name: string;
    metric: string;
    bits_per_second: number;
    /** How many times as long as computed a body took a plain client. */
    measured_to_computed: number;
    /** The gateway without the link. */
    server: string;
    plain: string;
    compressed: string;
}

interface Order {
    tables: { count: number; table: string; text: string; links: Link[] }[];
    slowdowns: number[];
    only: string[];
    runs: number;
    machine: string;
}

/** How often a page calls again once it is warm. */
const REPEATS = 5;

/** A link may be this many times slower than it should be, and it is tried so often whether it can be as fast. */
const SLOWEST_LINK = 1.25;
const TRIES = 30;

/** A transfer that is this much shorter than its bytes allow was not over the link. */
const SHORTEST = 0.98;

/** Turns of a loop: of some 100 ms, and of half a millisecond. */
const LONG = 5_000_000;
const SHORT = 250_000;

/** How far a slowed processor may be from what it should be. */
const SLOWDOWN = { least: 0.5, most: 2 };

const [orderFile, figuresFile] = process.argv.slice(2);

/** A page of the gateway's own origin, with nothing in it but what measures. */
class Pages {
    readonly #context: BrowserContext;
    readonly #html: string;

    private constructor(context: BrowserContext, script: string) {
        this.#context = context;
        // It cannot end the element: the bundle escapes it.
        this.#html = `<!doctype html><title>Tamtam</title><script>${script}</script>`;
    }

    static async open(browser: Browser): Promise<Pages> {
        const context = await browser.newContext();
        // It keeps the window open, so that none is opened beside what is measured.
        await context.newPage();
        return new Pages(context, readFileSync(join(package_folder, "build", "end-to-end-page.js"), "utf8"));
    }

    /** Lets `use` have a fresh page of this origin, whose processor is so many times slower. */
    async with<Result>(origin: string, rate: number, use: (page: Page, devtools: CDPSession) => Promise<Result>): Promise<Result> {
        const page = await this.#context.newPage();
        try {
            // Isolated from other origins, a page gets a clock of 5 µs instead of 100 µs.
            const headers = {
                "Content-Type": "text/html; charset=utf-8",
                "Cross-Origin-Opener-Policy": "same-origin",
                "Cross-Origin-Embedder-Policy": "require-corp",
            };
            await page.route(`${origin}/end-to-end`, (route) => route.fulfill({ headers, body: this.#html }));
            await page.goto(`${origin}/end-to-end`);
            // What is intercepted comes later than what is not.
            await page.unrouteAll({ behavior: "wait" });
            const devtools = await this.#context.newCDPSession(page);
            if (rate !== 1) await devtools.send("Emulation.setCPUThrottlingRate", { rate });
            return await use(page, devtools);
        } finally {
            await page.close();
        }
    }
}

/** How long the body of so many letters takes from there at least, in milliseconds, and how many bytes it has; `shortest` says what it may not be below. */
async function fastest(
    pages: Pages,
    origin: string,
    count: number,
    shortest: (bytes: number) => number,
    isEnough: (took: number, bytes: number) => boolean,
): Promise<[number, number]> {
    return pages.with(origin, 1, async (page) => {
        let [least, length] = [Infinity, 0];
        for (let tries = 0; tries < TRIES; tries++) {
            const { transfer, total, bytes } = await page.evaluate((count) => endToEnd.letters(count), count);
            if (total < shortest(bytes)) {
                throw new Error(`the link at ${origin} is too fast: ${bytes} bytes came in ${total.toFixed(1)} ms, computed are ${shortest(bytes).toFixed(1)} ms`);
            }
            least = Math.min(least, transfer);
            length = bytes;
            if (tries >= 2 && isEnough(least, bytes)) break;
        }
        return [least, length];
    });
}

/**
 * Sees to it that a page has a body as soon as the link lets it: how many times as long as computed it took. Where that is too
 * much, the page may be what is slow: what it takes without the link is granted to it.
 */
async function checkLink(pages: Pages, link: Link): Promise<number> {
    // A fifth of a second on slow links; on fast ones as much as the largest of the tables that are usual.
    const count = Math.min(Math.round((link.bits_per_second / 8) * 0.2), 400_000);
    const computed = (bytes: number): number => (bytes * 8000) / link.bits_per_second;
    const [took, bytes] = await fastest(pages, link.plain, count, (bytes) => computed(bytes) * SHORTEST, (took, bytes) => took <= computed(bytes) * SLOWEST_LINK);
    if (took <= computed(bytes) * SLOWEST_LINK) return took / computed(bytes);
    const [without] = await fastest(pages, link.server, count, () => 0, () => false);
    if (took > (without + computed(bytes)) * SLOWEST_LINK) {
        throw new Error(
            `the link of ${link.name} is too slow: a body took the page ${(took / computed(bytes)).toFixed(2)} times as long as computed, at the best of ` +
                `${TRIES} tries, and ${(without / computed(bytes)).toFixed(2)} times without the link; is this machine busy with something else?`,
        );
    }
    return took / computed(bytes);
}

function median(values: readonly number[]): number {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[sorted.length >> 1];
}

/** The rate for DevTools at which loops take so many times as long, and how many times as long as that a long and a short one took in the end. */
async function checkProcessor(pages: Pages, origin: string, slowdown: number): Promise<{ rate: number; long: number; short: number }> {
    return pages.with(origin, 1, async (page, devtools) => {
        const loops = async (rate: number, turns: number): Promise<number> => {
            await devtools.send("Emulation.setCPUThrottlingRate", { rate });
            const times: number[] = [];
            for (let run = 0; run < (turns === LONG ? 5 : 25); run++) times.push(await page.evaluate((turns) => endToEnd.loop(turns), turns));
            return median(times);
        };
        await loops(1, LONG);
        let rate = slowdown;
        let long = NaN;
        // DevTools' rate is what they aim at: they stop the thread by a timer.
        for (let tries = 0; tries < 4; tries++) {
            const [fast, slow] = [await loops(1, LONG), await loops(rate, LONG)];
            long = slow / fast / slowdown;
            if (long > 0.9 && long < 1.11) break;
            if (tries < 3) rate = Math.min(Math.max(rate / long, 1), 2 * slowdown);
        }
        // As short as it takes to read a table.
        const short = (await loops(rate, SHORT)) / (await loops(1, SHORT)) / slowdown;
        for (const [what, ratio] of [["long", long], ["short", short]] as const) {
            if (ratio < SLOWDOWN.least || ratio > SLOWDOWN.most) {
                throw new Error(
                    `DevTools do not slow the page as they should: at 1/${slowdown} of its speed a ${what} loop took ${ratio.toFixed(2)} times as long as computed; ` +
                        "is this machine busy with something else? --slowdowns 1 measures without that",
                );
            }
        }
        return { rate, long, short };
    });
}

/** How far it is, for the program that has started it: a line of JSON before each page, and one at the end. */
class Progress {
    #done = 0;

    constructor(private readonly pages_a_round: number) {}

    /** This comes next. */
    next(next: string): void {
        this.#tell({ next });
    }

    /** A page is done with. */
    done(): void {
        this.#done++;
    }

    end(): void {
        this.#tell({});
    }

    #tell(what: { next?: string }): void {
        console.log(JSON.stringify({ done: this.#done, pages_a_round: this.pages_a_round, ...what }));
    }
}

async function main(): Promise<void> {
    if (orderFile === undefined || figuresFile === undefined) throw new Error("say what to measure: end-to-end.js ORDER FIGURES");
    const order = JSON.parse(readFileSync(orderFile, "utf8")) as Order;
    // A form is measured in each way in which it is read.
    const names = Object.keys(ways).filter((name) => order.only.length === 0 || order.only.includes(name.split("/")[0]));
    if (names.length === 0) throw new Error(`none of these is a form that a page reads; there are ${Object.keys(ways).join(", ")}`);
    const { version } = JSON.parse(readFileSync(join(package_folder, "package.json"), "utf8")) as { version: string };
    const executablePath = findChromium();
    if (executablePath === undefined) throw new Error("there is no Chromium; name yours in TAMTAM_CHROMIUM");
    const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-component-update", "--disable-sync"];
    // Not with `chrt --batch`, as elsewhere: the thread of DevTools that is to stop the page's would wait for it.
    const browser = await chromium.launch({ executablePath, args, headless: true });
    try {
        const pages = await Pages.open(browser);
        const figures = new Figures(order.machine, version, browser.version());
        const ofTables = order.tables.reduce((sum, { links }) => sum + links.length, 0);
        // Each form of each table comes plain and compressed.
        const progress = new Progress(ofTables * order.slowdowns.length * names.length * 2);
        const [{ count, table, links }] = order.tables;
        const checked = `${count}/${table}/end-to-end-checks`;
        for (const link of links) {
            figures.add(checked, `link-${link.name}`, "measured_to_computed", "×", link.measured_to_computed);
            progress.next(`whether the link of ${link.name} is as fast as it should be`);
            figures.add(checked, `page-${link.name}`, "measured_to_computed", "×", await checkLink(pages, link));
        }
        const rates = new Map([[1, 1]]);
        for (const slowdown of order.slowdowns.filter((slowdown) => slowdown !== 1)) {
            progress.next(`whether a processor is slowed to 1/${slowdown}`);
            const { rate, long, short } = await checkProcessor(pages, links[0].plain, slowdown);
            rates.set(slowdown, rate);
            figures.add(checked, `cpu-${slowdown}`, "measured_to_computed", "×", long);
            figures.add(checked, `cpu-${slowdown}-short`, "measured_to_computed", "×", short);
        }
        for (let run = 0; run < order.runs; run++) {
            for (const { count, table, text, links } of order.tables) {
                const tiles = expected(text);
                for (const slowdown of order.slowdowns) {
                    for (const link of links) {
                        for (const name of names) {
                            for (const origin of [link.plain, link.compressed]) {
                                progress.next(`${count}/${table} ${name} over ${link.name}, at 1/${slowdown} of the processor's speed`);
                                const { first, warm } = await pages.with(origin, rates.get(slowdown) ?? slowdown, (page) =>
                                    page.evaluate(([name, table, repeats]) => endToEnd.calls(name, table, repeats), [name, table, REPEATS] as const),
                                );
                                progress.done();
                                const compression = origin === link.plain ? "" : first.compression;
                                // So small that it is not compressed: it is the same as the plain one.
                                if (origin === link.compressed && compression === "") continue;
                                const contender = compression === "" ? name : `${name}+${compression}`;
                                for (const call of [first, ...warm]) verify(call, link, tiles, `${contender} of ${count}/${table}`);
                                const variant = `${count}/${table}/end-to-end`;
                                figures.calls(`${variant}-first-cpu${slowdown}`, contender, link, links[0], count, [first]);
                                figures.calls(`${variant}-warm-cpu${slowdown}`, contender, link, links[0], count, warm);
                            }
                        }
                    }
                }
            }
        }
        progress.end();
        writeFileSync(figuresFile, figures.lines());
    } finally {
        await browser.close();
    }
}

/** That the tiles are the table's, and that its bytes were not faster than the link. */
function verify(call: Call, link: Link, tiles: string, what: string): void {
    if (call.checksum !== tiles) throw new Error(`${what} made other tiles than the table has`);
    const computed = (call.wireBytes * 8e6) / link.bits_per_second;
    if (call.wait + call.transfer < computed * SHORTEST) {
        throw new Error(`${what} came in ${Math.round(call.wait + call.transfer)} µs over the link of ${link.name}, computed are ${Math.round(computed)} µs`);
    }
}

/** All figures, by variant, contender and metric, in the order in which they came. */
class Figures {
    readonly #series = new Map<string, { fields: object; series: Series }>();

    constructor(
        private readonly machine: string,
        private readonly version: string,
        private readonly chromium: string,
    ) {}

    add(variant: string, contender: string, metric: string, unit: string, value: number): void {
        const key = `${variant} ${contender} ${metric}`;
        let entry = this.#series.get(key);
        if (entry === undefined) {
            const ours = contender.startsWith("packed");
            const version = ours ? this.version : `Chromium ${this.chromium}`;
            const fields = { experiment: "rows", variant, contender, version, ours, metric, unit };
            this.#series.set(key, (entry = { fields, series: new Series() }));
        }
        entry.series.add(value);
    }

    /** The figures of calls; of several their medians, which is one figure of the run. */
    calls(variant: string, contender: string, link: Link, primary: Link, count: number, calls: readonly Call[]): void {
        const of = (part: (call: Call) => number): number => median(calls.map(part));
        const parts = [
            ["wait_us", of((call) => call.wait)],
            ["transfer_us", of((call) => call.transfer)],
            ["decode_us", of((call) => call.decode)],
            ["tiles_us", of((call) => call.tiles)],
            ["server_cpu_us", of((call) => call.serverCpu)],
        ] as const;
        this.add(variant, contender, link.metric, "µs", of((call) => call.total));
        for (const [metric, value] of parts) this.add(variant, contender, `${metric}_${link.name}`, "µs", value);
        if (link.name !== primary.name) return;
        for (const [metric, value] of parts) this.add(variant, contender, metric, "µs", value);
        this.add(variant, contender, "bytes_per_row", "B", of((call) => call.wireBytes) / count);
    }

    lines(): string {
        return [...this.#series.values()].map(({ fields, series }) => series.line(fields, this.machine) + "\n").join("");
    }
}

try {
    await main();
} catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
}
