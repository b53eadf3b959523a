// An end of a link without a socket, which a test feeds by hand.

import type { Address } from "../src/link/address.js";
import { Output } from "../src/link/bytes.js";
import { Core } from "../src/link/core.js";
import type { LinkEnd } from "../src/link/end.js";
import { LENGTH, read, write, type Frame } from "../src/link/frame.js";

/** An end of a link: what it has said, the actor that it was offered, and how it has ended. `unsent` says how many bytes wait to go. */
export function end(unsent: () => number = () => 0): { core: Core; sent: Frame[]; roots: Address<unknown>[]; ended: LinkEnd[]; bytes: Uint8Array[] } {
    const [sent, ended, bytes]: [Frame[], LinkEnd[], Uint8Array[]] = [[], [], []];
    const roots: Address<unknown>[] = [];
    const core = new Core({
        program: "test",
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
