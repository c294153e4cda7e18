internal import Carabiner

/// An error of starting a gateway server.
package struct GatewayError: DescribedError, Sendable, Hashable {
  /// The cause, for the program.
  package enum Code: String, Sendable {
    /// The address cannot be bound.
    case cannotListen
    /// The certificate or its key cannot be used.
    case invalidCertificate
  }

  package let code: Code
  /// The cause, for people.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}
