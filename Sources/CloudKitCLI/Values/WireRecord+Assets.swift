import CloudKitWebClient

extension WireRecord {
    /// Returns the files of a field, in order.
    func assets(of key: String) -> [WireAsset] {
        switch fields[key]?.value {
        case .asset(let asset): [asset]
        case .list(let values, _):
            values.compactMap { value in
                if case .asset(let asset) = value { asset } else { nil }
            }
        default: []
        }
    }

    /// Replaces the files of a field, in order.
    mutating func setAssets(_ assets: [WireAsset], of key: String) {
        switch fields[key]?.value {
        case .asset: fields[key]?.value = assets.first.map { .asset($0) }
        case .list: fields[key]?.value = .list(assets.map { .asset($0) }, of: .asset)
        default: break
        }
    }
}
