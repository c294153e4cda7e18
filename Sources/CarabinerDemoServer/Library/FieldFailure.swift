/// A field has no value, and why.
struct FieldFailure: Error, Hashable {
  let message: String
  /// What `extensions.code` says.
  let code: String

  init(_ message: String, code: String) {
    self.message = message
    self.code = code
  }
}
