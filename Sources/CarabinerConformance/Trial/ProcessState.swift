internal import CTestHost
internal import Glibc

/// The resources of a process, from /proc.
struct ProcessState: Sendable, Hashable {
  /// Resident memory in bytes.
  var memory = 0
  var descriptors = 0
  var threads = 0
  /// Bytes of all mappings except the heap.
  var mapped = 0
  /// How many of the 1,024 thread keys of a process are free.
  var freeKeys = 0

  /// The number of used thread keys, up to a constant.
  var usedKeys: Int { -freeKeys }

  /// This process as it is now.
  static var now: ProcessState {
    var state = ProcessState()
    for line in (text(of: "/proc/self/status") ?? "").split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      let value = parts[1].drop { $0 == " " || $0 == "\t" }
      switch parts[0] {
      case "VmRSS": state.memory = (value.split(separator: " ").first.flatMap { Int($0) } ?? 0) << 10
      case "Threads": state.threads = Int(value) ?? 0
      default: break
      }
    }
    state.descriptors = openDescriptors
    state.mapped = MemoryMap.now.mappedBytes
    state.freeKeys = CTestHost_freeThreadKeys()
    return state
  }

  /// The number of open descriptors alone, which is much faster than the whole state.
  static var openDescriptors: Int { FolderNames.list("/proc/self/fd").count }

  /// The text of a file of /proc, whose size is unknown before it is read.
  static func text(of path: String) -> String? { bytes(of: path).map { String(decoding: $0, as: UTF8.self) } }

  /// The bytes of a file of /proc.
  static func bytes(of path: String) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count < 16 << 20 {
      let count = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      bytes.append(contentsOf: piece[..<count])
    }
    return bytes
  }
}
