import CarabinerBridge
import CarabinerProvider
import Foundation
import Glibc
import TestTools
import Testing

/// The users who can change the file that a path refers to.
@Suite("The way to a plugin's file")
struct TrustedPathTests {
  private let folder: FixturePlugin.Folder
  private let plugin: String

  init() async throws {
    folder = try FixturePlugin.Folder()
    plugin = try await FixturePlugin.compile("loading", into: folder)
  }

  private func refusal(of path: String) -> HostError? {
    do throws(HostError) {
      _ = try PluginLibrary.load(path: path)
      return nil
    } catch {
      return error
    }
  }

  private func makeFolder(_ name: String, mode: mode_t) throws -> String {
    let made = folder.file(name).path
    try FileManager.default.createDirectory(atPath: made, withIntermediateDirectories: false)
    unsafe chmod(made, mode)
    return made
  }

  @Test(
    "a symbolic link is refused in a folder others may write to, although the file it leads to is safe",
    arguments: ["../plugin.so", "safe/../../plugin.so", nil])
  func link(target: String?) throws {
    let open = try makeFolder("open", mode: 0o777)
    try FileManager.default.createDirectory(atPath: "\(open)/safe", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: "\(open)/link.so", withDestinationPath: target ?? plugin)
    let refused = refusal(of: "\(open)/link.so")
    #expect(refused?.code == .unsafeParent)
    #expect(refused?.message.contains("other users may write to the folder \(open)") == true, "\(refused?.message ?? "")")
    // The owner of the folder can also change a path that passes through it and back.
    #expect(refusal(of: "\(open)/../plugin.so")?.code == .unsafeParent)
    unsafe chmod(open, 0o755)
    #expect(refusal(of: "\(open)/link.so") == nil)
  }

  @Test("a link to a folder counts like a link to the file")
  func folderLink() throws {
    let open = try makeFolder("open", mode: 0o777)
    try FileManager.default.createSymbolicLink(atPath: "\(open)/plugins", withDestinationPath: folder.url.path)
    #expect(refusal(of: "\(open)/plugins/plugin.so")?.code == .unsafeParent)
  }

  @Test("in a folder with the sticky bit, links of root and of this user are followed, and those of others are not")
  func sticky() throws {
    let shared = try makeFolder("shared", mode: 0o1777)
    let link = "\(shared)/link.so"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: plugin)
    #expect(refusal(of: link) == nil)
    // Only root can create a link that belongs to another user.
    guard geteuid() == 0 else { return }
    unsafe #expect(lchown(link, 65_534, 65_534) == 0)
    let refused = refusal(of: link)
    #expect(refused?.code == .unsafeParent)
    #expect(refused?.message.contains("belongs to user 65534") == true, "\(refused?.message ?? "")")
  }

  @Test("links that lead round and round, and links into nothing, are refused")
  func loops() throws {
    let link = folder.file("round.so").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "round.so")
    #expect(refusal(of: link)?.code == .notFound)
    let nothing = folder.file("nothing.so").path
    try FileManager.default.createSymbolicLink(atPath: nothing, withDestinationPath: "absent/plugin.so")
    #expect(refusal(of: nothing)?.code == .notFound)
  }

  @Test("a refusal names the user that is meant")
  func user() throws {
    let open = try makeFolder("open", mode: 0o755)
    guard geteuid() == 0 else { return }
    try FileManager.default.copyItem(atPath: plugin, toPath: "\(open)/plugin.so")
    unsafe chown(open, 65_534, 65_534)
    let refused = refusal(of: "\(open)/plugin.so")
    #expect(refused?.message.contains("the user of this process, user 0 (root)") == true, "\(refused?.message ?? "")")
    #expect(refused?.message.contains("carabiner check --user") == true)
  }
}
