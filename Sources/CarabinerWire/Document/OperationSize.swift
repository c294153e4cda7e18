/// The size of an operation. Fragments count where they are spread, so a short text can have a large size.
package struct OperationSize: Sendable, Hashable {
  /// Counts do not grow above this: 2^53, the largest count that JSON numbers keep exactly everywhere.
  package static let highest = 1 << 53

  /// The number of nested fields.
  package var depth = 0
  package var fields = 0
  /// The number of fields of the outermost selection set.
  package var rootFields = 0
  package var aliases = 0
  package var directives = 0
  /// Whether a field is `__schema` or `__type`.
  package var usesIntrospection = false

  package init() {}

  /// Adds a part of the same selection set.
  mutating func add(_ part: OperationSize) {
    depth = max(depth, part.depth)
    fields = Self.sum(fields, part.fields)
    rootFields = Self.sum(rootFields, part.rootFields)
    aliases = Self.sum(aliases, part.aliases)
    directives = Self.sum(directives, part.directives)
    usesIntrospection = usesIntrospection || part.usesIntrospection
  }

  /// Adds a field with the selection set below it.
  mutating func add(_ field: GraphQLDocument.Field, below: OperationSize) {
    depth = max(depth, Self.sum(below.depth, 1))
    fields = Self.sum(fields, Self.sum(below.fields, 1))
    rootFields = Self.sum(rootFields, 1)
    aliases = Self.sum(aliases, Self.sum(below.aliases, field.alias == nil ? 0 : 1))
    directives = Self.sum(directives, Self.sum(below.directives, field.directives.count))
    usesIntrospection = usesIntrospection || below.usesIntrospection || field.name == "__schema" || field.name == "__type"
  }

  private static func sum(_ left: Int, _ right: Int) -> Int { min(left + right, highest) }
}
