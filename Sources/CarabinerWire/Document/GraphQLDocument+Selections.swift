extension GraphQLDocument {
  /// One part of a selection set.
  public enum Selection: Sendable, Hashable {
    /// A field.
    case field(Field)
    /// A named fragment's place.
    case fragmentSpread(FragmentSpread)
    /// A fragment written where it is used.
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

    /// A field.
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

  /// The place of a named fragment.
  public struct FragmentSpread: Sendable, Hashable {
    /// The name of the fragment.
    public var name: String
    /// The directives on it.
    public var directives: [Directive]

    /// The place of a fragment.
    public init(name: String, directives: [Directive] = []) {
      self.name = name
      self.directives = directives
    }
  }

  /// A fragment written where it is used.
  public struct InlineFragment: Sendable, Hashable {
    /// The type it applies to; nil for any.
    public var typeCondition: String?
    /// The directives on it.
    public var directives: [Directive]
    /// Its selection set.
    public var selectionSet: [Selection]

    /// A fragment.
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

    /// A directive.
    public init(name: String, arguments: [Argument] = []) {
      self.name = name
      self.arguments = arguments
    }
  }
}
