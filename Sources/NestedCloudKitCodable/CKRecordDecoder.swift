public import CloudKit
public import CloudKitCodable

/// Decodes a value, and the values in it, from a record and those that it refers to.
public class CKRecordDecoder {
    /// Creates a decoder.
    public init() {}

    /// Decodes a value, with one request for each level of references.
    ///
    /// A reference that leads back to a record on the path to it is an error only for a property that
    /// needs it; references that no property requests are ignored.
    ///
    /// - Throws: ``CKCodableError``.
    public func decode<T: Decodable>(
        _ type: T.Type,
        from record: CKRecord,
        referenceDatabase database: some CloudKitRecordSource
    ) async throws -> T {
        do {
            let records = try await CloudKitGraphDecoder.records(from: record, in: database)
            return try CloudKitGraphDecoder.decodeFollowing(type, from: records, root: record)
        } catch {
            throw CKCodableError(cause: error)
        }
    }

    /// Decodes a value, and calls back exactly once, with the value or an error.
    public func decode<T>(
        _ type: T.Type,
        from record: CKRecord,
        referenceDatabase database: CKDatabase,
        completion: @escaping (_ result: T?, _ error: CKCodableError?) -> Void
    ) where T: Decodable {
        let call = DecodingCall {
            do {
                completion(
                    try await self.decode(type, from: record, referenceDatabase: database),
                    nil
                )
            } catch {
                completion(nil, CKCodableError(cause: error))
            }
        }
        Task {
            await call.run()
        }
    }
}

/// A call with a completion handler, passed to the task that performs it.
private struct DecodingCall: @unchecked Sendable {
    // @unchecked Sendable because the call is passed to one task and performed there once.

    let run: () async -> Void
}
