extension GraphQLDocument {
  /// A query, mutation or subscription.
  public struct OperationDefinition: Sendable, Hashable {
    /// The type of an operation.
    public enum OperationType: String, Sendable, Hashable, CaseIterable {
      /// Reads data.
      case query
      /// Changes data, then reads.
      case mutation
      /// Reads data repeatedly.
      case subscription
    }

    /// Its description for readers; nil if it has none. It has no effect on the result.
    public var description: String?
    /// The type of the operation.
    public var type: OperationType
    /// Its name; nil for an anonymous one.
    public var name: String?
    /// The variables it declares, in order.
    public var variables: [VariableDefinition]
    /// The directives on it.
    public var directives: [Directive]
    /// Its selection set.
    public var selectionSet: [Selection]

    /// Creates an operation.
    public init(
      description: String? = nil, type: OperationType, name: String? = nil, variables: [VariableDefinition] = [],
      directives: [Directive] = [], selectionSet: [Selection]
    ) {
      self.description = description
      self.type = type
      self.name = name
      self.variables = variables
      self.directives = directives
      self.selectionSet = selectionSet
    }
  }

  /// A variable that an operation declares.
  public struct VariableDefinition: Sendable, Hashable {
    /// Its description for readers; nil if it has none.
    public var description: String?
    /// Its name, without the dollar sign.
    public var name: String
    /// Its type.
    public var type: TypeReference
    /// Its default value; nil if it has none.
    public var defaultValue: Value?
    /// The directives on it.
    public var directives: [Directive]

    /// Creates a variable.
    public init(
      description: String? = nil, name: String, type: TypeReference, defaultValue: Value? = nil, directives: [Directive] = []
    ) {
      self.description = description
      self.name = name
      self.type = type
      self.defaultValue = defaultValue
      self.directives = directives
    }
  }

  /// The type of a variable.
  public indirect enum TypeReference: Sendable, Hashable {
    /// A type by its name.
    case named(String)
    /// A list.
    case list(TypeReference)
    /// A type without null.
    case nonNull(TypeReference)
  }

  /// A named fragment.
  public struct FragmentDefinition: Sendable, Hashable {
    /// Its description for readers; nil if it has none.
    public var description: String?
    /// Its name.
    public var name: String
    /// The type it applies to.
    public var typeCondition: String
    /// The directives on it.
    public var directives: [Directive]
    /// Its selection set.
    public var selectionSet: [Selection]

    /// Creates a fragment.
    public init(
      description: String? = nil, name: String, typeCondition: String, directives: [Directive] = [], selectionSet: [Selection]
    ) {
      self.description = description
      self.name = name
      self.typeCondition = typeCondition
      self.directives = directives
      self.selectionSet = selectionSet
    }
  }
}
