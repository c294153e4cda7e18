/// The forms of the types that were decoded before, so that a type is not compared with all special types for each value.
///
/// A type has one place. If two types share it, the later one displaces the earlier one.
struct TapeForms {
  /// How a type is decoded.
  enum Form {
    /// By its own initializer.
    case plain
    /// As an array, if the value is one.
    case array(any TapeArray.Type)
    /// The type needs a special JSON form.
    case special
  }

  private var known = InlineArray<8, (type: ObjectIdentifier, form: Form)?>(repeating: nil)

  subscript(_ type: any Any.Type) -> Form? {
    get {
      let type = ObjectIdentifier(type)
      guard let known = known[Self.place(of: type)], known.type == type else { return nil }
      return known.form
    }
    set {
      let type = ObjectIdentifier(type)
      known[Self.place(of: type)] = newValue.map { (type, $0) }
    }
  }

  /// The lowest bits of an address are alike, because types are aligned.
  private static func place(of type: ObjectIdentifier) -> Int { Int(bitPattern: UInt(bitPattern: type) >> 4 & 7) }
}
