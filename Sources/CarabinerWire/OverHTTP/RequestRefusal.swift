/// A request is answered with a status and one error.
package struct RequestRefusal: Error, Sendable, Hashable {
  package let status: Int
  package let message: String
  package let code: String
  package var headers: [String: String] = [:]

  package init(_ status: Int, _ message: String, code: String = "BAD_REQUEST", headers: [String: String] = [:]) {
    self.status = status
    self.message = message
    self.code = code
    self.headers = headers
  }
}
