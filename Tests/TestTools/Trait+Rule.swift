public import Testing

extension Trait where Self == Comment {
  /// The names of the rules that a test proves, as in the pages of rules.
  ///
  /// `Scripts/check rules` reads them. A test that fails shows them.
  public static func rule(_ names: String...) -> Self { Self(rawValue: "rules: \(names.joined(separator: ", "))") }
}
