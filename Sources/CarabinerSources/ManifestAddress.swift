package import CarabinerEtcd

/// Where a manifest is: a file, keys of etcd, or a URL of a web server.
package enum ManifestAddress: Sendable, Hashable {
  case file(String)
  case etcd(EtcdAddress, text: String)
  case web(WebAddress)

  /// Reads the text of the option `-m`.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings`.
  package init(_ text: String) throws(SourceError) {
    if EtcdAddress.isAddress(text) {
      do throws(EtcdError) {
        self = .etcd(try EtcdAddress(text), text: text)
      } catch {
        throw SourceError(.invalidSettings, error.message)
      }
    } else if WebAddress.isAddress(text) {
      self = .web(try WebAddress(text))
    } else {
      self = .file(text)
    }
  }

  /// Whether the text of the option `-m` names a source that is not a file.
  package static func isRemote(_ text: String) -> Bool { EtcdAddress.isAddress(text) || WebAddress.isAddress(text) }

  /// The name of the manifest in messages. It has no secrets.
  package var label: String {
    switch self {
    case .file(let path): path
    case .etcd(_, let text): text
    case .web(let address): address.label
    }
  }
}
