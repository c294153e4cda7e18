internal import ArgumentParser
internal import Carabiner
internal import Foundation

/// The argument of `--header`.
enum HeaderArgument {
  /// The fields of all arguments, in order.
  ///
  /// - Throws: A usage error for an argument that is not `Name: value`.
  static func fields(_ arguments: [String]) throws -> HTTPHeaders {
    var headers = HTTPHeaders()
    for text in arguments {
      guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
        throw ValidationError("--header takes 'Name: value', not \(text.debugDescription)")
      }
      let field = HTTPHeaders.Field(
        name: String(text[..<colon]), value: text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces))
      guard field.isWellFormed else {
        // The value may be a secret.
        throw ValidationError(
          "--header \(field.name.debugDescription): the name is not a token, or the value has a control character; correct it")
      }
      headers.fields.append(field)
    }
    return headers
  }
}
