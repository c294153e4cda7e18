import Carabiner
import CarabinerWire
import Testing

@testable import CarabinerGateway

@Suite("The key of a mutation")
struct IdempotencyKeyTests {
  private func key(_ variables: JSONObject, client: String = "a") -> IdempotencyKey {
    IdempotencyKey(
      "k", client: client,
      DynamicOperation(document: "mutation ($a: A) { b(a: $a) }", operationType: .mutation, variables: variables))
  }

  @Test("the order of members in variables does not matter, the order of elements does")
  func order() {
    let first = key(["a": ["x": 1, "y": ["z": [1, 2], "w": .null]], "b": true]).fingerprint
    #expect(first == key(["b": true, "a": ["y": ["w": .null, "z": [1, 2]], "x": 1]]).fingerprint)
    #expect(first != key(["a": ["x": 1, "y": ["z": [2, 1], "w": .null]], "b": true]).fingerprint)
    #expect(first != key(["a": ["x": 1, "y": ["z": [1, 2]]], "b": true]).fingerprint)
  }

  @Test("each client has its own keys")
  func client() { #expect(key([:]).name != key([:], client: "b").name) }
}
