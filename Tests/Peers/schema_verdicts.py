"""Validates every case of a table of schemas with the jsonschema package, and prints one word per line."""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    sys.exit("the Python package jsonschema is not installed; run Scripts/install-test-peers")

with open(sys.argv[1], encoding="utf-8") as table:
    for group in json.load(table):
        validator = Draft202012Validator(group["schema"])
        for case in group["cases"]:
            print("valid" if validator.is_valid(case["value"]) else "invalid")
