package import Carabiner
internal import CarabinerWire

extension Manifest {
  /// One entry of `downloads`: headers and authorities of requests for plugin files.
  package struct Download: Sendable, Hashable {
    /// The beginning of the URLs for which the entry is used.
    package var prefix: String
    /// Headers of the requests; values may contain references.
    package var headers = HTTPHeaders()
    /// The path of a PEM file with the certificate authorities to trust; nil for those of the system.
    package var certificateAuthorityFile: String?
    /// The place of the entry in the manifest.
    package var pointer: JSONPointer
  }

  /// The entry of `downloads` with the longest prefix of a URL; nil if none fits.
  package func download(for url: String) -> Download? {
    downloads.filter { url.hasPrefix($0.prefix) }.max { $0.prefix.utf8.count < $1.prefix.utf8.count }
  }

  /// The headers of an entry of `downloads` with their references resolved.
  ///
  /// - Throws: ``ManifestProblem`` with the first reference that cannot be resolved, or the first resolved value that is not a valid header
  ///   value.
  package func resolvedHeaders(of download: Download, _ secrets: SecretReferences) throws(ManifestProblem) -> HTTPHeaders {
    var resolved = HTTPHeaders()
    for field in download.headers.fields {
      let pointer = download.pointer.appending("headers").appending(field.name)
      resolved.add(name: field.name, value: try secrets.headerValue(field.value, at: pointer))
    }
    return resolved
  }
}
