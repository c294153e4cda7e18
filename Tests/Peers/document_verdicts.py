"""Validates documents with graphql-core, and prints for each a JSON list of its problems: the name of the rule and the places.

Prints null for a document that graphql-core cannot parse or check.

The input is a file with {"schema": TEXT, "documents": [TEXT, ...]}.
"""
import json
import sys

try:
    from graphql import GraphQLSyntaxError, build_schema, parse, specified_rules, validate
except ImportError:
    sys.exit("the Python package graphql-core is not installed; run Scripts/install-test-peers")

with open(sys.argv[1], encoding="utf-8") as file:
    table = json.load(file)
schema = build_schema(table["schema"])
for text in table["documents"]:
    try:
        document = parse(text)
    except GraphQLSyntaxError:
        print("null")
        continue
    problems = []
    try:
        for rule in specified_rules:
            for error in validate(schema, document, [rule], max_errors=1000):
                places = sorted({(place.line, place.column) for place in error.locations or []})
                problems.append({"rule": rule.__name__.removesuffix("Rule"), "places": places})
    except (AttributeError, TypeError):
        # The rule for @stream fails on unions, which have no fields.
        problems = None
    print(json.dumps(problems))
