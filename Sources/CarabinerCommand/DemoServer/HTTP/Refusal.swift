/// A request is answered with a status and one error.
struct Refusal: Error, Sendable, Hashable {
  let status: Int
  let message: String
  let code: String
  var headers: [String: String] = [:]

  init(_ status: Int, _ message: String, code: String = "BAD_REQUEST", headers: [String: String] = [:]) {
    self.status = status
    self.message = message
    self.code = code
    self.headers = headers
  }
}
