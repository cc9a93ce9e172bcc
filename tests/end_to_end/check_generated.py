"""Checks the output of generators for the hub's OpenAPI document: no operation is left out, and no type is named by a
number, the fallback for unnamed types (`State1`). Called in the folder where they wrote: check_generated.py LOG."""

import json
import pathlib
import re
import sys

METHODS = {"get", "put", "post", "delete", "patch", "head"}


def read(*paths):
    return "\n".join(path.read_text() for path in paths)


def main():
    document = json.loads(pathlib.Path("openapi.json").read_text())
    operations = sum(method in METHODS for item in document["paths"].values() for method in item)
    client = pathlib.Path("client")
    # For each tool: its operations, and the names of its types.
    found = {
        "openapi-python-client": (
            re.findall(r"^def (sync_detailed)\(", read(*client.glob("api/*/*.py")), re.MULTILINE),
            re.findall(r"^class (\w+)", read(*client.glob("models/*.py")), re.MULTILINE),
        ),
        "datamodel-code-generator": (None, re.findall(r"^class (\w+)|^(\w+) = ", read(pathlib.Path("models.py")), re.MULTILINE)),
        "openapi-ts": (
            re.findall(r"^export const (\w+) = <", read(pathlib.Path("typescript/sdk.gen.ts")), re.MULTILINE),
            re.findall(r"^export (?:type|enum|interface) (\w+)", read(pathlib.Path("typescript/types.gen.ts")), re.MULTILINE),
        ),
        "openapi-typescript": (
            re.findall(r"^    (\w+): \{$", read(pathlib.Path("hub.d.ts")).split("export interface operations {")[1], re.MULTILINE),
            re.findall(r"^        (\w+): ", read(pathlib.Path("hub.d.ts")), re.MULTILINE),
        ),
    }
    problems = []
    for tool, (calls, types) in found.items():
        names = {name for match in types for name in ([match] if isinstance(match, str) else match) if name}
        if calls is not None and len(calls) != operations:
            problems.append(f"{tool}: {len(calls)} of {operations} operations")
        if missing := set(document["components"]["schemas"]) - names - scalars(document):
            problems.append(f"{tool}: no type for {sorted(missing)}")
        # `Type0`, `DataType0Item`; HTTP statuses that generators name answers by are no such numbers.
        if numbered := sorted(name for name in names if re.search(r"[a-z]\d{1,2}(?!\d)", name)):
            problems.append(f"{tool}: named by a number: {numbered}")
    # The generator only warns about omissions. Its warning that `ruff` is missing is fine.
    log = pathlib.Path(sys.argv[1]).read_text()
    problems += [line for line in log.splitlines() if re.search("will not be generated|will be omitted|Cannot parse|WARNING parsing", line)]
    if problems:
        sys.exit("\n".join(problems))
    print(f"generated clients: {operations} operations in {len(found)} tools, nothing named by a number")


def scalars(document):
    """Schemas of texts, numbers and bytes: tools write these where they are used. And any of several: some give it no type."""
    return {name for name, schema in document["components"]["schemas"].items()
            if not schema.get("properties") and "allOf" not in schema and "enum" not in schema}


main()
