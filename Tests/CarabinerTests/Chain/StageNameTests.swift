import Carabiner
import Testing

/// The names of a chain's built-in stages in traces.
@Suite("Names of built-in stages")
struct StageNameTests {
  @Test("a built-in stage has in traces the name it has in manifests")
  func names() {
    #expect(DefaultCacheInterceptor().stageName == "store")
    #expect(MaxRetryInterceptor().stageName == "max-retry")
    #expect(AutomaticPersistedQueryInterceptor().stageName == "persisted-queries")
    #expect(ResponseCodeInterceptor().stageName == "response-code")
    #expect(JSONResponseParsingInterceptor().stageName == "json")
  }
}
