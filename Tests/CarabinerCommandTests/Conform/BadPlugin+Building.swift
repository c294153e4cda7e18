import Foundation
import TestTools

extension BadPlugin {
  private static let include = Repository.root.appending(path: "Sources/CCarabiner/include").path
  static let hardening = "-Wl,-z,relro,-z,now,-z,noexecstack"

  /// Builds it into a folder with the usual tools of its language.
  func build(into folder: URL) async throws -> String {
    let output = folder.appending(path: "\(check).so").path
    let flags = (comment("CFLAGS") ?? "").split(separator: " ").map(String.init)
    switch language {
    case .c: try await buildC(output, flags, in: folder)
    case .cpp:
      try await Self.run(
        [
          "c++", "-std=gnu++20", "-O1", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden",
          "-fvisibility-inlines-hidden", "-fno-gnu-unique", "-I\(Self.include)",
          "-I\(Repository.root.path)/Sources/Kits/cpp", Self.hardening, "-o", output, source.path,
        ] + flags + ["-lpthread"])
    case .rust:
      try await Self.run(
        [
          "rustc", "--edition", "2021", "--crate-type", "cdylib", "--crate-name", "plugin", "-O", "--extern",
          "carabiner=\(try await CorpusKits.shared.rust().path)", "-C", "link-arg=\(Self.hardening)", "-o", output, source.path,
        ] + flags)
    case .swift: try await buildSwift(output, flags, in: folder)
    }
    return output
  }

  /// Compiles a plugin in C that includes `sound.h` for everything it does not define itself.
  static func compile(_ text: String, _ flags: [String] = [], into folder: FixturePlugin.Folder) async throws -> String {
    let (source, output) = (folder.file("plugin.c"), folder.file("plugin.so").path)
    try Data(text.utf8).write(to: source)
    try await run(
      [
        "cc", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-I\(fixtures.path)/bad", "-I\(include)", "-o", output,
        source.path,
      ] + flags)
    return output
  }

  /// The line of the statement of a misbehaving plugin.
  static let lineOfStatement = 13

  /// A plugin whose create() runs a statement.
  static func misbehaving(
    _ statement: String, _ flags: [String] = [], into folder: FixturePlugin.Folder
  ) async throws -> String {
    try await compile(
      """
      #define _GNU_SOURCE
      #include <carabiner.h>
      #include <signal.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      #include <sys/mman.h>
      #include <sys/prctl.h>
      #include <sys/socket.h>
      #include <unistd.h>
      static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
        (void)h, (void)info, (void)why;
        \(statement)
        *inst = NULL;
        return CRB_OK;
      }
      #define CREATE create
      #define DESTROY NULL
      #include "sound.h"
      """, flags, into: folder)
  }

  private func buildC(_ output: String, _ flags: [String], in folder: URL) async throws {
    let usual = ["-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-I\(Self.include)", Self.hardening]
    guard let make = comment("MAKE") else {
      return try await Self.run(["cc"] + usual + ["-o", output, source.path] + flags + ["-lpthread"])
    }
    try await Self.run(
      ["sh", "-ec", make], ["IN": source.path, "OUT": output, "CC": "cc", "CFLAGS": usual.joined(separator: " ")],
      in: folder)
  }

  /// The note of a Swift plugin comes from a C file, as in Plugins.
  private func buildSwift(_ output: String, _ flags: [String], in folder: URL) async throws {
    let kit = try await CorpusKits.shared.swift()
    let id = id ?? ""
    let note = folder.appending(path: "note.c")
    let object = folder.appending(path: "note.o").path
    try Data(
      """
      #include <carabiner.h>
      CRB_DECLARE_NOTE("{\\"id\\":\\"\(id)\\",\\"version\\":\\"1.0.0\\",\\"abi\\":[1,0]}");
      """.utf8
    ).write(to: note)
    try await Self.run(["cc", "-fPIC", "-c", "-I\(Self.include)", "-o", object, note.path])
    try await Self.run(
      ["swiftc"] + CorpusKits.swiftFlags(kit) + flags + [
        "-module-name", "Plugin_\(name.filter(\.isLetter))", "-emit-library", "-no-toolchain-stdlib-rpath", "-Xlinker", "-z",
        "-Xlinker", "now", "-o", output, source.path, kit.appending(path: "CarabinerPlugin.o").path, object,
      ])
  }

  private static func run(_ command: [String], _ environment: [String: String] = [:], in directory: URL? = nil) async throws {
    let run = try await ToolRun(URL(filePath: "/usr/bin/env"), command, environment: environment, in: directory)
    guard run.status == 0 else { throw FixturePlugin.CompilerFailure(output: run.output + run.errors) }
  }
}
