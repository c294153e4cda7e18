import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// A plugin must not be able to detect that it is being tested.
@Suite("The harness as a host")
struct DisguiseTests {
  /// A plugin that writes the properties of its host.
  private func curious(into folder: FixturePlugin.Folder) async throws -> String {
    try await BadPlugin.compile(
      """
      #include <carabiner.h>
      #include <stdio.h>
      #include <unistd.h>
      static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
        (void)why;
        char text[2048];
        int count = snprintf(text, sizeof text,
          "host %.*s %.*s, ABI %d.%d, %u bytes, features %llu\\nentry %.*s from %.*s, generation %llu, size %u, %.*s\\n",
          (int)h->name.len, h->name.ptr, (int)h->version.len, h->version.ptr, h->abi_major, h->abi_minor, h->size,
          (unsigned long long)h->features, (int)info->entry_name.len, info->entry_name.ptr, (int)info->origin.len, info->origin.ptr,
          (unsigned long long)info->generation, info->size, (int)info->config_json.len, info->config_json.ptr);
        (void)!write(2, text, (size_t)count);
        *inst = NULL;
        return CRB_OK;
      }
      #define CREATE create
      #define DESTROY NULL
      #include "sound.h"
      """, into: folder)
  }

  @Test("has the same properties as the host of the gateway, and no others")
  func sameWords() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await curious(into: folder)
    let tested = try await CommandRun(["conform", "--check", "SE01", "--effort", "0.05", "--format", "json", plugin])
    let output = try JSONValue(parsing: tested.output)["plugins"]?[0]?["checks"]?[0]?["output"]?.string ?? ""
    let manifest = try TemporaryFile(
      "{carabiner: 1, plugins: [{name: curious, file: \(plugin)}], chain: {graphql: [curious]}}")
    // Nothing listens at this address. The chain is made before a connection is needed.
    let real = try await CommandRun(
      ["run", "-m", manifest.path, "--endpoint", "http://127.0.0.1:9/graphql", "-"], input: "{ a }")
    let ofHost = (real.output + real.errors).split(separator: "\n").filter { $0.hasPrefix("host ") }
    #expect(!ofHost.isEmpty, "\(real.output)\(real.errors)")
    #expect(Set(output.split(separator: "\n").filter { $0.hasPrefix("host ") }) == Set(ofHost), "\(output)")
    for word in ["conform", "laboratory", "test", "trial", "harness"] {
      // The id of the fixture, org.carabiner.test.bad, gives the entry its name.
      #expect(!output.lowercased().contains(word), "\(word) in \(output)")
    }
    #expect(output.contains("entry bad from "))
  }
}
