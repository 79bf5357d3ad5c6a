import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The key of all tokens, which is created on first use and kept in the storage.
final class TokenKey: Sendable {
    /// The name of the setting in which the storage keeps it.
    static let setting = "tokenKey"

    private let storage: any Storage
    private let randomness: any ServiceRandomness
    private let cache = Mutex<TokenSeal?>(nil)

    init(_ storage: any Storage, _ randomness: any ServiceRandomness) {
        self.storage = storage
        self.randomness = randomness
    }

    /// Returns the seal with the key.
    func seal() async throws -> TokenSeal {
        if let seal = cache.withLock({ $0 }) { return seal }
        let fresh = Data(randomness.bytes(32))
        let stored = try await storage.read { try $0.setting(Self.setting) }
        let key =
            if let stored {
                stored
            } else {
                try await storage.write { writer in
                    if let stored = try writer.setting(Self.setting) { return stored }
                    try writer.setSetting(Self.setting, fresh)
                    return fresh
                }
            }
        let seal = TokenSeal(key: key)
        cache.withLock { $0 = seal }
        return seal
    }
}
