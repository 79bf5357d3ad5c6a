import Foundation

/// Runs an async call for a method with a completion handler, which is called once.
///
/// The task belongs to nobody: as on Apple platforms, the call cannot be cancelled.
func complete<Success: Sendable>(
    _ handler: @escaping @Sendable (Result<Success, any Error>) -> Void,
    with call: @escaping @Sendable () async throws(CKError) -> Success
) {
    Task {
        do {
            handler(.success(try await call()))
        } catch {
            handler(.failure(error))
        }
    }
}

/// Runs an async call for a method whose completion handler takes an optional value and an error.
func complete<Success: Sendable>(
    _ handler: @escaping @Sendable (Success?, (any Error)?) -> Void,
    with call: @escaping @Sendable () async throws(CKError) -> Success
) {
    complete(
        { result in
            switch result {
            case .success(let value): handler(value, nil)
            case .failure(let error): handler(nil, error)
            }
        },
        with: call
    )
}

extension Dictionary where Value: Sendable {
    /// Returns the result of the only item of a call.
    func single<Success>(
        _ key: Key
    ) throws(CKError) -> Success where Value == Result<Success, any Error> {
        switch self[key] {
        case .success(let value): return value
        case .failure(let error as CKError): throw error
        case .failure(let error):
            throw CKError(.internalError, message: "\(error)", cause: error)
        case nil:
            throw CKError(.serverResponseLost, message: "The server returned no result for \(key)")
        }
    }
}
