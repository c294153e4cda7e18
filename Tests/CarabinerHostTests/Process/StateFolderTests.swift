import Foundation
import Testing

@testable import CarabinerHost

@Suite("Folders for state")
struct StateFolderTests {
  @Test("a folder that was released is free, even if the object lives on")
  func released() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "carabiner-test-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let first = try StateFolder(path)
    #expect(throws: ServerError.self) { try StateFolder(path) }
    first.release()
    let second = try StateFolder(path)
    // The first object must not release the lock of the second.
    first.release()
    #expect(throws: ServerError.self) { try StateFolder(path) }
    withExtendedLifetime((first, second)) {}
  }
}
