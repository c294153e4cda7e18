import CarabinerFleet
import TestTools
import Testing

@Suite("Names of a fleet's keys")
struct FleetKeysTests {
  private let keys = FleetKeys(prefix: "carabiner/shop")
  private let id = CandidateID(manifest: Array("candidate".utf8))

  @Test("the keys have the names of the rule, and names are read back", .rule("fleet.12"))
  func names() throws {
    let node = try #require(NodeName("gate-1.example.org:8c2f"))
    let names: [FleetKey: String] = [
      .stable: "carabiner/shop/stable", .stableRelease: "carabiner/shop/stable.release", .candidate: "carabiner/shop/candidate",
      .candidateRelease: "carabiner/shop/candidate.release", .stage(id): "carabiner/shop/stage/\(id)",
      .halt(id): "carabiner/shop/halt/\(id)", .taken(id, by: node): "carabiner/shop/taken/\(id)/\(node)",
      .node(node): "carabiner/shop/nodes/\(node)", .revoked: "carabiner/shop/revoked",
      .revokedRelease: "carabiner/shop/revoked.release",
    ]
    for (key, name) in names {
      #expect(keys.name(key) == name)
      #expect(keys.key(named: name) == key)
    }
    #expect(names.values.filter { $0.hasPrefix(keys.marks(of: id)) } == ["carabiner/shop/taken/\(id)/\(node)"])
  }

  @Test(
    "other names under the prefix are none of a fleet", .rule("fleet.12"),
    arguments: [
      "", "carabiner/shop", "carabiner/shop/", "carabiner/shop/stable/", "carabiner/shop/stable/x", "carabiner/shop/revoked/x",
      "carabiner/shop2/stable", "carabiner/shop/stage/", "carabiner/shop/stage/0123456789ABCDEF", "carabiner/shop/stage/0123",
      "carabiner/shop/halt/0123456789abcdef/x", "carabiner/shop/taken/0123456789abcdef", "carabiner/shop/taken/0123456789abcdef/",
      "carabiner/shop/taken/0123456789abcdef/a/b", "carabiner/shop/taken/x/node", "carabiner/shop/nodes/",
      "carabiner/shop/nodes/a b", "carabiner/shop/nodes/a/b",
    ])
  func otherNames(name: String) { #expect(keys.key(named: name) == nil) }

  @Test("a node's name has 1 to 128 visible ASCII characters without a slash", .rule("fleet.12"))
  func nodeNames() {
    #expect(NodeName("a")?.description == "a")
    #expect(NodeName(String(repeating: "n", count: 128)) != nil)
    for name in ["", "a/b", "a b", "a\n", "ü", "a\u{7F}", String(repeating: "n", count: 129)] {
      #expect(NodeName(name) == nil, "\(name.debugDescription)")
    }
  }
}
