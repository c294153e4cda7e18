// Errors, headers, responses and HTTP clients are in CarabinerCalls. Programs that import CarabinerConnect can use them.
@_exported public import CarabinerCalls
