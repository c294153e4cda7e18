internal import CCarabiner
internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// The counted buffers plugins hold, by handle.
final class BufferTable: Sendable {
  /// Bytes that live as long as there is a reference to them.
  @safe final class Storage: @unchecked Sendable {
    // Its maker writes the bytes before any other thread has the handle. After that they are read-only.

    let bytes: UnsafeRawBufferPointer
    /// The account of the plugin whose buffers its handles are.
    let account: BufferAccount
    /// How many bytes the host keeps for it.
    private let charge: Int
    private let dispose: () -> Void

    init(bytes: UnsafeRawBufferPointer, _ account: BufferAccount, charge: Int, dispose: @escaping () -> Void) {
      unsafe self.bytes = unsafe bytes
      self.account = account
      self.charge = charge
      self.dispose = dispose
    }

    deinit {
      account.give(charge)
      dispose()
    }
  }

  /// The result of taking a handle's bytes.
  enum Consumption {
    case data(Data)
    /// There is no such buffer.
    case stale
    /// The buffer is released, but there is no memory for a copy.
    case noMemory
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
  /// The bytes that each handle counts for in addition to its buffer, so that one plugin cannot take all handles.
  static let handleCharge = 1024

  private let state = Mutex(State())

  /// One table serves the process: a buffer may travel from one plugin to another.
  static let shared = BufferTable()

  func allocate(
    _ count: Int, limit: Int, _ account: BufferAccount
  ) -> (handle: crb_buf, bytes: UnsafeMutablePointer<UInt8>)? {
    guard (0...limit).contains(count), account.take(count) else { return nil }
    // Not Swift's own allocation, which ends the process where there is no memory.
    guard let memory = unsafe malloc(max(count, 1)) else {
      account.give(count)
      return nil
    }
    let bytes = unsafe UnsafeRawBufferPointer(start: memory, count: count)
    let handle = insert(0..<count, account) {
      unsafe Storage(bytes: bytes, account, charge: count) { unsafe free(memory) }
    }
    guard let handle else {
      account.give(count)
      unsafe free(memory)
      return nil
    }
    return unsafe (handle, memory.assumingMemoryBound(to: UInt8.self))
  }

  /// Bytes of the plugin's own; `dispose` runs only if they were adopted.
  func adopt(_ bytes: UnsafeRawBufferPointer, _ account: BufferAccount, dispose: @escaping () -> Void) -> crb_buf? {
    insert(0..<bytes.count, account) { unsafe Storage(bytes: bytes, account, charge: 0, dispose: dispose) }
  }

  func slice(_ handle: crb_buf, offset: Int, count: Int) -> crb_buf? {
    guard let (storage, range) = lookUp(handle), offset >= 0, count >= 0, offset <= range.count,
      count <= range.count - offset
    else { return nil }
    let start = range.lowerBound + offset
    return insert(start..<(start + count), storage.account) { storage }
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
    freed??.account.give(Self.handleCharge)
    return freed != nil
  }

  func view(_ handle: crb_buf) -> crb_view? {
    guard let (storage, range) = lookUp(handle), let base = unsafe storage.bytes.baseAddress else { return nil }
    return unsafe crb_view(ptr: (base + range.lowerBound).assumingMemoryBound(to: UInt8.self), len: range.count)
  }

  /// How many bytes a buffer has; nil if there is no such buffer.
  func size(of handle: crb_buf) -> Int? { lookUp(handle)?.1.count }

  /// A copy of the bytes, which the plugin cannot change any more, and one reference less.
  func consume(_ handle: crb_buf) -> Consumption {
    guard let (storage, range) = lookUp(handle) else { return .stale }
    defer { _ = release(handle) }
    return unsafe Self.copy(UnsafeRawBufferPointer(rebasing: storage.bytes[range])).map { .data($0) } ?? .noMemory
  }

  /// Copies of this size and above use `malloc`, which can report that there is no memory.
  private static let largeCopy = 64 << 10

  private static func copy(_ bytes: UnsafeRawBufferPointer) -> Data? {
    guard bytes.count >= largeCopy, let source = bytes.baseAddress else { return unsafe Data(bytes) }
    guard let memory = unsafe malloc(bytes.count) else { return nil }
    unsafe memory.copyMemory(from: source, byteCount: bytes.count)
    return unsafe Data(bytesNoCopy: memory, count: bytes.count, deallocator: .free)
  }

  /// How many buffers are held.
  var count: Int { state.withLock { $0.slots.count - $0.free.count } }

  private func insert(_ range: Range<Int>, _ account: BufferAccount, _ storage: () -> Storage) -> crb_buf? {
    guard account.take(Self.handleCharge) else { return nil }
    let handle: crb_buf? = state.withLock { state in
      guard let index = state.free.popLast() ?? Self.grow(&state) else { return nil }
      state.slots[index].references = 1
      state.slots[index].storage = storage()
      state.slots[index].range = range
      return crb_buf(index + 1) << 32 | crb_buf(state.slots[index].generation)
    }
    if handle == nil { account.give(Self.handleCharge) }
    return handle
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
