/// An error response to a request: a status and one error.
package struct RequestRefusal: Error, Sendable, Hashable {
  package let status: Int
  package let message: String
  package let code: String
  package var headers: [String: String] = [:]
  /// Members of the error's `extensions` beside the code.
  package var extensions = JSONObject()
  /// Whether the request is well-formed, but its document or operation is invalid. Under `application/json` the status is then
  /// 200 (GraphQL over HTTP, 6.4.1).
  package var isGraphQLError = false

  package init(_ status: Int, _ message: String, code: String = "BAD_REQUEST", headers: [String: String] = [:]) {
    self.status = status
    self.message = message
    self.code = code
    self.headers = headers
  }

  /// A refusal of a document, or of the choice of its operation, with the status 400.
  package static func document(_ message: String, code: String) -> RequestRefusal {
    var refusal = RequestRefusal(400, message, code: code)
    refusal.isGraphQLError = true
    return refusal
  }
}
