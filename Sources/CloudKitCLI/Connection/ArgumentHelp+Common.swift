import ArgumentParser

// The help of arguments that several commands take.
extension ArgumentHelp {
    /// The help of a user, whom `UserEntry.index(of:in:_:)` finds.
    static let user: ArgumentHelp =
        "The user: record name, e-mail address, or a full name that only one user has."

    /// The help of a database.
    static let database: ArgumentHelp =
        "public, private or shared; private, or public with a server-to-server key."

    /// The help of an environment.
    static let environment: ArgumentHelp =
        "development or production; CLOUDKIT_ENVIRONMENT, or development."

    /// The help of the number of partitions of a database.
    static let databasePartitions: ArgumentHelp = """
        The number of partitions of the tables, by users, where the database has no tables yet; 0, the \
        default, for none.
        """
}
