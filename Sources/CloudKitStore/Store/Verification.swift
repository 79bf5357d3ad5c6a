/// What a comparison with the server found.
public struct Verification: Hashable, Sendable {
    /// A row or record that differs.
    public struct Difference: Hashable, Sendable {
        /// The kinds of differences.
        public enum Kind: String, Hashable, Sendable {
            /// The server has a record that this device does not know.
            case unknownHere
            /// The server has no record of a row that had one.
            case missingOnServer
            /// The server has another version than the one known here.
            case otherVersion
            /// The row differs from the known version, and no change was noted.
            case unnotedEdit
            /// The row of a known record is missing, and no deletion was noted.
            case missingHere
            /// The server has a row of a shared tree outside of it or elsewhere in it, or a row of
            /// none within one.
            case otherPlace
        }

        /// What differs.
        public var kind: Kind
        /// The record's name.
        public var recordName: String
    }

    /// The number of records that were compared.
    public var compared = 0
    /// What differs, by record name; nothing when both sides hold the same.
    public var differences: [Difference] = []
}
