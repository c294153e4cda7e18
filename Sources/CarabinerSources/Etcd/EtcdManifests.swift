package import CarabinerEtcd
internal import CarabinerManifest
internal import CarabinerRelease
internal import Synchronization

/// The manifest of the key `stable` under a prefix of etcd.
package final class EtcdManifests: ManifestSource {
  private let follower: EtcdFollower
  private let key: String
  /// The answers without a manifest that can be used, by kind.
  private let unusable = Mutex<[String: Int]>([:])

  /// - Throws: ``SourceError``, or an error of the system if there are no descriptors or threads left.
  package init(_ address: EtcdAddress, _ settings: SourceSettings) throws {
    key = "\(address.prefix)/stable"
    do {
      follower = EtcdFollower(try EtcdClient(settings.etcd(address)), [.one(key), .one(key + ReleaseSidecar.suffix)])
    } catch let error as EtcdError {
      throw SourceError(error)
    }
  }

  package var figures: SourceFigures {
    let figures = follower.figures
    var found = SourceFigures()
    found.isUp = figures.isUp
    found.revision = figures.revision
    found.errors = unusable.withLock(\.self)
    for (code, count) in figures.failures { found.errors[code.rawValue, default: 0] += count }
    return found
  }

  package func follow(_ report: @escaping @Sendable (Result<PublishedManifest, SourceError>) async -> Void) async {
    try? await follower.run { [self] news in
      switch news {
      case .view(let view): await report(manifest(in: view))
      case .failure(let error): await report(.failure(SourceError(error)))
      }
    }
  }

  /// The keys are watched.
  package func refresh() async {}

  private func manifest(in view: EtcdView) -> Result<PublishedManifest, SourceError> {
    do throws(SourceError) {
      return .success(try checked(view))
    } catch {
      unusable.withLock { $0[error.code.rawValue, default: 0] += 1 }
      return .failure(error)
    }
  }

  private func checked(_ view: EtcdView) throws(SourceError) -> PublishedManifest {
    guard let value = view[key] else {
      throw SourceError(.missing, "etcd has no key \(key); publish a manifest with carabiner fleet push")
    }
    guard value.value.count <= Manifest.maximumFileBytes else {
      throw SourceError(
        .malformed, "the manifest in \(key) has more than \(Manifest.maximumFileBytes) bytes; publish a shorter one")
    }
    return PublishedManifest(text: value.value, sidecar: view[key + ReleaseSidecar.suffix]?.value)
  }
}

extension SourceError {
  init(_ error: EtcdError) {
    let code: Code =
      switch error.code {
      case .invalidSettings: .invalidSettings
      case .unavailable, .uncertain, .compacted: .unavailable
      case .unauthenticated: .unauthenticated
      case .denied: .denied
      case .refused: .refused
      case .malformed: .malformed
      }
    self.init(code, error.message)
  }
}
