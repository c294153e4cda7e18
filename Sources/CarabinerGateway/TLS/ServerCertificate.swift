package import Glibc
package import Logging
package import NIOSSL
internal import Synchronization

/// The certificate for new TLS connections. Its files are checked for changes at an interval and at each reload.
///
/// The contents are compared. File system events would miss a file that is replaced through a link or on another machine.
package final class ServerCertificate: Sendable {
  /// The interval at which the files are checked.
  package static let interval = Duration.seconds(10)
  /// The maximum size of each file, in bytes.
  package static let maximumFileBytes = 1 << 20

  /// The paths of the certificate chain and of the key of its first certificate, both in PEM.
  package struct Files: Sendable, Hashable {
    package var certificates: String
    package var key: String

    package init(certificates: String, key: String) {
      self.certificates = certificates
      self.key = key
    }
  }

  /// How the certificate is used.
  package struct Options: Sendable, Hashable {
    /// The ALPN protocols, in order of preference.
    package var protocols = ["http/1.1"]
    package var minimumVersion = MinimumTLSVersion.v12
    /// The certificates of clients; nil to ask for none.
    package var clients: ClientCertificates?

    package init() {}
  }

  private struct State {
    var pair: CertificatePair
    /// The digest of the contents that were tried last; empty if they could not be read.
    var tried: [UInt8]
    var failures = 0
  }

  private let files: Files
  private let options: Options
  private let read: @Sendable (_ path: String) throws -> [UInt8]
  private let now: @Sendable () -> time_t
  private let logger: Logger
  private let state: Mutex<State>
  /// Held while files are read, so that two checks do not overlap. Handshakes do not wait for it.
  private let looking = Mutex(())

  /// - Parameters:
  ///   - read: Reads a file.
  ///   - now: The time, in seconds since 1970.
  /// - Throws: An error that describes the problem with the files.
  package init(
    _ files: Files, _ options: Options = Options(), logger: Logger, now: @escaping @Sendable () -> time_t = { time(nil) },
    read: @escaping @Sendable (_ path: String) throws -> [UInt8]
  ) throws {
    self.files = files
    self.options = options
    self.read = read
    self.now = now
    self.logger = logger
    let contents = try Self.contents(of: files, options, read)
    state = Mutex(State(pair: try CertificatePair(contents, options), tried: contents.digest))
  }

  /// The path of the certificate chain.
  package var path: String { files.certificates }
  /// The TLS context for new connections.
  package var context: NIOSSLContext { state.withLock(\.pair.context) }
  /// The server's own certificate, the first of the chain.
  package var leaf: NIOSSLCertificate { state.withLock(\.pair.leaf) }
  /// The host names of that certificate.
  var names: [CertificateName] { state.withLock(\.pair.names) }
  /// The expiry of that certificate, in seconds since 1970.
  package var expiry: Int { state.withLock(\.pair.leaf.notValidAfter) }
  /// The number of failed attempts to load changed files.
  package var failureCount: Int { state.withLock(\.failures) }

  /// Checks the files at the interval until the task is cancelled.
  package func watch() async {
    while (try? await Task.sleep(for: Self.interval)) != nil { refresh() }
  }

  /// Loads the files if their contents have changed. If they cannot be used, the current pair is kept.
  package func refresh() {
    looking.withLock { _ in
      let tried = state.withLock(\.tried)
      do {
        let contents = try Self.contents(of: files, options, read)
        guard contents.digest != tried else { return }
        state.withLock { $0.tried = contents.digest }
        let pair = try CertificatePair(contents, options)
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
      // A missing file is reported once, not at each check.
      if state.tried == tried { state.tried = [] }
      guard state.tried != tried else { return true }
      state.failures += 1
      return false
    }
    guard !isKnown else { return }
    logger.error(
      "the changed TLS certificate is not used, and the current one is kept; provide a certificate and its key in PEM",
      metadata: ["file": "\(files.certificates)", "key": "\(files.key)", "error": "\(error)"])
  }

  private static func contents(
    of files: Files, _ options: Options, _ read: (_ path: String) throws -> [UInt8]
  ) throws -> CertificatePair.Contents {
    CertificatePair.Contents(
      certificates: try read(files.certificates), key: try read(files.key),
      authorities: try options.clients.map { try read($0.authorities) })
  }
}
