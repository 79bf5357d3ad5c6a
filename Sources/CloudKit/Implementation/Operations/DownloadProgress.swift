import CloudKitWire
import Synchronization

/// How much of each record's files has come, from what is known of each file.
final class DownloadProgress: Sendable {
    private let recordsByAsset: [WireAsset: [Int]]
    private let fractions = Mutex<[WireAsset: Double]>([:])
    private let assetsByRecord: [[WireAsset]]
    private let report: @Sendable (Int, Double) -> Void

    /// Prepares for the assets of each record.
    init(of assets: [[WireAsset]], _ report: @escaping @Sendable (Int, Double) -> Void) {
        var recordsByAsset: [WireAsset: [Int]] = [:]
        for (index, assets) in assets.enumerated() {
            for asset in Set(assets) { recordsByAsset[asset, default: []].append(index) }
        }
        self.recordsByAsset = recordsByAsset
        assetsByRecord = assets
        self.report = report
    }

    /// Takes how much of a file has come; a whole record is reported by others.
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
