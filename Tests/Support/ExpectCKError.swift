public import CloudKit
public import Testing

/// Expects a call to fail with a `CKError` of a code, and returns the error.
@discardableResult
public func expectCKError<Success>(
    _ code: CKError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    performing call: () async throws -> Success
) async -> CKError? {
    do {
        let success = try await call()
        Issue.record("expected \(code), got \(success)", sourceLocation: sourceLocation)
    } catch let error as CKError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("expected \(code), got \(error)", sourceLocation: sourceLocation)
    }
    return nil
}
