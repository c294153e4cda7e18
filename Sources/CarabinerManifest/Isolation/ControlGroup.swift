internal import CarabinerFiles
internal import Glibc

/// The control group (cgroup v2) of a process.
package struct ControlGroup: Sendable, Hashable {
  /// The reason why a process cannot limit other processes with its control group.
  package struct Lack: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, for the operator.
    package let description: String
  }

  /// The largest file that is read. The kernel writes less.
  private static let maximumFileBytes = 1 << 20

  /// The folder of the group, below the mount point of the file system.
  package let folder: String
  /// The controllers that the group may pass on to groups below it.
  package let controllers: [String]

  /// Finds the group of a process.
  ///
  /// - Parameter process: The folder of the process in `/proc`.
  /// - Throws: ``Lack`` if there is no cgroup v2.
  package init(process: String = "/proc/self") throws(Lack) {
    guard let mount = Self.mount(process) else {
      throw Lack(description: "this system has no cgroup v2 file system")
    }
    let lines = Self.text("\(process)/cgroup")?.split(separator: "\n") ?? []
    guard let path = lines.first(where: { $0.hasPrefix("0::/") })?.dropFirst(3) else {
      throw Lack(description: "this process is in no cgroup v2")
    }
    // A mount of a part of the hierarchy shows paths below this part.
    let isPart = mount.root != "/" && (path == mount.root || path.hasPrefix("\(mount.root)/"))
    let below = isPart ? path.dropFirst(mount.root.count) : path
    folder = below.isEmpty || below == "/" ? mount.point : "\(mount.point)\(below)"
    guard let list = Self.text("\(folder)/cgroup.controllers") else {
      throw Lack(description: "the cgroup \(folder) of this process cannot be read")
    }
    controllers = list.split(whereSeparator: \.isWhitespace).map(String.init)
  }

  /// Checks that this process may make groups below its own one, and limit them with a controller.
  ///
  /// - Throws: ``Lack`` with the reason.
  package func check(_ controller: String) throws(Lack) {
    guard controllers.contains(controller) else {
      let others = controllers.isEmpty ? "none" : controllers.joined(separator: ", ")
      throw Lack(description: "the cgroup \(folder) of this process has no \(controller) controller (it has: \(others))")
    }
    // All three are written: to make a group, to move a process, and to pass on the controller.
    for file in ["", "/cgroup.procs", "/cgroup.subtree_control"]
    where unsafe faccessat(AT_FDCWD, folder + file, W_OK, AT_EACCESS) != 0 {
      let reason = unsafe String(cString: strerror(errno))
      throw Lack(description: "the cgroup of this process is not delegated to it: \(folder)\(file): \(reason)")
    }
  }

  /// The mount of the file system, and the part of the hierarchy that it shows.
  private static func mount(_ process: String) -> (root: Substring, point: String)? {
    for line in text("\(process)/mountinfo")?.split(separator: "\n") ?? [] {
      let fields = line.split(separator: " ")
      guard let dash = fields.firstIndex(of: "-"), dash >= 5, dash + 1 < fields.count, fields[dash + 1] == "cgroup2" else {
        continue
      }
      return (fields[3], String(fields[4].replacing(#"\040"#, with: " ")))
    }
    return nil
  }

  private static func text(_ path: String) -> String? { try? BoundedFile.text(at: path, maximumBytes: maximumFileBytes) }
}
