internal import CarabinerFiles
internal import CarabinerGateway
internal import Logging
internal import Synchronization

/// The certificates of a gateway's listeners. Listeners with the same files and options share one.
final class Certificates: Sendable {
  /// The files and options of a certificate.
  struct Identity: Hashable {
    let files: ServerCertificate.Files
    let options: ServerCertificate.Options
  }

  private let logger: Logger
  private let loaded = Mutex<[Identity: ServerCertificate]>([:])

  init(_ logger: Logger) { self.logger = logger }

  /// Returns the certificate of these files. They are read unless a listener uses them already.
  ///
  /// - Throws: ``ServerError`` if the files cannot be used.
  func certificate(_ identity: Identity) throws -> ServerCertificate {
    if let known = loaded.withLock({ $0[identity] }) { return known }
    do {
      return try ServerCertificate(identity.files, identity.options, logger: logger) {
        try BoundedFile.bytes(at: $0, maximumBytes: ServerCertificate.maximumFileBytes)
      }
    } catch {
      throw ServerError.invalid(
        "the certificate \(identity.files.certificates) or its key \(identity.files.key) cannot be used: \(error); name files in PEM "
          + "that belong together")
    }
  }

  /// Keeps these certificates and removes all others.
  func keep(_ certificates: [Identity: ServerCertificate]) { loaded.withLock { $0 = certificates } }

  /// Loads the files whose contents have changed.
  func refresh() { for certificate in loaded.withLock({ Array($0.values) }) { certificate.refresh() } }

  /// Checks the files at an interval until the task is cancelled.
  func watch() async {
    while (try? await Task.sleep(for: ServerCertificate.interval)) != nil { refresh() }
  }
}
