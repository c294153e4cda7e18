internal import Glibc

/// The file behind a descriptor.
struct OpenFile: Sendable, Hashable {
  private let device: dev_t
  private let inode: ino_t
  /// The flags of the descriptor and of its open file.
  private let flags: [Int32]

  /// A descriptor of this process; nil if it is not open.
  init?(_ descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    device = status.st_dev
    inode = status.st_ino
    flags = [fcntl(descriptor, F_GETFD), fcntl(descriptor, F_GETFL)]
  }

  func isSameFile(as other: OpenFile) -> Bool { device == other.device && inode == other.inode }

  /// All descriptors of this process.
  static var all: [Int32: OpenFile] {
    var files: [Int32: OpenFile] = [:]
    for number in FolderNames.list("/proc/self/fd").compactMap({ Int32($0) }) { files[number] = OpenFile(number) }
    return files
  }

  /// The target of a link; nil if it is not a link.
  static func target(of link: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(link, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// The names in a folder, which may be one of `/proc`.
enum FolderNames {
  /// The names without `.`, `..` and the descriptor that reads them; empty if the folder cannot be read.
  static func list(_ folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    let own = folder.hasSuffix("/fd") ? String(unsafe dirfd(stream)) : ""
    var names: [String] = []
    // d_name is read in place: the record is only as long as the name, so a copy of the whole field would read beyond the
    // record.
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != "..", name != own { names.append(name) }
    }
    return names
  }
}
