"""pyarrow against the gateway at the URL that is given: Arrow's stream, Parquet and delimited text are the same table."""

import io
import sys
import urllib.request

import pyarrow
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

url = sys.argv[1]


def get(accept):
    request = urllib.request.Request(url + "/rest/Tiles/list?set=random", headers={"Accept": accept})
    with urllib.request.urlopen(request) as answer:
        assert answer.headers.get_content_type() == accept, answer.headers
        return io.BytesIO(answer.read())


with pyarrow.ipc.open_stream(get("application/vnd.apache.arrow.stream")) as stream:
    table = stream.read_all()
assert table.num_rows == 1000 and table.column_names == ["slot_number", "x", "y", "color", "rotation"], table.schema
assert table.schema.field("slot_number").type == pyarrow.int16() and table.schema.field("color").type == pyarrow.string()
parquet = pyarrow.parquet.read_table(get("application/vnd.apache.parquet"))
assert parquet.to_pydict() == table.to_pydict()
convert = pyarrow.csv.ConvertOptions(column_types=table.schema)
assert pyarrow.csv.read_csv(get("text/csv"), convert_options=convert).to_pydict() == table.to_pydict()
print("pyarrow: a table of 1,000 rows by Arrow's stream, Parquet and text")
