/// A query for the introspection result of a server.
package struct IntrospectionQuery: Sendable, Hashable {
  /// An edition of the specification. Servers refuse members that theirs lacks.
  package enum Edition: Sendable, CaseIterable {
    /// September 2025: also deprecated arguments, and input objects with one field.
    case september2025
    /// October 2021: also descriptions of schemas, URLs of scalars, and repeatable directives.
    case october2021
    /// The editions before.
    case june2018
  }

  /// The name of the operation.
  package static let operationName = "IntrospectionQuery"
  /// The levels of `ofType` in most introspection queries, so that servers accept them. They suffice for four lists with
  /// exclamation marks.
  package static let usualLevels = 9
  /// The levels of `ofType` that the largest type needs.
  package static let maximumLevels = 2 * Schema.TypeReference.maximumListDepth + 1

  /// The text of the query.
  package let document: String

  /// - Parameter levels: The number of lists and exclamation marks that are read around a type.
  package init(_ edition: Edition, levels: Int = Self.usualLevels) {
    let isNew = edition == .september2025
    let isRecent = edition != .june2018
    let all = isNew ? "(includeDeprecated: true)" : ""
    var type = "kind name"
    for _ in 0..<levels { type = "kind name ofType { \(type) }" }
    document = """
      query \(Self.operationName) {
        __schema {
          \(isRecent ? "description " : "")queryType { name } mutationType { name } subscriptionType { name }
          types {
            kind name description\(isRecent ? " specifiedByURL" : "")\(isNew ? " isOneOf" : "")
            fields(includeDeprecated: true) {
              name description args\(all) { ...Input } type { ...Type } isDeprecated deprecationReason
            }
            inputFields\(all) { ...Input }
            interfaces { ...Type }
            enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
            possibleTypes { ...Type }
          }
          directives { name description\(isRecent ? " isRepeatable" : "") locations args\(all) { ...Input } }
        }
      }
      fragment Input on __InputValue {
        name description type { ...Type } defaultValue\(isNew ? " isDeprecated deprecationReason" : "")
      }
      fragment Type on __Type { \(type) }
      """
  }
}
