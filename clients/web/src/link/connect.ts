// A link over a WebSocket, and what is called and listened to beside it.

import { reason } from "../reason.js";
import type { Address } from "./address.js";
import { Calls, type Listener, type Subscription, type Wish } from "./calls.js";
import { Core } from "./core.js";
import { wordsOf, type LinkEnd } from "./end.js";
import { LinkError } from "./error.js";
import { VERSION } from "./frame.js";
import { OwnAddress, type ExportOptions, type Handler } from "./own.js";
import { after, type AskOptions } from "./patience.js";

/** What a page says that it speaks, and the server with it. */
const PROTOCOL = `tamtam-link.${VERSION}`;
/** What a page's token stands behind, since it can send no header. */
const BEARER = "tamtam-bearer.";
/** Messages of the server's that may be on their way to an actor of this page. */
const USUAL_WINDOW = 256;
const MOST_UNREAD = 16 << 20;
const LONGEST_CONNECT = 30_000;
const encoder = new TextEncoder();

/** How a link is opened. */
export interface ConnectOptions {
    /** Who the page calls for: the server's check has it as `Caller::bearer`. */
    readonly token?: string;
    /** What this program is called, for people at the server. */
    readonly program?: string;
    /** Milliseconds until the server has to be there, which may be `Infinity`: 30,000 unless it is said. */
    readonly timeout?: number;
    /** How many bytes may wait for a server that does not read them, before the link ends: 16 MiB unless it is said. */
    readonly mostUnread?: number;
    /** What makes a WebSocket, where there is no global one: Node before version 22 has it by `--experimental-websocket`. */
    readonly webSocket?: new (url: string, protocols: string[]) => WebSocket;
}

/** A link to an actor of a server, and through it to all whose addresses the page is sent. */
export interface Link<Root> {
    /** The actor that the server offers this page. */
    readonly root: Address<Root>;
    /** An actor of this page: its address may stand in messages, and the server reaches it then. Throws a `RangeError` for a window that is no whole number. */
    export<Message>(handler: Handler<Message>, options?: ExportOptions): OwnAddress<Message>;
    /**
     * Calls a method of the server's services, over the same WebSocket: `call("Sums.add", [40, 2])`, or with arguments by their names. Rejects with
     * a `LinkError`; the fault of a method has the code `fault`.
     */
    call<Answer = unknown>(method: string, params?: readonly unknown[] | Readonly<Record<string, unknown>>, options?: AskOptions): Promise<Answer>;
    /**
     * Listens to a topic or property of the server's services, over the same WebSocket. By the policy `batches` the listener gets arrays of values.
     * What it throws is reported as an error of the page.
     */
    subscribe<Value = unknown>(name: string, listener: Listener<Value>, wish?: Wish): Promise<Subscription>;
    /** How the link has ended, when it has. It never rejects. */
    readonly ended: Promise<LinkEnd>;
    /** How many messages are not known to be done with at the server: those on their way, in a mailbox, or being handled. */
    readonly unconfirmed: number;
    /** Closes the link. What was told still goes; what is asked rejects. */
    close(): void;
}

/**
 * Opens a link to the actor that a gateway offers at this URL: `wss://example.org/link/counter`; a page may name a path of its own server,
 * `/link/counter`.
 *
 * Rejects with a `LinkError` whose code is `connect`. A link that has ended stays so: connect anew to go on.
 */
