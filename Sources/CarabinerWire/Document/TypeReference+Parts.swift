extension GraphQLDocument.TypeReference {
  package var isNonNull: Bool { if case .nonNull = self { true } else { false } }

  /// The type's name without lists and exclamation marks.
  package var innermostName: String {
    switch self {
    case .named(let name): name
    case .list(let element): element.innermostName
    case .nonNull(let type): type.innermostName
    }
  }
}
