package import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The note in a storage of where its assets are, so that no server looks for them elsewhere.
package struct AssetsNote {
    /// The name of the setting.
    private static let setting = CopyState.assetsLocation

    private let storage: any Storage

    package init(storage: any Storage) { self.storage = storage }

    /// Returns the location of assets, as it is noted.
    package static func location(of assets: any AssetStorage) -> String {
        assets.location ?? "the storage itself"
    }

    /// Returns the location; nil if nothing was noted yet.
    ///
    /// - Throws: `StorageError`.
    package func location() async throws -> String? {
        try await storage.read { try $0.setting(Self.setting) }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Notes where the assets are, unless it was noted before.
    ///
    /// - Throws: `StorageError` when they are elsewhere.
    package func note(_ assets: any AssetStorage) async throws {
        let location = Self.location(of: assets)
        let known = try await storage.write { writer in
            if let known = try writer.setting(Self.setting) { return known }
            let value = Data(location.utf8)
            try writer.setSetting(Self.setting, value)
            return value
        }
        guard known != Data(location.utf8) else { return }
        throw StorageError(
            .other,
            "The assets of this database are in \(String(decoding: known, as: UTF8.self)), not in "
                + "\(location); name the first with --assets, without which they are in the database, or "
                + "copy them and delete the row \(Self.setting) of the table setting"
        )
    }
}
