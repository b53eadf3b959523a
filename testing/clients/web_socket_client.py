"""Python's `websockets` against the gateway at the URL that is given: calls and subscriptions."""

import asyncio
import json
import sys

import websockets

url = sys.argv[1].replace("http://", "ws://", 1) + "/socket"


class Socket:
    """Calls by JSON-RPC, and keeps the values that come meanwhile."""

    def __init__(self, connection):
        self.connection = connection
        self.values = []
        self.ids = 0

    async def call(self, method, params):
        self.ids += 1
        call = {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}
        await self.connection.send(json.dumps(call))
        while True:
            message = json.loads(await self.connection.recv())
            if message.get("id") == self.ids:
                return message
            self.values.append(message["params"])

    async def value(self):
        if self.values:
            return self.values.pop(0)
        message = json.loads(await self.connection.recv())
        assert message["method"] == "value", message
        return message["params"]


async def calls_and_values(connection):
    socket = Socket(connection)
    values = [None, True, -7, 2**53, 0.5, "é\"\u0000", [], {}, {"a": [1.5]}]
    for value in values:
        assert (await socket.call("Echo.echo", [value]))["result"] == value, value
    fault = await socket.call("Fault.raise", [])
    assert fault["error"]["data"]["code"] == "Kit.Fault", fault
    begun = (await socket.call("subscribe", {"name": "Panel.slider"}))["result"]
    assert (await socket.value())["subscription"] == begun["subscription"]
    for place in [3, 99, 42]:
        await socket.call("Panel.set", {"value": place})
        while (await socket.value())["value"] != place:
            pass
    ended = (await socket.call("unsubscribe", {"subscription": begun["subscription"]}))["result"]
    assert ended["missed"] == 0, ended
    begun = (await socket.call("subscribe", {"name": "Market.prices"}))["result"]
    first, second = await socket.value(), await socket.value()
    assert second["number"] == first["number"] + 1 and second["missed"] == 0, (first, second)
    return begun["run"], second["number"], len(values)


async def one_that_comes_back(connection, run, number):
    socket = Socket(connection)
    await socket.call("subscribe", {"name": "Market.prices", "after": number, "run": run})
    for later in range(number + 1, number + 6):
        value = await socket.value()
        assert (value["number"], value["missed"]) == (later, 0), value
    await socket.call("subscribe", {"name": "Market.prices", "policy": "latest_of_each_key", "after": 0})
    metals = {(await socket.value())["value"]["metal"] for _ in range(12)}
    assert metals == {"copper", "lead", "nickel", "tin", "zinc"}, metals


async def main():
    async with websockets.connect(url) as connection:
        run, number, count = await calls_and_values(connection)
    async with websockets.connect(url) as connection:
        await one_that_comes_back(connection, run, number)
    # It offers to deflate frames, which the server does not take up.
    async with websockets.connect(url, compression="deflate") as connection:
        assert connection.response.headers.get("Sec-WebSocket-Extensions") is None
        await connection.send("{")
        assert json.loads(await connection.recv())["error"]["code"] == -32700
        await connection.send(b"bytes")
        try:
            await connection.recv()
            raise AssertionError("a binary frame is taken")
        except websockets.ConnectionClosed as closed:
            assert closed.rcvd.code == 1003, closed
    try:
        await websockets.connect(url, origin="https://evil.example")
        raise AssertionError("a page of another origin may call")
    except websockets.InvalidStatus as refused:
        assert refused.response.status_code == 403, refused
    print("websockets:", count, "values echoed, a slider, prices, one that came back, refusals")


asyncio.run(asyncio.wait_for(main(), 60))
