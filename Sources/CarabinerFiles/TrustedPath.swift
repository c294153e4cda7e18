package import Glibc

/// Checks that only root and the user of this process can decide which file a path refers to.
///
/// It follows the path as the kernel does, one name after the other, and checks each folder and each symbolic link. A folder of
/// another user, or one that others may write to, is a fault even if a link in it refers back to a safe place. In a folder with
/// the sticky bit, like /tmp, every user may add names, but only the owner of a name may replace it. So the owner of each name in
/// such a folder is checked instead.
package enum TrustedPath {
  /// The reason why a path is not trusted.
  package enum Fault: Error {
    /// The file does not exist, and other users cannot create it.
    case absent(String)
    /// Another user could replace the file. The text has the reason and what to do.
    case unsafe(String)
  }

  /// The maximal number of links, as in the kernel.
  private static let maximumLinks = 40

  /// Follows a path to its end.
  ///
  /// - Parameter mayBeAbsent: Whether the file may be missing, because it will be created.
  /// - Returns: The same path without links.
  @discardableResult
  package static func resolve(_ path: String, mayBeAbsent: Bool = false) throws(Fault) -> String {
    var walk = Walk(mayBeAbsent: mayBeAbsent)
    try walk.go(to: path)
    return walk.place
  }

  /// Whether the owner is neither root nor the user of this process.
  package static func isForeign(_ status: stat) -> Bool { status.st_uid != 0 && status.st_uid != geteuid() }

  /// The user of this process, for messages: whether a path is trusted depends on the user.
  package static var userName: String {
    let id = geteuid()
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var texts = [CChar](repeating: 0, count: 4096)
    return unsafe texts.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, unsafe getpwuid_r(id, &entry, base, buffer.count, &found) == 0,
        let name = unsafe found?.pointee.pw_name
      else { return "user \(id)" }
      return unsafe "user \(id) (\(String(cString: name)))"
    }
  }

  /// The state of the walk along a path.
  private struct Walk {
    let mayBeAbsent: Bool
    /// The current folder; empty for the root.
    private var folder = ""
    /// Whether every user may add names to the current folder.
    private var isShared = false
    private var links = 0

    init(mayBeAbsent: Bool) { self.mayBeAbsent = mayBeAbsent }

    var place: String { folder.isEmpty ? "/" : folder }

    mutating func go(to path: String) throws(Fault) {
      var names = Array(path.split(separator: "/").reversed())
      if path.hasPrefix("/") { try enterRoot() } else { try enterWorkingFolder() }
      while let name = names.popLast() {
        if name == "." { continue }
        if name == ".." {
          try leave()
          continue
        }
        let next = "\(folder)/\(name)"
        var status = stat()
        guard unsafe lstat(next, &status) == 0 else {
          guard mayBeAbsent, errno == ENOENT, names.isEmpty else { throw missing(next) }
          folder = next
          return
        }
        switch status.st_mode & S_IFMT {
        case S_IFLNK:
          let target = try target(of: next, status)
          names += target.split(separator: "/").reversed()
          if target.hasPrefix("/") { try enterRoot() }
        case S_IFDIR: try enter(next, status)
        default:
          guard names.isEmpty else { throw .absent("\(next) is not a folder") }
          folder = next
        }
      }
    }

    private mutating func enterRoot() throws(Fault) {
      var status = stat()
      guard unsafe lstat("/", &status) == 0 else { throw .unsafe("the folder / cannot be checked") }
      try enter("", status)
    }

    private mutating func enterWorkingFolder() throws(Fault) {
      guard let working = unsafe getcwd(nil, 0) else { throw .absent("the working folder has no path") }
      defer { unsafe free(working) }
      try go(to: unsafe String(cString: working))
    }

    private mutating func leave() throws(Fault) {
      let parent = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
      var status = stat()
      guard unsafe lstat(parent.isEmpty ? "/" : parent, &status) == 0 else { throw missing(parent) }
      try enter(parent, status)
    }

    private mutating func enter(_ path: String, _ status: stat) throws(Fault) {
      let name = path.isEmpty ? "/" : path
      guard !isForeign(status) else {
        throw .unsafe(
          "the folder \(name) belongs to user \(status.st_uid), who could replace the file; it must belong to root or to "
            + "the user of this process, \(userName), or the file must be elsewhere")
      }
      let isWritable = status.st_mode & 0o022 != 0
      guard !isWritable || status.st_mode & UInt32(S_ISVTX) != 0 else {
        throw .unsafe(
          "other users may write to the folder \(name) and could replace the file; run chmod go-w on it, or move the file")
      }
      isShared = isWritable
      folder = path
    }

    private mutating func target(of link: String, _ status: stat) throws(Fault) -> String {
      guard !isForeign(status) else {
        throw .unsafe(
          "the symbolic link \(link) belongs to user \(status.st_uid), who could change its target; use the path of the file itself"
        )
      }
      links += 1
      guard links <= maximumLinks else { throw .absent("there are more than \(maximumLinks) symbolic links on the way") }
      var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
        unsafe buffer.baseAddress.map { unsafe readlink(link, $0, buffer.count) } ?? -1
      }
      guard count > 0, count < bytes.count else { throw .absent("the symbolic link \(link) cannot be read") }
      return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func missing(_ path: String) -> Fault {
      guard errno == ENOENT, isShared else { return unsafe .absent("\(path): \(String(cString: strerror(errno)))") }
      return .unsafe("\(path) does not exist, and every user could create it; create it, or leave it out")
    }
  }
}
