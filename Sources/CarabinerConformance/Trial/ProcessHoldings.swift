internal import FoundationEssentials
internal import Glibc

/// What a process has that code may take without being seen, one by one.
struct ProcessHoldings: Sendable {
  /// What each descriptor leads to.
  private var descriptors: [String: String] = [:]
  private var threads: Set<String> = []
  private var signals: [String: String] = [:]
  private var environment: [String: String] = [:]
  private var files: Set<String> = []

  /// This process as it is now, and the files in its folder.
  static var now: ProcessHoldings {
    var holdings = ProcessHoldings()
    for name in names(in: "/proc/self/fd") {
      if let target = target(of: "/proc/self/fd/\(name)") { holdings.descriptors[name] = target }
    }
    holdings.threads = Set(names(in: "/proc/self/task"))
    holdings.signals = ProcessState.now.signals
    holdings.environment = ProcessInfo.processInfo.environment
    holdings.files = Set(names(in: "."))
    return holdings
  }

  /// The descriptors and threads that are there now and were not before; those of the laboratory and of a language do not count.
  func taken(since before: ProcessHoldings) -> [String] {
    var found: [String] = []
    for (name, target) in descriptors.sorted(by: { $0.key < $1.key }) where before.descriptors[name] != target {
      found.append("descriptor \(name) is open on \(target)")
    }
    for thread in threads.subtracting(before.threads).sorted() {
      let name = ProcessState.text(of: "/proc/self/task/\(thread)/comm")?.split(separator: "\n").first ?? ""
      if name == LaboratoryThread.name || name.contains("qos") { continue }
      found.append("a thread named \(name) runs")
    }
    return found
  }

  /// What is there now and was not before, or is not as it was.
  func changes(since before: ProcessHoldings) -> [String] {
    var found = taken(since: before)
    for (name, mask) in signals.sorted(by: { $0.key < $1.key }) where before.signals[name] != mask {
      found.append("\(name) of the signals is \(mask) and was \(before.signals[name] ?? "")")
    }
    for (name, value) in environment.sorted(by: { $0.key < $1.key }) where before.environment[name] != value {
      found.append("the environment variable \(name) is \(value.prefix(40).debugDescription)")
    }
    for name in Set(before.environment.keys).subtracting(environment.keys).sorted() {
      found.append("the environment variable \(name) is gone")
    }
    for file in files.subtracting(before.files).sorted() { found.append("there is a file \(file)") }
    return found
  }

  private static func target(of link: String) -> String? {
    var bytes = [CChar](repeating: 0, count: 512)
    let count = unsafe readlink(link, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func names(in folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    // The stream's own descriptor is none of the process's.
    let own = folder.hasSuffix("/fd") ? String(unsafe dirfd(stream)) : ""
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != "..", name != own { names.append(name) }
    }
    return names
  }
}
