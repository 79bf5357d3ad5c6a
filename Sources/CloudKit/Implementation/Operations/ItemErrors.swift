import Foundation
import Synchronization

/// The failed items of an operation, for the `partialFailure` of its deprecated closure.
final class ItemErrors: Sendable {
    private let errors = Mutex<[(item: any Sendable, error: any Error)]>([])

    /// Records an item's result.
    func note<Item: Hashable & Sendable>(_ item: Item, _ result: Result<some Any, any Error>) {
        guard case .failure(let error) = result else { return }
        errors.withLock { $0.append((item, error)) }
    }

    /// Returns the error for deprecated closures: that of the whole, or the items' errors combined.
    func summary(_ error: CKError?) -> CKError? {
        if let error { return error }
        let failed = errors.withLock { $0 }
        guard !failed.isEmpty else { return nil }
        var byItem: [AnyHashable: any Error] = [:]
        for (item, error) in failed {
            if let item = item as? any Hashable { byItem[AnyHashable(item)] = error }
        }
        return CKError(
            .partialFailure,
            message: "\(byItem.count) items failed; partialErrorsByItemID has their errors",
            userInfo: [CKPartialErrorsByItemIDKey: byItem]
        )
    }
}

extension Result where Success == Void, Failure == any Error {
    /// Creates the result for the closures of operations.
    init(_ error: CKError?) {
        self = error.map { .failure($0) } ?? .success(())
    }
}

extension Result where Failure == any Error {
    /// The value, if there is one.
    var value: Success? {
        // The caller has the error in the result.
        try? get()
    }

    /// The error, if there is one.
    var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
