extension GraphQLDocument {
  /// One part of a selection set.
  public enum Selection: Sendable, Hashable {
    /// A field.
    case field(Field)
    /// A spread of a named fragment.
    case fragmentSpread(FragmentSpread)
    /// An inline fragment.
    case inlineFragment(InlineFragment)
  }

  /// A selected field.
  public struct Field: Sendable, Hashable {
    /// Its alias; nil if it has none.
    public var alias: String?
    /// Its name in the schema.
    public var name: String
    /// Its arguments, in order.
    public var arguments: [Argument]
    /// The directives on it.
    public var directives: [Directive]
    /// The selection set of its value; empty for a scalar.
    public var selectionSet: [Selection]

    /// Creates a field.
    public init(
      alias: String? = nil, name: String, arguments: [Argument] = [], directives: [Directive] = [],
      selectionSet: [Selection] = []
    ) {
      self.alias = alias
      self.name = name
      self.arguments = arguments
      self.directives = directives
      self.selectionSet = selectionSet
    }

    /// Its name in the response.
    public var responseKey: String { alias ?? name }
  }

  /// A spread of a named fragment.
  public struct FragmentSpread: Sendable, Hashable {
    /// The name of the fragment.
    public var name: String
    /// The directives on it.
    public var directives: [Directive]

    /// Creates a spread.
    public init(name: String, directives: [Directive] = []) {
      self.name = name
      self.directives = directives
    }
  }

  /// An inline fragment.
  public struct InlineFragment: Sendable, Hashable {
    /// The type it applies to; nil for any.
    public var typeCondition: String?
    /// The directives on it.
    public var directives: [Directive]
    /// Its selection set.
    public var selectionSet: [Selection]

    /// Creates an inline fragment.
    public init(typeCondition: String? = nil, directives: [Directive] = [], selectionSet: [Selection]) {
      self.typeCondition = typeCondition
      self.directives = directives
      self.selectionSet = selectionSet
    }
  }

  /// A directive, such as `@include(if: $wanted)`.
  public struct Directive: Sendable, Hashable {
    /// Its name, without the at sign.
    public var name: String
    /// Its arguments, in order.
    public var arguments: [Argument]

    /// Creates a directive.
    public init(name: String, arguments: [Argument] = []) {
      self.name = name
      self.arguments = arguments
    }
  }
}
