internal import CarabinerFiles
internal import Glibc

/// Reads the small files about releases.
package enum ReleaseFile {
  /// A file that decides what is trusted. Only root and the user of this process may be able to change it.
  ///
  /// - Throws: ``ReleaseError`` if it cannot be read, or if others could change it.
  package static func trusted(_ path: String, maximumBytes: Int) throws(ReleaseError) -> [UInt8] {
    let place: String
    do throws(TrustedPath.Fault) {
      place = try TrustedPath.resolve(path)
    } catch {
      switch error {
      case .absent(let reason): throw ReleaseError(.unreadable, "\(path) cannot be read: \(reason); check the path")
      case .unsafe(let reason): throw ReleaseError(.unsafeFile, "\(path) is not trusted: \(reason)")
      }
    }
    var status = stat()
    guard unsafe lstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ReleaseError(.unreadable, "\(path) is not a regular file; put the file in its place")
    }
    guard !TrustedPath.isForeign(status) else {
      throw ReleaseError(
        .unsafeFile,
        "\(path) belongs to user \(status.st_uid), who could change it; let it belong to root or to the user of this "
          + "process, \(TrustedPath.userName)")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw ReleaseError(.unsafeFile, "others than its owner may write to \(path); run chmod go-w on it")
    }
    return try bytes(path, maximumBytes: maximumBytes, .invalidFile) { limit throws(BoundedFile.Fault) in
      try BoundedFile.bytes(at: place, maximumBytes: limit)
    }
  }

  /// A sidecar; nil if there is none. Any user may own it, because its signatures are checked.
  ///
  /// - Throws: ``ReleaseError`` if it cannot be read.
  package static func sidecar(at sidecar: String) throws(ReleaseError) -> [UInt8]? {
    // O_NONBLOCK: a FIFO would make open wait for a writer.
    let descriptor = unsafe open(sidecar, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw ReleaseError(
        .unreadable, unsafe "\(sidecar) cannot be read: \(String(cString: strerror(errno))); check its permissions")
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ReleaseError(.unreadable, "\(sidecar) is not a regular file; put the sidecar in its place")
    }
    return try bytes(sidecar, maximumBytes: ReleaseSidecar.maximumBytes, .signature) { limit throws(BoundedFile.Fault) in
      try BoundedFile.bytes(of: descriptor, maximumBytes: limit)
    }
  }

  /// A list of revocations that is to be published. Any user may own it.
  ///
  /// - Throws: ``ReleaseError`` if it cannot be read.
  package static func list(at path: String) throws(ReleaseError) -> [UInt8] {
    try bytes(path, maximumBytes: RevocationList.maximumBytes, .invalidFile) { limit throws(BoundedFile.Fault) in
      try BoundedFile.bytes(at: path, maximumBytes: limit)
    }
  }

  private static func bytes(
    _ name: String, maximumBytes: Int, _ tooLarge: ReleaseError.Code,
    _ read: (_ maximumBytes: Int) throws(BoundedFile.Fault) -> [UInt8]
  ) throws(ReleaseError) -> [UInt8] {
    do throws(BoundedFile.Fault) {
      return try read(maximumBytes)
    } catch {
      switch error {
      case .unreadable(let reason): throw ReleaseError(.unreadable, "\(name) cannot be read: \(reason); check its permissions")
      case .tooLarge, .notText:
        throw ReleaseError(tooLarge, "\(name) has more than the \(maximumBytes) bytes allowed; is it the right file?")
      }
    }
  }
}
