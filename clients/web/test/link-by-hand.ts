// An end of a link without a socket, which a test feeds by hand.

import type { Address } from "../src/link/address.js";
import { Output } from "../src/link/bytes.js";
import { Core } from "../src/link/core.js";
import type { LinkEnd } from "../src/link/end.js";
import { LENGTH, read, write, type Frame } from "../src/link/frame.js";

/**
 * An end of a link: what it has said, the actor that it was offered, and how it has ended. `unsent` says how many bytes wait to go, `program` what its
 * program is called.
 */
export function end(unsent: () => number = () => 0, program = "test"): { core: Core; sent: Frame[]; roots: Address<unknown>[]; ended: LinkEnd[]; bytes: Uint8Array[] } {
    const [sent, ended, bytes]: [Frame[], LinkEnd[], Uint8Array[]] = [[], [], []];
    const roots: Address<unknown>[] = [];
    const core = new Core({
        program,
        mostUnread: 1 << 20,
        carrier: {
            send: (all) => {
                bytes.push(all);
                for (let rest: Uint8Array = all; rest.length > 0; ) {
                    const length = new DataView(rest.buffer, rest.byteOffset).getUint32(0, true);
                    sent.push(read(rest.subarray(LENGTH, LENGTH + length)));
                    rest = rest.subarray(LENGTH + length);
                }
            },
            unsent,
            close: () => {},
        },
        greeted: (root) => {
            if (root !== undefined) roots.push(root);
        },
        ended: (end) => ended.push(end),
    });
    return { core, sent, roots, ended, bytes };
}

/** The bytes of these frames. */
export function bytesOf(...frames: Frame[]): Uint8Array {
    const output = new Output();
    for (const frame of frames) write(frame, output);
    return output.take();
}

/** A server's hello, which offers an actor, and takes frames of so many bytes. */
export function hello(most = 1 << 20): Frame {
    return { kind: "hello", most, encoding: 1, program: "", root: { type: "", window: 0 } };
}

/** What a message says that has nothing but its text. */
export function payloadOf(value: unknown): Uint8Array {
    return new TextEncoder().encode(JSON.stringify(value));
}

/** What was said in one go has gone, and handlers that were at once done are. */
export function flushed(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Takes what is reported as an error of the page's own functions, while this runs. */
export async function reporting(run: (reported: readonly unknown[]) => Promise<void>): Promise<void> {
    const reported: unknown[] = [];
    const globals = globalThis as { reportError?: ((error: unknown) => void) | undefined };
    const { reportError } = globals;
    globals.reportError = (error) => reported.push(error);
    try {
        await run(reported);
    } finally {
        globals.reportError = reportError;
    }
}
