import CarabinerPipeline
import Foundation
import Testing

@Suite("The text of errors for people (1.x)")
struct ErrorTextTests {
  @Test(
    "the localized description of each error is its description",
    arguments: [
      CacheMissError(operationName: "Hero"), ParseableError.notImplemented,
      InterceptorRequestChain.ChainError.noInterceptors, InterceptorRequestChain.ChainError.abandoned(by: "Login"),
      CarabinerPipeline.URLSessionClient.URLSessionClientError.sessionInvalidated,
      LegacyParsingInterceptor.LegacyParsingError.noResponseToParse,
      LegacyCacheWriteInterceptor.LegacyCacheWriteError.noResponseToParse,
      CodableParsingInterceptor<JSONDecoder>.CodableParsingError.noResponseToParse,
      ApolloClient.ApolloClientError.noUploadTransport,
      ResponseCodeInterceptor.ResponseCodeError.invalidResponseCode(response: nil, rawData: nil),
      CacheWriteInterceptor.CacheWriteError.noResponseToParse,
      JSONResponseParsingInterceptor.JSONResponseParsingError.couldNotParseToJSON(data: Data("<".utf8)),
      MaxRetryInterceptor.RetryError.hitMaxRetryCount(count: 3, operationName: "Hero"),
      AutomaticPersistedQueryInterceptor.APQError.noParsedResponse, GraphQLHTTPRequestError.cancelledByDelegate,
      GraphQLFile.GraphQLFileError.couldNotGetFileSize(fileURL: URL(filePath: "/nowhere")),
      GraphQLHTTPResponseError(
        body: Data("no".utf8), response: CarabinerPipeline.HTTPURLResponse(url: URL(filePath: "/"), statusCode: 500),
        kind: .errorResponse),
    ] as [any Error])
  func texts(_ error: any Error) {
    #expect(error.localizedDescription == "\(error)")
    #expect(!error.localizedDescription.isEmpty)
  }
}
