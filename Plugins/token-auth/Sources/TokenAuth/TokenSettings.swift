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
    if let header, !header.isHeaderName {
      throw PluginFailure("header is not a valid header name; use a name such as Authorization")
    }
    if let scheme, !scheme.canStandInHeader {
      throw PluginFailure("scheme has a character that a header cannot contain; use a scheme such as Bearer")
    }
    if let token, !token.canStandInHeader {
      throw PluginFailure("token has a line break or NUL, which a header cannot contain; remove it")
    }
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
