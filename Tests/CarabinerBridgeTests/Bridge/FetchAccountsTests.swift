import Testing

@testable import CarabinerBridge
@testable import CarabinerWorkers

@Suite("Requests of the plugins in a worker")
struct FetchAccountsTests {
  private let accounts = FetchAccounts()

  /// Starts a request that runs until it is cancelled.
  ///
  /// - Returns: A stream that ends with it; nil if it was not started.
  private func start(in account: FetchAccount?) -> AsyncStream<Void>? {
    let ended = AsyncStream<Void>.makeStream()
    let isStarted = account?.start(holding: 0) { number in
      do { while true { try await Task.sleep(for: .seconds(3600)) } } catch {}
      account?.end(number)
      ended.continuation.finish()
    }
    return isStarted == true ? ended.stream : nil
  }

  private func wait(for request: AsyncStream<Void>?) async throws {
    // Without the cancellation, this would wait for an hour.
    for await _ in try #require(request) {}
  }

  @Test("an instance that has ended has no account, so a request that is late does not begin")
  func late() async throws {
    #expect(accounts[1] == nil)
    accounts.open(1)
    let account = accounts[1]
    let request = start(in: account)
    accounts.close(1)
    try await wait(for: request)
    // One that asked before the end, and one that asks after it.
    #expect(start(in: account) == nil)
    #expect(accounts[1] == nil)
  }

  @Test("the end of an instance leaves the requests of others, and the end of the process ends them")
  func process() async throws {
    for instance in [1, 2] as [UInt32] { accounts.open(instance) }
    let request = start(in: accounts[2])
    accounts.close(1)
    #expect(accounts[2]?.hasRoom(for: 0) == true)
    accounts.closeAll()
    try await wait(for: request)
    accounts.open(3)
    #expect(accounts[2] == nil && accounts[3] == nil)
  }
}
