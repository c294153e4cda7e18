public import Foundation

extension Pipe {
  /// A pipe that processes do not inherit, except as the input or output that they are given.
  ///
  /// Otherwise a process that another test is just starting may keep the pipe open, and a reader waits for the end of that process.
  public static func notInherited() -> Pipe {
    let pipe = Pipe()
    for handle in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
      let descriptor = handle.fileDescriptor
      guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { fatalError("descriptor \(descriptor) is not open") }
    }
    return pipe
  }
}
