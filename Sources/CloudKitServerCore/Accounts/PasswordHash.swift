import Crypto
import CryptoExtras

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A password as it is stored: scrypt's output with the salt and the cost that made it.
///
/// The cost stands beside each hash, so that it can be raised without making older hashes useless.
package struct PasswordHash: Hashable, Codable, Sendable {
    /// What scrypt is made to spend.
    package struct Cost: Hashable, Codable, Sendable {
        /// The number of rounds, a power of two; with the block size it decides about the memory.
        package var rounds = 1 << 15
        /// The block size; 8 and 2^15 rounds take 32 MiB.
        package var blockSize = 8
        /// How often the work is done, one after the other.
        package var parallelism = 3

        /// Makes a cost.
        package init(rounds: Int = 1 << 15, blockSize: Int = 8, parallelism: Int = 3) {
            self.rounds = rounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// What OWASP recommends for 32 MiB.
        package static let recommended = Cost()
    }

    let cost: Cost
    let salt: Data
    let key: Data

    /// Hashes a password, which takes as long as the cost says.
    package init(_ password: String, salt: [UInt8], cost: Cost = .recommended) throws {
        self.cost = cost
        self.salt = Data(salt)
        key = try Self.key(of: password, Data(salt), cost)
    }

    /// Whether a password is the one that was hashed; takes as long as the hashing did.
    package func matches(_ password: String) throws -> Bool {
        let found = try Self.key(of: password, salt, cost)
        return isEqualInConstantTime(Array(found), Array(key))
    }

    private static func key(of password: String, _ salt: Data, _ cost: Cost) throws -> Data {
        try KDF.Scrypt.deriveKey(
            from: Data(password.utf8),
            salt: salt,
            outputByteCount: 32,
            rounds: cost.rounds,
            blockSize: cost.blockSize,
            parallelism: cost.parallelism
        ).withUnsafeBytes { Data($0) }
    }
}
