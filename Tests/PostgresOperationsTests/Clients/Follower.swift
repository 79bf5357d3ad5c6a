import ServerFixtures

/// A client that follows a zone's feed from its beginning, and never starts over.
struct Follower {
    private(set) var token = JSON.null
    private(set) var isMoreComing = false
    private(set) var pages = 0
    /// The tags of the records that the feed has told, which are not deleted.
    private(set) var tags: [String: JSON] = [:]

    /// Takes the next page; returns what is wrong with it.
    mutating func take(_ page: JSON) -> String? {
        if let code = page.serverErrorCode.text { return "the feed ended with \(code)" }
        (token, isMoreComing) = (page.syncToken, page.moreComing == true)
        pages += 1
        var problem: String?
        for record in page.records.elements {
            guard let name = record.recordName.text else { continue }
            if record.deleted == true {
                tags[name] = nil
            } else if tags.updateValue(record.recordChangeTag, forKey: name)
                == record.recordChangeTag
            {
                problem = "the feed told \(name) twice"
            }
        }
        return problem
    }
}
