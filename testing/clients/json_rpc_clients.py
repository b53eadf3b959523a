"""Two clients of JSON-RPC against the gateway at the URL that is given: jsonrpcclient and pjrpc."""

import sys

import jsonrpcclient
import pjrpc
import requests
from pjrpc.client.backend import requests as pjrpc_client
from pjrpc.client.exceptions import MethodNotFoundError

url = sys.argv[1] + "/jsonrpc"

values = [None, True, 0, -7, 2**53, 2**63, 0.5, 1e300, "", "é\"\u0000", [], {}, [1, [None]], {"a": {"b": [1.5]}}]
session = requests.Session()
for value in values:
    response = session.post(url, json=jsonrpcclient.request("Echo.echo", params=[value]))
    match jsonrpcclient.parse(response.json()):
        case jsonrpcclient.Ok(result, _):
            assert result == value and type(result) is type(value), (value, result)
        case other:
            raise AssertionError(other)
match jsonrpcclient.parse(session.post(url, json=jsonrpcclient.request("Fault.raise")).json()):
    case jsonrpcclient.Error(code, message, data, _):
        assert (code, message, data["code"]) == (-32000, "raised on purpose", "Kit.Fault"), (code, message, data)
    case other:
        raise AssertionError(other)
silent = session.post(url, json=jsonrpcclient.notification("Echo.echo", params=[1]))
assert silent.status_code == 204 and not silent.content, silent
print("jsonrpcclient:", len(values), "values, a fault, a notification")

client = pjrpc_client.Client(url)
for value in values:
    result = client("Echo.echo", value=value)
    assert result == value and type(result) is type(value), (value, result)
tiles = client.proxy.__getattr__("Tiles.list")("palette")
assert len(tiles) == 1000 and tiles[0]["slot_number"] == 1, tiles[0]
try:
    client("No.method")
    raise AssertionError("there is such a method")
except MethodNotFoundError as error:
    assert error.code == -32601
try:
    client("Fault.raise")
    raise AssertionError("no fault")
except pjrpc.client.exceptions.JsonRpcError as error:
    assert (error.code, error.message) == (-32000, "raised on purpose"), error
with client.batch() as batch:
    batch("Echo.echo", 1)
    batch("Echo.echo", 2)
assert list(batch.get_results()) == [1, 2]
print("pjrpc:", len(values), "values by name, a table, faults, a batch")
