internal import NIOSSL

/// A host name of a certificate, such as `example.org` or `*.example.org` (RFC 6125).
struct CertificateName: Sendable, Hashable {
  /// The name in lower case, without the star of a pattern.
  private let text: String
  private let isPattern: Bool

  init(_ name: String) {
    let lowered = name.lowercased()
    isPattern = lowered.hasPrefix("*.")
    text = isPattern ? String(lowered.dropFirst()) : lowered
  }

  /// Whether this name matches a host name. A star matches one label.
  func covers(_ host: String) -> Bool {
    var host = host.lowercased()
    if host.hasSuffix(".") { host.removeLast() }
    guard isPattern else { return host == text }
    guard let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
    return host[dot...] == text
  }

  /// The DNS names of a certificate.
  static func names(of certificate: NIOSSLCertificate) -> [CertificateName] {
    certificate._subjectAlternativeNames().compactMap { name in
      guard name.nameType == .dnsName else { return nil }
      return CertificateName(String(decoding: name.contents, as: UTF8.self))
    }
  }
}
