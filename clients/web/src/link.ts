/**
 * Actors of a server, reached from the browser and from Node; and actors of the page, which the server reaches.
 *
 *     import { connect } from "@tamtam/web/link";
 *
 *     const link = await connect("/link/counter");
 *     link.root.tell({ Add: 3 });
 *     const total = await link.root.ask((reply) => ({ Total: reply }), { timeout: 5_000 });
 *
 * @module
 */

export { Address, type AskOptions, type Reply } from "./link/address.js";
export { connect, type ConnectOptions, type Link } from "./link/connect.js";
export type { LinkEnd } from "./link/end.js";
export { LinkError, type Fate, type LinkErrorCode } from "./link/error.js";
export type { End } from "./link/frame.js";
export type { ExportOptions, Handler, OwnAddress } from "./link/own.js";
