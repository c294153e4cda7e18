/// The error of a field without a value.
struct FieldFailure: Error, Hashable {
  let message: String
  /// The value of `extensions.code`.
  let code: String

  init(_ message: String, code: String) {
    self.message = message
    self.code = code
  }
}
