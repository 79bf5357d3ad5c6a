/// What to do about errors of graphs, in the words of the API that is used.
enum GraphRemedy {
    /// For models that are nested without an end.
    static func chain(isOtherAPI: Bool) -> String {
        isOtherAPI
            ? "leave the key out with ignoredProperties()"
            : "break the chain with a CloudKitReference"
    }

    /// For a reference to a record that is not there, or for the root.
    static func missing(isRoot: Bool, isOtherAPI: Bool) -> String {
        if isRoot { return "look at its name and its zone; it may be deleted, or not saved yet" }
        return isOtherAPI
            ? "save the record, or remove the reference to it"
            : "make the property optional and decode with MissingRecords.omit where that may happen"
    }

    /// For an error that a value's own coding ended with.
    static func text(of error: any Error, isOtherAPI: Bool) -> String {
        guard isOtherAPI,
            case CloudKitRecordEncodingError.dataFieldTooLarge(let key, let size) = error
        else { return CodingProblem.text(of: error) }
        return """
            The value of "\(key)" takes \(size) bytes; a record holds 1 MB. Set storesAssets of the \
            encoder if it is Data, or leave the key out with ignoredProperties().
            """
    }
}
