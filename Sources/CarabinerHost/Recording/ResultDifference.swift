internal import CarabinerWire

/// The differences between two results.
struct ResultDifference: Sendable, Hashable {
  /// A place, as a JSON pointer, with both values there; nil for a missing value.
  struct Place: Sendable, Hashable {
    let pointer: String
    let old: JSONValue?
    let new: JSONValue?

    var text: String { "\(pointer): \(Self.shortened(old)) becomes \(Self.shortened(new))" }

    private static func shortened(_ value: JSONValue?) -> String {
      guard let value else { return "nothing" }
      let text = value.description
      return text.count > 60 ? "\(text.prefix(57))..." : text
    }
  }

  /// The maximum number of places that are listed.
  static let maximumPlaces = 10

  private(set) var places: [Place] = []
  /// The number of places that differ.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// Compares two JSON values. The order of members is ignored.
  init(_ old: JSONValue, _ new: JSONValue) { compare(old, new, "") }

  private mutating func compare(_ old: JSONValue?, _ new: JSONValue?, _ pointer: String) {
    switch (old, new) {
    case (.object(let left)?, .object(let right)?):
      for name in left.keys { compare(left[name], right[name], "\(pointer)/\(name)") }
      for name in right.keys where left[name] == nil { note(nil, right[name], "\(pointer)/\(name)") }
    case (.array(let left)?, .array(let right)?):
      for index in 0..<max(left.count, right.count) {
        compare(
          left.indices.contains(index) ? left[index] : nil, right.indices.contains(index) ? right[index] : nil,
          "\(pointer)/\(index)")
      }
    default: if old != new { note(old, new, pointer) }
    }
  }

  private mutating func note(_ old: JSONValue?, _ new: JSONValue?, _ pointer: String) {
    count += 1
    if places.count < Self.maximumPlaces { places.append(Place(pointer: pointer.isEmpty ? "/" : pointer, old: old, new: new)) }
  }
}
