package import CarabinerBridge
package import CarabinerManifest
internal import Glibc
internal import Synchronization

/// The workers of a group: processes with the same plugins and the same instances.
///
/// A call stays in the worker in which it began.
package final class WorkerGroup: Sendable {
  /// A plugin's file, whose bytes the workers map.
  struct File: Sendable {
    let path: String
    let digest: String
    /// Sealed memory with the bytes.
    let descriptor: Int32
  }

  let settings: WorkerSettings
  let files: [File]
  package let workers: [Worker]

  /// Starts the workers.
  ///
  /// - Parameters:
  ///   - files: The plugins of all entries of the group. Each is mapped when its first entry is loaded.
  ///   - user: The user of the workers, if the host is root.
  ///   - coolDown: How long a worker that ended too often is not started again.
  ///   - launcher: The path of the launcher; nil for the one of this host.
  /// - Throws: ``HostError`` if one cannot be started or confined.
  package init(
    _ settings: WorkerSettings, _ files: [PluginFile], user: WorkerOwner?, coolDown: Duration, launcher: String? = nil
  ) throws(HostError) {
    self.settings = settings
    var sealed: [File] = []
    var workers: [Worker] = []
    do throws(HostError) {
      for file in files {
        sealed.append(File(path: file.path, digest: file.digest, descriptor: try StagedCopy.sealed(file)))
      }
      for _ in 0..<settings.workers {
        workers.append(try Worker(settings, sealed, user: user, coolDown: coolDown, launcher: launcher))
      }
    } catch {
      for file in sealed { close(file.descriptor) }
      throw error
    }
    self.files = sealed
    self.workers = workers
  }

  deinit {
    for worker in workers { worker.end() }
    for file in files { close(file.descriptor) }
  }

  /// The number of a file; nil if the group does not have it.
  package func index(of digest: String) -> Int? { files.firstIndex { $0.digest == digest } }

  /// Makes all workers map a file.
  ///
  /// - Throws: ``HostError`` if one of them cannot map it.
  package func load(_ index: Int) throws(HostError) -> WorkerDescription {
    var first: WorkerDescription?
    for worker in workers {
      let description = try worker.load(index)
      guard first == nil || first == description else {
        throw HostError(
          .badTable, step: "table", path: files[index].path, "it registers another table in each process; ask its author")
      }
      first = description
    }
    guard let first else { throw HostError(.processFailed, step: "worker", path: files[index].path, "the group has no worker") }
    return first
  }

  /// Whether the group was made with the same settings and files.
  package func isSame(as settings: WorkerSettings, _ digests: [String]) -> Bool {
    self.settings == settings && files.map(\.digest) == digests
  }
}
