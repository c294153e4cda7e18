import CarabinerWire
import CommandTools
import Foundation
import Glibc
import TestTools
import Testing

/// Whether files are safe for a given user, and where their copies are stored.
@Suite("carabiner check for a user")
struct CheckedUserTests {
  private static func manifest(_ plugin: String, staging: String = "memfd") throws -> TemporaryFile {
    let file = try TemporaryFile(
      "{carabiner: 1, settings: {staging: \(staging)}, plugins: [{name: n, file: \(plugin)}], chain: {graphql: [n]}}")
    unsafe chmod(file.path, 0o644)
    return file
  }

  @Test("root checks what another user runs as that user, and a refusal says how")
  func root() async throws {
    let plugin = try await CompiledFixture("loading")
    let manifest = try Self.manifest(plugin.path)
    // Only root can change the owner of files and check for another user. Any other user gets an error.
    guard geteuid() == 0 else {
      let run = try await CommandRun(["check", "-m", manifest.path, "--user", "root"])
      #expect(run.status == 2)
      #expect(run.errors.contains("only root can check for another user"), "\(run.errors)")
      return
    }
    unsafe chown(plugin.path, 65_534, 65_534)
    unsafe chown(plugin.folder.path, 65_534, 65_534)
    let asRoot = try await CommandRun(["check", "-m", manifest.path])
    #expect(asRoot.status == 3)
    #expect(asRoot.errors.contains("the user of this process"), "\(asRoot.errors)")
    #expect(asRoot.errors.contains("carabiner check --user NAME"), "\(asRoot.errors)")
    for user in ["nobody", "65534"] {
      let asUser = try await CommandRun(["check", "-m", manifest.path, "--user", user])
      #expect(asUser.status == 0, "\(asUser.errors)")
    }
    unsafe chmod(manifest.path, 0o600)
    let unreadable = try await CommandRun(["check", "-m", manifest.path, "--user", "nobody"])
    #expect(unreadable.status == 3)
    #expect(unreadable.errors.contains("Permission denied"), "\(unreadable.errors)")
  }

  @Test("the current user can be named, and an unknown user name is an error of the command line")
  func names() async throws {
    let plugin = try await CompiledFixture("loading")
    let manifest = try Self.manifest(plugin.path)
    let own = try await CommandRun(["check", "-m", manifest.path, "--user", "\(geteuid())"])
    #expect(own.status == 0, "\(own.errors)")
    let unknown = try await CommandRun(["check", "-m", manifest.path, "--user", "no-such-user-here"])
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("there is no user no-such-user-here"), "\(unknown.errors)")
  }

  @Test("copies in a folder are refused where another user could replace them, and copies in memory need none")
  func staging() async throws {
    let plugin = try await CompiledFixture("loading")
    let runtime = plugin.folder.appending(path: "runtime").path
    try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: false)
    func check(_ staging: String) async throws -> CommandRun {
      let manifest = try Self.manifest(plugin.path, staging: staging)
      return try await CommandRun(["check", "-m", manifest.path], environment: ["XDG_RUNTIME_DIR": runtime])
    }
    #expect(try await check("directory").status == 0)
    unsafe chmod(runtime, 0o777)
    let writable = try await check("directory")
    #expect(writable.status == 3)
    #expect(writable.errors.contains("[stagingFailed]") && writable.errors.contains(runtime), "\(writable.errors)")
    #expect(try await check("memfd").status == 0)
    unsafe chmod(runtime, 0o755)
    if geteuid() == 0 {
      unsafe chown(runtime, 65_534, 65_534)
      let foreign = try await check("directory")
      #expect(foreign.status == 3)
      #expect(foreign.errors.contains("belongs to user 65534"), "\(foreign.errors)")
      #expect(try await check("memfd").status == 0)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: runtime) == [])
  }
}
