import Foundation
import Synchronization

/// The items of an operation that failed, for the `partialFailure` of its deprecated block.
final class ItemErrors: Sendable {
    private let errors = Mutex<[(item: any Sendable, error: any Error)]>([])

    /// Notes an item's result.
    func note<Item: Hashable & Sendable>(_ item: Item, _ result: Result<some Any, any Error>) {
        guard case .failure(let error) = result else { return }
        errors.withLock { $0.append((item, error)) }
    }

    /// The error that deprecated blocks get: that of the whole, or the sum of the items'.
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
    /// The result that blocks of operations get.
    init(_ error: CKError?) {
        self = error.map { .failure($0) } ?? .success(())
    }
}

extension Result where Failure == any Error {
    /// The value, if there is one.
    var value: Success? { try? get() }

    /// The error, if there is one.
    var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
