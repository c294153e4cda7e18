internal import CTestHost
internal import FoundationEssentials
internal import Glibc

/// The state that all code of a process, or of a thread, shares. A plugin must not change it.
///
/// Most of it comes from `/proc/self`, so it works in every confinement in which a library can be loaded. A file that cannot be read is
/// left out, before and after.
struct ProcessSnapshot: Sendable {
  /// Facts by their names in messages.
  private var facts: [String: Fact] = [:]
  private var memory = MemoryMap()
  /// The file behind each descriptor.
  private var descriptors: [Int32: OpenFile] = [:]

  private struct Fact: Hashable {
    let value: String
    /// Whether the value is a digest, which messages do not show.
    var isDigest = false
  }

  /// The state now, on the calling thread.
  static var now: ProcessSnapshot {
    var snapshot = ProcessSnapshot()
    snapshot.readStatus()
    snapshot.readScheduling()
    snapshot.readLimits()
    snapshot.readSettings()
    snapshot.readSignals()
    snapshot.readEnvironment()
    snapshot.memory = .now
    snapshot.descriptors = OpenFile.all
    return snapshot
  }

  /// The differences, for messages.
  ///
  /// - Parameter declared: The capabilities of the note. Declared changes are not reported.
  func differences(from before: ProcessSnapshot, declared: Set<String> = []) -> [String] {
    var found: [String] = []
    for name in Set(facts.keys).union(before.facts.keys).sorted() where !Self.isExcused(name, by: declared) {
      let (now, then) = (facts[name], before.facts[name])
      guard now != then else { continue }
      found.append("\(name) \(Self.change(from: then, to: now))")
    }
    return found + memory.differences(from: before.memory)
  }

  /// The descriptors of `before` that are now closed, or open on another file.
  func lostDescriptors(since before: ProcessSnapshot) -> [String] {
    before.descriptors.sorted { $0.key < $1.key }.compactMap { number, file in
      guard let now = descriptors[number] else { return "descriptor \(number) is closed" }
      if !now.isSameFile(as: file) { return "descriptor \(number) is open on something else" }
      return now == file ? nil : "descriptor \(number) has other flags"
    }
  }

  private static func change(from then: Fact?, to now: Fact?) -> String {
    guard let now else { return "is gone" }
    if now.isDigest || then?.isDigest == true { return "has changed" }
    return "has become \(now.value.prefix(40))" + (then.map { ", it was \($0.value.prefix(40))" } ?? "")
  }

  private static func isExcused(_ name: String, by declared: Set<String>) -> Bool {
    if name.contains("environment") { return !declared.isDisjoint(with: ["setenv", "unsetenv", "putenv", "clearenv"]) }
    if name.hasPrefix("the action of") { return !declared.isDisjoint(with: ["signal", "sigaction"]) }
    return false
  }

  // MARK: Reading

  /// Fields of `status`, and their names in messages.
  private static let fields: [String: String] = [
    "Name": "the thread's name", "Umask": "the umask", "SigBlk": "the signal mask", "SigIgn": "the set of ignored signals",
    "SigCgt": "the set of caught signals", "Uid": "the user", "Gid": "the group", "Groups": "the list of groups",
    "CapEff": "the set of capabilities", "CapBnd": "the capability bounding set", "NoNewPrivs": "no_new_privs",
    "Seccomp": "the seccomp mode", "Seccomp_filters": "the number of seccomp filters",
    "Cpus_allowed_list": "the list of processors the thread may use", "THP_enabled": "the use of huge pages",
  ]

  private mutating func readStatus() {
    for line in (ProcessState.text(of: "/proc/thread-self/status") ?? "").split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":"), let name = Self.fields[String(line[..<colon])] else { continue }
      facts[name] = Fact(value: String(line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }))
    }
  }

  private mutating func readScheduling() {
    // The name of the program is in parentheses and may have any characters; the third field follows it.
    let text = ProcessState.text(of: "/proc/thread-self/stat") ?? ""
    guard let end = text.lastIndex(of: ")") else { return }
    let fields = text[text.index(after: end)...].split(separator: " ")
    for (number, name) in [
      (5, "the process group"), (6, "the session"), (19, "the nice value"), (40, "the real-time priority"),
      (41, "the scheduling policy"),
    ] where fields.indices.contains(number - 3) { facts[name] = Fact(value: String(fields[number - 3])) }
  }

  private mutating func readLimits() {
    for line in (ProcessState.text(of: "/proc/self/limits") ?? "").split(separator: "\n").dropFirst() {
      // `Max open files            1024                 4096                 files     `
      let name = line.prefix(26).split(separator: " ").dropFirst().joined(separator: " ")
      facts["the limit of \(name)"] = Fact(value: line.dropFirst(26).split(separator: " ").joined(separator: " "))
    }
  }

  private mutating func readSettings() {
    for (file, name) in [
      ("oom_score_adj", "the OOM score"), ("timerslack_ns", "the timer slack"), ("coredump_filter", "the core dump filter"),
    ] { facts[name] = ProcessState.text(of: "/proc/self/\(file)").map { Fact(value: $0.filter { $0 != "\n" }) } }
    let timers = (ProcessState.text(of: "/proc/self/timers") ?? "").split(separator: "\n").count { $0.hasPrefix("ID:") }
    facts["the number of POSIX timers"] = Fact(value: "\(timers)")
    facts["the set of interval timers that run (setitimer, alarm)"] = Fact(value: "\(CTestHost_intervalTimers())")
    facts["the working directory"] = OpenFile.target(of: "/proc/self/cwd").map { Fact(value: $0) }
    facts["the root directory"] = OpenFile.target(of: "/proc/self/root").map { Fact(value: $0) }
    facts["the locale"] = unsafe setlocale(LC_ALL, nil).map { unsafe Fact(value: String(cString: $0)) }
    facts["the thread's locale"] = unsafe Fact(value: "\(UInt(bitPattern: uselocale(nil)))", isDigest: true)
    facts["the floating-point mode (rounding, denormal numbers, exceptions)"] = Fact(
      value: String(CTestHost_floatControl(), radix: 16))
  }

  private mutating func readSignals() {
    for signal in 1...64 {
      facts["the action of signal \(signal)"] = Fact(value: "\(CTestHost_signalAction(Int32(signal)))", isDigest: true)
    }
    facts["the thread's alternate signal stack"] = Fact(value: "\(CTestHost_signalStack())", isDigest: true)
  }

  private mutating func readEnvironment() {
    facts["the array of the environment (environ)"] = unsafe Fact(
      value: "\(UInt(bitPattern: CTestHost_environment()))", isDigest: true)
    for (name, value) in ProcessInfo.processInfo.environment {
      facts["the environment variable \(name)"] = Fact(value: value.debugDescription)
    }
  }
}
