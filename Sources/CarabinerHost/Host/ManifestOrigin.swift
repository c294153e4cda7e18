internal import CarabinerFiles
internal import CarabinerManifest
internal import CarabinerSources
internal import Logging

/// Where the manifest of a host is read from.
enum ManifestOrigin: Sendable {
  /// There is none, and an empty manifest is used.
  case none
  case file(String)
  /// etcd, or a web server.
  case remote(RemoteManifest)

  /// The source that is not a file; nil for a file.
  var remote: RemoteManifest? { if case .remote(let remote) = self { remote } else { nil } }

  /// The path of a file with the manifest, for a child process that loads it. It is a copy for a source that is not a file.
  ///
  /// - Parameter state: The folder for a copy.
  /// - Returns: Nil if there is no manifest, or no folder for a copy.
  /// - Throws: ``ManifestError`` if the copy cannot be written.
  func pathForProbes(in state: String?) throws -> String? {
    switch self {
    case .none: return nil
    case .file(let path): return path
    case .remote(let remote):
      guard let state, let text = remote.used?.text else { return nil }
      // The suffix decides whether the file is read as JSON or YAML.
      let suffix = ["json", "yaml", "yml"].first { remote.label.lowercased().hasSuffix(".\($0)") }
      let path = "\(state)/candidate" + (suffix.map { ".\($0)" } ?? "")
      do throws(FileReplacement.Fault) {
        try FileReplacement.write(text, to: path, mode: 0o600)
      } catch {
        throw ManifestError(
          path: remote.label,
          problems: [
            ManifestProblem(.unreadable, "its copy \(path) cannot be written: \(error.reason); check the folder and the disk")
          ])
      }
      return path
    }
  }
}

extension ManifestOrigin {
  /// Opens the source of a manifest.
  ///
  /// - Parameter text: The path or the address of the manifest; nil for none.
  /// - Throws: ``SourceError``; ``ServerError`` if a source that is not a file lacks a setting; or an error of the system.
  init(_ text: String?, _ configuration: PluginHost.Configuration) throws {
    guard let text else {
      self = .none
      return
    }
    let address = try ManifestAddress(text)
    if case .file(let path) = address {
      self = .file(path)
      return
    }
    guard configuration.stateDirectory != nil else {
      throw ServerError.invalid("a manifest from etcd or a web server needs a folder for the last good one; give --state DIR")
    }
    guard configuration.trust != nil || configuration.allowsUnsignedSource else {
      throw ServerError.invalid(
        "each user with write access to the source of the manifest can run code here; give --trust FILE, or --allow-unsigned to accept that"
      )
    }
    let logger = configuration.logger
    let remote = try RemoteManifest(
      address, configuration.source, needsSidecar: configuration.trust != nil, version: ServerVersion.text, logger: logger
    ) { error in
      if let error {
        logger.error("the source of the manifest cannot be used", metadata: ["source": "\(address.label)", "reason": "\(error)"])
      } else {
        logger.notice("the source of the manifest answers again", metadata: ["source": "\(address.label)"])
      }
    }
    self = remote.map { .remote($0) } ?? .file(text)
  }
}
