internal import CarabinerWire

/// The data of a write to a store.
struct WrittenData {
  let json: JSONValue
  /// Whether the object may have fields that the data lacks.
  let isPartial: Bool
  /// Whether it was a value of a Swift type. Such a type has properties for the fields of all fragments, and those of a fragment that
  /// does not apply are null.
  let isTyped: Bool
  /// Whether it was read from the store and changed. A nil optional may then be a field that the store does not have.
  let isChange: Bool

  /// JSON data.
  init(_ json: JSONValue, isPartial: Bool = false) {
    self.json = json
    self.isPartial = isPartial
    isTyped = false
    isChange = false
  }

  /// A value of a Swift type.
  init(encoding value: some Encodable, isPartial: Bool = false, isChange: Bool = false) throws {
    json = try JSONValue(withNullsOf: value)
    self.isPartial = isPartial
    isTyped = true
    self.isChange = isChange
  }
}
