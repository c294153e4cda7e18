package import Glibc
package import Logging
package import NIOSSL
internal import Synchronization

/// The certificate that new TLS connections get. Its files are read again now and then, and at each reload.
///
/// Contents are compared. Events of the file system are not enough: a file may be replaced through a link or on another machine.
package final class ServerCertificate: Sendable {
  /// How often the files are looked at.
  package static let interval = Duration.seconds(10)
  /// How large each of the files may be.
  package static let maximumFileBytes = 1 << 20

  /// Where the certificates and the key of the first of them are, in PEM.
  package struct Files: Sendable {
    package var certificates: String
    package var key: String

    package init(certificates: String, key: String) {
      self.certificates = certificates
      self.key = key
    }
  }

  private struct State {
    var pair: CertificatePair
    /// The digest of the contents that were tried last; empty if they could not be read.
    var tried: [UInt8]
    var failures = 0
  }

  private let files: Files
  private let protocols: [String]
  private let read: @Sendable (_ path: String) throws -> [UInt8]
  private let now: @Sendable () -> time_t
  private let logger: Logger
  private let state: Mutex<State>
  /// Held while files are read, so that two looks do not overtake each other. Handshakes do not wait for it.
  private let looking = Mutex(())

  /// - Parameters:
  ///   - protocols: The protocols that ALPN offers, the best first.
  ///   - read: Reads a file.
  ///   - now: The time, in seconds since 1970.
  /// - Throws: What is wrong with the files.
  package init(
    _ files: Files, protocols: [String], logger: Logger, now: @escaping @Sendable () -> time_t = { time(nil) },
    read: @escaping @Sendable (_ path: String) throws -> [UInt8]
  ) throws {
    self.files = files
    self.protocols = protocols
    self.read = read
    self.now = now
    self.logger = logger
    let contents = try Self.contents(of: files, read)
    state = Mutex(State(pair: try CertificatePair(contents, protocols: protocols), tried: contents.digest))
  }

  /// What new connections are made with.
  package var context: NIOSSLContext { state.withLock(\.pair.context) }
  /// The certificate that clients see first.
  package var leaf: NIOSSLCertificate { state.withLock(\.pair.leaf) }
  /// When that certificate expires, in seconds since 1970.
  package var expiry: Int { state.withLock(\.pair.leaf.notValidAfter) }
  /// How often changed files could not be taken over.
  package var failureCount: Int { state.withLock(\.failures) }

  /// Looks at the files again and again, until the task is cancelled.
  package func watch() async {
    while (try? await Task.sleep(for: Self.interval)) != nil { refresh() }
  }

  /// Takes the files over if their contents have changed and can be used; otherwise the pair that is there stays.
  package func refresh() {
    looking.withLock { _ in
      let tried = state.withLock(\.tried)
      do {
        let contents = try Self.contents(of: files, read)
        guard contents.digest != tried else { return }
        state.withLock { $0.tried = contents.digest }
        let pair = try CertificatePair(contents, protocols: protocols)
        try pair.requireValid(at: now())
        state.withLock { $0.pair = pair }
        logger.notice("new TLS connections get a new certificate", metadata: ["file": "\(files.certificates)"])
      } catch {
        refused(error, tried)
      }
    }
  }

  private func refused(_ error: any Error, _ tried: [UInt8]) {
    let isKnown = state.withLock { state in
      // A file that is missing is reported once and not at each look.
      if state.tried == tried { state.tried = [] }
      guard state.tried != tried else { return true }
      state.failures += 1
      return false
    }
    guard !isKnown else { return }
    logger.error(
      "the changed TLS certificate is not used, and the earlier one stays; put a certificate and its key in place, in PEM",
      metadata: ["file": "\(files.certificates)", "key": "\(files.key)", "error": "\(error)"])
  }

  private static func contents(
    of files: Files, _ read: (_ path: String) throws -> [UInt8]
  ) throws -> CertificatePair.Contents {
    CertificatePair.Contents(certificates: try read(files.certificates), key: try read(files.key))
  }
}
