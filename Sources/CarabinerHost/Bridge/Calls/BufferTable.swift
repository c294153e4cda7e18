internal import CCarabiner
internal import FoundationEssentials
internal import Synchronization

/// The counted buffers plugins hold, by handle.
final class BufferTable: Sendable {
  /// Bytes that live as long as somebody holds a reference.
  @safe final class Storage: @unchecked Sendable {
    // Written by its maker before anybody else has the handle; read-only from then on.

    let bytes: UnsafeRawBufferPointer
    private let dispose: () -> Void

    init(bytes: UnsafeRawBufferPointer, dispose: @escaping () -> Void) {
      unsafe self.bytes = unsafe bytes
      self.dispose = dispose
    }

    deinit { dispose() }
  }

  private struct Slot {
    var generation: UInt32 = 0
    var references = 0
    var storage: Storage?
    var range: Range<Int> = 0..<0
  }

  private struct State {
    var slots: [Slot] = []
    var free: [Int] = []
  }

  /// How many buffers plugins may hold at once.
  static let maximumBuffers = 1 << 20

  private let state = Mutex(State())

  /// One table serves the process: a buffer may travel from one plugin to another.
  static let shared = BufferTable()

  func allocate(_ count: Int, limit: Int) -> (handle: crb_buf, bytes: UnsafeMutablePointer<UInt8>)? {
    guard (0...limit).contains(count) else { return nil }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 16)
    let storage = unsafe Storage(bytes: UnsafeRawBufferPointer(start: memory, count: count)) { unsafe memory.deallocate() }
    guard let handle = insert(storage, 0..<count) else { return nil }
    return unsafe (handle, memory.assumingMemoryBound(to: UInt8.self))
  }

  func adopt(_ bytes: UnsafeRawBufferPointer, dispose: @escaping () -> Void) -> crb_buf? {
    guard hasRoom else { return nil }
    return unsafe insert(Storage(bytes: bytes, dispose: dispose), 0..<bytes.count)
  }

  func slice(_ handle: crb_buf, offset: Int, count: Int) -> crb_buf? {
    guard let (storage, range) = lookUp(handle), offset >= 0, count >= 0, offset <= range.count,
      count <= range.count - offset
    else { return nil }
    let start = range.lowerBound + offset
    return insert(storage, start..<(start + count))
  }

  func retain(_ handle: crb_buf) -> Bool {
    state.withLock { state in
      guard let index = Self.index(of: handle, in: state) else { return false }
      state.slots[index].references += 1
      return true
    }
  }

  func release(_ handle: crb_buf) -> Bool {
    // The storage goes outside the lock: its drop function is a plugin's.
    let freed: Storage?? = state.withLock { state in
      guard let index = Self.index(of: handle, in: state) else { return nil }
      state.slots[index].references -= 1
      guard state.slots[index].references == 0 else { return .some(nil) }
      let storage = state.slots[index].storage
      state.slots[index].storage = nil
      state.slots[index].generation &+= 1
      state.free.append(index)
      return .some(storage)
    }
    return freed != nil
  }

  func view(_ handle: crb_buf) -> crb_view? {
    guard let (storage, range) = lookUp(handle), let base = unsafe storage.bytes.baseAddress else { return nil }
    return unsafe crb_view(ptr: (base + range.lowerBound).assumingMemoryBound(to: UInt8.self), len: range.count)
  }

  /// How many bytes a buffer has; nil if there is no such buffer.
  func size(of handle: crb_buf) -> Int? { lookUp(handle)?.1.count }

  /// The bytes as data and one reference less. The data shares the storage.
  func consume(_ handle: crb_buf) -> Data? {
    guard let (storage, range) = lookUp(handle) else { return nil }
    let data = unsafe Data(storage.bytes[range])
    _ = release(handle)
    return data
  }

  /// How many buffers are held.
  var count: Int { state.withLock { $0.slots.count - $0.free.count } }

  private var hasRoom: Bool { count < Self.maximumBuffers }

  private func insert(_ storage: Storage, _ range: Range<Int>) -> crb_buf? {
    state.withLock { state in
      guard let index = state.free.popLast() ?? Self.grow(&state) else { return nil }
      state.slots[index].references = 1
      state.slots[index].storage = storage
      state.slots[index].range = range
      return crb_buf(index + 1) << 32 | crb_buf(state.slots[index].generation)
    }
  }

  private static func grow(_ state: inout State) -> Int? {
    guard state.slots.count < maximumBuffers else { return nil }
    state.slots.append(Slot())
    return state.slots.count - 1
  }

  private func lookUp(_ handle: crb_buf) -> (Storage, Range<Int>)? {
    state.withLock { state in
      guard let index = Self.index(of: handle, in: state), let storage = state.slots[index].storage else { return nil }
      return (storage, state.slots[index].range)
    }
  }

  private static func index(of handle: crb_buf, in state: borrowing State) -> Int? {
    let index = Int(handle >> 32) - 1
    guard state.slots.indices.contains(index), state.slots[index].storage != nil,
      state.slots[index].generation == UInt32(truncatingIfNeeded: handle)
    else { return nil }
    return index
  }
}
