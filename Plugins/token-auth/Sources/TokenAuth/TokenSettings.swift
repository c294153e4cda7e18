internal import CarabinerPlugin

/// The plugin's configuration.
struct TokenSettings: Decodable, Sendable {
  let tokenURL: String
  let clientID: String?
  let clientSecret: String?
  let scope: String?
  let token: String?
  let header: String?
  let scheme: String?
  let timeoutSeconds: Double?

  enum CodingKeys: String, CodingKey {
    case tokenURL = "token-url"
    case clientID = "client-id"
    case clientSecret = "client-secret"
    case scope, token, header, scheme
    case timeoutSeconds = "timeout-seconds"
  }

  /// Checks the settings at the start and not only with the first request.
  ///
  /// - Throws: ``PluginFailure`` if a text is not allowed in a header.
  func check() throws {
    if let header, !header.isHeaderName { throw PluginFailure("header is no name of a header; take one such as Authorization") }
    if let scheme, !scheme.canStandInHeader { throw PluginFailure("scheme cannot stand in a header; take one such as Bearer") }
    if let token, !token.canStandInHeader { throw PluginFailure("token cannot stand in a header; it has a line break in it") }
  }
}

extension String {
  /// Whether this is a token of RFC 9110.
  var isHeaderName: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  /// Whether the host accepts this as a header's value.
  var canStandInHeader: Bool { !utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D } }
}
