"""Python's own client of XML-RPC against the gateway at the URL that is given."""

import datetime
import sys
import xmlrpc.client

url = sys.argv[1]
server = xmlrpc.client.ServerProxy(url + "/xmlrpc", allow_none=True, use_builtin_types=True)

values = [
    0, -7, 2**31 - 1, True, False, 0.5, -1e300, "", "é <&> \"x\"\n", b"", b"\x00\xff", None, [], {},
    [1, [2, [None]]], {"a": {"b": [1.5]}, "é": "x"}, datetime.datetime(1998, 7, 17, 14, 8, 55),
]
for value in values:
    back = server.Echo.echo(value)
    assert back == value and type(back) is type(value), (value, back)

tiles = server.Tiles.list("palette")
assert len(tiles) == 1000 and tiles[0]["slot_number"] == 1, tiles[0]
assert set(tiles[0]) == {"slot_number", "x", "y", "color", "rotation"}, tiles[0]

try:
    getattr(server.Fault, "raise")()
    raise AssertionError("no fault")
except xmlrpc.client.Fault as fault:
    assert fault.faultCode == -32500 and fault.faultString == "Kit.Fault: raised on purpose", fault
for method, code in [("No.method", -32601), ("Tiles.list", -32602)]:
    try:
        getattr(server, method)()
        raise AssertionError(method)
    except xmlrpc.client.Fault as fault:
        assert fault.faultCode == code, fault

assert "Tiles.list" in server.system.listMethods()
assert "SQLite" not in server.system.methodHelp("Tiles.list") and server.system.methodHelp("Tiles.list")
assert server.system.methodSignature("Tiles.list") == [["array", "string"]], server.system.methodSignature("Tiles.list")
calls = xmlrpc.client.MultiCall(server)
calls.Echo.echo(1)
getattr(calls.Fault, "raise")()
calls.Echo.echo("last")
results = calls()
assert results[0] == 1 and results[2] == "last"
try:
    results[1]
    raise AssertionError("no fault in the multicall")
except xmlrpc.client.Fault as fault:
    assert "raised on purpose" in fault.faultString
print("xmlrpc.client:", len(values), "values, a table, faults, introspection, a multicall")
