import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("Documents are read as graphql-core reads them")
struct DocumentOracleTests {
  @Test("the same documents are accepted, with the same structure", arguments: [21, 22] as [UInt64])
  func agreement(seed: UInt64) async throws {
    var random = RandomDocument(seed: seed)
    let alphabet = Array(#"{}[]()"":$!=@.#\u-+019e, "#.utf8) + [0x0A, 0x0D]
    var lines: [JSONValue] = []
    for _ in 0..<1500 {
      let text = random.document()
      let mutated = random.generator.mutate(Array(text.utf8), alphabet: alphabet)
      for source in [text, String(validating: mutated, as: UTF8.self)].compactMap(\.self) {
        let parsed = try? GraphQLDocument.parsingWithoutDescriptions(source)
        // graphql-core does not know descriptions of operations.
        if parsed?.text != nil { continue }
        let printed = parsed?.document.description
        lines.append(["source": .string(source), "printed": printed.map(JSONValue.string) ?? nil])
      }
    }
    let corpus = FileManager.default.temporaryDirectory.appending(
      path: "carabiner-documents-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: corpus) }
    try Data(lines.map { $0.serialized() }.joined(separator: [0x0A])).write(to: corpus)

    let run = try await ToolRun(Repository.python, ["-c", Self.oracle, corpus.path])
    #expect(run.status == 0, "\(run.errors)")
    let report = try JSONValue(parsing: Array(run.output.utf8))
    #expect(report["documents"]?.int == lines.count)
    #expect(report["differences"] == [])
    // Both verdicts must have occurred, or the comparison is meaningless.
    #expect(report["accepted"]?.int ?? 0 > 1500)
    #expect(report["accepted"]?.int ?? lines.count < lines.count)
  }

  /// Reads pairs of a source and of this project's output for it (null if it refused), and reports where graphql-core has another
  /// verdict or finds different structures in the two.
  private static let oracle = #"""
    import json, sys
    from graphql import GraphQLSyntaxError, parse
    from graphql.language import ExecutableDefinitionNode

    def structure(text):
        try:
            document = parse(text, no_location=True)
        except GraphQLSyntaxError:
            return None
        if not all(isinstance(node, ExecutableDefinitionNode) for node in document.definitions):
            return None
        tree = document.to_dict()
        def without_block(node):
            if isinstance(node, dict):
                return {key: without_block(value) for key, value in node.items() if key != "block"}
            return [without_block(value) for value in node] if isinstance(node, list) else node
        return without_block(tree)

    documents, accepted, differences = 0, 0, []
    for line in open(sys.argv[1], encoding="utf-8", newline="\n"):
        case = json.loads(line)
        theirs = structure(case["source"])
        ours = None if case["printed"] is None else structure(case["printed"])
        documents += 1
        accepted += theirs is not None
        if (case["printed"] is None) != (theirs is None) or ours != theirs:
            differences.append(case)
    print(json.dumps({"documents": documents, "accepted": accepted, "differences": differences[:5]}))
    """#
}
