// A headless Chromium of this machine, and a server on the loopback that shows it a page with our module.

import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";

const usual = ["chromium", "chromium-browser", "google-chrome"].map((name) => `/usr/bin/${name}`);

/** The Chromium to use: `TAMTAM_CHROMIUM` says another than the usual places. */
export function findChromium(): string | undefined {
    const chosen = process.env["TAMTAM_CHROMIUM"];
    return chosen === undefined ? usual.find((path) => existsSync(path)) : chosen;
}

/** A Chromium with fresh pages for our module. */
export class Chromium {
    readonly #browser: Browser;
    readonly #window: BrowserContext;
    readonly #server: Server;
    readonly #origin: string;

    private constructor(browser: Browser, window: BrowserContext, server: Server) {
        this.#browser = browser;
        this.#window = window;
        this.#server = server;
        this.#origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }

    /**
     * Starts one. `files` maps a path that a page asks for to the file that it gets; a path that is not in it is
     * an empty page. `policy` is the content security policy of all pages.
     */
    static async start(files: ReadonlyMap<string, string>, policy?: string): Promise<Chromium> {
        const executablePath = findChromium();
        if (executablePath === undefined) {
            throw new Error(`there is no Chromium at ${usual.join(", ")}; name yours in TAMTAM_CHROMIUM`);
        }
        const server = createServer((request, response) => {
            const path = new URL(request.url ?? "/", "http://page").pathname;
            // Isolated from other origins, a page gets a clock of 5 µs instead of 100 µs.
            response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
            response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
            response.setHeader("Cache-Control", "no-store");
            if (policy !== undefined) response.setHeader("Content-Security-Policy", policy);
            const file = files.get(path);
            if (file === undefined) {
                response.setHeader("Content-Type", "text/html; charset=utf-8");
                response.end("<!doctype html><title>Tamtam</title>");
                return;
            }
            response.setHeader("Content-Type", path.endsWith(".js") ? "text/javascript" : "application/octet-stream");
            readFile(file).then(
                (content) => response.end(content),
                (error: unknown) => {
                    response.statusCode = 500;
                    response.end(String(error));
                },
            );
        });
        await new Promise<void>((resolve, reject) => {
            server.once("error", reject);
            server.listen(0, "127.0.0.1", resolve);
        });
        try {
            const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-component-update", "--disable-sync"];
            const browser = await chromium.launch({ executablePath, args, headless: true });
            try {
                // One window, which an empty page keeps open: each new one has a bar for addresses, two pages of its
                // own, that take half a second of a processor beside the page that is opened in it.
                const window = await browser.newContext();
                await window.newPage();
                return new Chromium(browser, window, server);
            } catch (error) {
                await browser.close();
                throw error;
            }
        } catch (error) {
            server.close();
            throw error;
        }
    }

    get version(): string {
        return this.#browser.version();
    }

    /** Lets `use` have a page in a renderer process that has run no script of ours before. */
    async withFreshPage<Result>(use: (page: Page) => Promise<Result>): Promise<Result> {
        const page = await this.#window.newPage();
        try {
            await page.goto(`${this.#origin}/`);
            return await use(page);
        } finally {
            await page.close();
        }
    }

    async close(): Promise<void> {
        await this.#browser.close();
        await new Promise((resolve) => {
            this.#server.close(resolve);
            this.#server.closeAllConnections();
        });
    }
}
