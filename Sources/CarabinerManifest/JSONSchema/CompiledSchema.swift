package import CarabinerWire

/// A JSON Schema (draft 2020-12) that was checked for mistakes, with compiled patterns and resolved references.
///
/// It supports the keywords that describe configurations. Unknown keywords are ignored, as the specification requires. Keywords of the
/// specification that would change the result but are not supported are rejected.
package struct CompiledSchema: Sendable {
  /// A place where a value violates its schema.
  package struct Violation: Sendable, Hashable, CustomStringConvertible {
    /// The place in the value.
    package let pointer: JSONPointer
    /// The violated keyword.
    package let keyword: String
    /// The problem and the expected value, for the operator.
    package let message: String

    package var description: String { "\(pointer.components.isEmpty ? "/" : pointer.description): \(message) [\(keyword)]" }
  }

  /// A schema is not valid or not supported.
  package struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The place in the schema.
    package let pointer: JSONPointer
    /// The problem.
    package let message: String

    package var description: String { "\(pointer.components.isEmpty ? "/" : pointer.description): \(message)" }
  }

  /// All schemas in the document, each as its keywords. The first is the root.
  let schemas: [[SchemaKeyword]]

  /// Reads a schema.
  ///
  /// - Throws: ``Fault`` with the place in the schema.
  package init(_ schema: JSONValue) throws {
    schemas = try SchemaCompiler.compile(schema)
  }

  /// All violations of the schema in `value`; empty if it is valid.
  package func violations(in value: JSONValue) -> [Violation] {
    var visit = SchemaVisit(schemas)
    return visit.violations(in: value)
  }
}
