/// The resources that code may acquire without the host's knowledge.
struct ProcessHoldings: Sendable {
  /// The file behind each descriptor.
  private var descriptors: [String: String] = [:]
  private var threads: Set<String> = []
  private var files: Set<String> = []
  private var state = ProcessSnapshot()

  /// The resources of this process now, and the files in its folder.
  static var now: ProcessHoldings {
    var holdings = ProcessHoldings()
    for name in FolderNames.list("/proc/self/fd") {
      if let target = OpenFile.target(of: "/proc/self/fd/\(name)") { holdings.descriptors[name] = target }
    }
    holdings.threads = Set(FolderNames.list("/proc/self/task"))
    holdings.files = Set(FolderNames.list("."))
    holdings.state = .now
    return holdings
  }

  /// The descriptors that are new, or open on other files than before.
  func openedDescriptors(since before: ProcessHoldings) -> [String] {
    descriptors.sorted { $0.key < $1.key }.filter { before.descriptors[$0.key] != $0.value }
      .map { "descriptor \($0.key) is open on \($0.value)" }
  }

  /// The new descriptors and threads; those of the test host and of a language's run time do not count.
  func taken(since before: ProcessHoldings) -> [String] {
    var found = openedDescriptors(since: before)
    for thread in threads.subtracting(before.threads).sorted() {
      let name = ProcessState.text(of: "/proc/self/task/\(thread)/comm")?.split(separator: "\n").first ?? ""
      if name == TestHostThread.name || name.contains("qos") { continue }
      found.append("a thread named \(name) runs")
    }
    return found
  }

  /// New and changed resources.
  func changes(since before: ProcessHoldings) -> [String] {
    var found = taken(since: before) + state.differences(from: before.state)
    for file in files.subtracting(before.files).sorted() { found.append("the file \(file) exists") }
    return found
  }
}
