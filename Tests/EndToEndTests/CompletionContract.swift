import CloudKit
import Foundation
import Support
import Testing

/// Calls methods with completion handlers, which must be called once, and not on the main thread.
protocol CompletionContract {}

extension CompletionContract {
    /// Returns the result of a handler that takes a value and an error: always exactly one of them.
    func response<Value: Sendable>(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ call: (@escaping @Sendable (Value?, (any Error)?) -> Void) -> Void
    ) async throws -> Value {
        let (value, error, isMain) = await withCheckedContinuation { continuation in
            call { value, error in
                continuation.resume(returning: (value, error, Thread.isMainThread))
            }
        }
        #expect(!isMain, sourceLocation: sourceLocation)
        #expect((value == nil) != (error == nil), sourceLocation: sourceLocation)
        if let error { throw error }
        return try #require(value, sourceLocation: sourceLocation)
    }

    /// Returns the result of a handler that takes a result.
    func result<Value: Sendable>(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        let (result, isMain) = await withCheckedContinuation { continuation in
            call { continuation.resume(returning: ($0, Thread.isMainThread)) }
        }
        #expect(!isMain, sourceLocation: sourceLocation)
        return try result.get()
    }
}
