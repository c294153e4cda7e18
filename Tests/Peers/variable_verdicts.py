"""Checks values of variables with graphql-core, and prints for each case a JSON list of the places of its problems, such as "x.genres[2]".

The input is a file with {"schema": TEXT, "cases": [{"type": TEXT, "default": TEXT or null, "variables": {...}}, ...]}. The variable is $x.
"""
import json
import re
import sys

try:
    from graphql import GraphQLError, GraphQLID, build_schema, parse
    from graphql.execution.values import get_variable_values
except ImportError:
    sys.exit("the Python package graphql-core is not installed; run Scripts/install-test-peers")

VALUE = re.compile(r"Variable '\$x' has invalid value(?: at (\S+))?: (.*)", re.DOTALL)
UNKNOWN = re.compile(r"Expected value of type '.*?' not to include unknown field '(.*?)'")
coerce_id = GraphQLID.coerce_input_value


def coerce_id_exactly(value):
    """The specification names 4.0 as a value that is not an ID. graphql-core cannot distinguish it from 4 in other formats, and accepts it."""
    if isinstance(value, float):
        raise GraphQLError("a number with a fraction is not an ID")
    return coerce_id(value)


def place(error, variables):
    """The place of the problem, as we name it."""
    found = VALUE.match(error.message)
    if not found:
        return "x"
    path, message = found.group(1) or "", found.group(2)
    if unknown := UNKNOWN.match(message):
        return f"x{path}.{unknown.group(1)}"
    if "OneOf" in message:
        # graphql-core names the field with null, and we name its object.
        value = variables["x"]
        steps = re.findall(r"\.(\w+)|\[(\d+)\]", path)
        for name, index in steps:
            # One value is a list of one, and has no index in the path.
            value = value[name] if name else value[int(index)]
        if value is None:
            path = path[: path.rindex(".")]
    return f"x{path}"


GraphQLID.coerce_input_value = coerce_id_exactly
with open(sys.argv[1], encoding="utf-8") as file:
    table = json.load(file)
schema = build_schema(table["schema"])
for case in table["cases"]:
    default = "" if case["default"] is None else f" = {case['default']}"
    operation = parse(f"query ($x: {case['type']}{default}) {{ a }}").definitions[0]
    result = get_variable_values(schema, operation.variable_definitions, case["variables"])
    places = sorted({place(error, case["variables"]) for error in result}) if isinstance(result, list) else []
    print(json.dumps(places))
