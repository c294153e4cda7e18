import Foundation
import TestTools
import Testing

@Suite("Processes that tests start")
struct ChildProcessTests {
  private static func start(_ program: String, _ arguments: [String]) throws -> ChildProcess {
    let process = ChildProcess()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return process
  }

  @Test("the end of a process is noticed while others that were started at the same moment run on")
  func ends() async throws {
    try await withThrowingTaskGroup(of: ChildProcess?.self) { group in
      for _ in 0..<8 {
        group.addTask { try await offThePool { try Self.start("/bin/sleep", ["600"]) } }
        group.addTask {
          try await offThePool {
            for _ in 0..<40 {
              let short = try Self.start("/bin/true", [])
              short.waitUntilExit()
              #expect(short.terminationStatus == 0 && !short.isRunning)
            }
            return nil
          }
        }
      }
      var others: [ChildProcess] = []
      for try await process in group { if let process { others.append(process) } }
      for process in others {
        #expect(process.isRunning)
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTERM)
      }
      #expect(others.count == 8)
    }
  }

  @Test("a process has its streams, its folder, its variables, and no other descriptor")
  func streamsFolderAndVariables() throws {
    let process = ChildProcess()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "cat; pwd; echo $GREETING; ls /proc/self/fd; exit 7"]
    process.currentDirectoryURL = URL(filePath: "/usr")
    process.environment = ["GREETING": "hello", "PATH": "/usr/bin:/bin"]
    let (input, output) = (Pipe.notInherited(), Pipe.notInherited())
    process.standardInput = input
    process.standardOutput = output
    let other = try #require(FileHandle(forReadingAtPath: "/etc/passwd"))
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data("typed\n".utf8))
    try input.fileHandleForWriting.close()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    try other.close()
    // ls has the folder open as 3.
    #expect(text == "typed\n/usr\nhello\n0\n1\n2\n3\n")
    #expect(process.terminationReason == .exit && process.terminationStatus == 7)
  }

  @Test("a program that does not exist is an error")
  func missing() {
    #expect(throws: ChildProcess.DidNotStart.self) { try Self.start("/does/not/exist", []) }
  }
}
