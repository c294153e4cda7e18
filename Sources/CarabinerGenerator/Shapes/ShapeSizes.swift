internal import CarabinerSchema

/// The sizes of generated values in memory. A large part of a value gets memory of its own: values with many levels of objects could
/// otherwise be larger than a stack.
struct ShapeSizes {
  /// The most bytes of a part that is stored in place.
  private static let maximumInPlace = 128
  private static let pointer = 8
  /// The size of a string, and of an enumeration that may have an unknown value.
  private static let text = 16

  private let fragments: [String: ObjectShape]
  private var known: [ObjectIdentifier: Int] = [:]

  /// Creates a table.
  ///
  /// - Parameter fragments: The types of fragments by their Swift names.
  init(fragments: [String: ObjectShape]) { self.fragments = fragments }

  mutating func isBoxed(_ field: FieldShape) -> Bool {
    guard case .object(_, let shape) = field.leaf, !field.definition.type.isList else { return false }
    return shape.map { isLarge($0) } ?? true
  }

  mutating func isLarge(_ shape: ObjectShape) -> Bool { size(of: shape) > Self.maximumInPlace }

  mutating func isLarge(fragment name: String) -> Bool { fragments[name].map { isLarge($0) } ?? true }

  private mutating func size(of shape: ObjectShape) -> Int {
    if let size = known[ObjectIdentifier(shape)] { return size }
    // A value for a cycle, which valid documents do not have.
    known[ObjectIdentifier(shape)] = Self.maximumInPlace + 1
    var size = shape.hasTypeName ? Self.text : 0
    for field in shape.fields where field.forwardedTo == nil { size += self.size(of: field) }
    for view in shape.views { size += inPlace(view.shape) }
    for deferred in shape.deferred { size += inPlace(deferred.shape) }
    for fragment in shape.fragments where fragment.forwardedTo == nil {
      size += fragments[fragment.name].map { inPlace($0) } ?? Self.pointer
    }
    known[ObjectIdentifier(shape)] = size
    return size
  }

  private mutating func size(of field: FieldShape) -> Int {
    if field.definition.type.isList { return Self.pointer }
    return switch field.leaf {
    case .builtIn(let name): name == "String" ? Self.text : 2 * Self.pointer
    case .scalar, .enumeration: Self.text
    case .object(_, let shape): shape.map { inPlace($0) } ?? Self.pointer
    }
  }

  private mutating func inPlace(_ shape: ObjectShape) -> Int {
    let size = size(of: shape)
    return size > Self.maximumInPlace ? Self.pointer : size + Self.pointer
  }
}
