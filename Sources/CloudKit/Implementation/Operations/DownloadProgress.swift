import CloudKitWire
import Synchronization

/// The downloaded part of each record's files, computed from the progress of each file.
final class DownloadProgress: Sendable {
    private let recordsByAsset: [WireAsset: [Int]]
    private let fractions = Mutex<[WireAsset: Double]>([:])
    private let assetsByRecord: [[WireAsset]]
    private let report: @Sendable (Int, Double) -> Void

    /// Creates the progress for the assets of each record.
    init(of assets: [[WireAsset]], _ report: @escaping @Sendable (Int, Double) -> Void) {
        var recordsByAsset: [WireAsset: [Int]] = [:]
        for (index, assets) in assets.enumerated() {
            for asset in Set(assets) { recordsByAsset[asset, default: []].append(index) }
        }
        self.recordsByAsset = recordsByAsset
        assetsByRecord = assets
        self.report = report
    }

    /// Records the downloaded part of a file; complete records are reported elsewhere.
    func note(_ asset: WireAsset, _ fraction: Double) {
        let fractions = fractions.withLock { fractions in
            fractions[asset] = fraction
            return fractions
        }
        for index in recordsByAsset[asset] ?? [] {
            let sum = assetsByRecord[index].reduce(0) { $0 + (fractions[$1] ?? 0) }
            let share = sum / Double(assetsByRecord[index].count)
            if share < 1 { report(index, share) }
        }
    }
}
