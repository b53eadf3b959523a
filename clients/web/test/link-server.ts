// The program crates/tamtam-gateway/examples/link_server.rs: a real gateway, whose actors pages reach.

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Address, Reply } from "../src/link.js";

/** What its actors take. */
export type Count =
    | { Add: number }
    | "Reset"
    | { Total: Reply<number> }
    | { Watch: Address<number> }
    | { AskBack: { page: Address<Question>; text: string; reply: Reply<string> } }
    | { Echo: [unknown, Reply<unknown>] }
    | { Back: [Address<number>, Reply<Address<number>>] }
    | { Spawn: Reply<Address<Count>> }
    | { Forward: [Address<Reply<number>>, Reply<number>] }
    | { Flood: [Address<number>, number] }
    | { Fail: string }
    | { Keep: Reply<number> }
    | { Drop: Reply<number> }
    | { Refuse: [string, Reply<number>] }
    | "Stop";

/** What its actors ask a page. */
export interface Question {
    readonly text: string;
    readonly reply: Reply<string>;
}

/** Where the program is: the step `web` of scripts/test builds it and says so. */
export const program = process.env["TAMTAM_LINK_SERVER"];

/** A server that runs. */
export class LinkServer {
    readonly #child: ChildProcess;
    /** Where it is: `http://127.0.0.1:4711`. */
    readonly url: string;

    private constructor(child: ChildProcess, url: string) {
        this.#child = child;
        this.url = url;
    }

    static async start(): Promise<LinkServer> {
        assert.ok(program !== undefined, "name the program in TAMTAM_LINK_SERVER");
        const child = spawn(program, [], { stdio: ["pipe", "pipe", "ignore"] });
        const lines = createInterface({ input: child.stdout });
        const [line] = (await once(lines, "line")) as [string];
        lines.close();
        return new LinkServer(child, line.replace("listening on ", ""));
    }

    /** Lets it end in order. */
    async stop(): Promise<void> {
        const ended = once(this.#child, "exit");
        this.#child.stdin?.end();
        await ended;
    }

    /** Kills it. */
    async kill(): Promise<void> {
        const ended = once(this.#child, "exit");
        this.#child.kill("SIGKILL");
        await ended;
    }
}
