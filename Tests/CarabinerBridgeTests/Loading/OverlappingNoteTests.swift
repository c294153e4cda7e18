import CarabinerBridge
import Foundation
import TestTools
import Testing

/// Notes that are made to cost time and memory.
@Suite("A file whose notes overlap")
struct OverlappingNoteTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  /// A shared object that contains only note segments over the same bytes, which are empty notes.
  private func object(segments: Int, bytes: Int) -> Data {
    var data = Data([0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9))
    func put(_ value: Int, _ size: Int) { for index in 0..<size { data.append(UInt8(truncatingIfNeeded: value >> (8 * index))) } }
    put(3, 2)
    put(Int(ELFImage.machine), 2)
    put(1, 4)
    for value in [0, 64, 0] { put(value, 8) }
    put(0, 4)
    for value in [64, 56, segments, 0, 0, 0] { put(value, 2) }
    let start = 64 + segments * 56
    for _ in 0..<segments {
      put(4, 4)
      put(4, 4)
      for value in [start, 0, 0, bytes, bytes, 4] { put(value, 8) }
    }
    data.append(Data(count: bytes))
    return data
  }

  @Test(
    "it is refused by the size of its notes, and none of them is read", arguments: [(512, 8 << 20), (2, 600 << 10), (1, 2 << 20)])
  func refused(segments: Int, bytes: Int) throws {
    let path = folder.file("notes.so").path
    try object(segments: segments, bytes: bytes).write(to: URL(filePath: path))
    let refusal = #expect(throws: HostError.self) { try PluginNote.inspect(path: path) }
    #expect(refusal?.code == .badNote)
    #expect(refusal?.message.contains("1MiB") == true, "\(refusal?.message ?? "")")
  }

  @Test("many small ones are read to the end")
  func small() throws {
    let path = folder.file("notes.so").path
    try object(segments: 512, bytes: 2000).write(to: URL(filePath: path))
    let refusal = #expect(throws: HostError.self) { try PluginNote.inspect(path: path) }
    #expect(refusal?.code == .noNote)
  }
}
