"""Measure generated code: how long its generation and its build take, beside types written by hand.

The operations have 12 fields over a schema of 70,000 lines. They are compiled three times by `swift build`, in debug and release: as
generated, and written by hand with `Decodable`, and with `Codable` and `Hashable`, which generated types are, too. Times are user times of
all processes, divided by the operations. 1,000 operations take half an hour.
"""

import random
import resource
import shutil
import subprocess

from machine import Failure
from rig import ROOT, Rig, at_least, release, say

SWIFT = {"Int": "Int", "Float": "Double", "String": "String", "Boolean": "Bool", "ID": "String", "DateTime": "String"}
SCHEMA_LINES = 70_000
# So many types are used by the operations.
GROUPS = 30
# The types written by hand, and their protocols.
CONFORMANCES = {"Decodable": "Decodable, Sendable", "Codable": "Codable, Hashable, Sendable"}
PACKAGE = """// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "typed", dependencies: [.package(name: "carabiner", path: "%s")],
  targets: [
    .target(name: "Empty", dependencies: [.product(name: "Carabiner", package: "carabiner")]),
    .target(name: "Generated", dependencies: [.product(name: "Carabiner", package: "carabiner")]),
    .target(name: "Decodable", dependencies: [.product(name: "Carabiner", package: "carabiner")]),
    .target(name: "Codable", dependencies: [.product(name: "Carabiner", package: "carabiner")]),
  ])
"""


def schema(generator):
    """The text of the schema, and the fields of each group."""
    lines, groups = ["scalar DateTime", "interface Node { id: ID! }", "type Query { node(id: ID!): Node }"], []
    while len(lines) < SCHEMA_LINES:
        number = len(groups)
        fields = []
        for field in range(12):
            name = generator.choice(list(SWIFT))
            fields.append((f"field{field}", generator.choice([name, f"{name}!", f"[{name}!]!", f"[{name}]"])))
        groups.append(fields)
        lines += ['"""', f"An object of the group {number}.", '"""', f"type Object{number} implements Node {{", "  id: ID!",
                  f"  kind: Kind{number}!", f"  other: Other{number}"]
        for name, kind in fields:
            lines += [f'  "The {name} of the object"', f"  {name}: {kind}"]
        lines += ["}", f"type Other{number} {{", "  name: String!", f"  object: Object{number}", "}", f"enum Kind{number} {{", "  A", "  B", "}"]
        lines += [f"input Filter{number} {{", f"  kind: Kind{number}", "  text: String", "}"]
        lines += ["extend type Query {", f"  objects{number}(filter: Filter{number}, first: Int = 10): [Object{number}!]!", "}"]
    return "\n".join(lines) + "\n", groups


def swift(kind):
    """The Swift type of a field."""
    optional, kind = ("", kind[:-1]) if kind.endswith("!") else ("?", kind)
    return (f"[{swift(kind[1:-1])}]" if kind[0] == "[" else SWIFT[kind]) + optional


def by_hand(number, group, fields, document, conformances):
    """An operation as a person writes it."""
    properties = "".join(f"      let {name}: {swift(kind)}\n" for name, kind in fields)
    return f'''import Carabiner

struct Find{number}Query: GraphQLQuery {{
  struct Data: {conformances} {{
    struct Object: {conformances} {{
      struct Other: {conformances} {{
        let name: String
      }}

      let id: String
      let kind: Kind{group}
{properties}      let other: Other?
    }}

    let objects{group}: [Object]
  }}

  var filter: Filter{group}?
  var first: Int?

  var operationName: String? {{ "Find{number}" }}
  var document: String {{ "{" ".join(document.split())}" }}
  var variables: JSONObject {{
    var variables: JSONObject = [:]
    if let filter {{ variables["filter"] = filter.json }}
    if let first {{ variables["first"] = .number(JSONNumber(first)) }}
    return variables
  }}
}}
'''


def types_by_hand():
    return "import Carabiner\n" + "".join(f'''
enum Kind{group}: String, Codable, Sendable {{
  case a = "A", b = "B"
}}

struct Filter{group}: Hashable, Sendable {{
  var kind: Kind{group}?
  var text: String?
  var json: JSONValue {{
    var object: JSONObject = [:]
    if let kind {{ object["kind"] = .string(kind.rawValue) }}
    if let text {{ object["text"] = .string(text) }}
    return .object(object)
  }}
}}
''' for group in range(GROUPS))


def user_time(*command, cwd):
    """The user time of a command and its children, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def add_options(parser):
    parser.add_argument("--operations", type=at_least(1), default=1000, metavar="N", help="the number of operations (default: 1000)")


def write_sources(folder, operations):
    """Writes the package, its schema, and the operations three times."""
    shutil.rmtree(folder / "Sources", ignore_errors=True)
    for target in ["Empty", "Generated", "Decodable", "Codable", "documents"]:
        (folder / "Sources" / target).mkdir(parents=True)
    (folder / "Package.swift").write_text(PACKAGE % ROOT)
    (folder / "Sources/Empty/Empty.swift").write_text("import Carabiner\n")
    generator = random.Random(1)
    text, groups = schema(generator)
    (folder / "schema.graphqls").write_text(text)
    (folder / "carabiner-generate.yaml").write_text(
        'schema: [schema.graphqls]\ndocuments: ["Sources/documents/*.graphql"]\noutput: {folder: Sources/Generated}\n')
    for number in range(operations):
        group = number % GROUPS
        fields = generator.sample(groups[group], 9)
        document = (f"query Find{number}($filter: Filter{group}, $first: Int) {{ objects{group}(filter: $filter, first: $first) {{ id kind "
                    + " ".join(name for name, _ in fields) + " other { name } } }\n")
        (folder / f"Sources/documents/Find{number}.graphql").write_text(document)
        for target, names in CONFORMANCES.items():
            (folder / f"Sources/{target}/Find{number}.swift").write_text(by_hand(number, group, fields, document, names))
    for target in CONFORMANCES:
        (folder / f"Sources/{target}/Types.swift").write_text(types_by_hand())


def run(rig: Rig):
    operations, command, folder = rig.options.operations, release("carabiner"), ROOT / ".build/bench-typed"
    write_sources(folder, operations)
    say(f"building {operations} operations three times, in debug and release")
    figures = {"generate, s": user_time(command, "generate", cwd=folder)}
    changed = folder / "Sources/documents/Find0.graphql"
    changed.write_text(changed.read_text().replace("{ id kind", "{ kind"))
    figures["generate after a change, s"] = user_time(command, "generate", cwd=folder)
    length = sum(file.stat().st_size for file in (folder / "Sources/Generated").glob("Find*.swift"))
    figures["bytes of an operation"] = length / operations
    for mode in ["debug", "release"]:
        user_time("swift", "build", "-c", mode, "--target", "Empty", "--quiet", cwd=folder)
        for target in ["Generated", *CONFORMANCES]:
            time = user_time("swift", "build", "-c", mode, "--target", target, "--quiet", cwd=folder)
            figures[f"{mode}: {target}, ms for each operation"] = time * 1000 / operations
    for name, figure in figures.items():
        print(f"{name:48}{figure:10.2f}")
    return figures, []
