import CCarabiner
import Synchronization
import Testing

@testable import CarabinerBridge

@Suite("Requests of plugins under way")
struct FetchAccountTests {
  /// Requests that run until they are cancelled or released.
  private final class Requests: Sendable {
    let account = FetchAccount()
    private let begun = AsyncStream<UInt64>.makeStream()
    private let cancelled = AsyncStream<UInt64>.makeStream()

    func start(holding bytes: Int = 0) -> Bool {
      account.start(holding: bytes) { [self] number in
        begun.continuation.yield(number)
        do { while true { try await Task.sleep(for: .seconds(3600)) } } catch {}
        account.end(number)
        cancelled.continuation.yield(number)
      }
    }

    func begun(_ count: Int) async -> [UInt64] { await begun.stream.prefix(count).reduce(into: []) { $0.append($1) } }
    func cancelled(_ count: Int) async -> [UInt64] { await cancelled.stream.prefix(count).reduce(into: []) { $0.append($1) } }
  }

  @Test("the bytes of all requests are limited together, with those that their responses add")
  func bytes() async {
    let requests = Requests()
    let limit = Int(CRB_FETCH_MAX_BYTES)
    #expect(!requests.start(holding: limit + 1) && !requests.start(holding: -1))
    #expect(requests.start(holding: limit - 10))
    #expect(!requests.start(holding: 11))
    #expect(requests.account.hold(10, for: 1) && !requests.account.hold(1, for: 1))
    #expect(!requests.account.hasRoom(for: 1))
    #expect(!requests.account.hold(1, for: 77))
    requests.account.close()
    _ = await requests.cancelled(1)
  }

  @Test("64 requests run at once, and others wait until one ends")
  func waiting() async {
    let requests = Requests()
    for _ in 0..<FetchAccount.maximumRunning + 2 { #expect(requests.start()) }
    #expect(await Set(requests.begun(FetchAccount.maximumRunning)) == Set(1...UInt64(FetchAccount.maximumRunning)))
    requests.account.end(1)
    #expect(await requests.begun(1) == [UInt64(FetchAccount.maximumRunning) + 1])
    requests.account.close()
    // All but the one that ended before, and those that waited too.
    _ = await requests.cancelled(FetchAccount.maximumRunning + 1)
    #expect(!requests.start())
  }

  @Test("the number of requests is limited")
  func number() async {
    let requests = Requests()
    for _ in 0..<CRB_FETCH_MAX_UNDER_WAY { #expect(requests.start()) }
    #expect(!requests.start())
    requests.account.close()
    _ = await requests.cancelled(Int(CRB_FETCH_MAX_UNDER_WAY))
  }
}
