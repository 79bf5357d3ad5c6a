/// The results of a comparison with the server.
public struct Verification: Hashable, Sendable {
    /// A row or record that differs.
    public struct Difference: Hashable, Sendable {
        /// The kinds of differences.
        public enum Kind: String, Hashable, Sendable {
            /// The server has a record that this device does not know.
            case unknownHere
            /// The server has no record of a row that it acknowledged before.
            case missingOnServer
            /// The server's version differs from the one known here.
            case otherVersion
            /// The row differs from the known version, and no change was recorded.
            case unnotedEdit
            /// The row of a known record is missing, and no deletion was recorded.
            case missingHere
            /// The server has a shared tree's row outside the tree or elsewhere in it, or another
            /// row inside the tree.
            case otherPlace
        }

        /// The kind of difference.
        public var kind: Kind
        /// The record's name.
        public var recordName: String
    }

    /// A record that the server has, and that is no row here.
    public struct HiddenRecord: Hashable, Sendable {
        /// The record's name.
        public var recordName: String
        /// The name of the user who shares the record; nil for one of the user's own.
        public var owner: String?
        /// The reason why it does not show: what it waits for, or the problem with its remedy.
        public var reason: String
    }

    /// The number of compared records.
    public var compared = 0
    /// The differences, by record name; empty when both sides match.
    public var differences: [Difference] = []
    /// The records that are quarantined or wait, by zone and name.
    ///
    /// They are no differences, since there is nothing to repair. All devices of a user that have
    /// synced have the same.
    public var hidden: [HiddenRecord] = []
}
