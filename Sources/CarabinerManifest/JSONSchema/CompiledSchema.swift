package import CarabinerWire

/// A JSON Schema (draft 2020-12), read once: its patterns compiled, its references followed, its mistakes found.
///
/// It has the vocabulary configurations are described with. Keywords it does not know are ignored, as the specification wants;
/// keywords of the specification whose meaning would be lost are refused.
package struct CompiledSchema: Sendable {
  /// A place where a value breaks its schema.
  package struct Violation: Sendable, Hashable, CustomStringConvertible {
    /// The place in the value.
    package let pointer: JSONPointer
    /// The keyword that is broken.
    package let keyword: String
    /// What is wrong and what would be right, for a person.
    package let message: String

    package var description: String { "\(pointer.components.isEmpty ? "/" : pointer.description): \(message) [\(keyword)]" }
  }

  /// A schema cannot be used.
  package struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The place in the schema.
    package let pointer: JSONPointer
    /// What is wrong there.
    package let message: String

    package var description: String { "\(pointer.components.isEmpty ? "/" : pointer.description): \(message)" }
  }

  /// The schemas in it, each as its keywords; the first is the whole.
  let schemas: [[SchemaKeyword]]

  /// Reads a schema.
  ///
  /// - Throws: ``Fault`` with the place in the schema.
  package init(_ schema: JSONValue) throws {
    schemas = try SchemaCompiler.compile(schema)
  }

  /// Everything in `value` that breaks the schema; empty if it is valid.
  package func violations(in value: JSONValue) -> [Violation] {
    var visit = SchemaVisit(schemas)
    return visit.violations(in: value)
  }
}