export function connect<Root>(url: string | URL, options: ConnectOptions = {}): Promise<Link<Root>> {
    return new Promise((resolve, reject) => {
        const Socket = options.webSocket ?? (globalThis as { WebSocket?: typeof WebSocket }).WebSocket;
        if (Socket === undefined) {
            throw new LinkError("connect", "there is no WebSocket here: start Node with --experimental-websocket, or give one as the option webSocket");
        }
        const address = socketUrl(url);
        const protocols = [PROTOCOL];
        if (options.token !== undefined) protocols.push(BEARER + base64Url(options.token));
        let socket: WebSocket;
        try {
            socket = new Socket(address, protocols);
        } catch (error) {
            throw new LinkError("connect", `no link can be opened to ${address}: ${reason(error)}`);
        }
        socket.binaryType = "arraybuffer";
        let tellEnded: (end: LinkEnd) => void = () => {};
        const ended = new Promise<LinkEnd>((tell) => (tellEnded = tell));
        const timeout = options.timeout ?? LONGEST_CONNECT;
        const stop = after(timeout, () => core.finish({ how: "lost", text: `it was not there within ${timeout} ms` }));
        const calls = new Calls({
            sendText: (text) => {
                // What was said before goes before: so what waits in the end is the last of all.
                core.flush();
                core.refuseIfEnded();
                const { length } = encoder.encode(text);
                const unsent = socket.bufferedAmount + length;
                const most = options.mostUnread ?? MOST_UNREAD;
                if (unsent > most) throw new LinkError("full", `the server does not read: ${unsent} bytes would wait for it, and ${most} are the most`);
                socket.send(text);
                core.sentBeside(length);
            },
            refuseIfEnded: () => core.refuseIfEnded(),
        });
        const core: Core = new Core({
            program: options.program ?? "",
            mostUnread: options.mostUnread ?? MOST_UNREAD,
            carrier: {
                send: (bytes) => {
                    // What is said before the socket is open goes when it is.
                    if (socket.readyState === socket.CONNECTING) early.push(bytes);
                    else if (socket.readyState === socket.OPEN) socket.send(bytes);
                },
                unsent: () => socket.bufferedAmount + early.reduce((sum, bytes) => sum + bytes.length, 0),
                close: (end) => close(socket, end),
            },
            greeted: (root) => {
                // A server that refuses a link offers no actor, and says why.
                if (root === undefined) return;
                stop();
                resolve({
                    root: root as Address<Root>,
                    export: (handler, { window = USUAL_WINDOW } = {}) => new OwnAddress(handler, window),
                    call: <Answer>(method: string, params?: unknown, how: AskOptions = {}) => calls.call(method, params, how) as Promise<Answer>,
                    subscribe: (name, listener, wish = {}) => calls.subscribe(name, listener, wish),
                    ended,
                    get unconfirmed() {
                        return core.unconfirmed;
                    },
                    close: () => core.finish({ how: "closed", text: "it was closed here" }),
                });
            },
            ended: (end) => {
                stop();
                calls.finish(wordsOf(end));
                tellEnded(end);
                reject(new LinkError("connect", `there is no link to ${address}: ${wordsOf(end)}`));
            },
        });
        const early: Uint8Array<ArrayBuffer>[] = [];
        let wasOpen = false;
        socket.onopen = () => {
            wasOpen = true;
            for (const bytes of early.splice(0)) socket.send(bytes);
        };
        socket.onmessage = ({ data }: MessageEvent<unknown>) => {
            if (data instanceof ArrayBuffer) core.receive(new Uint8Array(data));
            else {
                try {
                    calls.receive(String(data));
                } catch (error) {
                    core.finish({ how: "protocol", text: reason(error) });
                }
            }
        };
        const neverOpen = `the server is not there, does not let pages of this origin call, or has no link of ${PROTOCOL} there`;
        // Not each WebSocket of Node says that it is closed if it was never open.
        socket.onerror = () => {
            if (!wasOpen) core.finish({ how: "lost", text: neverOpen });
        };
        socket.onclose = ({ code, reason }) => {
            const words = reason === "" ? `the WebSocket was closed, code ${code}` : reason;
            core.finish({ how: "lost", text: wasOpen ? words : neverOpen });
        };
    });
}

function close(socket: WebSocket, end: LinkEnd): void {
    if (end.how === "protocol") socket.close(4000, "the server does not keep to the protocol");
    else socket.close(1000, end.how === "closed" ? "the page has closed the link" : "");
}

function socketUrl(url: string | URL): string {
    const { location } = globalThis as { location?: Location };
    let parsed: URL;
    try {
        parsed = new URL(url, location?.href);
    } catch {
        throw new LinkError("connect", `${String(url)} is no URL: write it as wss://example.org/link/NAME`);
    }
    parsed.protocol = parsed.protocol.replace(/^http/, "ws");
    return parsed.href;
}

function base64Url(text: string): string {
    const bytes = encoder.encode(text);
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
