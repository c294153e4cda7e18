/// The reason why a line of a trust file is refused.
struct TrustFault: Error {
  let message: String

  init(_ message: String) { self.message = message }
}
