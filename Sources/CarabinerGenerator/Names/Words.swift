/// How names of a schema are written in Swift.
enum Words {
  /// The name with a capital as its first letter. Leading underscores stay.
  static func capitalized(_ name: String) -> String {
    let underscores = name.prefix { $0 == "_" }
    let rest = name.dropFirst(underscores.count)
    return underscores + rest.prefix(1).uppercased() + rest.dropFirst()
  }

  /// The name with a small letter first.
  static func decapitalized(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }

  /// The name of a field as a property: `Title` and `TITLE` are `title`. Underscores stay.
  static func property(_ name: String) -> String { isUppercase(name) ? name.lowercased() : decapitalized(name) }

  /// The name without underscores, as `newHope` for `NEW_HOPE`. Leading underscores stay.
  static func camelCased(_ name: String) -> String {
    let words = name.split(separator: "_").map(String.init)
    guard let first = words.first else { return name }
    let rest = words.dropFirst().map { isUppercase($0) ? capitalized($0.lowercased()) : capitalized($0) }
    return name.prefix { $0 == "_" } + property(first) + rest.joined()
  }

  private static func isUppercase(_ name: String) -> Bool {
    !name.utf8.contains { $0 &- UInt8(ascii: "a") < 26 } && name.utf8.contains { $0 &- UInt8(ascii: "A") < 26 }
  }
}
