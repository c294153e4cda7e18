internal import NIOSSL

/// The lowest version of TLS that clients may use.
package enum MinimumTLSVersion: Sendable, Hashable {
  case v12
  case v13

  var library: TLSVersion {
    switch self {
    case .v12: .tlsv12
    case .v13: .tlsv13
    }
  }
}
