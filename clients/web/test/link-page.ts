// A link in a real browser: `node build/test/link-page.js`, with the program link_server of tamtam-gateway named in TAMTAM_LINK_SERVER. A page
// calls an actor of it, the actor calls the page, and a page that is closed is gone at the server, too.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Chromium } from "../bench/chromium.js";
import type * as InPage from "../src/link.js";
import { LinkServer, type Count } from "./link-server.js";

const files = new Map([["/link.js", join(dirname(fileURLToPath(import.meta.url)), "..", "link-page.js")]]);
const server = await LinkServer.start();
const chromium = await Chromium.start(files);
let passed = 0;
try {
    await chromium.withFreshPage(async (page) => {
        const heard = await page.evaluate(async (url) => {
            const { connect } = (await import("/link.js" as string)) as typeof InPage;
            const link = await connect<Count>(`${url}/link/counter`);
            const sums: number[] = [];
            const watcher = link.export<number>((sum) => void sums.push(sum));
            link.root.tell({ Watch: watcher });
            for (let number = 1; number <= 100; number++) link.root.tell({ Add: number });
            const total = await link.root.ask<number>((reply) => ({ Total: reply }));
            const asked = link.export<{ text: string; reply: InPage.Reply<string> }>(async ({ text, reply }) => {
                // Something that only a page has.
                await new Promise((resolve) => requestAnimationFrame(resolve));
                reply.send(`${text} ${document.title}`);
            });
            const said = await link.root.ask<string>((reply) => ({ AskBack: { page: asked, text: "the page is called", reply } }), { timeout: 30_000 });
            link.close();
            return { total, said, sums, end: await link.ended };
        }, server.url);
        assert.equal(heard.total, 5_050);
        assert.equal(heard.said, "the page is called Tamtam");
        assert.deepEqual(heard.sums, Array.from({ length: 100 }, (_, at) => ((at + 1) * (at + 2)) / 2));
        assert.equal(heard.end.how, "closed");
        passed++;
    });
    await chromium.withFreshPage(async (page) => {
        const said = await page.evaluate(async (url) => {
            const { connect, LinkError } = (await import("/link.js" as string)) as typeof InPage;
            const open = async (token?: string): Promise<string> => {
                try {
                    const link = await connect<Count>(`${url}/link/closed`, token === undefined ? {} : { token });
                    link.close();
                    return "open";
                } catch (error) {
                    return error instanceof LinkError ? error.message : String(error);
                }
            };
            return [await open(), await open("let me out"), await open("let me in")];
        }, server.url);
        assert.match(said[0] ?? "", /send the token/);
        assert.match(said[1] ?? "", /the token is wrong/);
        assert.equal(said[2], "open");
        passed++;
    });
    // A page that is closed says no goodbye, and is gone nevertheless.
    const links = async (): Promise<number> => {
        const figures = await (await fetch(`${server.url}/metrics`)).text();
        return Number(/^tamtam_gateway_links\{name="shared"\} (\d+)$/m.exec(figures)?.[1] ?? Number.NaN);
    };
    await chromium.withFreshPage(async (page) => {
        await page.evaluate(async (url) => {
            const { connect } = (await import("/link.js" as string)) as typeof InPage;
            await connect<Count>(`${url}/link/shared`);
        }, server.url);
        assert.equal(await links(), 1);
    });
    while ((await links()) > 0);
    passed++;
} finally {
    await chromium.close();
    await server.stop();
}
console.log(`${passed} passed, 0 failed`);
