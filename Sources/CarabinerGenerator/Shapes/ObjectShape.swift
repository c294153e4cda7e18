internal import CarabinerSchema

/// A generated type with the fields of an object, and the types inside it.
final class ObjectShape {
  let name: String
  /// Where the type is, from the top level.
  let path: TypePath
  /// Whether the response has `__typename`.
  let hasTypeName: Bool
  var fields: [FieldShape] = []
  var views: [ViewShape] = []
  var fragments: [FragmentShape] = []
  var deferred: [DeferredShape] = []
  /// The types of fields, in order.
  var children: [ObjectShape] = []
  /// The types of fields that are elsewhere: in a fragment, or in a type around this one.
  var aliases: [TypePath] = []

  init(path: TypePath, hasTypeName: Bool) {
    name = path.name
    self.path = path
    self.hasTypeName = hasTypeName
  }

  var hasFragments: Bool { !fragments.isEmpty || !deferred.isEmpty }
}

/// Where a type is, from the top level.
struct TypePath {
  /// The name of the type at the top level.
  let root: String
  /// The names from there.
  let names: [String]

  init(_ root: String, _ names: [String] = []) {
    self.root = root
    self.names = names
  }

  /// The name of the type itself.
  var name: String { names.last ?? root }

  func inner(_ name: String) -> TypePath { TypePath(root, names + [name]) }
}

/// A property with the value of a field.
struct FieldShape {
  /// The type without lists and nullability.
  enum Leaf {
    /// A scalar of the specification, by its Swift type.
    case builtIn(String)
    case scalar(String)
    case enumeration(String)
    /// An object, by the name of its type in the scope of the property; the shape is nil if a fragment has it.
    case object(String, ObjectShape?)
  }

  let responseKey: String
  let property: String
  /// The key of the configuration that renames the property.
  let renameKey: String
  let definition: Schema.Field
  let leaf: Leaf
  /// Whether `@include` or `@skip` may leave it out.
  let isConditional: Bool
  /// The fragment that has the value; nil if it is stored here.
  let forwardedTo: String?
  /// The place of a selection of the field.
  let place: SourcePlace
}

/// A property with the fields of an object if it is of a type, or if conditions hold.
struct ViewShape {
  let property: String
  /// Nil for each type.
  let type: Schema.NamedType?
  let isConditional: Bool
  let shape: ObjectShape
}

/// A property with the fields of a named fragment.
struct FragmentShape {
  let name: String
  let property: String
  /// The key of the configuration that renames it.
  let renameKey: String
  let isConditional: Bool
  let isDeferred: Bool
  /// The fragment that has the value; nil if it is stored here.
  let forwardedTo: String?
}

/// A property with the fields of an inline fragment with `@defer`.
struct DeferredShape {
  let property: String
  let shape: ObjectShape
}
