import Carabiner
import Testing

/// How traces call the stages that a chain brings along.
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
