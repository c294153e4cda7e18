internal import FoundationEssentials
internal import Glibc

extension PluginCache {
  /// Removes files that are not in use, the oldest first, until the folder is small enough. Also removes what other processes left
  /// behind when they ended.
  ///
  /// - Parameter kept: Digests of files that stay, besides those with a ``CachedPlugin``.
  func evict(downTo maximumBytes: Int, keeping kept: Set<String>) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasSuffix(PartialFile.suffix) { remove(name) }
    var files: [(name: String, status: stat)] = []
    for name in names where name.hasSuffix(".so") {
      var status = stat()
      if unsafe lstat("\(folder)/\(name)", &status) == 0 { files.append((name, status)) }
    }
    var total = files.reduce(0) { $0 + Int($1.status.st_size) }
    files.sort { ($0.status.st_mtim.tv_sec, $0.status.st_mtim.tv_nsec) < ($1.status.st_mtim.tv_sec, $1.status.st_mtim.tv_nsec) }
    for (name, status) in files where total > maximumBytes && !kept.contains(String(name.dropLast(3))) {
      let digest = name.dropLast(3)
      if remove(name, with: names.filter { $0.hasSuffix(".release") && $0.prefix { $0 != "." } == digest }) {
        total -= Int(status.st_size)
      }
    }
    for name in names where !name.hasSuffix(".release") && name.contains(".release.") { removeLeftover(name) }
  }

  /// Removes a file, unless it is in use.
  ///
  /// - Parameter sidecars: The names of its sidecars, which are removed too.
  @discardableResult
  private func remove(_ name: String, with sidecars: [String] = []) -> Bool {
    let path = "\(folder)/\(name)"
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
    // Under the lock: another process that downloads the file again must not lose its sidecar.
    for sidecar in sidecars { _ = unsafe unlink("\(folder)/\(sidecar)") }
    return unsafe unlink(path) == 0
  }

  /// Removes a sidecar that a process did not finish, if it is so old that none writes it any more.
  private func removeLeftover(_ name: String) {
    var status = stat()
    guard unsafe lstat("\(folder)/\(name)", &status) == 0, time(nil) - status.st_mtim.tv_sec > Self.leftoverAge else { return }
    _ = unsafe unlink("\(folder)/\(name)")
  }

  /// The age in seconds from which an unfinished sidecar is removed.
  private static let leftoverAge = 3600
}
