/// The checks of each group, in the order of their ids.
extension Catalog {
  static let symbolChecks: [Check] = [
    .exports, .processWideNames, .staticThreadMemory, .overwritableCode, .librarySearchPaths, .processImports, .allocatorSymbols,
    .platformBaseline, .indirectFunctions, .sharedBuffers,
  ]

  static let loadChecks: [Check] = [
    .wholeSharedObject, .noteAndRegistration, .resolvedSymbols, .anyFilePlace, .quietConstructors, .loadTime, .sameEntryTable,
    .newerHosts, .olderHosts, .balancedInit, .loadedLibraries,
  ]

  static let descriptorChecks: [Check] = [
    .filledTables, .uniqueIDs, .versionAndThreadClass, .configurationSchema, .declaredParts, .staticTables, .unknownExtensions,
  ]

  static let lifecycleChecks: [Check] = [
    .repeatedCreation, .failedCreation, .validationWithoutTrace, .validationMatchesCreation, .separateInstances, .drainedCalls,
    .destructionAtAnyTime, .releasedCalls, .processEndInUse, .exitHandlers,
  ]

  static let memoryChecks: [Check] = [
    .viewBounds, .readOnlyViews, .expiredViews, .viewsWhileWaiting, .bufferReferences, .adoptedBytes, .hostWithoutMemory,
    .failingMalloc, .memoryOfEndedCalls, .ownFrees, .resourcesOfEndedCalls, .freedMemory, .unwrittenMemory, .smallStack,
    .boundedKeys,
  ]

  static let threadChecks: [Check] = [
    .threadsOfHostCalls, .concurrentHooks, .changingThreads, .concurrentCancel, .callsAfterResume, .blocking, .ownThreads,
    .keptLocks, .changedProcess, .lockOrder, .unlockedCounters,
  ]

  static let semanticsChecks: [Check] = [
    .legalVerdicts, .undeclaredChanges, .stagedForVerdict, .unusualOperations, .editedJSON, .headerNames, .anyStatus, .secrets,
    .cacheReads, .cacheWrites, .parserChunks, .brokenBodies, .splitDelimiters, .sameAnswers, .functionsInPlace, .anyChunks,
    .separateCallers, .keptFailures,
    .staleProperties, .anyLocale, .readDocuments, .wholeValues,
    .everyPlace,
  ]

  static let streamChecks: [Check] = [
    .anyResultCount, .resultOrder, .stagedAtEnd, .fullWindow, .endlessSubscription, .earlyStop, .keptFlags, .sharedPlaces,
  ]

  static let errorChecks: [Check] = [
    .errorExplanations, .errorShapes, .repeatedAttempts, .refusedRetry, .retryDelay, .cancelledWaits, .singleResume,
    .announcedSuspension, .refusedServices, .serviceCallbacks, .singleMutations,
  ]

  static let limitChecks: [Check] = [
    .bodyAndHeaderSizes, .extremeJSON, .anyConfiguration, .anyNeighbour, .staleHandles, .loggedInput, .usedUpQuota,
  ]

  static let performanceChecks: [Check] = [.allocations, .systemCallsInHooks, .costPerByte]

  static let reloadChecks: [Check] = [.secondGeneration, .secondVersion, .hundredGenerations, .stateHandOver]

  static let processChecks: [Check] = [.leftProcesses, .hostDescriptors, .forbiddenSystemCalls]

  static let selfTestChecks: [Check] = [.ownSelfTests]

  static let fuzzChecks: [Check] = [.fuzzedExchanges]
}
