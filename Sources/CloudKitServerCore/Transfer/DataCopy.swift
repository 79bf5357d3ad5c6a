import CloudKitBasics
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Copies all data of a server from one engine to another, and compares both then.
///
/// Clients go on without noticing: their tokens, and all that names a row, stay valid. A copy that was
/// interrupted leaves a target that no server uses, and that the next copy of the same data continues.
package struct DataCopy: Sendable {
    /// A summary of a copy.
    package struct Report: Hashable, Sendable, Codable {
        /// The number of rows of the source.
        package var rows = 0
        /// The number of rows that this run has added.
        package var addedRows = 0
        /// The number of assets that records hold.
        package var assets = 0
        /// The checksums of assets that are missing or damaged in the source, and not copied.
        package var damagedAssets: [String] = []
        /// The damaged records, which are copied as they are.
        package var damagedRecords = DamagedRecords()
        /// The number of differences between the source and the target.
        package var differenceCount = 0
        /// Descriptions of the first differences.
        package var differences: [String] = []

        /// The number of differences that are described.
        static let described = 20

        /// Adds a difference.
        mutating func add(_ difference: String) {
            differenceCount += 1
            if differences.count < Self.described { differences.append(difference) }
        }

        /// `true` when the target has what the source has, and can be used.
        package var isComplete: Bool { differenceCount == 0 }
    }

    /// The numbers of steps that are done, and of all.
    package typealias Meter = @Sendable (_ done: Int, _ total: Int) -> Void

    /// The storages of both sides.
    package struct Assets: Sendable {
        let source: any AssetStorage
        let target: any AssetStorage

        /// Creates a pair of storages in different places.
        package init(from source: any AssetStorage, to target: any AssetStorage) {
            self.source = source
            self.target = target
        }
    }

    let source: any DataStore
    let target: any DataStore
    let assets: Assets?
    let meter: Meter
    /// The maximum number of rows of a page.
    let pageRows: Int

    /// Prepares a copy.
    ///
    /// - Parameters:
    ///   - source: The data to copy.
    ///   - target: The data to fill: empty, or with an unfinished copy of the same source.
    ///   - assets: The assets of both; nil to copy none, because the target has them where they are.
    ///   - pageRows: The maximum number of rows that are added in one transaction.
    ///   - meter: A closure that is called with the progress.
    package init(
        from source: any DataStore,
        to target: any DataStore,
        assets: Assets?,
        pageRows: Int = 2000,
        meter: @escaping Meter = { _, _ in }
    ) {
        self.source = source
        self.target = target
        self.assets = assets
        self.pageRows = pageRows
        self.meter = meter
    }

    /// Copies and compares everything.
    ///
    /// - Returns: A summary. If it has differences, the target stays unfinished.
    /// - Throws: `StorageError`, such as for a target that has other data, or `CancellationError`.
    @concurrent
    package func run() async throws -> Report {
        let isCancelled = Flag()
        var (report, state) = try await withTaskCancellationHandler {
            try await Self.onOwnThread { try rows(isCancelled) }
        } onCancel: {
            isCancelled.set()
        }
        if let assets { try await copy(assets, &report, &state) }
        guard report.isComplete else { return report }
        let end = try state.encoded
        try await Self.onOwnThread {
            try target.write { try $0.replaceCopyState(end, with: nil) }
        }
        return report
    }

    /// A Boolean value that another thread sets.
    final class Flag: Sendable {
        private let value = Atomic(false)

        func set() { value.store(true, ordering: .relaxed) }

        /// Ends the work if the flag is set.
        func check() throws {
            if value.load(ordering: .relaxed) { throw CancellationError() }
        }
    }

    /// Runs a closure on a thread that may block.
    package static func onOwnThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let isStarted = DetachedThread.start(stackBytes: 2 << 20) {
                continuation.resume(with: Result { try body() })
            }
            guard !isStarted else { return }
            continuation.resume(
                throwing: StorageError(.busy, "The machine has no room for another thread")
            )
        }
    }
}
