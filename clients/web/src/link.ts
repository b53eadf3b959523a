/**
 * Actors of a server, reached from the browser and from Node; and actors of the page, which the server reaches.
 *
 *     import { connect } from "@tamtam/web/link";
 *
 *     const link = await connect("/link/counter");
 *     link.root.tell({ Add: 3 });
 *     const total = await link.root.ask((reply) => ({ Total: reply }), { timeout: 5_000 });
 *     const sum = await link.call("Sums.add", [40, 2]);
 *     await link.subscribe("Market.prices", (price) => show(price));
 *
 * @module
 */

export { Address, type Reply } from "./link/address.js";
export type { Listener, Place, Subscription, Wish } from "./link/calls.js";
export { connect, type ConnectOptions, type Link } from "./link/connect.js";
export type { LinkEnd } from "./link/end.js";
export { LinkError, type Fate, type LinkErrorCode } from "./link/error.js";
export type { End } from "./link/frame.js";
export type { ExportOptions, Handler, OwnAddress } from "./link/own.js";
export type { AskOptions } from "./link/patience.js";
